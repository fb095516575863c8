package stripesim

// States of a payout, besides those that it shares with refunds (pending, failed, canceled).
const (
	inTransit = "in_transit"
	paidOut   = "paid"
)

// arrivalDays is how long a payout is under way. Stripe says one to several days, by country.
const arrivalDays = 2

// payout is money that leaves the account's balance for its bank. Amounts are minor units of Currency, times Unix seconds.
type payout struct {
	Seq      int64
	ID       string
	Account  string
	Platform string // the account whose key acted through Stripe-Account; empty for the account's own
	Livemode bool
	Created  int64

	Amount                           int64
	Currency, Status, Method         string
	Description, StatementDescriptor string
	Arrival                          int64
	BalanceTransaction               string
	FailureBalanceTransaction        string // gives the money back to the balance
	FailureCode                      string
	Metadata                         map[string]string
	DueAt                            int64 // when the clock pays it; 0 = it does not
}

func (p *payout) key() string      { return p.ID }
func (p *payout) owner() scope     { return scope{p.Account, p.Livemode} }
func (p *payout) createdAt() int64 { return p.Created }
func (p *payout) number() *int64   { return &p.Seq }
func (p *payout) about() about     { return about{scope: p.owner(), platform: p.Platform} }

// wirePayout is a payout as API version 2023-10-16 writes it.
type wirePayout struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	ArrivalDate               int64             `json:"arrival_date"`
	Automatic                 bool              `json:"automatic"`
	BalanceTransaction        any               `json:"balance_transaction"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Description               *string           `json:"description"`
	Destination               string            `json:"destination"`
	FailureBalanceTransaction any               `json:"failure_balance_transaction"`
	FailureCode               *string           `json:"failure_code"`
	FailureMessage            *string           `json:"failure_message"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	Method                    string            `json:"method"`
	OriginalPayout            *string           `json:"original_payout"`
	ReconciliationStatus      string            `json:"reconciliation_status"`
	ReversedBy                *string           `json:"reversed_by"`
	SourceType                string            `json:"source_type"`
	StatementDescriptor       *string           `json:"statement_descriptor"`
	Status                    string            `json:"status"`
	Type                      string            `json:"type"`
}

// renderPayout writes a payout as the API shows it.
func (b *books) renderPayout(p *payout, expand expansion) wirePayout {
	w := wirePayout{ID: p.ID, Object: "payout", Amount: p.Amount, ArrivalDate: p.Arrival, BalanceTransaction: orNil(p.BalanceTransaction),
		Created: p.Created, Currency: p.Currency, Description: orNil(p.Description), Destination: "ba_stripesim" + p.Currency,
		FailureBalanceTransaction: orNil(p.FailureBalanceTransaction), FailureCode: orNil(p.FailureCode), Livemode: p.Livemode,
		Metadata: p.Metadata, Method: p.Method, ReconciliationStatus: "not_applicable", SourceType: card,
		StatementDescriptor: orNil(p.StatementDescriptor), Status: p.Status, Type: "bank_account"}
	if p.FailureCode != "" {
		message := "The bank has refused the payout (" + p.FailureCode + ")."
		w.FailureMessage = &message
	}
	if inner := expand["balance_transaction"]; inner != nil {
		w.BalanceTransaction = b.renderBalanceTransaction(b.transactions.byID[p.BalanceTransaction], inner)
	}
	if inner := expand["failure_balance_transaction"]; inner != nil && p.FailureBalanceTransaction != "" {
		w.FailureBalanceTransaction = b.renderBalanceTransaction(b.transactions.byID[p.FailureBalanceTransaction], inner)
	}
	return w
}
