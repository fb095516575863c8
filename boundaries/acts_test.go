package boundaries_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// preparedAmount is what the payments stand for that a boundary needs before it can be claimed.
const preparedAmount = 700

// paid is a create that carries a payment method.
func paid(reference string, amount int64) payments.CreateCommand {
	method := "pm_card_visa"
	return payments.CreateCommand{Reference: reference, Amount: amount, Currency: "usd", PaymentMethod: &method}
}

// create claims a create command for a caller's key.
func (e *engine) create(ctx context.Context, tenant int, key boundaries.CallerKey, command payments.CreateCommand) (boundaries.Claim, error) {
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
	if err != nil {
		return boundaries.Claim{}, err
	}
	return e.commands.ClaimCreate(ctx, boundaries.Asking{Tenant: e.Tenants[tenant], Key: key, Normalised: normalised, AttendedFor: attended}, command)
}

// payment is the payment of the offer's identity as a reference.
func (e *engine) payment(o offer) payments.PaymentID {
	return boundaries.PaymentID(e.Tenants[o.Tenant], o.Identity, 1)
}

// preparePayment makes the payment of the offer's identity, without a method.
func preparePayment(ctx context.Context, e *engine, o offer) error {
	command := paid(o.Identity, preparedAmount)
	command.PaymentMethod = nil
	_, err := e.create(ctx, o.Tenant, boundaries.CallerKey("prepare "+o.Identity), command)
	return err
}

// apply brings what was learnt just now; the source is an answer unless one is given.
func (e *engine) apply(ctx context.Context, payment payments.PaymentID, learnt activities.Learnt) error {
	_, err := e.learn(ctx, payment, learnt)
	return err
}

func (e *engine) learn(ctx context.Context, payment payments.PaymentID, learnt activities.Learnt) (activities.Applied, error) {
	if learnt.Source == "" {
		learnt.Source = activities.SourceAnswer
	}
	if err := e.system.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&learnt.EffectiveAt); err != nil {
		return activities.Applied{}, err
	}
	if learnt.BegunAt.IsZero() {
		learnt.BegunAt = learnt.EffectiveAt
	}
	return e.activities.Apply(ctx, payment, learnt)
}

// intentOf is the intent of the offer's payment in a status; a succeeded one took the amount.
func intentOf(e *engine, o offer, status stripeapi.IntentStatus) *stripeapi.Intent {
	intent := &stripeapi.Intent{
		ID: "pi_" + o.Identity, Account: e.Accounts[o.Tenant], Status: status, Money: payments.Money{Amount: o.Amount, Currency: "usd"},
		CaptureMethod: payments.CaptureAutomatic, ClientSecret: "pi_" + o.Identity + "_secret",
		Metadata: map[string]string{payments.MetadataPayment: e.payment(o).String()},
	}
	if status == stripeapi.IntentSucceeded {
		intent.AmountReceived, intent.LatestCharge = o.Amount, "ch_"+o.Identity
	}
	return intent
}

// capture books that the offer's charge reached a total, of which the offer's amount is new.
func capture(e *engine, o offer) ledger.Posting {
	const total = 1_000_000
	posting, isNew := ledger.Captured(ledger.Capture{
		Tenant: e.Tenants[o.Tenant], Payment: e.payment(o), Charge: "ch_" + o.Identity, Currency: "usd",
		NewTotal: total, PreviousTotal: total - o.Amount, Source: "event", EffectiveAt: day(1),
	})
	if !isNew {
		panic(fmt.Sprintf("an amount of %d is no capture", o.Amount))
	}
	posting.Payment = nil // these tests post beside the payments
	return posting
}

// succeededMessage tells that the offer's payment succeeded; its bytes are the amount.
func succeededMessage(e *engine, o offer) notifications.Message {
	return notifications.Message{
		Tenant: e.Tenants[o.Tenant], Subject: "payment/" + e.payment(o).String(), Kind: notifications.PaymentSucceeded,
		Payment: e.payment(o), Sequence: 1, Body: []byte(strconv.FormatInt(o.Amount, 10)),
	}
}

func day(n int) time.Time { return time.Date(2030, 1, n, 12, 0, 0, 0, time.UTC) }
