package activities

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/notifications"
	"payonce/payments"
)

// start is a payment just claimed, with its create and its first confirm open.
func start() situation {
	tenant := payments.TenantID{UUID: uuid.MustParse("018f0000-0000-7000-8000-000000000001")}
	id := boundaries.PaymentID(tenant, "order-1", 1)
	confirm := boundaries.RecordID(tenant, payments.OperationConfirm, boundaries.ConfirmOwnerKey(id, 1)).UUID
	return situation{
		payment: payments.Payment{
			ID: id, Tenant: tenant, Reference: "order-1", Attempt: 1, Account: payments.Account{ID: "acct_merchant"},
			Money: payments.Money{Amount: 1000, Currency: "usd"}, CaptureMethod: payments.CaptureAutomatic,
			Status: payments.StatusSubmitted, Stage: payments.StageSubmitted, LastCommand: 2,
		},
		open: []command{
			{
				record: boundaries.RecordID(tenant, payments.OperationCreate, "order-1#1"), operation: payments.OperationCreate, attempt: 1, number: 1,
				status: boundaries.RecordInProgress, answeredBy: &confirm,
			},
			{
				record: payments.RecordID{UUID: confirm}, operation: payments.OperationConfirm, attempt: 1, number: 2,
				status: boundaries.RecordInProgress, fence: 1,
			},
		},
		now: at(100),
	}
}

func at(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }

func intent(status stripeapi.IntentStatus) *stripeapi.Intent {
	i := &stripeapi.Intent{
		ID: "pi_1", Account: payments.Account{ID: "acct_merchant"}, Status: status, Money: payments.Money{Amount: 1000, Currency: "usd"},
		CaptureMethod: payments.CaptureAutomatic,
	}
	if status == stripeapi.IntentSucceeded {
		i.AmountReceived, i.LatestCharge = 1000, "ch_paid"
	}
	return i
}

func refusedIntent() *stripeapi.Intent {
	i := intent(stripeapi.IntentRequiresPaymentMethod)
	i.LatestCharge, i.LastError = "ch_refused", &payments.ProviderError{Code: "card_declined", Charge: "ch_refused"}
	return i
}

// tell applies facts in their order and returns where that leads: the end, what was posted, and how often each message was implied anew.
func tell(s situation, facts []Learnt) (end situation, posted int64, told map[message]bool) {
	told = map[message]bool{}
	for _, fact := range facts {
		ch := decide(s, fact, timing.Production())
		for _, posting := range ch.postings {
			posted += posting.Entries[0].Amount
		}
		for _, m := range ch.messages {
			told[m] = true
		}
		s = s.after(ch)
	}
	return s, posted, told
}

// What happened decides where a payment ends, never the order in which it is told nor how often.
func TestEveryOrderOfTellingEndsTheSame(t *testing.T) {
	event := uuid.MustParse("018f0000-0000-7000-8000-0000000000e1")
	confirmCall := boundaries.Call{Operation: payments.OperationConfirm, Fence: 1}
	facts := map[string]Learnt{
		"create answered":      {Source: SourceAnswer, Intent: intent(stripeapi.IntentRequiresPaymentMethod), BegunAt: at(1), Answer: &AnsweredCall{Status: 200, Call: boundaries.Call{Operation: payments.OperationCreate}}},
		"event created":        {Source: SourceEvent, Intent: intent(stripeapi.IntentRequiresPaymentMethod), Event: &event},
		"read while open":      {Source: SourceEvent, Intent: refusedIntent(), BegunAt: at(3), Event: &event},
		"confirm declined":     {Source: SourceAnswer, Intent: refusedIntent(), BegunAt: at(2), Answer: &AnsweredCall{Status: 402, Call: confirmCall, Decline: &payments.ProviderError{Code: "card_declined", Charge: "ch_refused"}}},
		"event succeeded":      {Source: SourceEvent, Intent: intent(stripeapi.IntentSucceeded), Event: &event},
		"poll after the money": {Source: SourcePoll, Intent: intent(stripeapi.IntentSucceeded), BegunAt: at(9)},
	}
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	orders := 0
	permute(names, func(order []string) {
		orders++
		told := make([]Learnt, 0, len(order)+1)
		for _, name := range order {
			told = append(told, facts[name])
		}
		end, posted, messages := tell(start(), append(told, facts[order[0]]))
		require.Equal(t, payments.StatusSucceeded, end.payment.Status, "%v", order)
		require.EqualValues(t, 1000, end.payment.AmountCaptured, "%v", order)
		require.EqualValues(t, 1000, posted, "%v", order)
		require.Empty(t, end.open, "%v", order)
		require.Nil(t, end.payment.LastError, "%v", order)
		require.True(t, messages[message{kind: notifications.PaymentSucceeded, subject: "payment/" + end.payment.ID.String()}], "%v", order)
		for m := range messages {
			require.Contains(t, []notifications.Kind{notifications.PaymentSucceeded, notifications.PaymentDeclined}, m.kind, "%v", order)
		}
	})
	require.Equal(t, 720, orders)
}

