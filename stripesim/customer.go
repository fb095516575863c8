package stripesim

// customer is a customer of an account. It is guarded by the lock of the books.
type customer struct {
	Seq      int64
	ID       string
	Account  string
	Platform string // the account whose key acted through Stripe-Account; empty for the account's own
	Livemode bool
	Created  int64

	Email, Name, Description, Phone string
	Metadata                        map[string]string
	Deleted                         bool // it can still be read, as deleted, and is in no list
}

func (c *customer) key() string      { return c.ID }
func (c *customer) owner() scope     { return scope{c.Account, c.Livemode} }
func (c *customer) createdAt() int64 { return c.Created }
func (c *customer) number() *int64   { return &c.Seq }

func (c *customer) about() about { return about{scope: c.owner(), platform: c.Platform} }

// wireCustomer is a customer as API version 2023-10-16 writes it.
type wireCustomer struct {
	ID                  string              `json:"id"`
	Object              string              `json:"object"`
	Address             *wireAddress        `json:"address"`
	Balance             int64               `json:"balance"`
	Created             int64               `json:"created"`
	Currency            *string             `json:"currency"`
	DefaultSource       *string             `json:"default_source"`
	Delinquent          bool                `json:"delinquent"`
	Description         *string             `json:"description"`
	Discount            any                 `json:"discount"`
	Email               *string             `json:"email"`
	InvoicePrefix       string              `json:"invoice_prefix"`
	InvoiceSettings     wireInvoiceSettings `json:"invoice_settings"`
	Livemode            bool                `json:"livemode"`
	Metadata            map[string]string   `json:"metadata"`
	Name                *string             `json:"name"`
	NextInvoiceSequence int                 `json:"next_invoice_sequence"`
	Phone               *string             `json:"phone"`
	PreferredLocales    []string            `json:"preferred_locales"`
	Shipping            any                 `json:"shipping"`
	TaxExempt           string              `json:"tax_exempt"`
	TestClock           *string             `json:"test_clock"`
}

type wireInvoiceSettings struct {
	CustomFields         any     `json:"custom_fields"`
	DefaultPaymentMethod *string `json:"default_payment_method"`
	Footer               *string `json:"footer"`
	RenderingOptions     any     `json:"rendering_options"`
}

func renderCustomer(c *customer) wireCustomer {
	return wireCustomer{ID: c.ID, Object: "customer", Created: c.Created, Description: orNil(c.Description), Email: orNil(c.Email),
		InvoicePrefix: c.ID[len(c.ID)-8:], Livemode: c.Livemode, Metadata: c.Metadata, Name: orNil(c.Name), NextInvoiceSequence: 1,
		Phone: orNil(c.Phone), PreferredLocales: []string{}, TaxExempt: "none"}
}

// wireDeleted is what is left of a deleted object.
type wireDeleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

func showCustomer(_ *books, c *customer, _ expansion) any {
	if c.Deleted {
		return wireDeleted{ID: c.ID, Object: "customer", Deleted: true}
	}
	return renderCustomer(c)
}
