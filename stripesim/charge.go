package stripesim

// charge is a try to move money. Amounts are minor units of Currency, times Unix seconds.
type charge struct {
	Seq      int64
	ID       string
	Account  string
	Livemode bool
	Created  int64
	Intent   string

	Amount, AmountCaptured, AmountRefunded int64
	Currency, Status                       string // succeeded, pending or failed
	Captured, Paid, Refunded, Disputed     bool
	CaptureBefore                          int64
	Multicapture                           bool     `json:",omitempty"` // the hold may be captured several times
	Captures                               int      `json:",omitempty"` // how often it was captured
	Released                               int64    `json:",omitempty"` // of the hold, given back without having been captured
	Returned                               int64    `json:",omitempty"` // by refunds that neither failed nor were canceled
	ChargedBack                            bool     `json:",omitempty"` // a dispute holds the money
	BalanceTransaction                     string   // the latest of Transactions that is of a capture
	Transactions                           []string // the balance transactions whose source it is, oldest first
	Customer, Description, ReceiptEmail    string
	StatementDescriptor                    string
	StatementDescriptorSuffix              string
	TransferDestination, TransferGroup     string
	TransferAmount, ApplicationFee         *int64
	Metadata                               map[string]string
	PaymentMethod                          string
	Failure                                *decline
}

func (c *charge) key() string      { return c.ID }
func (c *charge) owner() scope     { return scope{c.Account, c.Livemode} }
func (c *charge) createdAt() int64 { return c.Created }
func (c *charge) number() *int64   { return &c.Seq }

// giveBack follows what was given back, released and refunded alike, into what the API shows.
func (c *charge) giveBack() {
	c.AmountRefunded = c.Released + c.Returned
	c.Refunded = c.AmountRefunded >= c.Amount
}

// refundable is what may still be refunded, in minor units.
func (c *charge) refundable() int64 { return c.AmountCaptured - c.Returned }

// wireCharge is a charge as API version 2023-10-16 writes it.
type wireCharge struct {
	ID                            string            `json:"id"`
	Object                        string            `json:"object"`
	Amount                        int64             `json:"amount"`
	AmountCaptured                int64             `json:"amount_captured"`
	AmountRefunded                int64             `json:"amount_refunded"`
	Application                   *string           `json:"application"`
	ApplicationFee                *string           `json:"application_fee"`
	ApplicationFeeAmount          *int64            `json:"application_fee_amount"`
	BalanceTransaction            any               `json:"balance_transaction"`
	BillingDetails                any               `json:"billing_details"`
	CalculatedStatementDescriptor string            `json:"calculated_statement_descriptor"`
	Captured                      bool              `json:"captured"`
	Created                       int64             `json:"created"`
	Currency                      string            `json:"currency"`
	Customer                      *string           `json:"customer"`
	Description                   *string           `json:"description"`
	Disputed                      bool              `json:"disputed"`
	FailureBalanceTransaction     *string           `json:"failure_balance_transaction"`
	FailureCode                   *string           `json:"failure_code"`
	FailureMessage                *string           `json:"failure_message"`
	FraudDetails                  map[string]string `json:"fraud_details"`
	Invoice                       *string           `json:"invoice"`
	Livemode                      bool              `json:"livemode"`
	Metadata                      map[string]string `json:"metadata"`
	OnBehalfOf                    *string           `json:"on_behalf_of"`
	Outcome                       any               `json:"outcome"`
	Paid                          bool              `json:"paid"`
	PaymentIntent                 any               `json:"payment_intent"`
	PaymentMethod                 string            `json:"payment_method"`
	PaymentMethodDetails          any               `json:"payment_method_details"`
	ReceiptEmail                  *string           `json:"receipt_email"`
	ReceiptNumber                 *string           `json:"receipt_number"`
	ReceiptURL                    *string           `json:"receipt_url"`
	Refunded                      bool              `json:"refunded"`
	Review                        *string           `json:"review"`
	Shipping                      any               `json:"shipping"`
	Source                        any               `json:"source"`
	SourceTransfer                *string           `json:"source_transfer"`
	StatementDescriptor           *string           `json:"statement_descriptor"`
	StatementDescriptorSuffix     *string           `json:"statement_descriptor_suffix"`
	Status                        string            `json:"status"`
	TransferData                  any               `json:"transfer_data"`
	TransferGroup                 *string           `json:"transfer_group"`
}

