package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/boundaries"
	"payonce/internal/timing"
	"payonce/payments"
)

func TestTheOutcomeIsSentAsItIsStored(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}, nil)
	stored := &boundaries.Answer{Code: http.StatusCreated, Headers: map[string]string{"Location": "/v1/payments/x"}, Body: []byte("{\"a\":  1}\n")}
	d.commands.await = func(context.Context) (*boundaries.Answer, error) { return stored, nil }

	got := d.create(order)

	require.Equal(t, http.StatusCreated, got.status)
	require.Equal(t, string(stored.Body), got.body)
	require.Equal(t, "/v1/payments/x", got.header.Get("Location"))
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Empty(t, got.header.Get("Idempotent-Replayed"))
	require.Equal(t, []payments.PaymentID{payment}, d.waker.woken)
	require.Empty(t, d.commands.left)
}

func TestAReplayIsByteEqualAndMarked(t *testing.T) {
	d := newDoor(t)
	stored := &boundaries.Answer{
		Code: http.StatusPaymentRequired, Headers: map[string]string{"content-type": "application/problem+json"}, Body: []byte("{ }"),
	}
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Replay, Tenant: d.tenant, Answer: stored}, nil)

	got := d.create(order)

	require.Equal(t, http.StatusPaymentRequired, got.status)
	require.Equal(t, "{ }", got.body)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
	require.Empty(t, d.waker.woken, "nothing executes again")
}

func TestAfterTheReplayWindowThePaymentIsShownAsItIs(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Replay, Tenant: d.tenant, Payment: payment}, nil)

	got := d.create(order)

	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
	requireView(t, got, payment)
}

func requireView(t *testing.T, got answer, payment payments.PaymentID) {
	t.Helper()
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	var view payments.View
	require.NoError(t, json.Unmarshal([]byte(got.body), &view))
	require.Equal(t, payment, view.ID)
	require.Equal(t, payments.StatusSubmitted, view.Status)
	require.Contains(t, view.Stages, payments.StageSubmitted)
}

func TestWithoutAnOutcomeInTimeTheCallerIsSentAway(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	claim := boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}
	d.commands.answersWith(claim, nil)
	d.commands.await = never

	got := d.create(order, with("Prefer", "wait=0"))

	require.Equal(t, http.StatusAccepted, got.status)
	require.Equal(t, "/v1/payments/"+payment.String(), got.header.Get("Location"))
	require.Equal(t, "1", got.header.Get("Retry-After"))
	requireView(t, got, payment)
	require.Equal(t, claim, receive(t, d.commands.left).claim, "a repeat may attach now")
}

func TestAWaitThatEndsWithItsDeadlineIsNoFault(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}, nil)
	d.commands.await = func(ctx context.Context) (*boundaries.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}

	require.Equal(t, http.StatusAccepted, d.create(order, with("Prefer", "wait=0")).status)
}

func TestAClosedConnectionEndsTheWaitAndNotTheWork(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	claim := boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}
	d.commands.answersWith(claim, nil)
	waiting := make(chan struct{})
	d.commands.await = func(ctx context.Context) (*boundaries.Answer, error) {
		close(waiting)
		return never(ctx)
	}

	d.hangUpAfter(waiting)

	left := receive(t, d.commands.left)
	require.Equal(t, claim, left.claim)
	require.NoError(t, left.ctx, "told in a context that is still good")
	require.Equal(t, []payments.PaymentID{payment}, d.waker.woken)
}

func TestAClosedConnectionDoesNotCutAClaim(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}, nil)
	d.commands.await = never
	claiming := make(chan struct{})
	cut := make(chan error, 1)
	d.commands.during = func(ctx context.Context) {
		close(claiming)
		<-(<-d.requests).Done() // the caller is gone by now
		cut <- ctx.Err()
	}

	d.hangUpAfter(claiming)

	require.NoError(t, receive(t, cut))
	receive(t, d.commands.left)
	require.Equal(t, []payments.PaymentID{payment}, d.waker.woken, "the work goes on")
}

// hangUpAfter sends an order and closes the connection once the channel is closed.
func (d *door) hangUpAfter(reached <-chan struct{}) {
	d.t.Helper()
	ctx, hangUp := context.WithCancel(d.t.Context())
	defer hangUp()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/v1/payments", strings.NewReader(order))
	require.NoError(d.t, err)
	request.Header.Set("Authorization", "Bearer "+d.key)
	request.Header.Set("Idempotency-Key", "k1")
	request.Header.Set("Prefer", "wait=30")
	go func() {
		<-reached
		hangUp()
	}()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, err = transport.RoundTrip(request)
	require.ErrorIs(d.t, err, context.Canceled)
}

func TestAWorkflowThatIsNotWokenIsTheRelaysToWake(t *testing.T) {
	d := newDoor(t)
	payment := d.newPayment(d.tenant)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant, Payment: payment}, nil)
	d.commands.await = never
	d.waker.fails = errors.New("no connection to the frontend")

	got := d.create(order, with("Prefer", "wait=0"))

	require.Equal(t, http.StatusAccepted, got.status)
	require.NotContains(t, got.body, "frontend")
}

