package activities_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

const payouts = "/v1/payouts"

func payout(amount int64, reference string) map[string]any {
	return map[string]any{"amount": amount, "currency": "usd", "reference": reference}
}

func payOut(t *testing.T, s *system.System, key string, body any) system.Answer {
	t.Helper()
	answer, err := s.Post(t.Context(), s.APIKey, payouts, key, body, "wait=20")
	require.NoError(t, err)
	return answer
}

func payoutOf(t *testing.T, answer system.Answer) payments.PayoutView {
	t.Helper()
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	var view payments.PayoutView
	require.NoError(t, json.Unmarshal(answer.Body, &view))
	return view
}

func readPayout(t *testing.T, s *system.System, id payments.PayoutID) payments.PayoutView {
	t.Helper()
	answer := s.Get(payouts + "/" + id.String())
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	var view payments.PayoutView
	require.NoError(t, json.Unmarshal(answer.Body, &view))
	return view
}

func listPayouts(t *testing.T, s *system.System, query string) (data []payments.PayoutView, next string) {
	t.Helper()
	var list struct {
		Data []payments.PayoutView
		Next string `json:"next_cursor"`
	}
	answer := s.Get(payouts + query)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.NoError(t, json.Unmarshal(answer.Body, &list))
	return list.Data, list.Next
}

// funded is a tenant with an amount that Stripe has released.
func funded(t *testing.T, s *system.System, amount int64) {
	t.Helper()
	paid(t, s, amount)
	s.DB.AdvanceClock(t, 72*time.Hour)
	s.Settle()
}

// inBank is what the ledger says that the bank has got, and what Stripe is left with, fees not counted.
func inBank(s *system.System) (bank, atStripe int) {
	const sum = `SELECT coalesce(sum(e.amount), 0)::bigint FROM payonce.ledger_entries e JOIN payonce.ledger_accounts a ON a.id = e.account
		JOIN payonce.ledger_journals j ON j.id = e.journal WHERE a.name = $1 AND j.rule <> 'fee'`
	return s.Count(sum, "bank:settlement"), s.Count(sum, "stripe:receivable")
}

func booked(t *testing.T, s *system.System, bank, atStripe int) {
	t.Helper()
	gotBank, gotStripe := inBank(s)
	require.Equal(t, [2]int{bank, atStripe}, [2]int{gotBank, gotStripe})
}

// A payout is made once, however often it is asked for; two equal ones with two references are two.
func TestAPayoutIsMadeOnceAndTwoEqualOnesAreTwo(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	first := payOut(t, s, "P1", payout(3000, "week-1"))
	made := payoutOf(t, first)
	require.Equal(t, payments.PayoutPending, made.Status)
	require.Equal(t, payments.StageProcessing, made.Stage)
	require.Equal(t, payouts+"/"+made.ID.String(), first.Header.Get("Location"))
	require.Equal(t, first.Body, payOut(t, s, "P1", payout(3000, "week-1")).Body)
	require.Equal(t, first.Body, payOut(t, s, "P2", payout(3000, "week-1")).Body, "a fresh key attaches")
	require.Equal(t, "reference_conflict", payOut(t, s, "P3", payout(2000, "week-1")).Problem(t).Code)
	require.Equal(t, "key_reused", payOut(t, s, "P1", payout(3000, "week-9")).Problem(t).Code)
	second := payoutOf(t, payOut(t, s, "P4", payout(3000, "week-2")))
	require.NotEqual(t, made.ID, second.ID)
	s.Settle()
	booked(t, s, 6000, 4000)
	require.Len(t, s.Requests(http.MethodPost, payouts), 2)

	s.DB.AdvanceClock(t, 72*time.Hour)
	s.Eventually("the bank has it", func() bool {
		_, err := s.Twin.Flush(t.Context(), true)
		require.NoError(t, err)
		return readPayout(t, s, made.ID).Status == payments.PayoutPaid
	})
	s.Settle()
	booked(t, s, 6000, 4000)
	require.Equal(t, payments.StageLedgerApplied, readPayout(t, s, made.ID).Stage)
	newest, next := listPayouts(t, s, "?limit=1")
	require.Equal(t, second.ID, newest[0].ID)
	older, next := listPayouts(t, s, "?limit=1&cursor="+next)
	require.Equal(t, made.ID, older[0].ID)
	require.Empty(t, next)
}

