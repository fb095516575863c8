package stripesim

// balanceTransaction is a change of the account's balance. Amounts are minor units, times Unix seconds.
type balanceTransaction struct {
	Seq         int64
	ID          string
	Account     string
	Livemode    bool
	Created     int64
	Amount, Fee int64
	Currency    string
	Source      string // the charge
	Kind        string // charge or payment
	Description string
	AppFee      int64 // part of Fee that went to the platform
}

func (t *balanceTransaction) key() string      { return t.ID }
func (t *balanceTransaction) owner() scope     { return scope{t.Account, t.Livemode} }
func (t *balanceTransaction) createdAt() int64 { return t.Created }
func (t *balanceTransaction) number() *int64   { return &t.Seq }

const twoDays = 2 * 24 * 60 * 60

type wireBalanceTransaction struct {
	ID                string    `json:"id"`
	Object            string    `json:"object"`
	Amount            int64     `json:"amount"`
	AvailableOn       int64     `json:"available_on"`
	Created           int64     `json:"created"`
	Currency          string    `json:"currency"`
	Description       *string   `json:"description"`
	ExchangeRate      *float64  `json:"exchange_rate"`
	Fee               int64     `json:"fee"`
	FeeDetails        []wireFee `json:"fee_details"`
	Net               int64     `json:"net"`
	ReportingCategory string    `json:"reporting_category"`
	Source            string    `json:"source"`
	Status            string    `json:"status"`
	Type              string    `json:"type"`
}

type wireFee struct {
	Amount      int64   `json:"amount"`
	Application *string `json:"application"`
	Currency    string  `json:"currency"`
	Description string  `json:"description"`
	Type        string  `json:"type"`
}

func renderBalanceTransaction(t *balanceTransaction) wireBalanceTransaction {
	fees := []wireFee{{Amount: t.Fee - t.AppFee, Currency: t.Currency, Description: "Stripe processing fees", Type: "stripe_fee"}}
	if t.AppFee > 0 {
		fees = append(fees, wireFee{Amount: t.AppFee, Currency: t.Currency, Description: "Application fee", Type: "application_fee"})
	}
	return wireBalanceTransaction{ID: t.ID, Object: "balance_transaction", Amount: t.Amount, AvailableOn: t.Created + twoDays,
		Created: t.Created, Currency: t.Currency, Description: orNil(t.Description), Fee: t.Fee, FeeDetails: fees,
		Net: t.Amount - t.Fee, ReportingCategory: "charge", Source: t.Source, Status: "pending", Type: t.Kind}
}
