package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
)

// An amount is in its currency's own minor units all the way, to Stripe, into the books and back: yen have no hundredths, and of thousandths the last
// digit is 0. What a currency rules out is refused before Stripe is asked, and leaves its key as good as new.
func TestAnAmountIsInItsCurrencysOwnUnits(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for _, c := range []struct {
		currency                     payments.Currency
		amount, back                 int64
		refusedAmount, refusedRefund int64 // 0: none
	}{
		{"jpy", 80, 30, 1, 0},
		{"kwd", 18_600, 20, 5124, 15},
		{"bhd", 5120, 1000, 5124, 5119},
	} {
		order := system.With(system.Order("order "+string(c.currency), c.refusedAmount), "currency", c.currency)
		require.Equal(t, "amount", s.Create("K "+string(c.currency), order).Problem(t).Field)
		paid := s.Create("K "+string(c.currency), system.With(order, "amount", c.amount)).Payment(t)
		require.Equal(t, c.amount, paid.AmountCaptured)
		require.Equal(t, c.amount, s.Book(paid.ID).Captured)

		give := func(amount int64) system.Answer {
			answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R "+string(c.currency),
				map[string]any{"amount": amount, "reference": "item-1"}, "wait=20")
			require.NoError(t, err)
			return answer
		}
		if c.refusedRefund != 0 {
			refused := give(c.refusedRefund)
			require.Equal(t, http.StatusBadRequest, refused.Status, "%s", refused.Body)
			require.Equal(t, "amount", refused.Problem(t).Field)
			require.Empty(t, s.Book(paid.ID).Refunds)
		}
		back := give(c.back)
		require.Equal(t, http.StatusCreated, back.Status, "%s", back.Body)
		s.Settle()
		require.Equal(t, c.back, s.Book(paid.ID).Refunds[0].Amount)
		require.Equal(t, map[string]int64{"stripe:receivable": c.amount - c.back, "merchant:balance": c.back - c.amount}, s.Positions(paid.ID))
		var message struct {
			Data struct{ Refund payments.RefundView }
		}
		require.NoError(t, json.Unmarshal(s.Told(paid.ID, "refund.succeeded")[0].Body, &message))
		require.Equal(t, c.back, message.Data.Refund.Amount)
		require.Equal(t, c.currency, message.Data.Refund.Currency)
	}
}

// Amounts of twelve digits, and totals beyond what 32 bits or a float hold, stay exact to the last unit: in answers, at Stripe, in the books and in messages.
func TestTheLargestAmountsStayExact(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	const most = int64(999_999_999_999)
	for i, amount := range []int64{3_000_000_000, most, most - 2} {
		reference := string(rune('a' + i))
		paid := s.Create("K"+reference, system.With(system.Order("order-"+reference, amount), "currency", "idr"))
		require.Contains(t, string(paid.Body), fmt.Sprintf(`"amount_captured":%d`, amount))
		id := paid.Payment(t).ID
		require.Equal(t, amount, s.Book(id).Captured)
		answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+id.String()+"/refunds", "R"+reference,
			map[string]any{"amount": amount - 1, "reference": "item-1"}, "wait=20")
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		require.Contains(t, string(answer.Body), fmt.Sprintf(`"amount":%d`, amount-1))
		s.Settle()
		require.Equal(t, map[string]int64{"stripe:receivable": 1, "merchant:balance": -1}, s.Positions(id))
		require.Contains(t, string(s.Told(id, "refund.succeeded")[0].Body), fmt.Sprintf(`"amount":%d`, amount-1))
	}
	refused := s.Create("K9", system.With(system.Order("order-9", most+1), "currency", "idr"))
	require.Equal(t, http.StatusBadRequest, refused.Status)
	require.Equal(t, "amount", refused.Problem(t).Field)
}
