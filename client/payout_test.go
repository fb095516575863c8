package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

func payoutID() client.PayoutID {
	return client.PayoutID{UUID: uuid.MustParse("0d9f6d0c-2f0c-5f4c-8d8f-0f5a3f1f6a33")}
}

func payoutIn(status payments.PayoutStatus) client.Payout {
	return client.Payout{ID: payoutID(), Object: "payout", Amount: 300, Currency: "usd", Status: status, Stage: status.StageOf()}
}

// payOut sends a payout.
func (s *server) payOut() (client.PayoutAnswer, error) {
	s.t.Helper()
	return s.client.CreatePayout(s.t.Context(), client.PayoutKey("usd", "week-1"),
		client.CreatePayout{Amount: 300, Currency: "usd", Reference: "week-1", Metadata: map[string]string{"week": "1"}})
}

// Whatever happens on the way, the same bytes go out under the same key until there is an answer, and the answer is a payout.
func TestAPayoutIsRepeatedAsItWasUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	for name, mishap := range map[string]step{
		"the answer is lost":     loses,
		"the answer is cut":      cuts(http.StatusCreated, "application/json"),
		"the answer is a refund": answers(http.StatusCreated, nil, refundIn(payments.RefundPending)),
		"the payout is nobody's": answers(http.StatusCreated, nil, client.Payout{Object: "payout"}),
		"503":                    refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
		"409 in_progress":        refuses(http.StatusConflict, client.CodeInProgress, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, mishap, mishap,
				answers(http.StatusCreated, map[string]string{"Idempotent-Replayed": "true", "Request-Id": "r-1"}, payoutIn(payments.PayoutPending)))
			answer, err := s.payOut()
			require.NoError(t, err)
			require.Equal(t, client.PayoutAnswer{
				Payout: payoutIn(payments.PayoutPending), Status: http.StatusCreated, Settled: true, Replayed: true, RequestID: "r-1",
			}, answer)
			for _, request := range s.requests() {
				require.Equal(t, sent{
					method: http.MethodPost, path: "/v1/payouts", prefer: "wait=10", key: client.PayoutKey("usd", "week-1").String(),
					authorization: "Bearer secret", body: `{"amount":300,"currency":"usd","reference":"week-1","metadata":{"week":"1"}}`,
				}, request)
			}
		})
	}
}

func TestAPayoutThatIsRefusedIsAnErrorAndOneWithoutAReferenceIsNotSent(t *testing.T) {
	t.Parallel()
	for code, status := range map[client.Code]int{
		client.CodeProviderRefused: 402, client.CodeAmountTooLarge: 409, client.CodeReferenceConflict: 409, client.CodeKeyReused: 422,
	} {
		s := newServer(t, refuses(status, code, nil))
		_, err := s.payOut()
		require.Equal(t, code, client.CodeOf(err))
		require.Len(t, s.requests(), 1)
	}
	s := newServer(t)
	_, err := s.client.CreatePayout(t.Context(), client.PayoutKey("usd", "week-1"), client.CreatePayout{Amount: 300, Currency: "usd"})
	require.ErrorIs(t, err, client.ErrNoReference)
	require.Empty(t, s.requests())
}

// A payout that is taken without an outcome is looked at until it is over, however it ends.
func TestAwaitPayoutReturnsWhenThePayoutIsOver(t *testing.T) {
	t.Parallel()
	for _, status := range []payments.PayoutStatus{payments.PayoutPaid, payments.PayoutFailed, payments.PayoutCanceled} {
		s := newServer(t, answers(http.StatusAccepted, nil, payoutIn(payments.PayoutSubmitted)),
			answers(http.StatusOK, nil, payoutIn(payments.PayoutPending)), refuses(http.StatusServiceUnavailable, client.CodeUnavailable, nil),
			answers(http.StatusOK, nil, payoutIn(payments.PayoutInTransit)), answers(http.StatusOK, nil, payoutIn(status)))
		answer, err := s.payOut()
		require.NoError(t, err)
		require.False(t, answer.Settled)
		over, err := s.client.AwaitPayout(t.Context(), answer.Payout.ID)
		require.NoError(t, err)
		require.Equal(t, payoutIn(status), over)
		require.Equal(t, "/v1/payouts/"+payoutID().String(), s.requests()[4].path)
	}
	s := newServer(t, refuses(http.StatusNotFound, client.CodePayoutNotFound, nil))
	_, err := s.client.AwaitPayout(t.Context(), payoutID())
	require.Equal(t, client.CodePayoutNotFound, client.CodeOf(err))
}

