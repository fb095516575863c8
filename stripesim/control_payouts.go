package stripesim

import (
	"net/http"
	"slices"
	"time"

	"payonce/stripesim/control"
)

func (tw *Twin) listPayouts(r *http.Request) (any, error) {
	after, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	of := r.FormValue("account")
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	page := rows[control.Payout]{Data: []control.Payout{}}
	for _, p := range tw.books.payouts.after(after, limit, func(p *payout) bool { return of == "" || p.Account == of }) {
		page.Data = append(page.Data, payoutOf(p))
	}
	return page, nil
}

// settlePayoutNow does what the bank does with a payout.
func (tw *Twin) settlePayoutNow(r *http.Request) (any, error) {
	var how control.SettlePayout
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return changing(tw, r, func(t *transition) (control.Payout, error) {
		p := t.books.payouts.byID[id]
		if p == nil {
			return control.Payout{}, notFound("payout", id)
		}
		if !slices.Contains(nextOfPayout(p.Status), how.Status) {
			return control.Payout{}, &controlError{http.StatusConflict, "the payout is " + p.Status + " and cannot become " + how.Status}
		}
		t.settlePayout(p, how.Status, how.FailureCode)
		return payoutOf(p), nil
	})
}

// nextOfPayout is what a bank makes of a payout.
func nextOfPayout(status string) []string {
	switch status {
	case pending:
		return []string{inTransit, paidOut, failed, canceled}
	case inTransit:
		return []string{paidOut, failed}
	case paidOut:
		return []string{failed}
	}
	return nil
}

func payoutOf(p *payout) control.Payout {
	return control.Payout{Seq: p.Seq, ID: p.ID, Account: p.Account, Livemode: p.Livemode, Amount: p.Amount, Currency: p.Currency, Status: p.Status,
		FailureCode: p.FailureCode, BalanceTransaction: p.BalanceTransaction, FailureBalanceTransaction: p.FailureBalanceTransaction,
		Metadata: copyOf(p.Metadata), Created: time.Unix(p.Created, 0).UTC()}
}
