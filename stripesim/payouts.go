package stripesim

import (
	"slices"
	"strings"
)

// prepareCreatePayout is POST /v1/payouts: by hand, as an account with manual payouts does.
func prepareCreatePayout(c *call, p *params) effect {
	made := &payout{Account: c.who.Account, Livemode: c.who.Livemode, Platform: c.who.platform}
	p.required("amount")
	if made.Currency = p.required("currency"); made.Currency != "" {
		made.Currency = readCurrency(p, made.Currency)
	}
	if amount := p.integer("amount"); amount != nil {
		made.Amount = *amount
		readAmount(p, made.Amount, made.Currency, "amount")
	}
	made.Description, _ = p.text("description")
	made.StatementDescriptor, _ = p.text("statement_descriptor")
	made.Method = orDefault(p.oneOf("method", "standard", "instant"), "standard")
	made.Metadata = readMetadata(p)
	expand := readExpand(p, "payout", false)
	return func(t *transition) (any, *apiError) {
		if available, _ := t.books.balance(t.who.scope, t.now.Unix()); available[made.Currency] < made.Amount {
			return nil, refusal("balance_insufficient", "You have insufficient funds in your Stripe account for this payout. Your card balance is too low.", "")
		}
		t.payOut(made)
		return t.books.renderPayout(made, expand), nil
	}
}

// payOut begins a payout: its money leaves the balance at once.
func (t *transition) payOut(p *payout) {
	p.ID, p.Created, p.Status = newID("po"), t.now.Unix(), pending
	p.Arrival = p.Created + arrivalDays*secondsPerDay
	p.DueAt = p.Arrival
	p.BalanceTransaction = t.enterPayout(p, "payout", "payout", -p.Amount)
	t.books.payouts.add(p)
	t.touch(p)
	t.books.planAt(p.DueAt, duePayout, p.ID)
	t.emitPayout("created", p, nil)
}

// settlePayout gives a payout another status. A bank may send the money back after it was paid.
func (t *transition) settlePayout(p *payout, status, failure string) {
	t.touch(p)
	previous := map[string]any{"status": p.Status}
	p.Status = status
	switch status {
	case failed:
		p.FailureCode = orDefault(failure, "could_not_process")
		p.FailureBalanceTransaction = t.enterPayout(p, "payout_failure", "payout_reversal", p.Amount)
		previous["failure_code"], previous["failure_balance_transaction"] = nil, nil
	case canceled:
		p.FailureBalanceTransaction = t.enterPayout(p, "payout_cancel", "payout_reversal", p.Amount)
		previous["failure_balance_transaction"] = nil
	}
	t.emitPayout("updated", p, previous)
	if status != inTransit {
		p.DueAt = 0
		t.emitPayout(status, p, nil)
	}
}

func (t *transition) enterPayout(p *payout, kind, category string, amount int64) string {
	bt := &balanceTransaction{ID: newID("txn"), Account: p.Account, Livemode: p.Livemode, Created: t.now.Unix(), Amount: amount,
		Currency: p.Currency, Source: p.ID, Kind: kind, Category: category, Description: "STRIPE PAYOUT", AtOnce: true}
	t.books.transactions.add(bt)
	t.touch(bt)
	return bt.ID
}

func (t *transition) emitPayout(what string, p *payout, previous map[string]any) {
	t.emit("payout."+what, p.about(), t.books.renderPayout(p, nil), previous)
}

// prepareCancelPayout is POST /v1/payouts/{id}/cancel: only of one that has not been sent to the bank.
func prepareCancelPayout(c *call, p *params) effect {
	expand := readExpand(p, "payout", false)
	return func(t *transition) (any, *apiError) {
		made, found := t.books.payouts.find(t.who.scope, c.id)
		if !found {
			return nil, missingIn(t.books.payouts, t.who.scope, "payout", c.id, "payout")
		}
		if made.Status != pending {
			return nil, refusal("", "Payouts can only be canceled while they are pending; this one is "+made.Status+".", "")
		}
		t.settlePayout(made, canceled, "")
		return t.books.renderPayout(made, expand), nil
	}
}

func payoutsOf(b *books) *table[*payout] { return b.payouts }

func showPayout(b *books, p *payout, e expansion) any { return b.renderPayout(p, e) }

func prepareGetPayout(c *call, p *params) effect {
	return lookup(c, p, "payout", "payout", payoutsOf, showPayout)
}

func prepareListPayouts(_ *call, p *params) effect {
	status := p.oneOf("status", pending, inTransit, paidOut, failed, canceled)
	return listing("/v1/payouts", "payout", p, payoutsOf, func(p *payout) bool { return status == "" || p.Status == status }, showPayout)
}

// balance is what an account has, available and pending, by currency in minor units.
func (b *books) balance(of scope, now int64) (available, later map[string]int64) {
	available, later = map[string]int64{}, map[string]int64{}
	line := b.transactions.lines[of]
	if line == nil {
		return available, later
	}
	for _, bt := range line.rows {
		into := later
		if bt.availableOn() <= now {
			into = available
		}
		into[bt.Currency] += bt.Amount - bt.Fee
	}
	return available, later
}

type wireBalance struct {
	Object    string       `json:"object"`
	Available []wireAmount `json:"available"`
	Livemode  bool         `json:"livemode"`
	Pending   []wireAmount `json:"pending"`
}

type wireAmount struct {
	Amount      int64            `json:"amount"`
	Currency    string           `json:"currency"`
	SourceTypes map[string]int64 `json:"source_types"`
}

// prepareGetBalance is GET /v1/balance. Every currency that the account has ever had is in both lists.
func prepareGetBalance(*call, *params) effect {
	return func(t *transition) (any, *apiError) {
		available, later := t.books.balance(t.who.scope, t.now.Unix())
		for currency := range available {
			later[currency] += 0
		}
		for currency := range later {
			available[currency] += 0
		}
		return wireBalance{Object: "balance", Livemode: t.who.Livemode, Available: amounts(available), Pending: amounts(later)}, nil
	}
}

func amounts(by map[string]int64) []wireAmount {
	rows := []wireAmount{}
	for currency, amount := range by {
		rows = append(rows, wireAmount{amount, currency, map[string]int64{card: amount}})
	}
	slices.SortFunc(rows, func(a, b wireAmount) int { return strings.Compare(a.Currency, b.Currency) })
	return rows
}
