package recovery_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
	"payonce/stripesim/control"
)

// story is what happens to an intent at Stripe after it was created, and the events that each step makes.
type story struct {
	steps  []func(ctx context.Context, twin *control.Client, intent string) error
	events [][]string // by step; of the creation first
}

func pay(method string) func(context.Context, *control.Client, string) error {
	return func(ctx context.Context, twin *control.Client, intent string) error {
		_, err := twin.Pay(ctx, intent, control.Pay{PaymentMethod: method})
		return err
	}
}

func decline(ctx context.Context, twin *control.Client, intent string) error {
	_, _ = twin.Pay(ctx, intent, control.Pay{PaymentMethod: "pm_card_chargeDeclined"}) // refused, as it is to be
	return nil
}

func authenticate(ctx context.Context, twin *control.Client, intent string) error {
	_, err := twin.Authenticate(ctx, intent)
	return err
}

// The events of a payment in every order in which they can arrive, each as early as that order allows: where the payment ends, what is booked and
// what is told is always the same.
func TestEveryOrderOfTheEventsEndsTheSame(t *testing.T) {
	for name, told := range map[string]story{
		"a card": {
			steps:  []func(context.Context, *control.Client, string) error{pay("pm_card_visa")},
			events: [][]string{{"payment_intent.created"}, {"charge.succeeded", "payment_intent.succeeded"}},
		},
		"a card that asks for the payer": {
			steps: []func(context.Context, *control.Client, string) error{pay("pm_card_authenticationRequired"), authenticate},
			events: [][]string{
				{"payment_intent.created"}, {"payment_intent.requires_action"}, {"charge.succeeded", "payment_intent.succeeded"},
			},
		},
		"a decline, then money": {
			steps: []func(context.Context, *control.Client, string) error{decline, pay("pm_card_visa")},
			events: [][]string{
				{"payment_intent.created"}, {"charge.failed", "payment_intent.payment_failed"}, {"charge.succeeded", "payment_intent.succeeded"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tellInEveryOrder(t, told)
		})
	}
}

// tellInEveryOrder tells one payment's story for each order of its events. Nothing but the events tells of it: the answers are long past, and nobody
// polls.
func tellInEveryOrder(t *testing.T, told story) {
	t.Helper()
	s := toldByHand(t)
	orders := permutations(told)
	open := openPayments(t, s, len(orders))
	applier := applierByHand(s)
	for i, order := range orders {
		payment, done := open[i], 0
		for _, event := range order {
			for ; done < event.step; done++ {
				require.NoError(t, told.steps[done](t.Context(), s.Twin, payment.PaymentIntent))
			}
			id := s.Event(payment.PaymentIntent, event.kind).ID
			sent, err := s.Twin.Deliver(t.Context(), id, control.Deliver{})
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, sent.Answers[0].Status)
			taken, err := applier.Apply(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, taken)
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE event_id = $1 AND status IN ('applied', 'stale')`, id), "%v", order)
		}
		paid := s.Payment(payment.ID)
		require.Equal(t, payments.StatusSucceeded, paid.Status, "%v", order)
		require.Equal(t, payments.StageLedgerApplied, paid.Stage, "%v", order)
		require.EqualValues(t, 1000, paid.AmountCaptured, "%v", order)
		require.Nil(t, paid.LastError, "%v", order)
		require.Nil(t, paid.Review, "%v", order)
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, payment.ID.UUID), "%v", order)
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1 AND kind = 'payment.succeeded'`, payment.ID.UUID), "%v", order)
		require.LessOrEqual(t, s.Count(`SELECT count(*) FROM payonce.notifications WHERE payment = $1`, payment.ID.UUID), 2, "%v", order)
	}
}

// toldByHand is a system with its API that hears of nothing at Stripe by itself.
func toldByHand(t *testing.T) *system.System {
	t.Helper()
	s := system.New(t, neverPolls)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	s.StartAPI()
	return s
}

// applierByHand applies when it is told to, and wakes no workflow.
func applierByHand(s *system.System) *recovery.Applier {
	acts := s.Open().Activities
	acts.Waker = asleep{}
	return &recovery.Applier{Pool: s.App.System, Sealer: s.App.Sealer, Activities: acts, Timing: s.Config.Timing, Log: system.Log()}
}

// openPayments creates payments without a method, and ends with nothing of ours running but the API.
func openPayments(t *testing.T, s *system.System, count int) []payments.View {
	t.Helper()
	stop := s.StartWorker()
	defer stop()
	open := make([]payments.View, count)
	var creating errgroup.Group
	creating.SetLimit(8)
	for i := range open {
		creating.Go(func() error {
			body := system.With(system.Order(fmt.Sprint("order-", i), 1000), "payment_method", nil)
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", i), body, "wait=30")
			if err != nil || answer.Status != http.StatusCreated {
				return fmt.Errorf("create: %w, %d %s", err, answer.Status, answer.Body)
			}
			open[i] = answer.Payment(t)
			return nil
		})
	}
	require.NoError(t, creating.Wait())
	return open
}

// asleep wakes no workflow.
type asleep struct{}

func (asleep) Wake(context.Context, payments.PaymentID) error { return nil }

func (asleep) WakeRefund(context.Context, payments.PaymentID, payments.RefundID) error { return nil }
func (asleep) WakePayout(context.Context, payments.PayoutID) error                     { return nil }

func (asleep) WakeProvision(context.Context, payments.ProvisionID, payments.RecordID) error {
	return nil
}

// toldEvent is an event of a story: its type, and how many steps must have been taken before it.
type toldEvent struct {
	kind string
	step int
}

func (e toldEvent) String() string { return strings.TrimPrefix(e.kind, "payment_intent.") }

// permutations are all orders of a story's events.
func permutations(told story) [][]toldEvent {
	orders := [][]toldEvent{nil}
	for step, kinds := range told.events {
		for _, kind := range kinds {
			var longer [][]toldEvent
			for _, order := range orders {
				for at := range len(order) + 1 {
					longer = append(longer, append(append(append([]toldEvent{}, order[:at]...), toldEvent{kind, step}), order[at:]...))
				}
			}
			orders = longer
		}
	}
	return orders
}
