package activities_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/payments/model"
	"payonce/stripesim/control"
)

// story is a payment that random commands and happenings at Stripe befall, beside the model of it.
type story struct {
	t      *testing.T
	s      *system.System
	random *rand.Rand
	name   string
	id     payments.PaymentID
	intent string
	model  *model.Payment
	told   []string          // what has happened, for whoever reads a failure
	ids    map[string]string // Stripe's ids of refunds and disputes, by the model's names
	steps  int
}

const storyAmount = 1000

// Whatever befalls a payment in whatever order, and however often and in whichever order Stripe tells of it, commands get the answers that the model
// gives, and in the end the payment, its refunds and its money stand where the model says. The seed of a story repeats it.
func TestRandomStoriesEndAsTheModelSays(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDouble, Probability: 0.3})
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultReorder, Probability: 0.3})
	for seed := range uint64(30) {
		newStory(t, s, seed).run()
	}
	s.Settle()
}

func newStory(t *testing.T, s *system.System, seed uint64) *story {
	t.Helper()
	st := &story{
		t: t, s: s, random: rand.New(rand.NewPCG(seed, 1)), name: fmt.Sprintf("story-%d", seed), ids: map[string]string{},
	}
	manual := st.random.IntN(2) == 0
	several := manual && st.random.IntN(2) == 0
	body := system.Order(st.name, storyAmount)
	if manual {
		body = hold(st.name, storyAmount)
	}
	if several {
		body["multicapture"] = true
	}
	if seed%2 == 1 { // whom the money is owed to is no matter of the lifecycle; the doctor says whether each got and gave its part
		body["destinations"] = []payments.Destination{
			destination(s.AddWallet("seller-1", "stripe", "usd"), 334), destination(s.AddWallet("seller-2", "stripe", "usd"), 333),
			destination(payments.MerchantDestination, 333),
		}
	}
	created := s.Create(st.name, body).Payment(t)
	st.id, st.intent, st.model = created.ID, created.PaymentIntent, model.New(storyAmount, manual, several)
	st.tell("created manual=%t several=%t", manual, several)
	st.agrees()
	return st
}

func (st *story) tell(format string, what ...any) {
	st.told = append(st.told, fmt.Sprintf(format, what...))
}

// run lets eight things befall the payment.
func (st *story) run() {
	acts := []func(){
		st.capture, st.cancel, st.refund, st.refund, st.refundElsewhere, st.refundTurns, st.captureElsewhere, st.cancelElsewhere,
		st.disputeOpened, st.disputeClosed,
	}
	for range 8 {
		st.steps++
		acts[st.random.IntN(len(acts))]()
		require.True(st.t, st.model.Balanced(), "%v", st.told)
		st.agrees()
	}
}

// some is one of the amounts that matter.
func (st *story) some() int64 {
	amounts := []int64{0, 300, 300, 500, storyAmount, storyAmount + 1}
	return amounts[st.random.IntN(len(amounts))]
}

// answers sends a command and holds its answer against the model's.
func (st *story) answers(operation string, body map[string]any, want model.Verdict) system.Answer {
	st.t.Helper()
	answer := post(st.t, st.s, st.id, operation, fmt.Sprintf("%s-%d", st.name, st.steps), body)
	st.tell("%s %v: %d, want %q", operation, body, answer.Status, want)
	if want == model.Done {
		require.Less(st.t, answer.Status, http.StatusMultipleChoices, "%s %v", answer.Body, st.told)
		require.NotEqual(st.t, http.StatusAccepted, answer.Status, "%s %v", answer.Body, st.told)
		return answer
	}
	require.EqualValues(st.t, want, answer.Problem(st.t).Code, "%s %v", answer.Body, st.told)
	return answer
}

func (st *story) asked(amount int64) map[string]any {
	body := map[string]any{}
	if amount > 0 {
		body["amount"], body["reference"] = amount, fmt.Sprintf("part-%d", st.steps)
	}
	return body
}

func (st *story) capture() {
	amount, keep := st.some(), st.random.IntN(2) == 0
	body := st.asked(amount)
	if keep && amount > 0 {
		body["final"] = false
	}
	st.answers("capture", body, st.model.Capture(amount, keep && amount > 0))
}

func (st *story) cancel() { st.answers("cancel", map[string]any{}, st.model.Cancel()) }

func (st *story) refund() {
	name, amount := fmt.Sprintf("refund-%d", st.steps), st.some()
	becomes := payments.RefundSucceeded
	if st.random.IntN(3) == 0 {
		becomes = payments.RefundPending
	}
	want := st.model.Refund(name, amount, becomes)
	refund, made := st.model.Refunds[name]
	if made && want == model.Done {
		_, err := st.s.Twin.PlanRefund(st.t.Context(), st.intent, control.RefundPlan{
			Status: string(becomes), Unfunded: becomes == payments.RefundPending,
		})
		require.NoError(st.t, err)
	}
	answer := st.answers("refunds", st.asked(amount), want)
	if !made || want != model.Done {
		return
	}
	var view payments.RefundView
	require.NoError(st.t, json.Unmarshal(answer.Body, &view))
	require.Equal(st.t, refund.Amount, view.Amount, "%v", st.told)
	st.ids[name] = view.Refund
}

// refundElsewhere gives back what Stripe would.
func (st *story) refundElsewhere() {
	if st.model.Captured == 0 || st.model.Refundable() < 100 || len(st.model.Disputes) > 0 {
		return
	}
	name := fmt.Sprintf("elsewhere-%d", st.steps)
	made, err := st.s.Twin.RefundElsewhere(st.t.Context(), st.intent, control.RefundElsewhere{Amount: 100})
	require.NoError(st.t, err, "%v", st.told)
	st.model.RefundElsewhere(name, 100)
	st.ids[name] = made.ID
	st.tell("refunded 100 elsewhere")
}

