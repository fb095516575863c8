package client_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// Whatever happens on the way, the same bytes go out under the same key until there is an answer.
func TestACommandIsRepeatedAsItWasUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, mishap := range map[string]step{
		"the answer is lost":              loses,
		"the answer is cut":               cuts(http.StatusCreated, "application/json"),
		"a refusal is cut":                cuts(http.StatusConflict, "application/problem+json"),
		"the answer is no payment":        answers(http.StatusOK, nil, map[string]string{"captive": "portal"}),
		"the answer is no JSON":           answers(http.StatusNoContent, nil, nil),
		"500":                             refuses(http.StatusInternalServerError, "internal", nil),
		"502 of something between us":     answers(http.StatusBadGateway, map[string]string{"Content-Type": "text/html"}, "<html>"),
		"503":                             refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
		"504":                             refuses(http.StatusGatewayTimeout, "", nil),
		"429":                             refuses(http.StatusTooManyRequests, "", nil),
		"409 in_progress":                 refuses(http.StatusConflict, client.CodeInProgress, nil),
		"a problem that is written badly": answers(http.StatusConflict, map[string]string{"Content-Type": "application/problem+json"}, "no object"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, mishap, mishap, shows(http.StatusCreated, succeeded()))
			answer, err := s.create()
			require.NoError(t, err)
			require.True(t, answer.Settled)
			require.Equal(t, succeeded(), answer.Payment)
			requests := s.requests()
			require.Len(t, requests, 3)
			for _, request := range requests {
				require.Equal(t, sent{
					method: http.MethodPost, path: "/v1/payments", key: client.IntentKey("checkout-1").String(), prefer: "wait=10",
					body:          `{"reference":"order-1","amount":1999,"currency":"usd","payment_method":"pm_card_visa"}`,
					authorization: "Bearer secret",
				}, request)
			}
			require.Len(t, s.pauses, 2)
		})
	}
}

// What is definite is not asked again.
func TestARefusalIsFinal(t *testing.T) {
	t.Parallel()
	for code, status := range map[client.Code]int{
		client.CodeFieldInvalid: 400, client.CodeUnauthorized: 401, client.CodeProviderRefused: 402, client.CodeForbiddenScope: 403,
		client.CodePaymentNotFound: 404, "body_too_slow": 408, client.CodeReferenceConflict: 409, client.CodeReferenceEnded: 409,
		client.CodePaymentSucceeded: 409, client.CodePaymentEnded: 409, "body_too_large": 413, "media_type_unsupported": 415,
		client.CodeKeyReused: 422,
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, refuses(status, code, map[string]string{"Request-Id": "r-1", "Idempotent-Replayed": "true"}))
			_, err := s.create()
			var refusal *client.RefusedError
			require.ErrorAs(t, err, &refusal)
			require.NotErrorIs(t, err, client.ErrNoAnswer)
			require.Equal(t, status, refusal.Status)
			require.Equal(t, code, client.CodeOf(err))
			require.Equal(t, paymentID(), *refusal.Payment)
			require.Equal(t, "r-1", refusal.RequestID)
			require.True(t, refusal.Replayed)
			require.Len(t, s.requests(), 1)
		})
	}
}

// A POST that follows a redirect arrives as a GET, and its answer would be taken for the command's.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		s := newServer(t, answers(status, map[string]string{"Location": "/v1/payments/elsewhere"}, nil))
		_, err := s.create()
		var refusal *client.RefusedError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, status, refusal.Status)
		require.Len(t, s.requests(), 1)
	}
}

// When the tries are used up, the caller learns that the outcome is not known, and the last cause.
func TestTheTriesAreBounded(t *testing.T) {
	t.Parallel()
	script := make([]step, client.DefaultTries)
	for i := range script {
		script[i] = refuses(http.StatusConflict, client.CodeInProgress, nil)
	}
	s := newServer(t, script...)
	_, err := s.create()
	require.ErrorIs(t, err, client.ErrNoAnswer)
	require.Equal(t, client.CodeInProgress, client.CodeOf(err))
	require.Len(t, s.requests(), client.DefaultTries)
	require.Len(t, s.pauses, client.DefaultTries-1)
}

