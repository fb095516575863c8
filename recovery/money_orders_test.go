package recovery_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/payments/model"
	"payonce/stripesim/control"
)

// subject is a payment to which a fate happens at Stripe.
type subject struct {
	payment         payments.View
	refund, dispute string // Stripe's ids, once there are any
	seen            int64  // the number of the newest event that was looked at
	events          []control.Event
}

// fate is what happens to the money of a payment at Stripe, and the events that tell of it.
type fate struct {
	manual bool // the payment begins as a hold, else with its money taken
	open   bool // it begins without a method
	steps  []func(ctx context.Context, twin *control.Client, about *subject) error
	events [][]string // by step
	model  func(m *model.Payment)
	passed []string // what was so for a while: it is told when it was seen
}

func refundedElsewhere(ctx context.Context, twin *control.Client, about *subject) error {
	made, err := twin.RefundElsewhere(ctx, about.payment.PaymentIntent, control.RefundElsewhere{Amount: 300})
	about.refund = made.ID
	return err
}

func refundFailed(ctx context.Context, twin *control.Client, about *subject) error {
	_, err := twin.SettleRefund(ctx, about.refund, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
	return err
}

func disputed(ctx context.Context, twin *control.Client, about *subject) error {
	opened, err := twin.OpenDispute(ctx, about.payment.PaymentIntent, control.OpenDispute{})
	about.dispute = opened.ID
	return err
}

func disputeEnded(status string) func(context.Context, *control.Client, *subject) error {
	return func(ctx context.Context, twin *control.Client, about *subject) error {
		_, err := twin.CloseDispute(ctx, about.dispute, control.CloseDispute{Status: status})
		return err
	}
}

func capturedElsewhere(ctx context.Context, twin *control.Client, about *subject) error {
	_, err := twin.CaptureElsewhere(ctx, about.payment.PaymentIntent, control.CaptureElsewhere{Amount: 700})
	return err
}

func canceledElsewhere(ctx context.Context, twin *control.Client, about *subject) error {
	_, err := twin.CancelElsewhere(ctx, about.payment.PaymentIntent, control.CancelElsewhere{})
	return err
}

func declined(ctx context.Context, twin *control.Client, about *subject) error {
	return decline(ctx, twin, about.payment.PaymentIntent)
}

func paid(ctx context.Context, twin *control.Client, about *subject) error {
	return pay("pm_card_visa")(ctx, twin, about.payment.PaymentIntent)
}

func fates() map[string]fate {
	type steps = []func(context.Context, *control.Client, *subject) error
	return map[string]fate{
		"four events of one refund": {
			steps:  steps{refundedElsewhere},
			events: [][]string{{"charge.refunded", "refund.created", "refund.updated", "charge.refund.updated"}},
			model:  func(m *model.Payment) { m.RefundElsewhere("elsewhere", 300) },
		},
		"a refund that fails afterwards": {
			steps:  steps{refundedElsewhere, refundFailed},
			events: [][]string{{"charge.refunded", "refund.created"}, {"refund.updated", "charge.refund.updated"}},
			model: func(m *model.Payment) {
				m.RefundElsewhere("elsewhere", 300)
				m.RefundBecomes("elsewhere", payments.RefundFailed)
			},
			passed: []string{"refund.succeeded"},
		},
		"a dispute that is won": {
			steps:  steps{disputed, disputeEnded("won")},
			events: [][]string{{"charge.dispute.created", "charge.dispute.funds_withdrawn"}, {"charge.dispute.closed", "charge.dispute.funds_reinstated"}},
			model: func(m *model.Payment) {
				m.Dispute("dispute", 1000)
				m.DisputeEnds("dispute", true)
			},
		},
		"a dispute that is lost": {
			steps:  steps{disputed, disputeEnded("lost")},
			events: [][]string{{"charge.dispute.created", "charge.dispute.funds_withdrawn"}, {"charge.dispute.closed"}},
			model: func(m *model.Payment) {
				m.Dispute("dispute", 1000)
				m.DisputeEnds("dispute", false)
			},
		},
		"a refund, then a dispute of the rest": {
			steps:  steps{refundedElsewhere, disputed},
			events: [][]string{{"charge.refunded", "refund.created"}, {"charge.dispute.created", "charge.dispute.funds_withdrawn"}},
			model: func(m *model.Payment) {
				m.RefundElsewhere("elsewhere", 300)
				m.Dispute("dispute", 700)
			},
		},
		"a decline, then a hold": {
			manual: true, open: true,
			steps:  steps{declined, paid},
			events: [][]string{{"payment_intent.created", "payment_intent.payment_failed"}, {"payment_intent.amount_capturable_updated", "charge.succeeded"}},
			model:  func(*model.Payment) {},
			passed: []string{"payment.declined"},
		},
		"a hold that is captured in part": {
			manual: true,
			steps:  steps{capturedElsewhere},
			events: [][]string{{"charge.captured", "payment_intent.succeeded"}},
			model: func(m *model.Payment) {
				m.Captured, m.Capturable, m.Status = 700, 0, payments.StatusSucceeded
			},
		},
		"a hold that is captured and given back": {
			manual: true,
			steps:  steps{capturedElsewhere, refundedElsewhere},
			events: [][]string{{"charge.captured", "payment_intent.succeeded"}, {"charge.refunded", "refund.created"}},
			model: func(m *model.Payment) {
				m.Captured, m.Capturable, m.Status = 700, 0, payments.StatusSucceeded
				m.RefundElsewhere("elsewhere", 300)
			},
		},
		"a hold that is let go": {
			manual: true,
			steps:  steps{canceledElsewhere},
			events: [][]string{{"payment_intent.canceled", "charge.refunded"}},
			model:  func(m *model.Payment) { m.Cancel() },
		},
	}
}

// What happens to a payment's money later is told in every order, each event as early as that order allows: the payment and its money end where the model
// puts them, and the same is told to the customer.
func TestEveryOrderOfTheEventsOfMoneyEndsAsTheModelSays(t *testing.T) {
	for name, fate := range fates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tellFateInEveryOrder(t, fate)
		})
	}
}

