package client_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

func refundID() client.RefundID {
	return client.RefundID{UUID: uuid.MustParse("0d9f6d0c-2f0c-5f4c-8d8f-0f5a3f1f6a22")}
}

func refundIn(status payments.RefundStatus) client.Refund {
	return client.Refund{
		ID: refundID(), Object: "refund", Payment: paymentID(), Amount: 300, Currency: "usd", Status: status, Stage: status.StageOf(),
	}
}

// giveBack sends a refund.
func (s *server) giveBack() (client.RefundAnswer, error) {
	s.t.Helper()
	return s.client.CreateRefund(s.t.Context(), client.RefundKey("order-1", "return-1"), paymentID(),
		client.CreateRefund{Amount: 300, Reference: "return-1", Reason: client.RefundRequestedByCustomer, Metadata: map[string]string{"item": "7"}})
}

// Whatever happens on the way, the same bytes go out under the same key until there is an answer, and the answer is a refund.
func TestARefundIsRepeatedAsItWasUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, mishap := range map[string]step{
		"the answer is lost":      loses,
		"the answer is cut":       cuts(http.StatusCreated, "application/json"),
		"the answer is no refund": answers(http.StatusOK, nil, map[string]string{"captive": "portal"}),
		"the refund is nobody's":  answers(http.StatusCreated, nil, client.Refund{Object: "refund"}),
		"503":                     refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
		"409 in_progress":         refuses(http.StatusConflict, client.CodeInProgress, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, mishap, mishap,
				answers(http.StatusCreated, map[string]string{"Idempotent-Replayed": "true", "Request-Id": "r-1"}, refundIn(payments.RefundPending)))
			answer, err := s.giveBack()
			require.NoError(t, err)
			require.Equal(t, client.RefundAnswer{
				Refund: refundIn(payments.RefundPending), Status: http.StatusCreated, Settled: true, Replayed: true, RequestID: "r-1",
			}, answer)
			for _, request := range s.requests() {
				require.Equal(t, sent{
					method: http.MethodPost, path: "/v1/payments/" + paymentID().String() + "/refunds", prefer: "wait=10",
					key: client.RefundKey("order-1", "return-1").String(), authorization: "Bearer secret",
					body: `{"amount":300,"reference":"return-1","reason":"requested_by_customer","metadata":{"item":"7"}}`,
				}, request)
			}
		})
	}
}

// All of a hold that is asked back is let go: the answer is the payment, and no refund.
func TestARefundOfAHoldAnswersWithThePayment(t *testing.T) {
	t.Parallel()
	canceled := payment(payments.StatusCanceled, payments.StageLedgerApplied)
	s := newServer(t, shows(http.StatusOK, canceled))
	answer, err := s.giveBack()
	require.NoError(t, err)
	require.Equal(t, client.RefundAnswer{Released: &canceled, Status: http.StatusOK, Settled: true}, answer)
}

func TestARefundThatIsRefusedIsAnError(t *testing.T) {
	t.Parallel()
	for code, status := range map[client.Code]int{
		client.CodeProviderRefused: 402, client.CodePaymentNotFound: 404, client.CodeAmountTooLarge: 409, client.CodeUnexpectedState: 409,
		client.CodeReferenceConflict: 409, client.CodeKeyReused: 422,
	} {
		s := newServer(t, refuses(status, code, nil))
		_, err := s.giveBack()
		require.Equal(t, code, client.CodeOf(err))
		require.Len(t, s.requests(), 1)
	}
}

// A refund that is taken without an outcome is looked at until it is over, however it ends.
func TestAwaitRefundReturnsWhenTheRefundIsOver(t *testing.T) {
	t.Parallel()
	for _, status := range []payments.RefundStatus{payments.RefundSucceeded, payments.RefundFailed, payments.RefundCanceled} {
		s := newServer(t, answers(http.StatusAccepted, nil, refundIn(payments.RefundSubmitted)),
			answers(http.StatusOK, nil, refundIn(payments.RefundPending)), refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
			answers(http.StatusOK, nil, refundIn(payments.RefundRequiresAction)), answers(http.StatusOK, nil, refundIn(status)))
		answer, err := s.giveBack()
		require.NoError(t, err)
		require.False(t, answer.Settled)
		over, err := s.client.AwaitRefund(t.Context(), answer.Refund.ID)
		require.NoError(t, err)
		require.Equal(t, refundIn(status), over)
		require.Equal(t, "/v1/refunds/"+refundID().String(), s.requests()[4].path)
	}
	s := newServer(t, refuses(http.StatusNotFound, client.CodeRefundNotFound, nil))
	_, err := s.client.AwaitRefund(t.Context(), refundID())
	require.Equal(t, client.CodeRefundNotFound, client.CodeOf(err))
}

func TestTheRefundsOfAPaymentAreListed(t *testing.T) {
	t.Parallel()
	list := func(object string) step {
		return answers(http.StatusOK, nil, map[string]any{"object": object, "data": []client.Refund{refundIn(payments.RefundSucceeded)}})
	}
	s := newServer(t, list("timeline"), list("list"), refuses(http.StatusNotFound, client.CodePaymentNotFound, nil))
	listed, err := s.client.Refunds(t.Context(), paymentID())
	require.NoError(t, err)
	require.Equal(t, []client.Refund{refundIn(payments.RefundSucceeded)}, listed)
	_, err = s.client.Refunds(t.Context(), paymentID())
	require.Equal(t, client.CodePaymentNotFound, client.CodeOf(err))
	require.Equal(t, "/v1/payments/"+paymentID().String()+"/refunds", s.requests()[0].path)
}

// What a capture asks for is written as the API reads it: nothing of what was not said, and the rest let go unless it is to be kept.
func TestACaptureIsWrittenAsItWasMeant(t *testing.T) {
	t.Parallel()
	for body, capture := range map[string]client.CapturePayment{
		`{}`:                                    {},
		`{"reference":"parcel-1"}`:              {Reference: "parcel-1"},
		`{"amount":300,"reference":"parcel-1"}`: {Amount: 300, Reference: "parcel-1"},
		`{"amount":300,"reference":"parcel-1","final":false}`: {Amount: 300, Reference: "parcel-1", KeepRest: true},
	} {
		s := newServer(t, shows(http.StatusOK, succeeded()))
		_, err := s.client.CapturePayment(t.Context(), client.PartialCaptureKey("order-1", "parcel-1"), paymentID(), capture)
		require.NoError(t, err)
		request := s.requests()[0]
		require.Equal(t, body, request.body)
		require.Equal(t, "/v1/payments/"+paymentID().String()+"/capture", request.path)
	}
}