// While the confirm's answer is under way, an event's decline is noted and the command stays open; its own answer settles it.
func TestADeclineToldEarlyLeavesTheCommandToItsAnswer(t *testing.T) {
	s := start()
	bound, _, _ := tell(s, []Learnt{{Source: SourceAnswer, Intent: intent(stripeapi.IntentRequiresPaymentMethod), BegunAt: at(1)}})
	early, _, told := tell(bound, []Learnt{{Source: SourceEvent, Intent: refusedIntent(), BegunAt: at(3)}})
	require.Equal(t, payments.StatusSubmitted, early.payment.Status)
	require.Len(t, early.open, 2)
	require.Len(t, told, 1)
	settled, _, toldAgain := tell(early, []Learnt{{
		Source: SourceAnswer, Intent: refusedIntent(), BegunAt: at(2),
		Answer: &AnsweredCall{
			Status: 402, Call: boundaries.Call{Operation: payments.OperationConfirm, Fence: 1}, Decline: &payments.ProviderError{Code: "card_declined", Charge: "ch_refused"},
		},
	}})
	require.Equal(t, payments.StatusRequiresPaymentMethod, settled.payment.Status)
	require.Empty(t, settled.open)
	require.Empty(t, toldAgain, "the same refused attempt is told once")
}

// A read begun before a later read was applied says nothing any more.
func TestAnOlderReadDoesNotMoveThePaymentBack(t *testing.T) {
	s := start()
	end, _, _ := tell(s, []Learnt{
		{Source: SourceRead, Intent: intent(stripeapi.IntentProcessing), BegunAt: at(5)},
		{Source: SourceRead, Intent: intent(stripeapi.IntentRequiresAction), BegunAt: at(4)},
	})
	require.Equal(t, payments.StatusProcessing, end.payment.Status)
}

// A read of the hold that comes when its capture was told brings nothing back: neither the status nor what may be captured.
func TestAReadOfAHoldDoesNotBringBackWhatWasCaptured(t *testing.T) {
	event, held := uuid.MustParse("018f0000-0000-7000-8000-0000000000e1"), intent(stripeapi.IntentRequiresCapture)
	held.AmountCapturable = 1000
	end, posted, _ := tell(start(), []Learnt{
		{Source: SourceEvent, Intent: intent(stripeapi.IntentSucceeded), Event: &event},
		{Source: SourceRead, Intent: held, BegunAt: at(5)},
	})
	require.Equal(t, payments.StatusSucceeded, end.payment.Status)
	require.EqualValues(t, 1000, posted)
	require.Zero(t, end.payment.AmountCapturable)
}

func permute(names []string, visit func([]string)) {
	var recurse func(int)
	recurse = func(k int) {
		if k == len(names) {
			visit(names)
			return
		}
		for i := k; i < len(names); i++ {
			names[k], names[i] = names[i], names[k]
			recurse(k + 1)
			names[k], names[i] = names[i], names[k]
		}
	}
	recurse(0)
}