func tellFateInEveryOrder(t *testing.T, fate fate) {
	t.Helper()
	s := toldByHand(t)
	orders := permutations(story{events: fate.events})
	begun := beginPayments(t, s, len(orders), fate)
	applier := applierByHand(s)
	want := model.New(1000, fate.manual, false)
	fate.model(want)
	var told []string
	for i, order := range orders {
		about := &subject{payment: begun[i]}
		about.look(t, s)
		done := 0
		for _, event := range order {
			for ; done <= event.step; done++ {
				require.NoError(t, fate.steps[done](t.Context(), s.Twin, about))
				about.look(t, s)
			}
			_, err := s.Twin.Deliver(t.Context(), about.event(t, event.kind), control.Deliver{})
			require.NoError(t, err)
			_, err = applier.Apply(t.Context())
			require.NoError(t, err)
		}
		view := s.Payment(about.payment.ID)
		require.Equal(t, fmt.Sprint(want.Status, want.Capturable, want.Captured, want.Refunded()),
			fmt.Sprint(view.Status, view.AmountCapturable, view.AmountCaptured, view.AmountRefunded), "%v", order)
		require.Nil(t, view.Review, "%v", order)
		require.Equal(t, want.Position(), s.Positions(about.payment.ID), "%v", order)
		kinds := slices.DeleteFunc(kindsTold(t, s, about.payment.ID), func(kind string) bool { return slices.Contains(fate.passed, kind) })
		if told == nil {
			told = kinds
		}
		require.Equal(t, told, kinds, "%v", order)
	}
	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE status NOT IN ('applied', 'stale')`))
}

// kindsTold are the kinds of the messages of a payment, sorted.
func kindsTold(t *testing.T, s *system.System, payment payments.PaymentID) []string {
	t.Helper()
	var kinds []string
	require.NoError(t, s.Owner.QueryRow(t.Context(), `SELECT array_agg(kind ORDER BY kind) FROM payonce.notifications WHERE payment = $1`, payment.UUID).Scan(&kinds))
	return kinds
}

// look notes the events of the payment that are new.
func (about *subject) look(t *testing.T, s *system.System) {
	t.Helper()
	all, err := s.Twin.AllEvents(t.Context())
	require.NoError(t, err)
	for _, event := range all {
		if event.Seq > about.seen && event.PaymentIntent == about.payment.PaymentIntent {
			about.seen, about.events = event.Seq, append(about.events, event)
		}
	}
}

// event is the newest of a type, so that an order may tell of a later step by an event that both steps make.
func (about *subject) event(t *testing.T, kind string) string {
	t.Helper()
	for _, event := range slices.Backward(about.events) {
		if event.Type == kind {
			return event.ID
		}
	}
	require.Fail(t, "no such event", "%s of %v", kind, about.payment.ID)
	return ""
}

// beginPayments creates payments as the fate begins, and ends with nothing of ours running but the API.
func beginPayments(t *testing.T, s *system.System, count int, fate fate) []payments.View {
	t.Helper()
	stop := s.StartWorker()
	defer stop()
	begun := make([]payments.View, count)
	var creating errgroup.Group
	creating.SetLimit(8)
	for i := range begun {
		creating.Go(func() error {
			body := system.Order(fmt.Sprint("order-", i), 1000)
			if fate.manual {
				body["capture_method"] = "manual"
			}
			if fate.open {
				body["payment_method"] = nil
			}
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", fmt.Sprint("K", i), body, "wait=30")
			if err != nil || answer.Status != http.StatusCreated {
				return fmt.Errorf("create: %w, %d %s", err, answer.Status, answer.Body)
			}
			begun[i] = answer.Payment(t)
			return nil
		})
	}
	require.NoError(t, creating.Wait())
	return begun
}
