package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A payout that waits for a person is listed beside the payments that do, the oldest first.
func TestReviewsListPaymentsAndPayouts(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	payment, payout := uuid.New(), uuid.New()
	for _, row := range []struct {
		sql string
		id  uuid.UUID
	}{
		{`INSERT INTO payonce.payouts (id, tenant, amount, currency, status, stage, submitted_at, account, livemode, payout_id, moved, review_reason, review_since,
			created_at, updated_at)
		VALUES ($1, $2, 1000, 'usd', 'pending', 'processing', now(), $3, false, 'po_1', true, 'quarantined_payout', now(), now(), now())`, payout},
		{`INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency, capture_method, status, stage, submitted_at,
			last_command, review_reason, review_since, created_at, updated_at)
		VALUES ($1, $2, 'order-1', 1, $3, false, 1000, 'usd', 'automatic', 'submitted', 'submitted', now(), 1, 'outcome_unknown', now() - interval '1 hour',
			now(), now())`, payment},
	} {
		_, err := o.system.Exec(t.Context(), row.sql, row.id, o.tenant.UUID, shop.ID)
		require.NoError(t, err)
	}
	var listed []reviewRow
	o.read(&listed, "payments", "reviews")
	require.Len(t, listed, 2)
	require.Equal(t, payment, *listed[0].Payment)
	require.Nil(t, listed[0].Payout)
	require.Equal(t, payout, *listed[1].Payout)
	require.Nil(t, listed[1].Payment)
	require.Equal(t, "po_1", *listed[1].AtStripe)
	people := o.run("payments", "reviews")
	require.Contains(t, people, payment.String())
	require.Contains(t, people, payout.String())
}