func TestEveryPageOfPayoutsIsGoneThrough(t *testing.T) {
	t.Parallel()
	listed := func(more bool, cursor string) step {
		return answers(http.StatusOK, nil, map[string]any{
			"object": "list", "data": []client.Payout{payoutIn(payments.PayoutPaid)}, "has_more": more, "next_cursor": cursor,
		})
	}
	s := newServer(t, listed(true, "c1"), listed(true, ""), listed(false, ""), refuses(http.StatusBadRequest, client.CodeParameterInvalid, nil))
	count := 0
	for payout, err := range s.client.AllPayouts(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, payoutIn(payments.PayoutPaid), payout)
		count++
	}
	require.Equal(t, 2, count)
	_, err := s.client.Payouts(t.Context(), 101, "")
	require.Equal(t, client.CodeParameterInvalid, client.CodeOf(err))
	require.Equal(t, "/v1/payouts?cursor=c1", s.requests()[1].path)
	require.Equal(t, "/v1/payouts?limit=101", s.requests()[3].path)
}

func TestDisputesAreReadAndListed(t *testing.T) {
	t.Parallel()
	dispute := client.Dispute{
		ID: client.DisputeID{UUID: payoutID().UUID}, Object: "dispute", Payment: paymentID(), Amount: 300, Currency: "usd", Status: payments.DisputeLost,
		Lost: 300, Fees: []payments.Money{{Amount: 1500, Currency: "usd"}}, Dispute: "dp_1",
	}
	list := map[string]any{"object": "list", "data": []client.Dispute{dispute}}
	s := newServer(t, answers(http.StatusOK, nil, dispute), answers(http.StatusOK, nil, list),
		refuses(http.StatusNotFound, client.CodeDisputeNotFound, nil), refuses(http.StatusNotFound, client.CodePaymentNotFound, nil))
	read, err := s.client.Dispute(t.Context(), dispute.ID)
	require.NoError(t, err)
	require.Equal(t, dispute, read)
	listed, err := s.client.Disputes(t.Context(), paymentID())
	require.NoError(t, err)
	require.Equal(t, []client.Dispute{dispute}, listed)
	_, err = s.client.Dispute(t.Context(), dispute.ID)
	require.Equal(t, client.CodeDisputeNotFound, client.CodeOf(err))
	_, err = s.client.Disputes(t.Context(), paymentID())
	require.Equal(t, client.CodePaymentNotFound, client.CodeOf(err))
	require.Equal(t, "/v1/disputes/"+dispute.ID.String(), s.requests()[0].path)
	require.Equal(t, "/v1/payments/"+paymentID().String()+"/disputes", s.requests()[1].path)
}

// A message about a payout has no payment.
func TestAMessageAboutAPayoutIsRead(t *testing.T) {
	t.Parallel()
	const told = `{"type":"payout.failed","timestamp":"2030-01-02T12:00:00Z","data":{"subject":"payout/0d9f6d0c-2f0c-5f4c-8d8f-0f5a3f1f6a33",` +
		`"payout":{"id":"0d9f6d0c-2f0c-5f4c-8d8f-0f5a3f1f6a33","object":"payout","status":"failed"}}}`
	message, err := client.VerifyMessage(secret, signed(t, secret, time.Now(), told), []byte(told))
	require.NoError(t, err)
	require.Equal(t, client.PayoutFailed, message.Type)
	require.Equal(t, "payout/"+payoutID().String(), message.Subject)
	require.Equal(t, payoutID(), message.Payout.ID)
	require.Zero(t, message.Payment)
}
