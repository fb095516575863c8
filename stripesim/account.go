package stripesim

import (
	"net/http"
	"strings"
	"time"

	"payonce/stripesim/control"
)

// account is how an account behaves where it does not behave as every other: in both modes.
type account struct {
	Seq     int64
	Created int64
	control.Account
}

func (a *account) key() string      { return a.ID }
func (a *account) owner() scope     { return scope{Account: a.ID} }
func (a *account) createdAt() int64 { return a.Created }
func (a *account) number() *int64   { return &a.Seq }

// settlement is the currency in which an intent's money reaches the balance, and the rate to it.
func (b *books) settlement(in *intent) (string, rate) {
	a := b.accounts.byID[in.Account]
	if a == nil || a.SettlementCurrency == "" || a.SettlementCurrency == in.Currency {
		return in.Currency, rate{}
	}
	return a.SettlementCurrency, rate{a.RateNumerator, a.RateDenominator}
}

func (tw *Twin) getAccount(r *http.Request) (any, error) {
	id := r.PathValue("id")
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	if a := tw.books.accounts.byID[id]; a != nil {
		return a.Account, nil
	}
	return control.Account{ID: id}, nil
}

// setAccount replaces what was set of an account.
func (tw *Twin) setAccount(r *http.Request) (any, error) {
	var set control.Account
	if err := readJSON(r, &set); err != nil {
		return nil, err
	}
	set.ID = r.PathValue("id")
	if problem := accountProblem(set); problem != "" {
		return nil, badRequest(problem)
	}
	return changing(tw, r, func(t *transition) (control.Account, error) {
		a := t.books.accounts.byID[set.ID]
		if a == nil {
			a = &account{Created: t.now.Unix(), Account: set}
			t.books.accounts.add(a)
		}
		a.Account = set
		t.touch(a)
		return set, nil
	})
}

func accountProblem(set control.Account) string {
	name, found := strings.CutPrefix(set.ID, "acct_")
	switch {
	case !found || !wordy(name):
		return "an account is acct_ and a word"
	case set.BalanceLagS < 0:
		return "balance_lag_s must not be negative"
	case set.SettlementCurrency != "" && (!isCurrency(set.SettlementCurrency) || set.RateNumerator < 1 || set.RateDenominator < 1):
		return "a settlement_currency is in lower case and takes a rate above 0"
	case set.NextRefund != nil:
		return planProblem(*set.NextRefund)
	}
	return ""
}

// lateCapture is a capture whose balance transaction comes later. It is kept when it is done, with DueAt 0.
type lateCapture struct {
	Seq      int64
	ID       string
	Account  string
	Livemode bool
	Created  int64
	Charge   string
	Amount   int64 // minor units of the charge's currency
	DueAt    int64
}

func (l *lateCapture) key() string      { return l.ID }
func (l *lateCapture) owner() scope     { return scope{l.Account, l.Livemode} }
func (l *lateCapture) createdAt() int64 { return l.Created }
func (l *lateCapture) number() *int64   { return &l.Seq }

// bookCapture books money that was captured, at once or as late as the account is told to.
func (t *transition) bookCapture(in *intent, c *charge, amount int64) {
	a := t.books.accounts.byID[in.Account]
	if a == nil || a.BalanceLagS == 0 {
		t.enterCapture(in, c, t.books.bookedFor(in, c, amount))
		return
	}
	l := &lateCapture{ID: newID("late"), Account: in.Account, Livemode: in.Livemode, Created: t.now.Unix(), Charge: c.ID, Amount: amount,
		DueAt: t.now.Add(time.Duration(a.BalanceLagS) * time.Second).Unix()}
	t.books.late.add(l)
	t.touch(l)
	t.books.planAt(l.DueAt, dueCapture, l.ID)
}

// bookLate books a capture whose time has come, and tells of it.
func (t *transition) bookLate(l *lateCapture) {
	c := t.books.charges.byID[l.Charge]
	in := t.books.intents.byID[c.Intent]
	t.open(in)
	was := *c
	t.enterCapture(in, c, t.books.bookedFor(in, c, l.Amount))
	t.bookReleased(in, c)
	l.DueAt = 0
	t.touch(l)
	t.emitChanges(in, &was, c)
}