// The context ends the tries, and the error says both that nothing is known and why it ended.
func TestTheContextEndsTheTries(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, func(http.ResponseWriter) {
		cancel()
		panic(http.ErrAbortHandler)
	})
	_, err := s.client.CreatePayment(ctx, client.IntentKey("checkout-1"), order())
	require.ErrorIs(t, err, client.ErrNoAnswer)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, s.requests(), 1)
}

// Without Retry-After the pauses double and are partly by chance; with it they are at least as long, within a bound.
func TestPauses(t *testing.T) {
	t.Parallel()
	const chance = 25 * time.Millisecond // half of half of the first pause
	date := func(seconds int) map[string]string {
		at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		return map[string]string{
			"Date": at.Format(http.TimeFormat), "Retry-After": at.Add(time.Duration(seconds) * time.Second).Format(http.TimeFormat),
		}
	}
	for name, tc := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"none":             {nil, 50*time.Millisecond + chance},
		"seconds":          {map[string]string{"Retry-After": "3"}, 3*time.Second + chance},
		"zero":             {map[string]string{"Retry-After": "0"}, 50*time.Millisecond + chance},
		"too long":         {map[string]string{"Retry-After": "86400"}, 30*time.Second + chance},
		"beyond a number":  {map[string]string{"Retry-After": "18446744073709551615"}, 30*time.Second + chance},
		"not a number":     {map[string]string{"Retry-After": "soon"}, 50*time.Millisecond + chance},
		"negative":         {map[string]string{"Retry-After": "-5"}, 50*time.Millisecond + chance},
		"a date":           {date(7), 7*time.Second + chance},
		"a date long away": {date(86400), 30*time.Second + chance},
		"a date gone by":   {date(-7), 50*time.Millisecond + chance},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, refuses(http.StatusServiceUnavailable, client.CodeUnavailable, tc.header), shows(http.StatusCreated, succeeded()))
			_, err := s.create()
			require.NoError(t, err)
			require.Equal(t, []time.Duration{tc.want}, s.pauses)
		})
	}
}

func TestPausesDoubleUpToABound(t *testing.T) {
	t.Parallel()
	s := newServer(t, loses, loses, loses, loses, loses, loses, loses, loses)
	_, err := s.create()
	require.ErrorIs(t, err, client.ErrNoAnswer)
	var milliseconds []string
	for _, pause := range s.pauses {
		milliseconds = append(milliseconds, strconv.Itoa(int(pause.Milliseconds())))
	}
	require.Equal(t, []string{"75", "150", "300", "600", "1200", "2400", "3750"}, milliseconds)
}

// A repeat that was answered from memory says so; a 202 is an answer without outcome.
func TestAnAnswerTellsWhatItIs(t *testing.T) {
	t.Parallel()
	s := newServer(t,
		answers(http.StatusCreated, map[string]string{"Idempotent-Replayed": "true", "Request-Id": "r-1"}, succeeded()),
		answers(http.StatusAccepted, map[string]string{"Retry-After": "1"}, payment("submitted", "submitted")))
	answer, err := s.create()
	require.NoError(t, err)
	require.True(t, answer.Replayed)
	require.True(t, answer.Settled)
	require.Equal(t, "r-1", answer.RequestID)
	answer, err = s.create()
	require.NoError(t, err)
	require.False(t, answer.Replayed)
	require.False(t, answer.Settled)
	require.Equal(t, http.StatusAccepted, answer.Status)
}