// renderCharge writes a charge as the API shows it.
func (b *books) renderCharge(c *charge, expand expansion) wireCharge {
	m := b.methods.byID[c.PaymentMethod]
	w := wireCharge{
		ID: c.ID, Object: "charge", Amount: c.Amount, AmountCaptured: c.AmountCaptured, AmountRefunded: c.AmountRefunded,
		ApplicationFeeAmount: c.ApplicationFee, BalanceTransaction: orNil(c.BalanceTransaction),
		BillingDetails:                wireBilling{},
		CalculatedStatementDescriptor: "STRIPESIM", Captured: c.Captured, Created: c.Created, Currency: c.Currency,
		Customer: orNil(c.Customer), Description: orNil(c.Description), Disputed: c.Disputed, FraudDetails: map[string]string{},
		Livemode: c.Livemode, Metadata: c.Metadata, Outcome: outcomeOf(c), Paid: c.Paid, PaymentIntent: orNil(c.Intent),
		PaymentMethod: c.PaymentMethod, PaymentMethodDetails: methodDetails(m.test(), c), ReceiptEmail: orNil(c.ReceiptEmail),
		Refunded: c.Refunded, StatementDescriptor: orNil(c.StatementDescriptor),
		StatementDescriptorSuffix: orNil(c.StatementDescriptorSuffix), Status: c.Status, TransferGroup: orNil(c.TransferGroup),
	}
	if c.TransferDestination != "" {
		w.TransferData = wireTransferData{c.TransferAmount, c.TransferDestination}
	}
	if c.Failure != nil {
		w.FailureCode, w.FailureMessage = &c.Failure.Code, &c.Failure.Message
	}
	if expand["balance_transaction"] != nil && c.BalanceTransaction != "" {
		w.BalanceTransaction = b.renderBalanceTransaction(b.transactions.byID[c.BalanceTransaction], expand["balance_transaction"])
	}
	if inner := expand["payment_intent"]; inner != nil && c.Intent != "" {
		w.PaymentIntent = b.renderIntent(b.intents.byID[c.Intent], inner)
	}
	return w
}

type wireBilling struct {
	Address wireAddress `json:"address"`
	Email   *string     `json:"email"`
	Name    *string     `json:"name"`
	Phone   *string     `json:"phone"`
}

type wireAddress struct {
	City       *string `json:"city"`
	Country    *string `json:"country"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	PostalCode *string `json:"postal_code"`
	State      *string `json:"state"`
}

type wireOutcome struct {
	NetworkStatus string  `json:"network_status"`
	Reason        *string `json:"reason"`
	RiskLevel     string  `json:"risk_level"`
	RiskScore     int     `json:"risk_score"`
	SellerMessage string  `json:"seller_message"`
	Type          string  `json:"type"`
}

func outcomeOf(c *charge) *wireOutcome {
	switch {
	case c.Failure != nil:
		return &wireOutcome{NetworkStatus: "declined_by_network", Reason: orNil(c.Failure.DeclineCode), RiskLevel: "normal",
			RiskScore: 30, SellerMessage: "The bank did not return any further details with this decline.", Type: "issuer_declined"}
	case c.Status == "pending":
		return nil
	}
	return &wireOutcome{NetworkStatus: "approved_by_network", RiskLevel: "normal", RiskScore: 30,
		SellerMessage: "Payment complete.", Type: "authorized"}
}