// refundTurns ends a pending refund, or fails one that had succeeded.
func (st *story) refundTurns() {
	for _, name := range st.names(st.model.Refunds) {
		to := payments.RefundFailed
		switch refund := st.model.Refunds[name]; {
		case refund.Status == payments.RefundPending && st.random.IntN(2) == 0:
			to = payments.RefundSucceeded
		case refund.Status != payments.RefundPending && refund.Status != payments.RefundSucceeded, len(st.model.Disputes) > 0:
			continue
		}
		_, err := st.s.Twin.SettleRefund(st.t.Context(), st.ids[name], control.SettleRefund{Status: string(to)})
		require.NoError(st.t, err, "%v", st.told)
		st.model.RefundBecomes(name, to)
		st.tell("%s became %s", name, to)
		return
	}
}

// names are the names in their order, so that a seed repeats its story.
func (st *story) names(of map[string]model.Refund) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (st *story) captureElsewhere() {
	if st.model.Status != payments.StatusRequiresCapture {
		return
	}
	_, err := st.s.Twin.CaptureElsewhere(st.t.Context(), st.intent, control.CaptureElsewhere{Amount: st.model.Capturable - 50})
	require.NoError(st.t, err, "%v", st.told)
	st.model.Captured, st.model.Capturable, st.model.Status = st.model.Captured+st.model.Capturable-50, 0, payments.StatusSucceeded
	st.tell("captured all but 50 elsewhere")
}

func (st *story) cancelElsewhere() {
	if st.model.Status != payments.StatusRequiresCapture || st.model.Captured > 0 {
		return
	}
	_, err := st.s.Twin.CancelElsewhere(st.t.Context(), st.intent, control.CancelElsewhere{})
	require.NoError(st.t, err, "%v", st.told)
	require.Equal(st.t, model.Done, st.model.Cancel())
	st.tell("canceled elsewhere")
}

// disputeOpened asks for what is left of the money, or only asks.
func (st *story) disputeOpened() {
	pending := len(st.model.RefundAmounts(payments.RefundPending)) > 0
	left := st.model.Captured - st.model.Refunded()
	if st.model.Status != payments.StatusSucceeded || pending || left == 0 || len(st.model.Disputes) > 0 {
		return
	}
	how := control.OpenDispute{Status: "needs_response"}
	if st.random.IntN(3) == 0 {
		how.Status, left = "warning_needs_response", 0
	}
	opened, err := st.s.Twin.OpenDispute(st.t.Context(), st.intent, how)
	require.NoError(st.t, err, "%v", st.told)
	st.model.Dispute("dispute", left)
	st.ids["dispute"] = opened.ID
	st.tell("disputed: %d withdrawn", left)
}

func (st *story) disputeClosed() {
	dispute, open := st.model.Disputes["dispute"]
	if !open || dispute.Status.Terminal() {
		return
	}
	won := st.random.IntN(2) == 0
	how := control.CloseDispute{Status: "lost", ReinstatedFirst: st.random.IntN(2) == 0}
	switch {
	case dispute.Withdrawn == 0:
		how.Status = "warning_closed"
	case won:
		how.Status = "won"
	}
	_, err := st.s.Twin.CloseDispute(st.t.Context(), st.ids["dispute"], how)
	require.NoError(st.t, err, "%v", st.told)
	st.model.DisputeEnds("dispute", won)
	st.tell("the dispute was closed as %s", how.Status)
}

// agrees waits until the engine knows what the model knows.
func (st *story) agrees() {
	st.t.Helper()
	var differs string
	st.s.EventuallyFlushed(func() string { return fmt.Sprintf("%s\n%v", differs, st.told) }, func() bool {
		differs = st.differs()
		return differs == ""
	})
}

// ofMerchant counts what wallets are owed as the merchant's.
func ofMerchant(positions map[string]int64) map[string]int64 {
	left := map[string]int64{}
	for account, amount := range positions {
		if strings.HasPrefix(account, "wallet:") {
			account = string(ledger.MerchantBalance)
		}
		if left[account] += amount; left[account] == 0 {
			delete(left, account)
		}
	}
	return left
}

// differs says where the engine and the model stand apart; empty when they agree.
func (st *story) differs() string {
	view, m := st.s.Payment(st.id), st.model
	got := fmt.Sprintln(view.Status, view.AmountCapturable, view.AmountCaptured, view.AmountRefunded)
	want := fmt.Sprintln(m.Status, m.Capturable, m.Captured, m.Refunded())
	got += fmt.Sprintln(ofMerchant(st.s.Positions(st.id)))
	want += fmt.Sprintln(m.Position())
	var list struct{ Data []payments.RefundView }
	require.NoError(st.t, json.Unmarshal(st.s.Get("/v1/payments/"+st.id.String()+"/refunds").Body, &list))
	for _, status := range payments.RefundStatuses() {
		var amounts []int64
		for _, refund := range list.Data {
			if refund.Status == status {
				amounts = append(amounts, refund.Amount)
			}
		}
		slices.Sort(amounts)
		got += fmt.Sprintln(status, amounts)
		want += fmt.Sprintln(status, m.RefundAmounts(status))
	}
	if got == want {
		return ""
	}
	return "the engine:\n" + got + "the model:\n" + want
}
