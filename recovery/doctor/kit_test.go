package doctor_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/app"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/internal/testkit/pg"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
	"payonce/recovery/doctor"
	"payonce/stripesim"
	"payonce/stripesim/control"
	"payonce/workflows"
)

// patient is a database with a healthy history, made by the product's own code against a twin: a payment that succeeded and was submitted under two
// keys, one that was declined and waits for another method, one that was only begun, one of whose hold a part was captured, one that was given back in
// several parts, one that a wallet and the merchant share; every message told. Each test makes it ill in a transaction
// that is rolled back, or alters a copy of Stripe's books.
type patient struct {
	superuser *pgxpool.Pool
	app       *app.App
	tenant    payments.TenantID
	books     []control.Book
	requests  []control.Request
	messages  []doctor.Received

	customers, connected []control.Party

	paid, declined, begun payments.PaymentID
	held, returned        payments.PaymentID    // of several captures, one of which was made; refunded by us and by others
	refunds               [4]payments.RefundID  // of returned: succeeded, pending, failed after it had succeeded, made elsewhere
	disputed              [2]payments.PaymentID // lost, and under way
	disputes              [2]payments.DisputeID
	divided               payments.PaymentID // among a wallet and the merchant, and given back in part
	dividedRefund         payments.RefundID
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	db := pg.NewDatabase(t)
	clock, err := stripesim.NewDatabaseClock(t.Context(), db.TwinURL, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	twin, err := stripesim.New(stripesim.Config{Clock: clock})
	require.NoError(t, err)
	server := httptest.NewServer(twin.Handler())
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, twin.Close())
		clock.Close()
	})
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	durations := timing.Quick()
	durations.PollAfter, durations.PollMaximum = 24*time.Hour, 48*time.Hour // nobody polls here, and a slow machine is no illness
	built, err := app.Open(t.Context(), app.Config{
		DatabaseURL: db.OwnerURL, TenantDatabaseURL: db.TenantURL, SystemDatabaseURL: db.SystemURL,
		TemporalAddress: "127.0.0.1:1", TemporalNamespace: "payonce", TaskQueue: "none", StripeURL: server.URL,
		Keyset: keyset, Timing: durations, MaxConns: 4,
	}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(built.Close)
	p := &patient{app: built}
	p.superuser, err = pgxpool.New(t.Context(), db.SuperuserURL)
	require.NoError(t, err)
	t.Cleanup(p.superuser.Close)
	p.live(t, control.NewClient(server.URL, nil))
	p.read(t, control.NewClient(server.URL, nil))
	return p
}

