package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// lossy is the line between a checkout and payonce: of five requests one is lost on its way, one answer is lost and one is cut.
func lossy(t testing.TB, s *system.System) *client.Client {
	t.Helper()
	carrier := s.HTTP.Transport
	if carrier == nil {
		carrier = http.DefaultTransport
	}
	var count atomic.Int64
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn := count.Add(1) % 5
		if turn == 1 {
			panic(http.ErrAbortHandler)
		}
		onwards := r.Clone(r.Context())
		onwards.RequestURI = ""
		onwards.URL.Scheme, onwards.URL.Host = "http", s.URL[len("http://"):]
		response, err := carrier.RoundTrip(onwards)
		if err != nil || turn == 2 {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(response.StatusCode)
		if turn == 3 {
			_, _ = w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(line.Close)
	made, err := client.New(line.URL, s.APIKey, client.HTTP(line.Client()), client.Tries(20))
	require.NoError(t, err)
	return made
}

// Three processes of a checkout ask for the same order at once over a line that loses requests and answers: one charge, and each of them
// learns of it.
func TestAnOrderOverALossyLineIsChargedOnce(t *testing.T) {
	t.Parallel()
	const processes = 3
	s := system.Start(t)
	checkout := lossy(t, s)
	var done sync.WaitGroup
	paid := make([]client.Payment, processes)
	failed := make([]error, processes)
	for process := range processes {
		done.Go(func() {
			answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), order())
			if err == nil {
				paid[process], err = checkout.Await(t.Context(), answer)
			}
			failed[process] = err
		})
	}
	done.Wait()
	for process := range processes {
		require.NoError(t, failed[process])
		require.Equal(t, payments.StatusSucceeded, paid[process].Status)
		require.Equal(t, payments.StageLedgerApplied, paid[process].Stage)
		require.Equal(t, paid[0].ID, paid[process].ID)
	}
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents"), 1)
	book := s.Book(paid[0].ID)
	require.Equal(t, 1, book.ConfirmsExecuted)
	require.Equal(t, order().Amount, book.Captured)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
	require.Len(t, s.Receiver.Of(t, paid[0].ID.String()), 1)
}

// Two equal orders are two orders: only their sessions and references tell them apart.
func TestTwoEqualOrdersAreTwoPayments(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	checkout, err := client.New(s.URL, s.APIKey, client.HTTP(s.HTTP))
	require.NoError(t, err)
	charged := map[client.PaymentID]bool{}
	for _, name := range []string{"1", "2"} {
		same := order()
		same.Reference = "order-" + name
		answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-"+name), same)
		require.NoError(t, err)
		charged[answer.Payment.ID] = true
	}
	require.Len(t, charged, 2)

	other := order()
	other.Amount++
	_, err = checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), other)
	require.Equal(t, client.CodeKeyReused, client.CodeOf(err))
	_, err = checkout.CreatePayment(t.Context(), client.IntentKey("checkout-3"), other)
	require.Equal(t, client.CodeReferenceConflict, client.CodeOf(err))
}

// A decline, another card and a cancel that comes too late, each asked for over a line that loses answers: one charge, and each of them is told
// what came of it.
func TestADeclinedOrderIsPaidWithAnotherCardOverALossyLine(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	checkout := lossy(t, s)
	declined := order()
	declined.PaymentMethod = "pm_card_chargeDeclined"
	answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), declined)
	require.NoError(t, err)
	waiting, err := checkout.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, payments.StatusRequiresPaymentMethod, waiting.Status)
	require.Equal(t, "card_declined", waiting.LastError.Code)

	answer, err = checkout.ConfirmPayment(t.Context(), client.ConfirmKey("order-1", 2), waiting.ID, client.ConfirmPayment{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	paid, err := checkout.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, payments.StatusSucceeded, paid.Status)
	ended, err := checkout.AwaitEnd(t.Context(), paid.ID)
	require.NoError(t, err)
	require.Equal(t, paid, ended)

	for range 2 {
		_, err = checkout.CancelPayment(t.Context(), client.KeyFor("order-1", client.ActionCancel), paid.ID, client.CancelPayment{})
		require.Equal(t, client.CodePaymentSucceeded, client.CodeOf(err))
	}
	s.Settle()
	book := s.Book(paid.ID)
	require.Equal(t, 2, book.ConfirmsExecuted)
	require.Equal(t, order().Amount, book.Captured)

	var listed []client.Payment
	for payment, err := range checkout.AllPayments(t.Context(), client.Filter{Reference: "order-1"}) {
		require.NoError(t, err)
		listed = append(listed, payment)
	}
	require.Len(t, listed, 1)
	timeline, err := checkout.Timeline(t.Context(), paid.ID)
	require.NoError(t, err)
	require.Equal(t, "command", timeline.Steps[0].Kind)
}

