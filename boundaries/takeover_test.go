package boundaries_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// confirmable is a payment whose intent is known and whose first confirm may be sent.
func (w *world) confirmable(reference string) offer {
	w.t.Helper()
	o := offer{Identity: reference, Amount: 1000}
	_, err := w.create(w.t.Context(), o.Tenant, boundaries.CallerKey("key of "+reference), paid(reference, o.Amount))
	require.NoError(w.t, err)
	w.learn(reference, activities.Learnt{Intent: intentOf(w.engine, o, stripeapi.IntentRequiresPaymentMethod)})
	return o
}

// takenOver lets a process begin the confirm and be so slow that a stranger in another process takes it over.
func (w *world) takenOver(o offer) (slow, newer *process) {
	w.t.Helper()
	slow, newer = w.startProcess(), w.startProcess()
	first := slow.asks(act{Do: begin, Offer: o, As: workflow})
	require.True(w.t, newer.asks(act{Do: begin, Offer: o, As: stranger}).Leased, "a stranger waits for the lease")
	w.advance(w.timing.Lease + time.Second)
	taken := newer.asks(act{Do: begin, Offer: o, As: stranger})
	require.Equal(w.t, first.Fence+1, taken.Fence)
	require.Equal(w.t, first.Key, taken.Key)
	require.Equal(w.t, first.Body, taken.Body, "the bytes of the first, whatever the stranger would send")
	require.Equal(w.t, 2, taken.Sends)
	require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.provider_calls WHERE payment = $1 AND operation = 'confirm_payment'`, w.payment(o).UUID))
	require.True(w.t, slow.asks(act{Do: begin, Offer: o, As: workflow}).Leased, "the first owner is a stranger now")
	return slow, newer
}

// What a slow owner learns after a stranger in another process has taken its call over is a fact like any other: whoever speaks first, and when both
// speak at once, it is applied once, and the command has one outcome.
func TestLateKnowledgeOfAnOwnerThatWasTakenOverIsAppliedOnce(t *testing.T) {
	for _, story := range []struct {
		slow, newer word
		status      payments.Status
	}{
		{declines, declines, payments.StatusRequiresPaymentMethod},
		{succeeds, succeeds, payments.StatusSucceeded},
		{declines, succeeds, payments.StatusSucceeded}, // the payer paid the open intent in between
	} {
		t.Run(fmt.Sprintf("%s, then %s", story.slow, story.newer), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for order, speak := range interleavings() {
				t.Run(order, func(t *testing.T) {
					within := *w
					within.t = t
					o := within.confirmable("order " + order)
					slow, newer := within.takenOver(o)
					speak(&within, o, slow, newer, story.slow, story.newer)
					within.requireOneEffect(o, story.status)
				})
			}
		})
	}
}

// interleavings are the orders in which the two owners may speak.
func interleavings() map[string]func(w *world, o offer, slow, newer *process, slowly, newly word) {
	return map[string]func(w *world, o offer, slow, newer *process, slowly, newly word){
		"the slow one speaks first": func(w *world, o offer, slow, newer *process, slowly, newly word) {
			slow.asks(act{Do: tell, Offer: o, Says: slowly})
			if slowly == declines {
				require.Equal(w.t, "in_progress", w.confirmStatus(o), "its decline does not settle the newer owner's command")
			}
			newer.asks(act{Do: tell, Offer: o, Says: newly})
		},
		"the slow one speaks last": func(w *world, o offer, slow, newer *process, slowly, newly word) {
			newer.asks(act{Do: tell, Offer: o, Says: newly})
			require.Equal(w.t, "completed", w.confirmStatus(o))
			slow.asks(act{Do: tell, Offer: o, Says: slowly})
		},
		"both speak at once, again and again": func(w *world, o offer, slow, newer *process, slowly, newly word) {
			for range 3 {
				w.atOnce(`SELECT FROM payonce.payments WHERE id = $1 FOR UPDATE`, w.payment(o).UUID, 2, func() {
					slow.ask(order{Act: &act{Do: tell, Offer: o, Says: slowly}})
					newer.ask(order{Act: &act{Do: tell, Offer: o, Says: newly}})
				})
				slow.did()
				newer.did()
			}
		},
	}
}

// atOnce holds a row until of what is asked meanwhile so many wait for it.
func (w *world) atOnce(lock string, row any, waiting int, ask func()) {
	w.t.Helper()
	gate, err := w.owner.Begin(w.t.Context())
	require.NoError(w.t, err)
	defer gate.Rollback(context.Background())
	_, err = gate.Exec(w.t.Context(), lock, row)
	require.NoError(w.t, err)
	ask()
	w.awaitWaiting(waiting)
	require.NoError(w.t, gate.Rollback(w.t.Context()))
}

func (w *world) confirmStatus(o offer) string {
	w.t.Helper()
	return read[string](w, `SELECT status FROM payonce.idempotency_records WHERE id = $1`, w.freezeConfirm(o, stranger).Record.UUID)
}

// requireOneEffect requires one outcome of the command, each fact, journal and message once, and a call that is answered.
func (w *world) requireOneEffect(o offer, status payments.Status) {
	w.t.Helper()
	payment := w.payment(o)
	require.Equal(w.t, status, w.status(payment))
	require.Equal(w.t, "completed", w.confirmStatus(o))
	journals := 0
	if status == payments.StatusSucceeded {
		journals = 1
		require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1 AND kind = 'payment.succeeded'`, payment.UUID))
	} else {
		require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1 AND kind = 'payment.declined'`, payment.UUID))
	}
	require.Equal(w.t, journals, w.count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.UUID))
	require.Equal(w.t, 0, w.count(`SELECT count(*) FROM (SELECT fact FROM payonce.payment_facts WHERE payment = $1
		GROUP BY fact HAVING count(*) > 1) AS repeated`, payment.UUID))
	require.Equal(w.t, 1, w.count(`SELECT count(*) FROM payonce.provider_calls WHERE payment = $1 AND operation = 'confirm_payment' AND status = 'answered'`,
		payment.UUID))
}

// A slow owner's late completion, and its late release, are refused by the fence, before and after the stranger's own and at the same time: the
// record's answer is the stranger's.
func TestALateCompletionFromAnotherProcessIsRefusedByTheFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, when := range []string{"before", "after", "at once"} {
		t.Run(when, func(t *testing.T) {
			within := *w
			within.t = t
			within.lateCompletion(offer{Identity: when, Amount: 1000}, when)
		})
	}
}

func (w *world) lateCompletion(o offer, when string) {
	w.t.Helper()
	slow, newer := w.startProcess(), w.startProcess()
	first := slow.asks(act{Do: claim, Offer: o, As: workflow})
	require.Equal(w.t, boundaries.Acquired, first.Outcome)
	require.Equal(w.t, boundaries.InProgress, newer.asks(act{Do: claim, Offer: o, As: stranger}).Outcome)
	w.advance(w.timing.Lease + time.Second)
	taken := newer.asks(act{Do: claim, Offer: o, As: stranger})
	require.Equal(w.t, boundaries.Acquired, taken.Outcome)
	require.Equal(w.t, first.Fence+1, taken.Fence)
	attempt := w.attempt(o)
	record := boundaries.RecordID(attempt.Tenant, attempt.Operation, attempt.Owner)
	require.Equal(w.t, attempt.ResourceID.String(), read[string](w, `SELECT resource_id::text FROM payonce.idempotency_records WHERE id = $1`, record.UUID))
	require.Equal(w.t, attempt.IdempotencyKey.String(),
		read[string](w, `SELECT idempotency_key::text FROM payonce.idempotency_records WHERE id = $1`, record.UUID))
	late, own := act{Do: complete, As: workflow}, act{Do: complete, As: stranger}
	var lateDone, ownDone done
	switch when {
	case "before":
		require.False(w.t, slow.asks(act{Do: giveBack}).Stood)
		lateDone, ownDone = slow.asks(late), newer.asks(own)
	case "after":
		ownDone, lateDone = newer.asks(own), slow.asks(late)
		require.False(w.t, slow.asks(act{Do: giveBack}).Stood)
	default:
		w.atOnce(`SELECT FROM payonce.idempotency_records WHERE id = $1 FOR UPDATE`, record.UUID, 1, func() { // an older fence waits for nothing
			slow.ask(order{Act: &late})
			newer.ask(order{Act: &own})
		})
		lateDone, ownDone = slow.did(), newer.did()
	}
	require.False(w.t, lateDone.Stood, "the fence refuses the slow owner")
	require.True(w.t, ownDone.Stood)
	require.Equal(w.t, stranger, read[string](w, `SELECT external_resource_id FROM payonce.idempotency_records WHERE id = $1`, record.UUID))
	require.Equal(w.t, stranger, read[string](w, `SELECT response_summary->>'by' FROM payonce.idempotency_records WHERE id = $1`, record.UUID))
	require.Equal(w.t, boundaries.Replay, slow.asks(act{Do: claim, Offer: o, As: workflow}).Outcome)
}

// When a lease has ended and strangers in many processes come for it at one moment, one takes over.
func TestOfManyStrangersOneTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	processes := make([]*process, 3)
	for i := range processes {
		processes[i] = w.startProcess()
	}
	for _, b := range []boundary{recordDoor(), callDoor()} {
		t.Run(b.name, func(t *testing.T) {
			within := *w
			within.t = t
			o := within.offer(b, "take over "+b.name, 1000)
			within.requireClaim(b, o, boundaries.Acquired)
			within.advance(within.timing.Lease + time.Second)
			offers := make([]offer, len(processes)*connections)
			for i := range offers {
				offers[i] = o
			}
			acquired := 0
			for _, got := range within.race(processes, b, offers) {
				require.Empty(t, got.Error)
				if got.Outcome == boundaries.Acquired {
					acquired++
				} else {
					require.Equal(t, boundaries.InProgress, got.Outcome)
				}
			}
			require.Equal(t, 1, acquired)
			within.requireEffects(b, o, 1000)
		})
	}
}
