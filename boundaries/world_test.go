package boundaries_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/testkit/pg"
	"payonce/internal/timing"
	"payonce/payments"
	"payonce/recovery"
)

// place is where a process of the test works: all it needs to open an engine on the test's database.
type place struct {
	TenantURL string
	SystemURL string
	Keyset    []byte
	Tenants   [2]payments.TenantID
	Accounts  [2]payments.Account
}

// engine is the boundaries and what stands behind them, as a process opens them. Stripe is never called here.
type engine struct {
	place
	tenant, system *pgxpool.Pool
	sealer         *seal.Sealer
	timing         timing.Timing
	commands       *boundaries.Commands
	calls          *boundaries.Calls
	activities     *activities.Activities
	applier        *recovery.Applier
}

// connections is how many claims one process makes at once.
const connections = 4

// attended is how long a caller of these tests stays attended.
const attended = 5 * time.Second

func openEngine(ctx context.Context, at place) (*engine, error) {
	e := &engine{place: at, timing: timing.Quick()}
	var err error
	if e.sealer, err = seal.New(at.Keyset); err != nil {
		return nil, err
	}
	if e.tenant, err = openPool(ctx, at.TenantURL); err != nil {
		return nil, err
	}
	if e.system, err = openPool(ctx, at.SystemURL); err != nil {
		return nil, err
	}
	e.commands = boundaries.NewCommands(e.tenant, e.sealer, e.timing, boundaries.NewSettled(), boundaries.NewRepeats())
	e.calls = boundaries.NewCalls(e.system, e.sealer, e.timing)
	e.activities = e.activitiesOn(e.system)
	e.applier = e.applierOn(e.activities)
	return e, nil
}

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	return postgres.Open(ctx, postgres.PoolConfig{
		URL: url, MaxConns: 2 * connections, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
	})
}

func (e *engine) activitiesOn(pool *pgxpool.Pool) *activities.Activities {
	return &activities.Activities{
		Pool: pool, Sealer: e.sealer, Calls: e.calls, Timing: e.timing, Settled: boundaries.NewSettled(),
		Nudge: func() {}, Waker: asleep{}, Log: slog.New(slog.DiscardHandler),
	}
}

func (e *engine) applierOn(acts *activities.Activities) *recovery.Applier {
	return &recovery.Applier{Pool: e.system, Sealer: e.sealer, Activities: acts, Timing: e.timing, Log: acts.Log}
}

func (e *engine) close() {
	e.tenant.Close()
	e.system.Close()
}

// asleep is a waker of workflows that are not there.
type asleep struct{}

func (asleep) Wake(context.Context, payments.PaymentID) error { return nil }

func (asleep) WakeRefund(context.Context, payments.PaymentID, payments.RefundID) error { return nil }
func (asleep) WakePayout(context.Context, payments.PayoutID) error                     { return nil }

func (asleep) WakeProvision(context.Context, payments.ProvisionID, payments.RecordID) error {
	return nil
}

// world is one test's database with two tenants, each with an account and a receiver of its own, and an engine on it.
type world struct {
	*engine
	t         *testing.T
	db        *pg.Database
	owner     *pgxpool.Pool
	endpoints [2]uuid.UUID
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: pg.NewDatabase(t)}
	at := place{TenantURL: w.db.TenantURL, SystemURL: w.db.SystemURL}
	var err error
	at.Keyset, err = seal.NewKeyset()
	require.NoError(t, err)
	w.owner, err = openPool(t.Context(), w.db.OwnerURL)
	require.NoError(t, err)
	t.Cleanup(w.owner.Close)
	for i := range at.Tenants {
		at.Tenants[i] = payments.TenantID{UUID: uuid.New()}
		at.Accounts[i] = payments.Account{ID: fmt.Sprintf("acct_%d", i)}
		w.endpoints[i] = uuid.New()
		w.exec(`INSERT INTO payonce.provider_accounts (account, livemode, secret_key, webhook_secrets, created_at)
			VALUES ($1, false, '', '', payonce.clock())`, at.Accounts[i].ID)
		w.exec(`INSERT INTO payonce.tenants (id, name, account, livemode, created_at) VALUES ($1, $2, $3, false, payonce.clock())`,
			at.Tenants[i].UUID, fmt.Sprintf("merchant-%d", i), at.Accounts[i].ID)
		w.exec(`INSERT INTO payonce.notification_endpoints (id, tenant, url, secret, created_at)
			VALUES ($1, $2, 'https://receiver.example/', '', payonce.clock())`, w.endpoints[i], at.Tenants[i].UUID)
	}
	w.engine, err = openEngine(t.Context(), at)
	require.NoError(t, err)
	t.Cleanup(w.close)
	t.Cleanup(w.checkInvariants)
	return w
}

// checkInvariants holds what must be true after every test, whatever it did.
func (w *world) checkInvariants() {
	for what, violations := range map[string]string{
		"all entries of a currency sum to zero":  `SELECT currency FROM payonce.ledger_entries GROUP BY currency HAVING sum(amount) <> 0`,
		"the entries of a journal sum to zero":   `SELECT journal FROM payonce.ledger_entries GROUP BY journal, currency HAVING sum(amount) <> 0`,
		"no journal is empty":                    `SELECT id FROM payonce.ledger_journals j WHERE NOT EXISTS (SELECT FROM payonce.ledger_entries WHERE journal = j.id)`,
		"a payment has one record of its create": `SELECT payment FROM payonce.idempotency_records WHERE operation = 'create_payment' GROUP BY payment HAVING count(*) <> 1`,
		"every payment has its record": `SELECT id FROM payonce.payments p
			WHERE NOT EXISTS (SELECT FROM payonce.idempotency_records r WHERE r.payment = p.id AND r.operation = 'create_payment')`,
		"a payment's captures stand in the ledger": `SELECT id FROM payonce.payments p WHERE amount_captured <> (
			SELECT coalesce(sum(e.amount), 0) FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id
			WHERE j.payment = p.id AND j.rule = 'captured' AND e.amount > 0)`,
		"a change is told once":              `SELECT subject FROM payonce.notifications GROUP BY tenant, subject, kind, endpoint HAVING count(*) <> 1`,
		"a completed command has its answer": `SELECT id FROM payonce.idempotency_records WHERE status = 'completed' AND response_code IS NULL`,
	} {
		require.Zero(w.t, w.count(`SELECT count(*) FROM (`+violations+`) AS violations`), what)
	}
}

func (w *world) exec(sql string, arguments ...any) {
	w.t.Helper()
	_, err := w.owner.Exec(context.Background(), sql, arguments...)
	require.NoError(w.t, err)
}

// count reads one number as the owner.
func (w *world) count(sql string, arguments ...any) int {
	w.t.Helper()
	return read[int](w, sql, arguments...)
}

// read reads one value as the owner.
func read[T any](w *world, sql string, arguments ...any) T {
	w.t.Helper()
	var value T
	require.NoError(w.t, w.owner.QueryRow(context.Background(), sql, arguments...).Scan(&value))
	return value
}

func (w *world) advance(by time.Duration) {
	w.t.Helper()
	w.db.AdvanceClock(w.t, by)
}

func (w *world) now() time.Time {
	w.t.Helper()
	return read[time.Time](w, `SELECT payonce.clock()`)
}

// nothing sets nothing going.
func nothing() {}