// Of concurrent payouts that together take more than there is, those that fit are made, and the others are refused before Stripe is asked.
func TestConcurrentPayoutsNeverTakeMoreThanThereIs(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	var made, refused atomic.Int64
	var together sync.WaitGroup
	for i := range 6 {
		together.Go(func() {
			answer, err := s.Post(t.Context(), s.APIKey, payouts, fmt.Sprintf("P%d", i), payout(6000, fmt.Sprintf("week-%d", i)), "wait=20")
			switch {
			case err == nil && answer.Status == http.StatusCreated:
				made.Add(1)
			case err == nil && answer.Status == http.StatusConflict:
				refused.Add(1)
			}
		})
	}
	together.Wait()
	require.EqualValues(t, 1, made.Load())
	require.EqualValues(t, 5, refused.Load())
	over := payOut(t, s, "over", payout(4001, "over"))
	require.Equal(t, payments.CodeAmountTooLarge, over.Problem(t).Code)
	require.Empty(t, over.Header.Get("Location"))
	s.Settle()
	booked(t, s, 6000, 4000)
	require.Len(t, s.Requests(http.MethodPost, payouts), 1)
}

// What is asked for while Stripe does not answer is spoken for.
func TestAPayoutUnderWayReservesItsAmount(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	rule := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: payouts}, Fault: control.FaultReset})
	waiting, err := s.Post(t.Context(), s.APIKey, payouts, "P1", payout(6000, "week-1"), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, waiting.Status, "%s", waiting.Body)
	require.Contains(t, waiting.Header.Get("Location"), payouts)
	require.Equal(t, payments.CodeAmountTooLarge, payOut(t, s, "P2", payout(6000, "week-2")).Problem(t).Code)
	require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
	payoutOf(t, payOut(t, s, "P1", payout(6000, "week-1")))
	s.Settle()
	booked(t, s, 6000, 4000)
}

// Stripe refuses what it has not released yet: that is an outcome, and the amount is free again.
func TestARefusedPayoutIsAnOutcomeAndReservesNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	paid(t, s, 10_000)
	s.Settle()
	refused := payOut(t, s, "P1", payout(6000, "week-1"))
	require.Equal(t, http.StatusPaymentRequired, refused.Status, "%s", refused.Body)
	again := payOut(t, s, "P1", payout(6000, "week-1"))
	require.True(t, again.Replayed())
	require.Equal(t, refused.Body, again.Body)
	require.Empty(t, again.Header.Get("Location"))
	booked(t, s, 0, 10_000)
	s.DB.AdvanceClock(t, 72*time.Hour)
	payoutOf(t, payOut(t, s, "P2", payout(6000, "week-1 again")))
	s.Settle()
	booked(t, s, 6000, 4000)
}

// A payout that the bank sends back, days after it had it, and one that is canceled are credited again once, and may be paid out anew.
func TestAPayoutThatComesBackIsCreditedAgainOnce(t *testing.T) {
	t.Parallel()
	for name, becomes := range map[string][]control.SettlePayout{
		"failed after it was paid": {{Status: "paid"}, {Status: "failed", FailureCode: "account_closed"}},
		"failed":                   {{Status: "in_transit"}, {Status: "failed", FailureCode: "account_closed"}},
		"canceled":                 {{Status: "canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			funded(t, s, 10_000)
			made := payoutOf(t, payOut(t, s, "P1", payout(9000, "week-1")))
			for _, next := range becomes {
				s.Settle()
				booked(t, s, 9000, 1000)
				_, err := s.Twin.SettlePayout(t.Context(), made.Payout, next)
				require.NoError(t, err)
				s.Eventually("it has become "+next.Status, func() bool { return string(readPayout(t, s, made.ID).Status) == next.Status })
			}
			s.Settle()
			booked(t, s, 0, 10_000)
			last := becomes[len(becomes)-1]
			require.Equal(t, last.FailureCode, readPayout(t, s, made.ID).FailureReason)
			payoutOf(t, payOut(t, s, "P2", payout(9000, "week-1 again")))
			s.Settle()
			booked(t, s, 9000, 1000)
		})
	}
}

// The answer to a payout is lost: the same key asks again, and where that is no use the list decides. One payout is made.
func TestAPayoutWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]control.Rule{
		"lost":               {Fault: control.FaultAnswerLost, Times: 3},
		"an error afterward": {Fault: control.FaultErrorAfter, Times: 1},
		"a stored error":     {Fault: control.FaultErrorBeforeStored, Times: 1},
		"never arrived":      {Fault: control.FaultReset, Times: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			funded(t, s, 10_000)
			rule.Match = control.Match{Method: http.MethodPost, Path: payouts}
			s.Fault(rule)
			payoutOf(t, payOut(t, s, "P1", payout(4000, "week-1")))
			s.Settle()
			made, err := s.Twin.AllPayouts(t.Context(), system.AccountID)
			require.NoError(t, err)
			require.Len(t, made, 1)
			booked(t, s, 4000, 6000)
		})
	}
}

