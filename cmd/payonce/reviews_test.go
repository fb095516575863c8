package main

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Payouts, customers and connected accounts that wait for a person are listed beside the payments that do, the oldest first.
func TestReviewsListAllThatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	superuser, err := pgx.Connect(t.Context(), o.db.SuperuserURL)
	require.NoError(t, err)
	defer superuser.Close(context.WithoutCancel(t.Context()))
	payment, payout, provision := uuid.New(), uuid.New(), uuid.New()
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
		{`WITH record AS (
			INSERT INTO payonce.idempotency_records (id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command,
				status, resource_kind, resource_id, asked_by, created_at)
			VALUES ($1, $2, 'create_connected_account', 'owner-1', $1, sha256(''), 1, '\\x00', 'unknown', 'connected_account', $1, 'caller', now()))
		INSERT INTO payonce.provisions (id, tenant, kind, owner, currency, network, country, account, livemode, record, attempt, status,
			review_reason, review_since, created_at, updated_at)
		VALUES ($1, $2, 'connected_account', 'owner-1', 'eur', '', 'DE', $3, false, $1, 1, 'submitted', 'outcome_unknown', now() - interval '2 hours',
			now(), now())`, provision},
	} {
		_, err := superuser.Exec(t.Context(), row.sql, row.id, o.tenant.UUID, shop.ID)
		require.NoError(t, err)
	}
	var listed []reviewRow
	o.read(&listed, "payments", "reviews")
	require.Len(t, listed, 3)
	require.Equal(t, "connected_account", listed[0].Kind)
	require.Equal(t, provision, *listed[0].Provision)
	require.Equal(t, "owner-1", *listed[0].Owner)
	require.Equal(t, "eur", *listed[0].Currency)
	require.Equal(t, []string{"create_connected_account"}, listed[0].Unknown)
	require.Nil(t, listed[0].Payment)
	require.Equal(t, payment, *listed[1].Payment)
	require.Nil(t, listed[1].Payout)
	require.Equal(t, payout, *listed[2].Payout)
	require.Nil(t, listed[2].Payment)
	require.Equal(t, "po_1", *listed[2].AtStripe)
	people := o.run("payments", "reviews")
	require.Contains(t, people, payment.String())
	require.Contains(t, people, payout.String())
	require.Contains(t, people, provision.String())
	require.Contains(t, people, "connected_account of owner-1 in eur")

	resolve := []string{"payments", "resolve", provision.String(), "--keyset-file", o.keyset, "--reason", "looked", "--by", "an operator",
		"--timing", "quick", "--temporal", "127.0.0.1:1", "--as"}
	require.ErrorContains(t, o.refused(append(resolve, "executed")...), "resolve it as not_executed")
	require.ErrorContains(t, o.refused(append(resolve, "seen")...), "payonce payments reviews")
	_, err = superuser.Exec(t.Context(), `UPDATE payonce.idempotency_records SET status = 'completed', completed_at = now()`)
	require.NoError(t, err)
	require.Equal(t, "connected_account "+provision.String()+" resolved as seen\n", o.run(append(resolve, "seen")...))
	o.read(&listed, "payments", "reviews")
	require.Len(t, listed, 2)
}
