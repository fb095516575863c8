package boundaries_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// receive stores an event as a delivery of it does.
func (w *world) receive(event boundaries.Event) boundaries.Outcome {
	w.t.Helper()
	outcome, _, err := boundaries.StoreEvent(w.t.Context(), w.system, w.sealer, event)
	require.NoError(w.t, err)
	return outcome
}

// applyEvents lets the applier take what is due.
func (w *world) applyEvents() int {
	w.t.Helper()
	took, err := w.applier.Apply(w.t.Context())
	require.NoError(w.t, err)
	return took
}

func (w *world) event(id string) boundaries.EventStatus {
	w.t.Helper()
	return read[boundaries.EventStatus](w, `SELECT status FROM payonce.provider_events WHERE event_id = $1`, "evt_"+id)
}

// requireBooked requires that the payment of a reference took the amount once, and told so once.
func (w *world) requireBooked(reference string, amount int64) {
	w.t.Helper()
	payment := w.payment(offer{Identity: reference})
	require.Equal(w.t, payments.StatusSucceeded, w.status(payment))
	require.Equal(w.t, amount, read[int64](w, `SELECT coalesce(sum(e.amount), 0) FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries e ON e.journal = j.id WHERE j.payment = $1 AND e.amount > 0`, payment.UUID))
	require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.UUID))
	require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1`, payment.UUID))
}

func TestARedeliveryOfAnAppliedEventChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	o := offer{Identity: "order-1", Amount: 1000}
	first := succeededEvent(w.engine, o)
	require.Equal(t, boundaries.Acquired, w.receive(first))
	require.Equal(t, boundaries.Replay, w.receive(first), "seen, and not yet applied")
	require.Equal(t, boundaries.EventStored, w.event("order-1"), "only what is applied suppresses")
	require.Equal(t, 1, w.applyEvents())
	w.requireBooked("order-1", 1000)

	o.Amount = 2000
	for range 3 {
		require.Equal(t, boundaries.Replay, w.receive(succeededEvent(w.engine, o)), "other bytes are the same event")
		w.advance(time.Hour)
		require.Zero(t, w.applyEvents(), "it is not taken again")
	}
	require.Equal(t, boundaries.EventApplied, w.event("order-1"))
	w.requireEffects(eventBoundary(), offer{Identity: "order-1"}, 1000)
	require.Equal(t, 5, w.count(`SELECT deliveries FROM payonce.provider_events`))
	w.requireBooked("order-1", 1000)
}

func TestAnEventThatCouldNotBeAppliedIsAppliedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	event := succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000})
	w.receive(event)
	down, err := openPool(t.Context(), w.SystemURL)
	require.NoError(t, err)
	down.Close()
	took, err := w.applierOn(w.activitiesOn(down)).Apply(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, took)
	require.Equal(t, boundaries.EventStored, w.event("order-1"), "what failed is not done")
	require.Equal(t, boundaries.Replay, w.receive(event), "a redelivery does not settle it either")
	w.advance(time.Minute)
	require.Equal(t, 1, w.applyEvents())
	require.Equal(t, boundaries.EventApplied, w.event("order-1"))
	w.requireBooked("order-1", 1000)
}

// An applier that dies with events in its hands leaves them to the next.
func TestAnEventTakenByADeadApplierIsTakenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	w.receive(succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000}))
	w.exec(`UPDATE payonce.provider_events SET tries = tries + 1, next_try_at = payonce.clock() + $1::interval`, w.timing.EventLease)
	require.Zero(t, w.applyEvents(), "somebody has it")
	w.advance(w.timing.EventLease + time.Second)
	require.Equal(t, 1, w.applyEvents())
	w.requireBooked("order-1", 1000)
}

func TestAnEventOfAPaymentThatIsNotKnownYetWaitsForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.receive(succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000}))
	require.Equal(t, 1, w.applyEvents())
	require.Equal(t, boundaries.EventParked, w.event("order-1"))
	w.claim("K", paid("order-1", 1000))
	w.advance(w.timing.ParkedEvery + time.Second)
	require.Equal(t, 1, w.applyEvents())
	require.Equal(t, boundaries.EventApplied, w.event("order-1"))
	w.requireBooked("order-1", 1000)
}

func TestOneFactIsBookedOnceWhoeverBringsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range 3 {
		reference := fmt.Sprintf("order-%d", round)
		o := offer{Identity: reference, Amount: 1000}
		w.claim("K "+reference, paid(reference, 1000))
		for i := range 4 {
			event := succeededEvent(w.engine, o)
			event.ID = fmt.Sprintf("evt_%s_%d", reference, i)
			w.receive(event)
		}
		var race errgroup.Group
		for _, source := range []activities.Source{activities.SourceAnswer, activities.SourcePoll, activities.SourceRead} {
			race.Go(func() error {
				return w.apply(t.Context(), w.payment(o), activities.Learnt{Source: source, Intent: intentOf(w.engine, o, stripeapi.IntentSucceeded)})
			})
		}
		for range 2 {
			race.Go(func() error {
				_, err := w.applier.Apply(t.Context())
				return err
			})
		}
		require.NoError(t, race.Wait())
		for w.applyEvents() > 0 {
			continue
		}
		w.requireBooked(reference, 1000)
		require.Equal(t, 4, w.count(`SELECT count(*) FROM payonce.provider_events WHERE payment = $1 AND status = 'applied'`, w.payment(o).UUID))
		require.GreaterOrEqual(t, w.count(`SELECT suppressed_postings FROM payonce.payments WHERE id = $1`, w.payment(o).UUID), 3,
			"each event that brought nothing new was offered and counted")
		require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.payment_facts WHERE payment = $1 AND fact = 'succeeded'`, w.payment(o).UUID))
	}
}

func TestALateFailureDoesNotTakeBackASuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	o := offer{Identity: "order-1", Amount: 1000}
	w.succeed("order-1", 1000)
	failed := intentOf(w.engine, o, stripeapi.IntentRequiresPaymentMethod)
	failed.LastError = &payments.ProviderError{Code: "card_declined", Charge: "ch_first"}
	for _, late := range []*stripeapi.Intent{
		failed, intentOf(w.engine, o, stripeapi.IntentProcessing), intentOf(w.engine, o, stripeapi.IntentCanceled),
	} {
		applied := w.learn("order-1", activities.Learnt{Source: activities.SourcePoll, Intent: late})
		require.True(t, applied.Step.Over, late.Status)
		w.requireBooked("order-1", 1000)
	}
	require.Zero(t, w.count(`SELECT count(*) FROM payonce.payments WHERE last_error IS NOT NULL`))
}

func TestASuccessAfterADeclineIsBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.claim("K", paid("order-1", 1000))
	w.decline("order-1")
	require.Equal(t, payments.StatusRequiresPaymentMethod, w.status(claim.Payment), "a declined intent is open")
	w.receive(succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000}))
	require.Equal(t, 1, w.applyEvents())
	require.Equal(t, payments.StatusSucceeded, w.status(claim.Payment))
	require.Equal(t, "payment.declined payment.succeeded", read[string](w,
		`SELECT string_agg(kind, ' ' ORDER BY sequence) FROM payonce.notifications WHERE payment = $1`, claim.Payment.UUID))
	require.EqualValues(t, 1000, read[int64](w, `SELECT amount_captured FROM payonce.payments`))
}

// A read is dropped when one that began later is in: order of arrival means nothing.
func TestAnOlderReadIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.claim("K", paid("order-1", 1000))
	o := offer{Identity: "order-1", Amount: 1000}
	older := w.now()
	w.advance(time.Second)
	w.learn("order-1", activities.Learnt{Source: activities.SourcePoll, Intent: intentOf(w.engine, o, stripeapi.IntentRequiresAction)})
	require.Equal(t, payments.StatusRequiresAction, w.status(claim.Payment))
	stale := activities.Learnt{Source: activities.SourceRead, Intent: intentOf(w.engine, o, stripeapi.IntentProcessing), BegunAt: older}
	require.Equal(t, activities.VerdictStale, w.learn("order-1", stale).Verdict)
	require.Equal(t, payments.StatusRequiresAction, w.status(claim.Payment))

	stale.Intent = intentOf(w.engine, o, stripeapi.IntentSucceeded)
	w.learn("order-1", stale)
	w.requireBooked("order-1", 1000)
}

