package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
)

// A client's library writes the same command in another way: other order and spacing of members, null for absent, another letter case of the currency.
// It is the same command. An empty text is not an absent one.
func TestAnotherSpellingOfACommandIsReplayed(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := s.Create("K", []byte(`{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_card_visa","metadata":{"a":"1","b":"2"}}`))
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	for name, body := range map[string]string{
		"other order": `{"metadata":{"b":"2","a":"1"},"payment_method":"pm_card_visa","currency":"usd","amount":1000,"reference":"order-1"}`,
		"other spacing": "{ \"reference\" : \"order-1\",\r\n\t\"amount\":1000, \"currency\":\"usd\",\"payment_method\":\"pm_card_visa\"" +
			",\"metadata\":{\"a\" :\"1\",\"b\": \"2\"} }\n",
		"escapes": `{"\u0072eference":"order\u002d1","amount":1000,"currency":"usd","payment_method":"pm_card_visa","metadata":{"a":"1","b":"\u0032"}}`,
		"null for absent": `{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_card_visa"` +
			`,"metadata":{"a":"1","b":"2","c":null},"description":null}`,
		"currency, capitals": `{"reference":"order-1","amount":1000,"currency":"USD","payment_method":"pm_card_visa","metadata":{"a":"1","b":"2"}}`,
	} {
		again := s.Create("K", []byte(body))
		require.Equal(t, http.StatusCreated, again.Status, "%s: %s", name, again.Body)
		require.True(t, again.Replayed(), name)
		require.Equal(t, first.Body, again.Body, name)
	}
	empty := s.Create("K", []byte(`{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_card_visa"`+
		`,"metadata":{"a":"1","b":"2"},"description":""}`))
	require.Equal(t, http.StatusUnprocessableEntity, empty.Status)
	require.Equal(t, "key_reused", empty.Problem(t).Code)
	s.Settle()
	require.Equal(t, payments.Currency("usd"), s.Payment(first.Payment(t).ID).Currency)
	require.EqualValues(t, 1000, s.Book(first.Payment(t).ID).Captured)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payments`))
}

// What two readers would read differently, or Postgres cannot store, is refused by name; it leaves nothing behind, and its key is as good as new.
func TestABodyThatIsRefusedLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	const head, tail = `{"reference":"order-1","currency":"usd","payment_method":"pm_card_visa",`, `}`
	for _, refused := range []struct{ field, members string }{
		{"amount", `"amount":1000.0`}, {"amount", `"amount":1e3`}, {"amount", `"amount":"1000"`}, {"amount", `"amount":8.2`}, {"amount", `"amount":19.99`},
		{"amount", `"amount":"19.99"`}, {"metadata.n", `"amount":1000,"metadata":{"n":"a\u0000b"}`}, {"metadata.n", `"amount":1000,"metadata":{"n":"\ud800"}`},
		{"metadata.n", `"amount":1000,"metadata":{"n":"\udfff"}`},
	} {
		answer := s.Create("K", []byte(head+refused.members+tail))
		require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", refused.members, answer.Body)
		require.Equal(t, refused.field, answer.Problem(t).Field, refused.members)
	}
	for _, table := range []string{"idempotency_keys", "idempotency_records", "payments"} {
		require.Zero(t, s.Count(`SELECT count(*) FROM payonce.`+table), table)
	}
	clean := s.Create("K", []byte(head+`"amount":1000,"metadata":{"n":"a\ud83d\ude00b"}`+tail))
	require.Equal(t, http.StatusCreated, clean.Status, "%s", clean.Body)
	require.False(t, clean.Replayed())
	require.Equal(t, "a😀b", s.Book(clean.Payment(t).ID).Metadata["n"])
}

// Common prices that a binary float cannot hold go to Stripe, into the ledger and to the receiver as they came.
func TestAnAmountIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for _, amount := range []int64{820, 1999, 829, 1708, 99_999_999} {
		order := strconv.FormatInt(amount, 10)
		answer := s.Create(order, system.Order("order-"+order, amount))
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		payment := answer.Payment(t)
		require.Equal(t, amount, payment.AmountCaptured)
		book := s.Book(payment.ID)
		require.Equal(t, amount, book.Amount)
		require.Equal(t, amount, book.Captured)
		require.EqualValues(t, amount, s.Count(`SELECT sum(e.amount) FILTER (WHERE e.amount > 0) FROM payonce.ledger_journals j
			JOIN payonce.ledger_entries e ON e.journal = j.id WHERE j.payment = $1`, payment.ID.UUID))
		s.Settle()
		var told struct {
			Data struct{ Payment payments.View }
		}
		messages := s.Receiver.Of(t, payment.ID.String())
		require.Len(t, messages, 1)
		require.NoError(t, json.Unmarshal(messages[0].Body, &told))
		require.Equal(t, amount, told.Data.Payment.AmountCaptured)
	}
}