func TestEachCommandGoesToItsPlace(t *testing.T) {
	t.Parallel()
	s := newServer(t, shows(200, succeeded()), shows(200, succeeded()), shows(200, succeeded()), shows(200, succeeded()))
	key := client.ConfirmKey("order-1", 2)
	_, err := s.client.ConfirmPayment(t.Context(), key, paymentID(), client.ConfirmPayment{PaymentMethod: "pm_card_visa", OffSession: true})
	require.NoError(t, err)
	cancel := client.KeyFor("order-1", client.ActionCancel)
	_, err = s.client.CancelPayment(t.Context(), cancel, paymentID(), client.CancelPayment{Reason: client.CancelAbandoned})
	require.NoError(t, err)
	_, err = s.client.CancelPayment(t.Context(), cancel, paymentID(), client.CancelPayment{})
	require.NoError(t, err)
	read, err := s.client.Payment(t.Context(), paymentID())
	require.NoError(t, err)
	require.Equal(t, succeeded(), read)
	path := "/v1/payments/" + paymentID().String()
	require.Equal(t, []sent{
		{"POST", path + "/confirm", key.String(), "wait=10", `{"payment_method":"pm_card_visa","off_session":true}`, "Bearer secret"},
		{"POST", path + "/cancel", cancel.String(), "wait=10", `{"cancellation_reason":"abandoned"}`, "Bearer secret"},
		{"POST", path + "/cancel", cancel.String(), "wait=10", `{}`, "Bearer secret"},
		{"GET", path, "", "", "", "Bearer secret"},
	}, s.requests())
}

// Nothing goes out under a key that names nothing, or with a reference that JSON would change into another.
func TestWhatWouldNameSomethingElseIsNotSent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, key := range []client.Key{
		{}, client.IntentKey(""), client.KeyFor("", client.ActionCancel), client.KeyFor("order-1", "refund"), client.ConfirmKey("order-1", 0),
		client.ConfirmKey("", 1), client.RefundKey("order-1", ""), client.PartialCaptureKey("order-1", ""),
	} {
		_, err := s.client.CreatePayment(t.Context(), key, order())
		require.ErrorIs(t, err, client.ErrNoKey)
	}
	broken := order()
	broken.Reference = "order-\xff"
	_, err := s.client.CreatePayment(t.Context(), client.IntentKey("checkout-1"), broken)
	require.Error(t, err)

	refund, part := client.RefundKey("order-1", "return-1"), client.PartialCaptureKey("order-1", "parcel-1")
	_, err = s.client.CreateRefund(t.Context(), refund, paymentID(), client.CreateRefund{Amount: 300})
	require.ErrorIs(t, err, client.ErrNoReference)
	_, err = s.client.CapturePayment(t.Context(), part, paymentID(), client.CapturePayment{Amount: 300, KeepRest: true})
	require.ErrorIs(t, err, client.ErrNoReference)
	_, err = s.client.CreateRefund(t.Context(), client.Key{}, paymentID(), client.CreateRefund{Reference: "return-1"})
	require.ErrorIs(t, err, client.ErrNoKey)
	_, err = s.client.CreateRefund(t.Context(), refund, paymentID(), client.CreateRefund{Reference: "return-\xff"})
	require.Error(t, err)
	_, err = s.client.CapturePayment(t.Context(), part, paymentID(), client.CapturePayment{Amount: 300, Reference: "parcel-\xff"})
	require.Error(t, err)
	require.Empty(t, s.requests())
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "payonce.internal", "ftp://payonce.internal", "https://", "https://payonce.internal?x=1", "https://u:p@payonce.internal"} {
		_, err := client.New(address, "secret")
		require.Error(t, err, address)
	}
	for _, option := range []client.Option{client.Wait(-time.Second), client.Wait(31 * time.Second), client.Wait(time.Millisecond), client.Tries(0)} {
		_, err := client.New("https://payonce.internal", "secret", option)
		require.Error(t, err)
	}
	_, err := client.New("https://payonce.internal", "")
	require.Error(t, err)
	_, err = client.New("https://payonce.internal/", "secret", client.Wait(0), client.Tries(1))
	require.NoError(t, err)
	require.Empty(t, client.CodeOf(errors.New("something else")))
}