// live makes the history.
func (p *patient) live(t *testing.T, twin *control.Client) {
	t.Helper()
	ctx := t.Context()
	merchant := payments.Account{ID: "acct_merchant"}
	require.NoError(t, tenants.CreateAccount(ctx, p.app.System, p.app.Sealer, merchant, "sk_test_merchant", []string{"whsec_test_signing_secret"}))
	_, err := p.app.Activities.Backfill(ctx, workflows.BackfillAct{Version: 1}) // there is no event yet
	require.NoError(t, err)
	p.tenant, err = tenants.CreateTenant(ctx, p.app.System, "merchant", merchant)
	require.NoError(t, err)
	addresses, err := notifications.NewAddresses([]string{"127.0.0.1:1"}, nil)
	require.NoError(t, err)
	_, _, err = notifications.Create(ctx, p.app.System, p.app.Sealer, addresses, p.tenant, "http://127.0.0.1:1/messages")
	require.NoError(t, err)

	p.paid = p.claim(t, "order-paid", "pm_card_visa", "key-1")
	p.act(t, p.paid, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	require.Equal(t, p.paid, p.claim(t, "order-paid", "pm_card_visa", "key-2"))
	p.declined = p.claim(t, "order-declined", "pm_card_chargeDeclined", "key-3")
	p.act(t, p.declined, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	p.begun = p.claim(t, "order-begun", "", "key-4")
	p.act(t, p.begun, p.app.Activities.CreateIntent)
	_, err = p.superuser.Exec(ctx, `UPDATE payonce.notification_endpoints SET created_at = created_at - interval '1 hour'`)
	require.NoError(t, err)
	p.hold(t)
	p.giveBack(t, twin)
	p.dispute(t, twin)
	p.split(t)
	p.payOut(t, twin)
	p.provision(t)
	_, err = ledger.RollUp(ctx, p.app.System, ledger.RollUpLimits{Accounts: 10, Entries: 10})
	require.NoError(t, err)
	p.exec(t, p.superuser, `UPDATE payonce.notifications SET status = 'delivered', tries = 1, first_sent_at = payonce.clock(),
		next_try_at = NULL, settled_at = payonce.clock()`)
	p.exec(t, p.superuser, `
		INSERT INTO payonce.provider_events (id, account, livemode, event_id, type, created, body, source, status, tenant, payment, received_at, settled_at)
		VALUES (gen_random_uuid(), 'acct_merchant', false, 'evt_1', 'payment_intent.succeeded', payonce.clock(), '\x00', 'webhook', 'applied', $1, $2,
			payonce.clock(), payonce.clock())`, p.tenant.UUID, p.paid.UUID)
}

func (p *patient) claim(t *testing.T, reference, method, key string) payments.PaymentID {
	t.Helper()
	command := payments.CreateCommand{Reference: reference, Amount: 1000, Currency: "usd"}
	if method != "" {
		command.PaymentMethod = &method
	}
	return p.create(t, command, key)
}

func (p *patient) create(t *testing.T, command payments.CreateCommand, key string) payments.PaymentID {
	t.Helper()
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
	require.NoError(t, err)
	claim, err := p.app.Commands.ClaimCreate(t.Context(), boundaries.Asking{Tenant: p.tenant, Key: boundaries.CallerKey(key), Normalised: normalised}, command)
	require.NoError(t, err)
	return claim.Payment
}

func (p *patient) act(t *testing.T, payment payments.PaymentID, acts ...func(context.Context, workflows.Act) (workflows.Step, error)) {
	t.Helper()
	for _, act := range acts {
		_, err := act(t.Context(), workflows.Act{Version: 1, Payment: payment, Owner: boundaries.PaymentWorkflowID(payment)})
		require.NoError(t, err)
	}
}

// read takes what the twin and the receiver have.
func (p *patient) read(t *testing.T, twin *control.Client) {
	t.Helper()
	var err error
	p.books, err = twin.AllBooks(t.Context())
	require.NoError(t, err)
	p.requests, err = twin.AllRequests(t.Context())
	require.NoError(t, err)
	p.customers, err = twin.AllCustomers(t.Context(), "")
	require.NoError(t, err)
	p.connected, err = twin.AllConnectedAccounts(t.Context(), "")
	require.NoError(t, err)
	found, err := p.superuser.Query(t.Context(), `SELECT id::text, body FROM payonce.notifications ORDER BY payment, sequence`)
	require.NoError(t, err)
	p.messages, err = pgx.CollectRows(found, pgx.RowToStructByPos[doctor.Received])
	require.NoError(t, err)
	for i := range p.messages {
		p.messages[i].Body, err = p.app.Sealer.Open("notifications.body", p.messages[i].Body)
		require.NoError(t, err)
	}
}

type executor interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

func (p *patient) exec(t *testing.T, db executor, sql string, arguments ...any) {
	t.Helper()
	done, err := db.Exec(t.Context(), sql, arguments...)
	require.NoError(t, err, sql)
	require.False(t, done.Update() && done.RowsAffected() == 0, "nothing was planted: %s", sql)
}

// config is what the doctor looks at: the database as db sees it, and the twin as books and requests.
func (p *patient) config(t *testing.T, db ledger.Querier, books []control.Book, requests []control.Request) doctor.Config {
	t.Helper()
	return doctor.Config{
		Owner: db, Sealer: p.app.Sealer, Twin: p.serveTwin(t, books, requests), Timing: timing.Quick(), Settled: true, Received: p.messages,
	}
}

// serveTwin serves books, requests, customers and connected accounts as the twin's control API does.
func (p *patient) serveTwin(t *testing.T, books []control.Book, requests []control.Request) *control.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_twin/books", func(w http.ResponseWriter, r *http.Request) {
		servePage(w, r, books, func(b control.Book) int64 { return b.Seq })
	})
	mux.HandleFunc("GET /_twin/requests", func(w http.ResponseWriter, r *http.Request) {
		servePage(w, r, requests, func(r control.Request) int64 { return r.Seq })
	})
	for path, parties := range map[string][]control.Party{"GET /_twin/customers": p.customers, "GET /_twin/connected_accounts": p.connected} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			servePage(w, r, parties, func(p control.Party) int64 { return p.Seq })
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return control.NewClient(server.URL, server.Client())
}

func servePage[T any](w io.Writer, r *http.Request, rows []T, seq func(T) int64) {
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	page := []T{}
	for _, row := range rows {
		if seq(row) > after && len(page) < limit {
			page = append(page, row)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": page})
}

// failing are the names of the checks that found a violation.
func failing(report doctor.Report) []string {
	var names []string
	for _, check := range report.Checks {
		if !check.Passed {
			names = append(names, check.Name)
		}
	}
	return names
}

func messageID(p *patient, subject, kind string, endpoint uuid.UUID) uuid.UUID {
	return boundaries.NotificationID(p.tenant, subject, kind, endpoint)
}
