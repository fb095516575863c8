package notifications_test

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/testkit/pg"
	"payonce/notifications"
	"payonce/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outbox is the notifications of one fresh database, used as the system role that dispatches in production.
type outbox struct {
	t      *testing.T
	db     *pg.Database
	pool   *pgxpool.Pool
	sealer *seal.Sealer
	tenant payments.TenantID
}

func openOutbox(t *testing.T) *outbox {
	t.Helper()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	sealer, err := seal.New(keyset)
	require.NoError(t, err)
	o := &outbox{t: t, db: pg.NewDatabase(t), sealer: sealer}
	o.pool = o.openPool()
	o.tenant = o.newTenant("shop")
	return o
}

func (o *outbox) openPool() *pgxpool.Pool {
	pool, err := postgres.Open(context.Background(), postgres.PoolConfig{
		URL: o.db.SystemURL, MaxConns: 8, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTransactionTimeout: time.Minute,
	})
	require.NoError(o.t, err)
	o.t.Cleanup(pool.Close)
	return pool
}

func (o *outbox) newTenant(name string) payments.TenantID {
	tenant := payments.TenantID{UUID: uuid.New()}
	o.exec(`INSERT INTO payonce.provider_accounts (account, livemode, secret_key, webhook_secrets, created_at)
		VALUES ('acct_test', false, '', '', payonce.clock()) ON CONFLICT DO NOTHING`)
	o.exec(`INSERT INTO payonce.tenants (id, name, account, livemode, created_at) VALUES ($1, $2, 'acct_test', false, payonce.clock())`,
		tenant.UUID, name)
	return tenant
}

func (o *outbox) exec(sql string, arguments ...any) {
	o.t.Helper()
	_, err := o.pool.Exec(context.Background(), sql, arguments...)
	require.NoError(o.t, err)
}

// newPayment inserts a payment of an order.
func (o *outbox) newPayment(reference string) payments.PaymentID {
	o.t.Helper()
	id := boundaries.PaymentID(o.tenant, reference, 1)
	o.exec(`INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency, capture_method, status, stage,
			submitted_at, last_command, created_at, updated_at)
		VALUES ($1, $2, $3, 1, 'acct_test', false, 1000, 'usd', 'automatic', 'succeeded', 'ledger_applied',
			payonce.clock(), 1, payonce.clock(), payonce.clock())`, id.UUID, o.tenant.UUID, reference)
	return id
}

// newEndpoint registers a receiver and answers its id and secret.
func (o *outbox) newEndpoint(url string) (uuid.UUID, string) {
	o.t.Helper()
	id, secret, err := notifications.Create(context.Background(), o.pool, o.sealer, allow(o.t, url), o.tenant, url)
	require.NoError(o.t, err)
	return id, secret
}

// message is what tells of the payment's success.
func (o *outbox) message(payment payments.PaymentID, sequence int) notifications.Message {
	o.t.Helper()
	return o.messageOf(notifications.PaymentSucceeded, payment, "", sequence)
}

func (o *outbox) messageOf(kind notifications.Kind, payment payments.PaymentID, charge string, sequence int) notifications.Message {
	o.t.Helper()
	subject, err := kind.Subject(payment, notifications.Of{Charge: charge})
	require.NoError(o.t, err)
	body, err := notifications.Render(kind, subject, payments.View{ID: payment, Object: "payment"}, nil, day(1))
	require.NoError(o.t, err)
	return notifications.Message{
		Tenant: o.tenant, Subject: subject, Kind: kind, Payment: payment, Sequence: sequence, Body: body,
	}
}

func (o *outbox) enqueue(message notifications.Message) notifications.Queued {
	o.t.Helper()
	var queued notifications.Queued
	require.NoError(o.t, pgx.BeginFunc(context.Background(), o.pool, func(tx pgx.Tx) (err error) {
		queued, err = notifications.Enqueue(context.Background(), tx, o.sealer, message)
		return err
	}))
	return queued
}

// stored is a message's row.
type stored struct {
	ID         uuid.UUID
	Status     string
	Tries      int
	LastStatus *int
	LastError  *string
	FirstSent  bool
}

func (o *outbox) stored(endpoint uuid.UUID) []stored {
	o.t.Helper()
	rows, err := o.pool.Query(context.Background(), `SELECT id, status, tries, last_status, last_error, first_sent_at IS NOT NULL
		FROM payonce.notifications WHERE endpoint = $1 ORDER BY payment, sequence`, endpoint)
	require.NoError(o.t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
	require.NoError(o.t, err)
	return found
}

func (o *outbox) only(endpoint uuid.UUID) stored {
	o.t.Helper()
	found := o.stored(endpoint)
	require.Len(o.t, found, 1)
	return found[0]
}

// dispatcher makes a dispatcher that may reach the receivers.
func (o *outbox) dispatcher(config notifications.Config, receivers ...*receiver) *notifications.Dispatcher {
	return o.dispatcherOn(o.pool, config, receivers...)
}

func (o *outbox) dispatcherOn(pool *pgxpool.Pool, config notifications.Config, receivers ...*receiver) *notifications.Dispatcher {
	o.t.Helper()
	urls := make([]string, len(receivers))
	for i, receiver := range receivers {
		urls[i] = receiver.URL
	}
	dispatcher, err := notifications.NewDispatcher(pool, o.sealer, allow(o.t, urls...), config, slog.New(slog.DiscardHandler))
	require.NoError(o.t, err)
	return dispatcher
}

// dispatch tries what is due and requires that many tries.
func (o *outbox) dispatch(dispatcher *notifications.Dispatcher, tries int) {
	o.t.Helper()
	made, err := dispatcher.DispatchDue(context.Background())
	require.NoError(o.t, err)
	require.Equal(o.t, tries, made, "tries")
}

// patient are settings under which nothing is tried twice unless the test moves the clock.
func patient() notifications.Config {
	config := notifications.DefaultConfig()
	config.BackoffFirst, config.BackoffMax = time.Minute, time.Hour
	config.SendTimeout, config.MarkTimeout, config.Lease = 2*time.Minute, time.Minute, 10*time.Minute
	return config
}

func day(n int) time.Time { return time.Date(2030, 1, n, 12, 0, 0, 0, time.UTC) }

// allow names the loopback receivers of the urls.
func allow(t *testing.T, urls ...string) *notifications.Addresses {
	t.Helper()
	named := make([]string, len(urls))
	for i, url := range urls {
		named[i] = hostOf(t, url)
	}
	addresses, err := notifications.NewAddresses(named, names{})
	require.NoError(t, err)
	return addresses
}

// names is a resolver that knows a few names.
type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return n[host], nil
}