// What was paid out elsewhere is adopted once and marked so; it lowers what may be paid out.
func TestPayoutsMadeElsewhereAreAdoptedOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	payOutElsewhere(t, s, url.Values{"amount": {"7000"}, "currency": {"usd"}})
	s.Settle()
	booked(t, s, 7000, 3000)
	all, _ := listPayouts(t, s, "")
	require.Len(t, all, 1)
	require.True(t, all[0].External)
	require.Equal(t, payments.PayoutPending, all[0].Status)
	require.Equal(t, payments.CodeAmountTooLarge, payOut(t, s, "P1", payout(4000, "week-1")).Problem(t).Code)
	_, err := s.Twin.SettlePayout(t.Context(), all[0].Payout, control.SettlePayout{Status: "failed"})
	require.NoError(t, err)
	s.Settle()
	booked(t, s, 0, 10_000)
	require.Equal(t, payments.PayoutFailed, readPayout(t, s, all[0].ID).Status)
}

// payOutElsewhere makes a payout past payonce.
func payOutElsewhere(t *testing.T, s *system.System, body url.Values) {
	t.Helper()
	makeElsewhere(t, s, payouts, body)
}

// makeElsewhere asks Stripe past payonce.
func makeElsewhere(t *testing.T, s *system.System, path string, body url.Values) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.TwinURL+path, strings.NewReader(body.Encode()))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+system.SecretKey)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// No event tells of the payout: the poller does.
func TestAPayoutThatNoEventTellsOfIsPolled(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	made := payoutOf(t, payOut(t, s, "P1", payout(4000, "week-1")))
	_, err := s.Twin.SettlePayout(t.Context(), made.Payout, control.SettlePayout{Status: "paid"})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, time.Hour)
	s.Eventually("it is paid", func() bool { return readPayout(t, s, made.ID).Status == payments.PayoutPaid })
	s.Settle()
	booked(t, s, 4000, 6000)
}

// Some currencies are paid out in whole units only, whatever they are charged in (https://docs.stripe.com/currencies).
func TestSomeCurrenciesArePaidOutInWholeUnits(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for _, currency := range []string{"huf", "twd"} {
		refused := payOut(t, s, "P-"+currency, system.With(payout(1050, "week-1"), "currency", currency))
		require.Equal(t, http.StatusBadRequest, refused.Status, "%s", refused.Body)
		require.Equal(t, "amount", refused.Problem(t).Field)
		nothing := payOut(t, s, "P-"+currency, system.With(payout(1000, "week-1"), "currency", currency))
		require.Equal(t, payments.CodeAmountTooLarge, nothing.Problem(t).Code, "nothing of it was earned yet")
	}
}

// No event tells of what was paid out elsewhere, nor of what the bank sends back of a payout that is over: the round through the balance does, once.
func TestPayoutsThatNoEventTellsOfAreFoundInTheBalance(t *testing.T) {
	t.Parallel()
	s := system.Start(t, func(c *app.Config) { c.Timing.FeesEvery, c.Timing.FeesLag = 100*time.Millisecond, 0 })
	funded(t, s, 10_000)
	s.Fault(control.Rule{Match: control.Match{EventType: "*"}, Fault: control.FaultDrop})
	made := payoutOf(t, payOut(t, s, "P1", payout(2000, "week-1")))
	payOutElsewhere(t, s, url.Values{"amount": {"5000"}, "currency": {"usd"}})
	_, err := s.Twin.SettlePayout(t.Context(), made.Payout, control.SettlePayout{Status: "paid"})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, time.Hour)
	s.Eventually("both are known, and ours is paid", func() bool {
		all, _ := listPayouts(t, s, "")
		return len(all) == 2 && readPayout(t, s, made.ID).Status == payments.PayoutPaid
	})
	booked(t, s, 7000, 3000)
	_, err = s.Twin.SettlePayout(t.Context(), made.Payout, control.SettlePayout{Status: "failed"})
	require.NoError(t, err)
	s.DB.AdvanceClock(t, time.Hour)
	s.Eventually("it has come back", func() bool { return readPayout(t, s, made.ID).Status == payments.PayoutFailed })
	s.Settle()
	booked(t, s, 5000, 5000)
}

// Of an account that tenants share nobody can tell whose money a payout made elsewhere takes; what is ours names its tenant.
func TestAPayoutMadeElsewhereOfASharedAccountIsQuarantined(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	funded(t, s, 10_000)
	_, err := tenants.CreateTenant(t.Context(), s.App.System, "another", payments.Account{ID: system.AccountID})
	require.NoError(t, err)
	payOutElsewhere(t, s, url.Values{"amount": {"1000"}, "currency": {"usd"}})
	made := payoutOf(t, payOut(t, s, "P1", payout(2000, "week-1")))
	_, err = s.Twin.SettlePayout(t.Context(), made.Payout, control.SettlePayout{Status: "paid"})
	require.NoError(t, err)
	s.Settle()
	require.Equal(t, payments.PayoutPaid, readPayout(t, s, made.ID).Status)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_events WHERE object_kind = 'payout' AND status = 'quarantined'`))
	booked(t, s, 2000, 8000)
}