// An intent that does not fit never moves the payment: its money goes to suspense, the payment is marked.
func TestAnIntentThatDoesNotFitIsQuarantined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]func(*stripeapi.Intent){
		"amount":         func(i *stripeapi.Intent) { i.Money.Amount++ },
		"currency":       func(i *stripeapi.Intent) { i.Money.Currency = "eur" },
		"account":        func(i *stripeapi.Intent) { i.Account = w.Accounts[1] },
		"mode":           func(i *stripeapi.Intent) { i.Account.Livemode = true },
		"capture method": func(i *stripeapi.Intent) { i.CaptureMethod = payments.CaptureManual },
		"metadata":       func(i *stripeapi.Intent) { i.Metadata = map[string]string{payments.MetadataPayment: "another"} },
	} {
		reference := "order " + name
		claim := w.claim("K "+name, paid(reference, 1000))
		intent := intentOf(w.engine, offer{Identity: reference, Amount: 1000}, stripeapi.IntentSucceeded)
		change(intent)
		for range 2 {
			applied := w.learn(reference, activities.Learnt{Source: activities.SourcePoll, Intent: intent})
			require.Equal(t, activities.VerdictQuarantined, applied.Verdict, name)
		}
		w.requireQuarantined(claim.Payment, intent)
		w.succeed(reference, 1000)
		w.requireBooked(reference, 1000)
	}
}

func (w *world) requireQuarantined(payment payments.PaymentID, intent *stripeapi.Intent) {
	w.t.Helper()
	require.Equal(w.t, payments.StatusSubmitted, w.status(payment))
	require.Equal(w.t, "quarantined_intent", read[string](w, `SELECT review_reason FROM payonce.payments WHERE id = $1`, payment.UUID))
	require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.ledger_journals WHERE posting_key = $1`,
		string(boundaries.SuspensePostingKey(intent.LatestCharge, intent.AmountReceived))))
	w.exec(`UPDATE payonce.payments SET review_reason = NULL, review_since = NULL WHERE id = $1`, payment.UUID)
}

func TestASecondIntentOfAPaymentIsQuarantined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("K", paid("order-1", 1000))
	w.succeed("order-1", 1000)
	event := succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000})
	doubled := intentOf(w.engine, offer{Identity: "order-1", Amount: 1000}, stripeapi.IntentSucceeded)
	doubled.ID, doubled.LatestCharge = "pi_doubled", "ch_doubled"
	w.receive(event)
	require.Equal(t, 1, w.applyEvents())
	applied := w.learn("order-1", activities.Learnt{Source: activities.SourcePoll, Intent: doubled})
	require.Equal(t, activities.VerdictQuarantined, applied.Verdict)
	w.requireBooked("order-1", 1000)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM payonce.ledger_journals WHERE rule = 'suspense'`))
	require.Equal(t, "pi_order-1", read[string](w, `SELECT intent_id FROM payonce.payments`))
}

func TestTheIdentityOfAnEventIsItsAccountModeIDAndType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	event := succeededEvent(w.engine, offer{Identity: "order-1", Amount: 1000})
	require.Equal(t, boundaries.Acquired, w.receive(event))
	for name, change := range map[string]func(*boundaries.Event){
		"account": func(e *boundaries.Event) { e.Account = w.Accounts[1] },
		"mode":    func(e *boundaries.Event) { e.Account.Livemode = true },
		"id":      func(e *boundaries.Event) { e.ID = "evt_other" },
		"type":    func(e *boundaries.Event) { e.Type = "payment_intent.processing" },
	} {
		other := event
		change(&other)
		require.Equal(t, boundaries.Acquired, w.receive(other), name)
		require.Equal(t, boundaries.Replay, w.receive(other), name)
	}
	backfilled := event
	backfilled.Source, backfilled.APIVersion, backfilled.Body = boundaries.EventFromBackfill, "2030-01-01", []byte(`{}`)
	require.Equal(t, boundaries.Replay, w.receive(backfilled), "the same fact by another way")
}
