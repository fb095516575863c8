package stripesim

import (
	"maps"
	"net/http"
	"time"

	"payonce/stripesim/control"
)

func (tw *Twin) listRequests(r *http.Request) (any, error) {
	after, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	return rows[control.Request]{tw.requests.after(after, limit)}, nil
}

func (tw *Twin) listBooks(r *http.Request) (any, error) {
	after, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	account, mode := r.FormValue("account"), r.FormValue("livemode")
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	page := rows[control.Book]{Data: []control.Book{}}
	for _, in := range tw.books.intents.after(after, limit, func(in *intent) bool {
		return (account == "" || in.Account == account) && (mode == "" || in.Livemode == (mode == "true"))
	}) {
		page.Data = append(page.Data, tw.books.bookOf(in))
	}
	return page, nil
}

func (b *books) bookOf(in *intent) control.Book {
	var refunds []control.Refund
	for _, id := range in.Refunds {
		refunds = append(refunds, refundOf(b.refunds.byID[id]))
	}
	var disputes []control.Dispute
	for _, id := range in.Disputes {
		disputes = append(disputes, disputeOf(b.disputes.byID[id]))
	}
	return control.Book{Seq: in.Seq, ID: in.ID, Account: in.Account, Livemode: in.Livemode, Metadata: copyOf(in.Metadata),
		Status: in.Status, Amount: in.Amount, Currency: in.Currency, AmountReceived: in.AmountReceived, Captured: in.Captured,
		Refunded: in.Refunded, Disputed: in.Disputed, Reinstated: in.Reinstated, Fees: in.Fees,
		SettledFees: maps.Clone(in.SettledFees), Refunds: refunds, Disputes: disputes,
		ConfirmsExecuted: in.ConfirmsExecuted, PayerConfirms: in.PayerConfirms, CapturesExecuted: in.CapturesExecuted,
		ChargesSucceeded: in.ChargesSucceeded, ChargesFailed: in.ChargesFailed, Canceled: in.Status == canceled,
		Created: time.Unix(in.Created, 0).UTC()}
}

// act changes an intent as the world outside the API does: the payer, his bank, the clock.
func (tw *Twin) act(r *http.Request, who func(*intent) origin, do func(*transition, *intent) error) (any, error) {
	now, err := tw.clock.Now(r.Context())
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	var outcome error
	var book control.Book
	failed := tw.change(now, func(t *transition) *apiError {
		in := t.books.intents.byID[id]
		if in == nil {
			outcome = notFound("payment intent", id)
			return nil
		}
		t.open(in)
		t.who = who(in)
		t.who.base = tw.base(r)
		outcome = do(t, in)
		book = t.books.bookOf(in)
		return nil
	})
	if failed != nil {
		return nil, &controlError{failed.status, failed.Message}
	}
	return book, outcome
}

func nobody(*intent) origin { return origin{} }

func wrongState(in *intent) error {
	return &controlError{http.StatusConflict, "the payment intent is in " + in.Status}
}

func (tw *Twin) succeedIntent(r *http.Request) (any, error) {
	return tw.act(r, nobody, func(t *transition, in *intent) error {
		switch in.Status {
		case processing:
			t.settle(in, nil)
		case requiresAction:
			t.authenticated(in)
		default:
			return wrongState(in)
		}
		return nil
	})
}

func (tw *Twin) failIntent(r *http.Request) (any, error) {
	how := control.Fail{Code: "payment_method_provider_decline", DeclineCode: "insufficient_funds",
		Message: "The customer's account has insufficient funds to cover this payment."}
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	return tw.act(r, nobody, func(t *transition, in *intent) error {
		switch in.Status {
		case processing:
			t.settle(in, &decline{how.Code, how.DeclineCode, how.Message})
		case requiresAction:
			t.unauthenticated(in)
		default:
			return wrongState(in)
		}
		return nil
	})
}

func (tw *Twin) authenticateIntent(r *http.Request) (any, error) {
	return tw.act(r, payer, func(t *transition, in *intent) error {
		if in.Status != requiresAction {
			return wrongState(in)
		}
		t.authenticated(in)
		return nil
	})
}

// payer is a request of the payer's browser: it has an id, and no key of the account's server.
func payer(in *intent) origin {
	return origin{scope: in.owner(), platform: in.Platform, requestID: "req_" + randomLetters(14)}
}

// payIntent confirms an open intent as the payer who holds its client secret. A decline is an outcome.
func (tw *Twin) payIntent(r *http.Request) (any, error) {
	var pay control.Pay
	if err := readJSON(r, &pay); err != nil {
		return nil, err
	}
	return tw.act(r, payer, func(t *transition, in *intent) error {
		if pay.ClientSecret != "" && pay.ClientSecret != in.ClientSecret {
			return &controlError{http.StatusForbidden, "the client secret is not that of the payment intent"}
		}
		if refused := t.confirmable(in); refused != nil {
			return wrongState(in)
		}
		m, refused := t.method(pay.PaymentMethod, in)
		if refused == nil {
			m, refused = t.chosen(in, m)
		}
		if refused != nil {
			return badRequest(refused.Message)
		}
		in.OffSession = false
		in.PayerConfirms++
		_ = t.attempt(in, m) // a decline is in the books
		return nil
	})
}