// A hold is captured in two equal parts and given back in two equal refunds, each asked for three times at once over a line that loses requests and
// answers: two captures, two refunds, and what is left bounds the next.
func TestPartsAndRefundsOverALossyLineAreTakenAndGivenOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	checkout := lossy(t, s)
	held := order()
	held.CaptureMethod, held.Multicapture = payments.CaptureManual, true
	answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), held)
	require.NoError(t, err)
	waiting, err := checkout.Await(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, payments.StatusRequiresCapture, waiting.Status)

	for _, parcel := range []string{"parcel-1", "parcel-2"} {
		thrice(t, func() error {
			_, err := checkout.CapturePayment(t.Context(), client.PartialCaptureKey("order-1", parcel), waiting.ID,
				client.CapturePayment{Amount: 700, Reference: parcel, KeepRest: parcel == "parcel-1"})
			return err
		})
	}
	paid, err := checkout.AwaitEnd(t.Context(), waiting.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1400), paid.AmountCaptured)

	for _, item := range []string{"return-1", "return-2"} {
		thrice(t, func() error {
			back, err := checkout.CreateRefund(t.Context(), client.RefundKey("order-1", item), paid.ID, client.CreateRefund{Amount: 500, Reference: item})
			if err == nil {
				_, err = checkout.AwaitRefund(t.Context(), back.Refund.ID)
			}
			return err
		})
	}
	_, err = checkout.CreateRefund(t.Context(), client.RefundKey("order-1", "return-3"), paid.ID, client.CreateRefund{Amount: 401, Reference: "return-3"})
	require.Equal(t, client.CodeAmountTooLarge, client.CodeOf(err))
	listed, err := checkout.Refunds(t.Context(), paid.ID)
	require.NoError(t, err)
	require.Len(t, listed, 2)
	s.Settle()
	require.Equal(t, 2, s.Book(paid.ID).CapturesExecuted)
	require.Len(t, s.Book(paid.ID).Refunds, 2)
	require.Equal(t, map[string]int64{"stripe:receivable": 400, "merchant:balance": -400}, s.Positions(paid.ID))
}

// A hold that is asked back is let go: no refund is made of what was never taken.
func TestARefundOfAHoldLetsItGo(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	checkout, err := client.New(s.URL, s.APIKey, client.HTTP(s.HTTP))
	require.NoError(t, err)
	held := order()
	held.CaptureMethod = payments.CaptureManual
	answer, err := checkout.CreatePayment(t.Context(), client.IntentKey("checkout-1"), held)
	require.NoError(t, err)
	back, err := checkout.CreateRefund(t.Context(), client.RefundKey("order-1", "order"), answer.Payment.ID, client.CreateRefund{Reference: "order"})
	require.NoError(t, err)
	require.Equal(t, payments.StatusCanceled, back.Released.Status)
	require.Zero(t, back.Refund)
	s.Settle()
	require.Empty(t, s.Requests(http.MethodPost, "/v1/refunds"))
}

// thrice does the same at once in three places.
func thrice(t *testing.T, do func() error) {
	t.Helper()
	var done sync.WaitGroup
	failed := make([]error, 3)
	for i := range failed {
		done.Go(func() { failed[i] = do() })
	}
	done.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
}
