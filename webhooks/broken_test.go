package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// story makes something happen at Stripe that no event told of yet.
type story struct {
	name string
	of   string // the event that tells of it
	make func(o *outside, n int) (object string)
}

// outside is where things happen without us.
type outside struct {
	*testing.T

	s *system.System
}

// stories move money in every way in which an event may tell us of it.
func stories() []story {
	return []story{
		{"a debit is paid", "payment_intent.succeeded", func(o *outside, n int) string {
			body := system.With(system.With(system.Order(fmt.Sprintf("debit-%d", n), 1000), "payment_method", "pm_usBankAccount_success"),
				"payment_method_types", []string{"us_bank_account"})
			payment := o.s.Create(fmt.Sprintf("debit-%d", n), body).Payment(o)
			require.Equal(o, payments.StatusProcessing, payment.Status)
			_, err := o.s.Twin.Succeed(o.Context(), payment.PaymentIntent)
			require.NoError(o, err)
			return payment.PaymentIntent
		}},
		{"a part of a hold is captured", "payment_intent.succeeded", func(o *outside, n int) string {
			hold := o.s.Create(fmt.Sprintf("hold-%d", n), system.With(system.Order(fmt.Sprintf("hold-%d", n), 1000), "capture_method", "manual")).Payment(o)
			_, err := o.s.Twin.CaptureElsewhere(o.Context(), hold.PaymentIntent, control.CaptureElsewhere{Amount: 400})
			require.NoError(o, err)
			return hold.PaymentIntent
		}},
		{"a hold is let go", "payment_intent.canceled", func(o *outside, n int) string {
			hold := o.s.Create(fmt.Sprintf("gone-%d", n), system.With(system.Order(fmt.Sprintf("gone-%d", n), 1000), "capture_method", "manual")).Payment(o)
			_, err := o.s.Twin.CancelElsewhere(o.Context(), hold.PaymentIntent, control.CancelElsewhere{})
			require.NoError(o, err)
			return hold.PaymentIntent
		}},
		{"money is given back", "charge.refunded", func(o *outside, n int) string {
			refund, err := o.s.Twin.RefundElsewhere(o.Context(), taken(o.T, o.s, fmt.Sprintf("refund-%d", n)), control.RefundElsewhere{Amount: 300})
			require.NoError(o, err)
			return refund.Charge
		}},
		{"a refund comes back", "refund.failed", func(o *outside, n int) string {
			refund, err := o.s.Twin.RefundElsewhere(o.Context(), taken(o.T, o.s, fmt.Sprintf("back-%d", n)), control.RefundElsewhere{Amount: 300})
			require.NoError(o, err)
			_, err = o.s.Twin.SettleRefund(o.Context(), refund.ID, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
			require.NoError(o, err)
			return refund.ID
		}},
		{"a bank takes money back", "charge.dispute.created", func(o *outside, n int) string {
			dispute, err := o.s.Twin.OpenDispute(o.Context(), taken(o.T, o.s, fmt.Sprintf("dispute-%d", n)), control.OpenDispute{Amount: 500})
			require.NoError(o, err)
			return dispute.ID
		}},
		{"a dispute is won", "charge.dispute.closed", func(o *outside, n int) string {
			dispute, err := o.s.Twin.OpenDispute(o.Context(), taken(o.T, o.s, fmt.Sprintf("won-%d", n)), control.OpenDispute{})
			require.NoError(o, err)
			_, err = o.s.Twin.CloseDispute(o.Context(), dispute.ID, control.CloseDispute{Status: "won"})
			require.NoError(o, err)
			return dispute.ID
		}},
		{"a payout fails", "payout.failed", func(o *outside, n int) string {
			answer, err := o.s.Post(o.Context(), o.s.APIKey, "/v1/payouts", fmt.Sprintf("payout-%d", n),
				map[string]any{"reference": fmt.Sprintf("payout-%d", n), "amount": 10, "currency": "usd"}, "wait=20")
			require.NoError(o, err)
			require.Equal(o, 201, answer.Status, string(answer.Body))
			all, err := o.s.Twin.AllPayouts(o.Context(), system.AccountID)
			require.NoError(o, err)
			newest := all[len(all)-1].ID
			_, err = o.s.Twin.SettlePayout(o.Context(), newest, control.SettlePayout{Status: "failed"})
			require.NoError(o, err)
			return newest
		}},
	}
}

// taken is the intent of a payment that has succeeded.
func taken(t *testing.T, s *system.System, reference string) (intent string) {
	t.Helper()
	payment := s.Create(reference, system.Order(reference, 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	return payment.PaymentIntent
}

// Whatever single value of a rightly signed event is wrong, in whatever moves money, and though the event comes before every true one: our books come to be
// Stripe's, nothing is booked that Stripe does not show, and no event is tried for ever.
func TestAnEventWithAValueThatIsWrongMovesNoMoneyThatDidNotMove(t *testing.T) {
	t.Parallel()
	for _, tells := range stories() {
		t.Run(tells.name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 240*time.Hour, 480*time.Hour })
			taken(t, s, "funds")
			s.DB.AdvanceClock(t, 72*time.Hour) // then Stripe has released them
			s.Settle()
			s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
			paths := leavesOf(t, told(t, s, tells, 0).Object)
			require.Greater(t, len(paths), 10)
			for n, path := range paths {
				event := told(t, s, tells, n+1)
				emit(t, s, control.Emit{Type: event.Type, Account: system.AccountID, Object: broken(t, event.Object, path)})
			}
			s.DB.AdvanceClock(t, s.Config.Timing.ParkedMaximum+time.Minute)
			s.Eventually("every broken event is settled", func() bool {
				return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE settled_at IS NULL`) == 0
			})
			require.Greater(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE status IN ('applied', 'stale')`), len(paths)/2)
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE status IN ('quarantined', 'foreign', 'ignored') AND reason IS NULL`))
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.ledger_entries e JOIN payonce.ledger_accounts a ON a.id = e.account WHERE a.name = 'suspense'`))
			events, err := s.Twin.AllEvents(t.Context())
			require.NoError(t, err)
			for _, event := range events {
				_, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{})
				require.NoError(t, err)
			}
			s.Settle()
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payments WHERE review_reason IS NOT NULL`))
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payouts WHERE review_reason IS NOT NULL`))
		})
	}
}

