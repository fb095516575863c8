package activities

import (
	"context"
	"fmt"
	"time"

	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// ReadAtStripe reads the payment's intent and says when the read began, by payonce.clock().
func (a *Activities) ReadAtStripe(ctx context.Context, p payments.Payment, intent string) (stripeapi.Intent, time.Time, error) {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return stripeapi.Intent{}, time.Time{}, err
	}
	var begun time.Time
	if err := a.Pool.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&begun); err != nil {
		return stripeapi.Intent{}, time.Time{}, fmt.Errorf("read clock: %w", err)
	}
	reading, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	read, err := a.Stripe.ReadIntent(reading, credentials, intent)
	return read, begun, err
}

// Poll reads the intent of an open payment and applies what it is now: for what no event ever told.
func (a *Activities) Poll(ctx context.Context, id payments.PaymentID) error {
	p, err := paymentstore.ByID(ctx, a.Pool, a.Sealer, id)
	if err != nil || p.IntentID == "" || p.Status.Terminal() {
		return err
	}
	intent, begun, err := a.ReadAtStripe(ctx, p, p.IntentID)
	if err != nil {
		return err
	}
	_, err = a.Apply(ctx, id, Learnt{Source: SourcePoll, Intent: &intent, BegunAt: begun, EffectiveAt: begun})
	return err
}

// ExpireUnsent ends a payment whose create was not sent in time, when no intent can exist: for the relay, while Temporal is down. It does nothing
// when the command was frozen or is in time.
func (a *Activities) ExpireUnsent(ctx context.Context, id payments.PaymentID) error {
	s, err := a.read(ctx, id)
	if err != nil {
		return err
	}
	c := s.find(payments.OperationCreate)
	if c == nil || !c.late {
		return nil
	}
	newest, err := a.Calls.Newest(ctx, c.record)
	if err != nil || newest != nil {
		return err
	}
	_, err = a.Apply(ctx, id, Learnt{Source: SourceEngine, EffectiveAt: s.now, Unsent: true})
	return err
}
