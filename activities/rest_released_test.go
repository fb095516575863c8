package activities_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Of a hold captured in part its policy lets go of the rest, by a last capture of nothing, before Stripe does: the payment succeeds with what was captured. A
// lost answer changes nothing, nor does a part that is called as the release is.
func TestTheRestOfAHoldCapturedInPartIsLetGoByItsPolicy(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]*control.Rule{
		"answered": nil, "its answer is lost": {Fault: control.FaultAnswerLost, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			body := system.With(system.With(hold("order-1", 1000), "hold_expiry", "void"), "multicapture", true)
			held := authorise(t, s, body)
			part := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 300, "reference": "release", "final": false})
			require.Equal(t, http.StatusOK, part.Status, "%s", part.Body)
			require.Equal(t, int64(700), part.Payment(t).AmountCapturable)
			if rule != nil {
				rule.Match = control.Match{Method: http.MethodPost, Path: captures}
				s.Fault(*rule)
			}
			s.DB.AdvanceClock(t, 7*24*time.Hour-5*time.Minute)
			s.Eventually("the rest is let go", func() bool { return s.Payment(held.ID).Status == payments.StatusSucceeded })
			s.Settle()
			require.Equal(t, int64(300), s.Payment(held.ID).AmountCaptured)
			require.Equal(t, map[string]int64{"stripe:receivable": 300, "merchant:balance": -300}, s.Positions(held.ID))
			require.Equal(t, 1, s.Book(held.ID).CapturesExecuted)
			require.Equal(t, int64(300), s.Book(held.ID).Captured)
			require.Empty(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/cancel"))
			require.Len(t, s.Told(held.ID, "payment.succeeded"), 1)
			late := post(t, s, held.ID, "capture", "C2", map[string]any{})
			require.Equal(t, payments.CodePaymentSucceeded, late.Problem(t).Code)
		})
	}
}