// told makes the nth of its story happen, and is the event that tells of it.
func told(t *testing.T, s *system.System, tells story, n int) control.Event {
	t.Helper()
	object := tells.make(&outside{t, s}, n)
	events, err := s.Twin.AllEvents(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(events, func(e control.Event) bool {
		var named struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal(e.Object, &named))
		return e.Type == tells.of && named.ID == object
	})
	require.GreaterOrEqual(t, at, 0, "Stripe tells nothing of %s", object)
	return events[at]
}

// leavesOf are the paths of all values in an object that hold no other.
func leavesOf(t *testing.T, object json.RawMessage) (paths []string) {
	t.Helper()
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				walk(path+"/"+name, member)
			}
		case []any:
			for i, element := range value {
				walk(fmt.Sprintf("%s/%d", path, i), element)
			}
		default:
			paths = append(paths, path)
		}
	}
	var value any
	require.NoError(t, json.Unmarshal(object, &value))
	walk("", value)
	slices.Sort(paths)
	return paths
}

// broken is the object with another value at the path: of the same kind, or a text where there was nothing.
func broken(t *testing.T, object json.RawMessage, path string) json.RawMessage {
	t.Helper()
	var walk func(steps []string, value any) any
	walk = func(steps []string, value any) any {
		switch value := value.(type) {
		case map[string]any:
			if len(steps) > 0 {
				value[steps[0]] = walk(steps[1:], value[steps[0]])
			}
			return value
		case []any:
			for i := range value {
				if len(steps) > 0 && steps[0] == fmt.Sprint(i) {
					value[i] = walk(steps[1:], value[i])
				}
			}
			return value
		case float64:
			return value*2 + 1
		case bool:
			return !value
		case string:
			return value + "x"
		default:
			return "x"
		}
	}
	var value any
	require.NoError(t, json.Unmarshal(object, &value))
	changed, err := json.Marshal(walk(strings.Split(path, "/")[1:], value))
	require.NoError(t, err)
	require.NotEqual(t, string(object), string(changed))
	return changed
}

// A doubled create's intent is canceled though its event is written in a way that nobody can read, and the payment is over: the event says that there is
// something to read.
func TestASurplusIntentOfAnIllegibleEventIsCanceled(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.PollAfter, c.Timing.PollMaximum = 240*time.Hour, 480*time.Hour })
	payment := s.Create("K1", system.Order("order-1", 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	s.Settle()
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	surplus := s.CreateAtStripe(system.OutsideKey+"doubled-create", s.Requests(http.MethodPost, "/v1/payment_intents")[0].Body)
	event := s.Event(surplus, "payment_intent.created")
	emit(t, s, control.Emit{Type: event.Type, Account: system.AccountID, Object: broken(t, event.Object, "/shipping")})
	s.Eventually("the surplus intent is canceled", func() bool {
		for _, book := range s.Books(payment.ID) {
			if book.ID == surplus {
				return book.Canceled
			}
		}
		return false
	})
	s.Settle()
}