func TestRefusalsOfAClaim(t *testing.T) {
	d := newDoor(t)
	other := payments.PaymentID{UUID: uuid.New()}
	for name, c := range map[string]struct {
		claim      boundaries.Claim
		err        error
		status     int
		code       string
		payment    bool
		retryAfter string
	}{
		"in progress": {
			claim:  boundaries.Claim{Outcome: boundaries.InProgress, Payment: other, RetryAfter: 1200 * time.Millisecond},
			status: http.StatusConflict, code: "in_progress", payment: true, retryAfter: "2",
		},
		"other content": {
			claim: boundaries.Claim{Outcome: boundaries.Mismatch}, status: http.StatusUnprocessableEntity, code: "key_reused",
		},
		"reference taken": {
			err:    &boundaries.ConflictError{Code: boundaries.ConflictReference, Payment: other},
			status: http.StatusConflict, code: "reference_conflict", payment: true,
		},
		"reference ended": {
			err:    &boundaries.ConflictError{Code: boundaries.ConflictReferenceEnded, Payment: other},
			status: http.StatusConflict, code: "reference_ended", payment: true,
		},
		"replaces another": {
			err: &boundaries.ConflictError{Code: boundaries.ConflictReplacesUnknown}, status: http.StatusConflict, code: "replaces_unknown",
		},
		"database full": {
			err: &pgconn.PgError{Code: "53300", Message: "sorry, too many clients"}, status: http.StatusServiceUnavailable, code: "unavailable", retryAfter: "1",
		},
		"database slow":  {err: context.DeadlineExceeded, status: http.StatusServiceUnavailable, code: "unavailable", retryAfter: "1"},
		"a fault":        {err: errors.New("inner cause"), status: http.StatusInternalServerError, code: "internal"},
		"no outcome":     {claim: boundaries.Claim{Outcome: "inner cause"}, status: http.StatusInternalServerError, code: "internal"},
		"a column fault": {err: &pgconn.PgError{Code: "42703", Message: "inner cause"}, status: http.StatusInternalServerError, code: "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			d.commands.answersWith(c.claim, c.err)

			got := d.create(order)

			require.Equal(t, c.status, got.status)
			problem := got.problem(t)
			require.Equal(t, c.code, problem.Code)
			require.Equal(t, c.retryAfter, got.header.Get("Retry-After"))
			require.NotContains(t, got.body, "inner cause")
			require.NotContains(t, got.body, "clients")
			if c.payment {
				require.Equal(t, other.String(), problem.Payment)
				require.Equal(t, "/v1/payments/"+other.String(), got.header.Get("Location"))
			} else {
				require.Empty(t, problem.Payment)
				require.Empty(t, got.header.Get("Location"))
			}
		})
	}
	require.Empty(t, d.waker.woken)
}

func TestADatabaseThatFailsDuringTheWaitIsAnOutage(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Acquired, Tenant: d.tenant}, nil)
	d.commands.await = func(context.Context) (*boundaries.Answer, error) { return nil, &pgconn.PgError{Code: "57P01"} }

	require.Equal(t, "unavailable", d.create(order).problem(t).Code)
	require.Len(t, d.commands.left, 1)
}

func TestAPanicIsAProblemAndIsLogged(t *testing.T) {
	d := newDoor(t)
	d.commands.claim = func() (boundaries.Claim, error) { panic("the reason") }

	got := d.create(order)

	require.Equal(t, "internal", got.problem(t).Code)
	require.NotContains(t, got.body, "the reason")
}

func TestTheClaimIsMadeOfWhatTheCallerSent(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)

	d.create(`{"metadata":{"b":"2","a":"1"},"currency":"USD","amount":1000,"description":null,"reference":"order-1"}`,
		with("Idempotency-Key", `"k \"1\""`), with("Prefer", "respond-async, wait=3"))

	asked := d.commands.asked(t)
	require.Equal(t, d.tenant, asked.tenant)
	require.Equal(t, boundaries.CallerKey(`k "1"`), asked.key)
	want := payments.CreateCommand{Reference: "order-1", Amount: 1000, Currency: "usd", Metadata: map[string]string{"a": "1", "b": "2"}}
	require.Equal(t, want, asked.command, "what was sent and no defaults")
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", want)
	require.NoError(t, err)
	require.Equal(t, normalised, asked.normalised)
	require.Equal(t, 3*time.Second+timing.Production().AttendMargin, asked.attendedFor)
}

func TestSpellingsOfOneCommandHaveOneHash(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	one := []string{
		`{"reference":"o","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"}}`,
		`{ "metadata" : {"b":"2", "a":"1"}, "currency":"USD","amount":1000,"reference":"\u006f" }`,
		`{"reference":"o","amount":1000,"currency":"Usd","metadata":{"a":"1","b":"2","c":null},"description":null}`,
	}
	others := []string{
		`{"reference":"o","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"},"description":""}`,
		`{"reference":"o","amount":1001,"currency":"usd","metadata":{"a":"1","b":"2"}}`,
		`{"reference":"o","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"},"capture_method":"automatic"}`,
		`{"reference":"o","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"},"destinations":[{"account":"merchant:balance","amount":1000}]}`,
	}
	for _, body := range append(one, others...) {
		d.create(body)
	}

	hash := func(i int) boundaries.RequestHash { return d.commands.claims[i].normalised.Hash }
	for i := range one {
		require.Equal(t, hash(0), hash(i), one[i])
	}
	for i := range others {
		require.NotEqual(t, hash(0), hash(len(one)+i), others[i])
	}
}

// withoutDatabase lets the API find no database where it looks for one.
func withoutDatabase(t *testing.T) func(*api.Config) {
	t.Helper()
	return func(c *api.Config) {
		config := c.Pool.Config().Copy()
		config.ConnConfig.Host, config.ConnConfig.Port, config.ConnConfig.Fallbacks = "127.0.0.1", 1, nil
		nowhere, err := newPool(config)
		require.NoError(t, err)
		t.Cleanup(nowhere.Close)
		c.Pool = nowhere
	}
}

func TestWithoutTheDatabaseTheAPISaysComeBack(t *testing.T) {
	d := newDoor(t, withoutDatabase(t))

	got := d.create(order)

	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Equal(t, "unavailable", got.problem(t).Code)
	require.NotContains(t, got.body, "127.0.0.1")
}
