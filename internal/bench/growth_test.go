package main

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/recovery/doctor"
)

// What is loaded is what real payments would have left: the doctor finds nothing wrong, and looked at all of it.
func TestTheLoadedPaymentsAreSound(t *testing.T) {
	t.Parallel()
	const count = 20
	db := pg.NewDatabase(t)
	super, err := pgxpool.New(t.Context(), db.SuperuserURL)
	require.NoError(t, err)
	defer super.Close()
	system, err := pgxpool.New(t.Context(), db.SystemURL)
	require.NoError(t, err)
	defer system.Close()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	account := payments.Account{ID: accountID}
	require.NoError(t, tenants.CreateAccount(t.Context(), system, sealer, account, secretKey, []string{"whsec_bench"}))
	tenant, err := tenants.CreateTenant(t.Context(), system, "bench", account)
	require.NoError(t, err)
	endpoint := uuid.New()
	_, err = super.Exec(t.Context(), `INSERT INTO payonce.notification_endpoints (id, tenant, url, secret, created_at)
		VALUES ($1, $2, 'https://receiver.example/messages', 'sealed', payonce.clock())`, endpoint, tenant.UUID)
	require.NoError(t, err)

	frozen, err := freeze(sealer)
	require.NoError(t, err)
	var now time.Time
	require.NoError(t, super.QueryRow(t.Context(), `SELECT payonce.clock()`).Scan(&now))
	var made []finished
	for n := range count {
		made = append(made, newFinished(tenant, endpoint, n, now.Add(-time.Hour)))
	}
	site := &site{tenant: tenant, system: system}
	require.NoError(t, site.settleGrowth(t.Context(), super)) // the accounts first: here the foreign keys are on
	require.NoError(t, pgx.BeginFunc(t.Context(), super, func(tx pgx.Tx) error { return frozen.load(t.Context(), tx, made) }))

	report, err := doctor.Examine(t.Context(), doctor.Config{Owner: super, Sealer: sealer, Timing: timing.Production(), Settled: true})
	require.NoError(t, err)
	require.True(t, report.Healthy(), "%s", report)
	examined := map[string]int{}
	for _, check := range report.Checks {
		examined[check.Name] = check.Examined
	}
	require.Equal(t, count, examined["stages"])
	require.Equal(t, 2*count, examined["records"])
	require.Equal(t, 2*count, examined["calls"])
}

func TestWhatIsLoadedStillReplaysWhateverItsNumber(t *testing.T) {
	const count = 300_000
	for n := range count {
		age := growthAge(n, count)
		require.Positive(t, age, n)
		require.LessOrEqual(t, age, growthSpread, n)
	}
}
