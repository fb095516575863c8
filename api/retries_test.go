package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

// A shopper who gives up and comes back with fresh keys for the same order is not charged again.
func TestFreshKeysForOneOrderMakeOnePayment(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents", Point: control.BeforeEffect})
	require.NoError(t, err)
	impatient, giveUp := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := s.Post(impatient, s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
		gaveUp <- err
	}()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	giveUp()
	require.Error(t, <-gaveUp)
	named := map[payments.PaymentID]bool{}
	for _, key := range []string{"K2", "K3"} {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", key, system.Order("order-1", 1000), "wait=0")
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
		named[answer.Payment(t).ID] = true
	}
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	for _, key := range []string{"K1", "K2", "K3"} {
		s.Eventually("each key gets the one payment", func() bool {
			answer := s.Create(key, system.Order("order-1", 1000))
			if answer.Status != http.StatusCreated {
				return false
			}
			named[answer.Payment(t).ID] = true
			return true
		})
	}
	require.Len(t, named, 1)
	for id := range named {
		require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
		require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals WHERE payment = $1`, id.UUID))
	}
}

// Fifty requests with one key on one barrier: one executes, the others get its answer or are told to come back.
func TestParallelRequestsWithOneKeyExecuteOnce(t *testing.T) {
	t.Parallel()
	const callers = 50
	s := system.Start(t)
	var barrier, done sync.WaitGroup
	barrier.Add(callers)
	answers := make([]system.Answer, callers)
	failures := make([]error, callers)
	for caller := range callers {
		done.Go(func() {
			barrier.Done()
			barrier.Wait()
			answers[caller], failures[caller] = s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=30")
		})
	}
	done.Wait()
	var created []byte
	for caller, answer := range answers {
		require.NoError(t, failures[caller])
		switch answer.Status {
		case http.StatusCreated:
			if created == nil {
				created = answer.Body
			}
			require.Equal(t, created, answer.Body)
		case http.StatusConflict:
			require.Equal(t, "in_progress", answer.Problem(t).Code)
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
			require.NotEmpty(t, answer.Header.Get("Location"))
		default:
			require.Fail(t, "unexpected answer", "%d %s", answer.Status, answer.Body)
		}
	}
	require.NotNil(t, created)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), 1)
}

// Stripe took the money and the next step fails: the retry goes on with the same operation instead of beginning another.
func TestAFailureAfterTheChargeIsGoneOnWith(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Exec(`CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$`)
	s.Exec(`CREATE TRIGGER fail BEFORE INSERT ON payonce.ledger_journals FOR EACH ROW EXECUTE FUNCTION public.fail()`)
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status)
	id := answer.Payment(t).ID
	s.Eventually("Stripe took the money", func() bool { return len(s.Books(id)) == 1 && s.Book(id).Captured == 1000 })
	require.Equal(t, payments.StatusSubmitted, s.Payment(id).Status, "never ahead of the ledger")
	s.Exec(`DROP TRIGGER fail ON payonce.ledger_journals`)
	s.Eventually("the retry gets the result", func() bool {
		return s.Create("K1", system.Order("order-1", 1000)).Status == http.StatusCreated
	})
	require.Equal(t, 1, s.Book(id).ConfirmsExecuted)
	keys := map[string]bool{}
	for _, send := range s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm") {
		keys[send.IdempotencyKey] = true
	}
	require.Len(t, keys, 1)
}

// The same key of two tenants names two payments, with equal and with different contents.
func TestTheSameKeyOfTwoTenantsIsTwoPayments(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	_, otherKey := s.NewTenant("other-merchant")
	mine := s.Create("1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, mine.Status)
	for key, amount := range map[string]int64{"1": 1000, "2": 2000} {
		if key == "2" {
			require.Equal(t, http.StatusCreated, s.Create("2", system.Order("order-2", 1000)).Status)
		}
		theirs, err := s.Post(t.Context(), otherKey, "/v1/payments", key, system.Order("order-"+key, amount), "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, theirs.Status, "%s", theirs.Body)
		require.False(t, theirs.Replayed())
		require.NotEqual(t, mine.Payment(t).ID, theirs.Payment(t).ID)
		require.Equal(t, amount, s.Book(theirs.Payment(t).ID).Captured)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/payments/"+mine.Payment(t).ID.String(), nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+otherKey)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

// The key is forgotten everywhere, by our sweep and by Stripe: the reference still names the payment.
func TestARepeatAfterTheWindowIsNotASecondCharge(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, first.Status)
	s.Settle()
	s.DB.AdvanceClock(t, 25*time.Hour)
	swept, err := boundaries.Sweep(t.Context(), s.App.System, s.Config.Timing)
	require.NoError(t, err)
	require.Positive(t, swept)
	require.NoError(t, s.Twin.Tick(t.Context()))
	again := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	require.True(t, again.Replayed())
	require.Equal(t, first.Payment(t).ID, again.Payment(t).ID)
	other := s.Create("K1", system.Order("order-1", 2000))
	require.Contains(t, []int{http.StatusConflict, http.StatusUnprocessableEntity}, other.Status)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	require.EqualValues(t, 1000, s.Book(first.Payment(t).ID).Captured)
}

// A finished payment is not run again, by callers or by anybody who starts its workflow.
func TestAFinishedPaymentIsNotRunAgain(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := s.Create("K1", system.Order("order-1", 1000))
	require.Equal(t, http.StatusCreated, first.Status)
	workflow := boundaries.PaymentWorkflowID(first.Payment(t).ID)
	require.NoError(t, s.App.Temporal.GetWorkflow(t.Context(), workflow, "").Get(t.Context(), nil))
	var done sync.WaitGroup
	for range 10 {
		done.Go(func() {
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=20")
			if err != nil || answer.Status != http.StatusCreated || string(answer.Body) != string(first.Body) {
				t.Error(fmt.Errorf("%w: %d %s", err, answer.Status, answer.Body))
			}
		})
	}
	done.Wait()
	_, err := s.App.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflow, TaskQueue: s.Config.TaskQueue, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
	}, workflows.NamePayment, workflows.PaymentInput{})
	require.Error(t, err)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
}
