package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
)

// One key is sent with every command there is: each operation is a scope of its own, another payment under the same operation is other content, and
// nobody is answered with what another command did.
func TestAKeyIsOfItsOperationAndPayment(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	var open [3]payments.View
	for i, key := range []string{"K", "K-2", "K-3"} {
		open[i] = s.Create(key, system.With(system.Order("order "+key, 1000), "payment_method", nil)).Payment(t)
	}
	post := func(payment payments.View, command string, body any) system.Answer {
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+payment.ID.String()+"/"+command, "K", body, "wait=20")
		require.NoError(t, err)
		return answer
	}
	method := map[string]any{"payment_method": "pm_card_visa"}
	confirmed := post(open[0], "confirm", method)
	require.Equal(t, http.StatusOK, confirmed.Status, "%s", confirmed.Body)
	require.False(t, confirmed.Replayed())
	require.Equal(t, open[0].ID, confirmed.Payment(t).ID)
	require.Equal(t, payments.StatusSucceeded, confirmed.Payment(t).Status)

	reused := post(open[1], "confirm", method)
	require.Equal(t, http.StatusUnprocessableEntity, reused.Status, "%s", reused.Body)
	require.Equal(t, "key_reused", reused.Problem(t).Code)
	require.Equal(t, payments.StatusRequiresPaymentMethod, s.Payment(open[1].ID).Status)

	canceled := post(open[2], "cancel", map[string]any{})
	require.Equal(t, http.StatusOK, canceled.Status, "%s", canceled.Body)
	require.False(t, canceled.Replayed())
	require.Equal(t, open[2].ID, canceled.Payment(t).ID)
	require.Equal(t, payments.StatusCanceled, canceled.Payment(t).Status)

	hold := s.Create("K-5", system.With(system.Order("order-5", 1000), "capture_method", "manual")).Payment(t)
	captured := post(hold, "capture", map[string]any{})
	require.Equal(t, payments.StatusSucceeded, captured.Payment(t).Status)
	refunded := post(hold, "refunds", map[string]any{})
	require.Equal(t, http.StatusCreated, refunded.Status, "%s", refunded.Body)
	require.False(t, refunded.Replayed())
	require.Equal(t, "key_reused", post(confirmed.Payment(t), "refunds", map[string]any{}).Problem(t).Code)

	again := s.Create("K", system.With(system.Order("order K", 1000), "payment_method", nil))
	require.True(t, again.Replayed())
	require.Equal(t, payments.StatusRequiresPaymentMethod, again.Payment(t).Status, "what the create was answered with")

	dry, err := s.Post(t.Context(), s.APIKey, "/v1/payments?dry_run=1", "K-4", system.Order("order-4", 1000), "wait=20")
	require.NoError(t, err)
	require.Equal(t, "query_refused", dry.Problem(t).Code)
	require.Equal(t, http.StatusCreated, s.Create("K-4", system.Order("order-4", 1000)).Status, "nothing is answered for it")
}

// Keys that differ in blanks alone are two keys here; Stripe gets neither, but one of ours for each order.
func TestKeysThatDifferInBlanksNeverMeetAtStripe(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	intents := map[string]bool{}
	for order, key := range map[string]string{"order-1": `"k1"`, "order-2": `"k1 "`, "order-3": `" k1"`} {
		answer := s.Create(key, system.Order(order, 1000))
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		require.False(t, answer.Replayed(), key)
		intents[s.Book(answer.Payment(t).ID).ID] = true
	}
	require.Len(t, intents, 3)
	trimmed := s.Create("k1 ", system.Order("order-4", 1000)) // HTTP itself knows no blanks around a value
	require.Equal(t, http.StatusUnprocessableEntity, trimmed.Status, "%s", trimmed.Body)
	keys := map[string]bool{}
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/*/confirm"} {
		for _, send := range s.Requests(http.MethodPost, path) {
			_, err := uuid.Parse(send.IdempotencyKey)
			require.NoError(t, err, send.IdempotencyKey)
			keys[send.IdempotencyKey] = true
		}
	}
	require.Len(t, keys, 6, "a create and a confirm of each")
}
