package paymentstore

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/pg"
	"payonce/payments"
)

// Each kind of list has an index that gives its rows in order and can be used also in a plan made for any value, as it is on a busy connection.
func TestEachFilterHasAnIndex(t *testing.T) {
	db := pg.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), db.TenantURL)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	fill(t, db)
	_, err = conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan")
	require.NoError(t, err)
	at := time.UnixMicro(0)
	after := &Position{CreatedAt: at, ID: payments.PaymentID{UUID: uuid.New()}}
	for name, c := range map[string]struct {
		filter Filter
		index  string
		sorted bool // the few attempts of a reference are
	}{
		"all":                 {Filter{}, "payments_list ", false},
		"a later page":        {Filter{After: after}, "payments_list ", false},
		"a window":            {Filter{CreatedAfter: &at, CreatedBefore: &at}, "payments_list ", false},
		"succeeded":           {Filter{Status: payments.StatusSucceeded}, "payments_list ", false},
		"another status":      {Filter{Status: payments.StatusFailed}, "payments_list_status ", false},
		"a status, paged":     {Filter{Status: payments.StatusFailed, After: after, CreatedAfter: &at}, "payments_list_status ", false},
		"a reference":         {Filter{Reference: "order"}, "payments_reference_attempt ", true},
		"a reference, filled": {Filter{Reference: "order", Status: payments.StatusSucceeded, After: after}, "payments_reference_attempt ", true},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.filter.query(payments.TenantID{UUID: uuid.New()}, 101)
			_, err := conn.Exec(t.Context(), "PREPARE list AS "+q.sql)
			require.NoError(t, err)
			nulls := strings.TrimSuffix(strings.Repeat("NULL,", len(q.arguments)), ",")
			found, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) EXECUTE list ("+nulls+")", pgx.QueryExecModeSimpleProtocol)
			require.NoError(t, err)
			lines, err := pgx.CollectRows(found, pgx.RowTo[string])
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), "DEALLOCATE list")
			require.NoError(t, err)
			plan := strings.Join(lines, "\n")
			require.Contains(t, plan, c.index, plan)
			require.Equal(t, c.sorted, strings.Contains(plan, "Sort"), plan)
		})
	}
}

// fill gives the planner something to plan for: payments of three tenants, most of them succeeded.
func fill(t *testing.T, db *pg.Database) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), db.OwnerURL)
	require.NoError(t, err)
	defer owner.Close(t.Context())
	_, err = owner.Exec(t.Context(), `
		WITH account AS (
			INSERT INTO payonce.provider_accounts (account, livemode, secret_key, webhook_secrets, created_at) VALUES ('acct_shop', false, '', '', now())
		), tenant AS (
			INSERT INTO payonce.tenants (id, name, account, livemode, created_at)
			SELECT gen_random_uuid(), 'shop-' || n, 'acct_shop', false, now() FROM generate_series(1, 3) n RETURNING id
		)
		INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency, capture_method, status, stage,
			submitted_at, last_command, created_at, updated_at)
		SELECT gen_random_uuid(), tenant.id, 'order-' || n, 1, 'acct_shop', false, 1000, 'usd', 'automatic',
			CASE n % 20 WHEN 0 THEN 'failed' WHEN 1 THEN 'canceled' ELSE 'succeeded' END, 'ledger_applied', now(), 1, now() + n * interval '1 second', now()
		FROM tenant, generate_series(1, 3000) n`)
	require.NoError(t, err)
	_, err = owner.Exec(t.Context(), `ANALYZE payonce.payments`)
	require.NoError(t, err)
}
