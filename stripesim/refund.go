package stripesim

// States of a refund, besides those that it shares with payment intents (requires_action, succeeded, canceled).
const (
	pending = "pending"
	failed  = "failed"
)

// refund is money that goes back to the payer. Amounts are minor units of Currency, times Unix seconds.
type refund struct {
	Seq      int64
	ID       string
	Account  string
	Livemode bool
	Created  int64
	Intent   string
	Charge   string

	Amount                    int64
	Currency, Status, Reason  string
	FailureReason             string
	BalanceTransaction        string
	FailureBalanceTransaction string // gives the money back to the account
	Email                     string // the payer's, for what requires_action asks of him
	Reference                 string // the acquirer's, by which the payer's bank finds it
	Metadata                  map[string]string
	Released                  bool // part of a hold, which was never captured

	DueAt     int64 // when the clock settles it; 0 = it does not
	DueStatus string
	DueReason string
}

func (r *refund) key() string      { return r.ID }
func (r *refund) owner() scope     { return scope{r.Account, r.Livemode} }
func (r *refund) createdAt() int64 { return r.Created }
func (r *refund) number() *int64   { return &r.Seq }

// counts says whether the refund takes from what may be refunded: every one does that neither failed nor was canceled.
func (r *refund) counts() bool { return r.Status != failed && r.Status != canceled }

// wireRefund is a refund as API version 2023-10-16 writes it.
type wireRefund struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	BalanceTransaction        any               `json:"balance_transaction"`
	Charge                    any               `json:"charge"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	DestinationDetails        *wireDestination  `json:"destination_details,omitempty"`
	FailureBalanceTransaction any               `json:"failure_balance_transaction,omitempty"`
	FailureReason             string            `json:"failure_reason,omitempty"`
	Metadata                  map[string]string `json:"metadata"`
	NextAction                any               `json:"next_action,omitempty"`
	PaymentIntent             any               `json:"payment_intent"`
	Reason                    *string           `json:"reason"`
	ReceiptNumber             *string           `json:"receipt_number"`
	SourceTransferReversal    *string           `json:"source_transfer_reversal"`
	Status                    string            `json:"status"`
	TransferReversal          *string           `json:"transfer_reversal"`
}

type wireDestination struct {
	Card *wireCardDestination `json:"card,omitempty"`
	Type string               `json:"type"`
}

type wireCardDestination struct {
	Reference       string `json:"reference,omitempty"`
	ReferenceStatus string `json:"reference_status"`
	ReferenceType   string `json:"reference_type"`
	Type            string `json:"type"`
}

// renderRefund writes a refund as the API shows it.
func (b *books) renderRefund(r *refund, expand expansion) wireRefund {
	c := b.charges.byID[r.Charge]
	w := wireRefund{ID: r.ID, Object: "refund", Amount: r.Amount, BalanceTransaction: orNil(r.BalanceTransaction), Charge: r.Charge,
		Created: r.Created, Currency: r.Currency, FailureReason: r.FailureReason, Metadata: r.Metadata, PaymentIntent: r.Intent,
		Reason: orNil(r.Reason), Status: r.Status}
	if b.kindOf(c) == card {
		w.DestinationDetails = &wireDestination{Card: cardDestination(r.Reference), Type: card}
	}
	if inner := expand["balance_transaction"]; inner != nil && r.BalanceTransaction != "" {
		w.BalanceTransaction = b.renderBalanceTransaction(b.transactions.byID[r.BalanceTransaction], inner)
	}
	if r.FailureBalanceTransaction != "" {
		w.FailureBalanceTransaction = r.FailureBalanceTransaction
		if inner := expand["failure_balance_transaction"]; inner != nil {
			w.FailureBalanceTransaction = b.renderBalanceTransaction(b.transactions.byID[r.FailureBalanceTransaction], inner)
		}
	}
	if r.Status == requiresAction {
		w.NextAction = map[string]any{"type": "display_details", "display_details": map[string]any{
			"email_sent": map[string]any{"email_sent_at": r.Created, "email_sent_to": r.Email}, "expires_at": r.Created + 45*secondsPerDay}}
	}
	if inner := expand["charge"]; inner != nil {
		w.Charge = b.renderCharge(c, inner)
	}
	if inner := expand["payment_intent"]; inner != nil {
		w.PaymentIntent = b.renderIntent(b.intents.byID[r.Intent], inner)
	}
	return w
}

func cardDestination(reference string) *wireCardDestination {
	shown := &wireCardDestination{Reference: reference, ReferenceStatus: "available", ReferenceType: "acquirer_reference_number", Type: "refund"}
	if reference == "" {
		shown.ReferenceStatus = pending
	}
	return shown
}
