package stripesim

// States of a dispute (stripe-go, DisputeStatus). Those with warning are of an inquiry, which moves no money.
const (
	warningNeedsResponse = "warning_needs_response"
	warningUnderReview   = "warning_under_review"
	warningClosed        = "warning_closed"
	needsResponse        = "needs_response"
	underReview          = "under_review"
	won                  = "won"
	lost                 = "lost"
)

// adjustment is the type of a dispute's balance transactions.
const adjustment = "adjustment"

// dispute is the payer's bank asking for the money of a charge. Amounts are minor units of Currency, times Unix seconds.
type dispute struct {
	Seq      int64
	ID       string
	Account  string
	Livemode bool
	Created  int64
	Intent   string
	Charge   string

	Amount                   int64
	Fee                      int64 // minor units of the settlement's currency; what a withdrawal costs besides the amount
	Currency, Status, Reason string
	DueBy                    int64 // 0 = there is nothing to answer
	Submissions              int64 // of evidence
	Withdrawn, Reinstated    int64
	Transactions             []string // ids, oldest first
	Metadata                 map[string]string
}

func (d *dispute) key() string      { return d.ID }
func (d *dispute) owner() scope     { return scope{d.Account, d.Livemode} }
func (d *dispute) createdAt() int64 { return d.Created }
func (d *dispute) number() *int64   { return &d.Seq }

// over says whether the dispute is closed.
func (d *dispute) over() bool {
	return d.Status == won || d.Status == lost || d.Status == warningClosed
}

// lost says whether the latest dispute of an intent was lost.
func (b *books) lost(in *intent) bool {
	return len(in.Disputes) > 0 && b.disputes.byID[in.Disputes[len(in.Disputes)-1]].Status == lost
}

// wireDispute is a dispute as API version 2023-10-16 writes it.
type wireDispute struct {
	ID                   string                   `json:"id"`
	Object               string                   `json:"object"`
	Amount               int64                    `json:"amount"`
	BalanceTransactions  []wireBalanceTransaction `json:"balance_transactions"`
	Charge               any                      `json:"charge"`
	Created              int64                    `json:"created"`
	Currency             string                   `json:"currency"`
	Evidence             map[string]*string       `json:"evidence"`
	EvidenceDetails      wireEvidenceDetails      `json:"evidence_details"`
	IsChargeRefundable   bool                     `json:"is_charge_refundable"`
	Livemode             bool                     `json:"livemode"`
	Metadata             map[string]string        `json:"metadata"`
	PaymentIntent        any                      `json:"payment_intent"`
	PaymentMethodDetails *wireDisputedMethod      `json:"payment_method_details,omitempty"`
	Reason               string                   `json:"reason"`
	Status               string                   `json:"status"`
}

type wireEvidenceDetails struct {
	DueBy           *int64 `json:"due_by"`
	HasEvidence     bool   `json:"has_evidence"`
	PastDue         bool   `json:"past_due"`
	SubmissionCount int64  `json:"submission_count"`
}

type wireDisputedMethod struct {
	Card wireDisputedCard `json:"card"`
	Type string           `json:"type"`
}

type wireDisputedCard struct {
	Brand             string  `json:"brand"`
	NetworkReasonCode *string `json:"network_reason_code"`
}

// renderDispute writes a dispute as the API shows it.
func (b *books) renderDispute(d *dispute, expand expansion) wireDispute {
	c := b.charges.byID[d.Charge]
	w := wireDispute{ID: d.ID, Object: "dispute", Amount: d.Amount, BalanceTransactions: []wireBalanceTransaction{}, Charge: d.Charge,
		Created: d.Created, Currency: d.Currency, Evidence: noEvidence(), IsChargeRefundable: !c.ChargedBack && c.refundable() > 0,
		EvidenceDetails: wireEvidenceDetails{DueBy: orNil(d.DueBy), HasEvidence: d.Submissions > 0, SubmissionCount: d.Submissions},
		Livemode:        d.Livemode, Metadata: d.Metadata, PaymentIntent: d.Intent, Reason: d.Reason, Status: d.Status}
	for _, id := range d.Transactions {
		w.BalanceTransactions = append(w.BalanceTransactions, b.renderBalanceTransaction(b.transactions.byID[id], nil))
	}
	if b.kindOf(c) == card {
		w.PaymentMethodDetails = &wireDisputedMethod{Card: wireDisputedCard{Brand: b.methods.byID[c.PaymentMethod].test().Brand}, Type: card}
	}
	if inner := expand["charge"]; inner != nil {
		w.Charge = b.renderCharge(c, inner)
	}
	if inner := expand["payment_intent"]; inner != nil {
		w.PaymentIntent = b.renderIntent(b.intents.byID[d.Intent], inner)
	}
	return w
}

// noEvidence is every kind of evidence, of which the twin keeps none.
func noEvidence() map[string]*string {
	none := map[string]*string{}
	for _, name := range []string{
		"access_activity_log", "billing_address", "cancellation_policy", "cancellation_policy_disclosure", "cancellation_rebuttal",
		"customer_communication", "customer_email_address", "customer_name", "customer_purchase_ip", "customer_signature",
		"duplicate_charge_documentation", "duplicate_charge_explanation", "duplicate_charge_id", "product_description", "receipt",
		"refund_policy", "refund_policy_disclosure", "refund_refusal_explanation", "service_date", "service_documentation",
		"shipping_address", "shipping_carrier", "shipping_date", "shipping_documentation", "shipping_tracking_number",
		"uncategorized_file", "uncategorized_text",
	} {
		none[name] = nil
	}
	return none
}

func disputesOf(b *books) *table[*dispute] { return b.disputes }

func showDispute(b *books, d *dispute, e expansion) any { return b.renderDispute(d, e) }

func prepareGetDispute(c *call, p *params) effect {
	return lookup(c, p, "dispute", "dispute", disputesOf, showDispute)
}

// prepareListDisputes is GET /v1/disputes. With payment_intent or charge only that intent's disputes are looked at.
func prepareListDisputes(c *call, p *params) effect {
	intentID, ofIntent := p.text("payment_intent")
	chargeID, ofCharge := p.text("charge")
	keep := func(d *dispute) bool {
		return (!ofIntent || d.Intent == intentID) && (!ofCharge || d.Charge == chargeID)
	}
	own := func(in *intent) []string { return in.Disputes }
	return listing("/v1/disputes", "dispute", p, ofOneIntent(c, intentID, chargeID, disputesOf, own), keep, showDispute)
}
