package stripesim

// balanceTransaction is a change of the account's balance. Amounts are minor units of Currency, which is that of the
// settlement, times Unix seconds.
type balanceTransaction struct {
	Seq         int64
	ID          string
	Account     string
	Livemode    bool
	Created     int64
	Amount, Fee int64
	Currency    string
	Rate        rate   // from the payment's currency, where that is another
	Source      string // what moved the money: a charge, refund, dispute or payout
	Intent      string // whose payment it is of; empty of a payout
	Kind        string // its type: charge, payment, refund, …
	Category    string // its reporting category; empty = charge
	Payout      string `json:",omitempty"` // the payout that paid it out
	Description string
	AppFee      int64 // part of Fee that went to the platform
	AtOnce      bool  `json:",omitempty"` // available from the beginning
}

// availableOn is when the money can be paid out.
func (t *balanceTransaction) availableOn() int64 {
	if t.AtOnce {
		return t.Created
	}
	return t.Created + twoDays
}

func (t *balanceTransaction) key() string      { return t.ID }
func (t *balanceTransaction) owner() scope     { return scope{t.Account, t.Livemode} }
func (t *balanceTransaction) createdAt() int64 { return t.Created }
func (t *balanceTransaction) number() *int64   { return &t.Seq }

// rate is how many minor units of one currency are one minor unit of another, as a fraction. The zero value is none.
type rate struct{ Numerator, Denominator int64 }

// convert rounds half away from zero.
func (r rate) convert(amount int64) int64 {
	if r.Denominator == 0 {
		return amount
	}
	if amount < 0 {
		return -r.convert(-amount)
	}
	return (2*amount*r.Numerator + r.Denominator) / (2 * r.Denominator)
}

// entry begins a balance transaction of a payment. amount is in the payment's currency.
func (t *transition) entry(in *intent, kind, category, source string, amount int64) *balanceTransaction {
	currency, at := t.books.settlement(in)
	return &balanceTransaction{ID: newID("txn"), Account: in.Account, Livemode: in.Livemode, Created: t.now.Unix(), Amount: at.convert(amount),
		Currency: currency, Rate: at, Source: source, Intent: in.ID, Kind: kind, Category: category}
}

// enter books a balance transaction and what it cost.
func (t *transition) enter(in *intent, bt *balanceTransaction) {
	t.books.transactions.add(bt)
	t.touch(bt)
	t.touch(in)
	if bt.Currency == in.Currency {
		in.Fees += bt.Fee
		return
	}
	if in.SettledFees == nil {
		in.SettledFees = map[string]int64{}
	}
	in.SettledFees[bt.Currency] += bt.Fee
}

// enterCapture books money that was captured, less Stripe's fee and the platform's.
func (t *transition) enterCapture(in *intent, c *charge, amount int64) {
	bt := t.entry(in, "charge", "charge", c.ID, amount)
	if t.books.kindOf(c) != card {
		bt.Kind = "payment"
	}
	bt.Fee, bt.Description, bt.AtOnce = feeOf(bt.Amount), in.Description, t.books.methods.byID[c.PaymentMethod].test().AtOnce
	if in.Platform != "" && in.ApplicationFee != nil {
		bt.AppFee = bt.Rate.convert(*in.ApplicationFee)
		bt.Fee += bt.AppFee
	}
	t.enter(in, bt)
	t.touch(c)
	c.BalanceTransaction = bt.ID
	c.Transactions = append(c.Transactions, bt.ID)
}

// kindOf is the kind of payment method that a charge was made with.
func (b *books) kindOf(c *charge) string { return b.methods.byID[c.PaymentMethod].test().Kind }

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
	Source            any       `json:"source"`
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

func (b *books) renderBalanceTransaction(t *balanceTransaction, expand expansion) wireBalanceTransaction {
	w := wireBalanceTransaction{ID: t.ID, Object: "balance_transaction", Amount: t.Amount, AvailableOn: t.availableOn(),
		Created: t.Created, Currency: t.Currency, Description: orNil(t.Description), Fee: t.Fee, FeeDetails: feesOf(t),
		Net: t.Amount - t.Fee, ReportingCategory: orDefault(t.Category, "charge"), Source: t.Source, Status: "available", Type: t.Kind}
	if t.availableOn() > b.now {
		w.Status = pending
	}
	if t.Rate.Denominator != 0 {
		exchange := float64(t.Rate.Numerator) / float64(t.Rate.Denominator)
		w.ExchangeRate = &exchange
	}
	if inner := expand["source"]; inner != nil {
		w.Source = b.renderSource(t.Source, inner)
	}
	return w
}

func feesOf(t *balanceTransaction) []wireFee {
	fees := []wireFee{}
	if own := t.Fee - t.AppFee; own != 0 {
		what := "Stripe processing fees"
		if t.Kind == adjustment {
			what = "Dispute fee"
		}
		fees = append(fees, wireFee{Amount: own, Currency: t.Currency, Description: what, Type: "stripe_fee"})
	}
	if t.AppFee > 0 {
		fees = append(fees, wireFee{Amount: t.AppFee, Currency: t.Currency, Description: "Application fee", Type: "application_fee"})
	}
	return fees
}

// renderSource shows in full what moved the money.
func (b *books) renderSource(id string, expand expansion) any {
	if c := b.charges.byID[id]; c != nil {
		return b.renderCharge(c, expand)
	}
	if r := b.refunds.byID[id]; r != nil {
		return b.renderRefund(r, expand)
	}
	if d := b.disputes.byID[id]; d != nil {
		return b.renderDispute(d, expand)
	}
	if p := b.payouts.byID[id]; p != nil {
		return b.renderPayout(p, expand)
	}
	return id
}
