package doctor_test

import (
	stdsql "database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/postgres"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/payments"
	"payonce/recovery/doctor"
)

// leftBehind is a database as an engine of schema version 20 left it.
func leftBehind(t *testing.T) *pg.Database {
	t.Helper()
	db := pg.NewDatabase(t)
	conn, err := stdsql.Open("pgx", db.SuperuserURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = conn.ExecContext(t.Context(), `DROP SCHEMA payonce CASCADE`)
	require.NoError(t, err)
	require.NoError(t, postgres.MigrateTo(t.Context(), db.SuperuserURL, 20))
	rows, err := os.ReadFile("testdata/release20.sql")
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), `
		SET session_replication_role = replica;
		TRUNCATE payonce.clock_offset, payonce.restore_epoch, payonce.call_buckets;`+string(rows))
	require.NoError(t, err)
	return db
}

// What an engine of before left behind is brought to today's schema and goes on: the books are whole, everything is shown as it was, and the loops of today
// take it up.
func TestWhatAnOlderReleaseLeftBehindGoesOn(t *testing.T) {
	t.Parallel()
	db := leftBehind(t)
	require.NoError(t, postgres.Migrate(t.Context(), db.SuperuserURL))
	keyset, err := os.ReadFile("testdata/release20.keyset.json") // of this data alone
	require.NoError(t, err)
	built, err := app.Open(t.Context(), app.Config{
		DatabaseURL: db.OwnerURL, TenantDatabaseURL: db.TenantURL, SystemDatabaseURL: db.SystemURL, TemporalAddress: "127.0.0.1:1",
		TemporalNamespace: "payonce", TaskQueue: "none", StripeURL: "http://127.0.0.1:1", Keyset: keyset, Timing: timing.Quick(), MaxConns: 4,
	}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(built.Close)
	superuser, err := pgxpool.New(t.Context(), db.SuperuserURL)
	require.NoError(t, err)
	t.Cleanup(superuser.Close)
	healthy := func() {
		report, err := doctor.Examine(t.Context(), doctor.Config{
			Owner: superuser, Sealer: built.Sealer, Timing: built.Config.Timing, Late: 100 * 365 * 24 * time.Hour,
		})
		require.NoError(t, err)
		require.True(t, report.Healthy(), report.String())
	}
	healthy()
	shown := show(t, built)
	require.Equal(t, map[string]int64{"order-1": 5000, "order-2": 0, "order-3": 400, "order-4": 2000}, shown.captured)
	require.Equal(t, []payments.PayoutStatus{payments.PayoutPending}, shown.payouts)

	_, err = boundaries.Sweep(t.Context(), built.System, built.Config.Timing)
	require.NoError(t, err)
	_, err = ledger.RollUp(t.Context(), built.System, ledger.RollUpLimits{Accounts: 100, Entries: 10_000})
	require.NoError(t, err)
	healthy()
	require.Equal(t, shown, show(t, built))
}

// shownBefore is what a caller sees.
type shownBefore struct {
	captured map[string]int64 // of each reference
	payouts  []payments.PayoutStatus
	refunds  int
	disputes int
}

func show(t *testing.T, built *app.App) shownBefore {
	t.Helper()
	tenant, err := tenants.ListTenants(t.Context(), built.System)
	require.NoError(t, err)
	require.Len(t, tenant, 1)
	of, err := tenants.ByName(t.Context(), built.System, tenant[0].Name)
	require.NoError(t, err)
	key, err := tenants.CreateAPIKey(t.Context(), built.System, of.ID, tenants.ScopeRead)
	require.NoError(t, err)
	handler, _, err := built.Handler(t.Context())
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	read := func(path string, into any) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s", body)
		require.NoError(t, json.Unmarshal(body, into))
	}
	shown := shownBefore{captured: map[string]int64{}}
	var all struct{ Data []payments.View }
	read("/v1/payments", &all)
	for _, payment := range all.Data {
		shown.captured[payment.Reference] = payment.AmountCaptured
		var one payments.View
		var refunds struct{ Data []payments.RefundView }
		var disputes struct{ Data []payments.DisputeView }
		path := "/v1/payments/" + payment.ID.String()
		read(path, &one)
		require.Equal(t, payment, one)
		read(path+"/refunds", &refunds)
		read(path+"/disputes", &disputes)
		read(path+"/timeline", &struct{}{})
		shown.refunds += len(refunds.Data)
		shown.disputes += len(disputes.Data)
	}
	var payouts struct{ Data []payments.PayoutView }
	read("/v1/payouts", &payouts)
	for _, payout := range payouts.Data {
		shown.payouts = append(shown.payouts, payout.Status)
	}
	return shown
}
