package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"payonce/internal/seal"
	"payonce/ledger"
	"payonce/payments"
)

// Bounds of the loading.
const (
	growthChunk    = 5_000 // payments in one transaction
	growthParallel = 2
	growthSpread   = 20 * time.Hour // the payments are of this last time: their keys still replay, so nothing is swept while the run measures
)

// grow loads finished payments by COPY, each with all that a real one leaves: records, key, calls, facts, events, journal, entries and message.
func (s *site) grow(ctx context.Context, count int) error {
	endpoint, err := uuid.Parse(s.endpoint)
	if err != nil {
		return err
	}
	// Triggers and foreign keys are off for these sessions: what they would check holds by construction, and the doctor can look.
	pool, err := pgxpool.New(ctx, s.cluster.URL("postgres", s.database)+"&session_replication_role=replica&synchronous_commit=off")
	if err != nil {
		return fmt.Errorf("open pool: %w", err)
	}
	defer pool.Close()
	var now time.Time
	if err := pool.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&now); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	frozen, err := freeze(s.sealer)
	if err != nil {
		return err
	}
	chunks, loading := errgroup.WithContext(ctx)
	chunks.SetLimit(growthParallel)
	for first := 0; first < count; first += growthChunk {
		chunks.Go(func() error {
			made := make([]finished, 0, growthChunk)
			for n := first; n < min(first+growthChunk, count); n++ {
				made = append(made, newFinished(s.tenant, endpoint, n, now.Add(-growthAge(n, count))))
			}
			return pgx.BeginFunc(loading, pool, func(tx pgx.Tx) error { return frozen.load(loading, tx, made) })
		})
	}
	if err := chunks.Wait(); err != nil {
		return err
	}
	return s.settleGrowth(ctx, pool)
}

// growthAge is how old the nth of count payments is, from 0: the oldest comes first.
func growthAge(n, count int) time.Duration {
	return growthSpread / time.Duration(count) * time.Duration(count-n)
}

// settleGrowth makes the accounts and brings the database to where its own upkeep would have brought it by now: statistics, visibility, roll-ups.
func (s *site) settleGrowth(ctx context.Context, pool *pgxpool.Pool) error {
	for _, account := range []ledger.AccountName{ledger.StripeReceivable, ledger.MerchantBalance} {
		kind, err := ledger.KindOf(account)
		if err != nil {
			return err
		}
		_, err = pool.Exec(ctx, `INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
			VALUES ($1, $2, $3, $4, $5, payonce.clock()) ON CONFLICT DO NOTHING`,
			ledgerAccount(s.tenant, account), s.tenant.UUID, string(account), string(growthCurrency), string(kind))
		if err != nil {
			return fmt.Errorf("make account: %w", err)
		}
	}
	if _, err := pool.Exec(ctx, `VACUUM ANALYZE`); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	if _, err := ledger.RollUp(ctx, s.system, ledger.RollUpLimits{Accounts: 100, Entries: 1_000_000}); err != nil {
		return fmt.Errorf("roll up: %w", err)
	}
	_, err := pool.Exec(ctx, `CHECKPOINT`)
	return err
}

// frozen are sealed bytes of usual sizes, which all loaded rows share.
type frozen struct {
	command, call, event, answer, message, secret []byte
	callBody                                      []byte // what is sealed in call
}

func freeze(sealer *seal.Sealer) (frozen, error) {
	f := frozen{callBody: filler(300)}
	for _, sealed := range []struct {
		into   *[]byte
		column string
		plain  []byte
	}{
		{&f.command, "idempotency_records.command", filler(220)},
		{&f.call, "provider_calls.body", f.callBody},
		{&f.event, "provider_events.body", filler(1000)},
		{&f.answer, "idempotency_keys.response_body", filler(750)},
		{&f.message, "notifications.body", filler(850)},
		{&f.secret, "payments.client_secret", filler(60)},
	} {
		var err error
		if *sealed.into, err = sealer.Seal(sealed.column, sealed.plain); err != nil {
			return f, err
		}
	}
	return f, nil
}

// filler is a JSON text of about so many bytes.
func filler(size int) []byte {
	text := []byte(`{"filler":"`)
	for len(text) < size-2 {
		text = append(text, 'x')
	}
	return append(text, `"}`...)
}

// load copies the rows of finished payments into every table that they have one in.
func (f frozen) load(ctx context.Context, tx pgx.Tx, made []finished) error {
	for _, table := range f.tables() {
		rows := make([][]any, 0, len(made)*table.each)
		for _, payment := range made {
			for _, row := range table.rows(payment) {
				rows = append(rows, plain(row))
			}
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"payonce", table.name}, table.columns, pgx.CopyFromRows(rows))
		if err != nil {
			return fmt.Errorf("copy into %s: %w", table.name, err)
		}
	}
	return nil
}

// plain hands pgx the bytes of ids: the type of the uuid library it would turn into text and parse, which is a third of the loading.
func plain(row []any) []any {
	for i, value := range row {
		if id, is := value.(uuid.UUID); is {
			row[i] = pgtype.UUID{Bytes: id, Valid: true}
		}
	}
	return row
}

// growthCurrency is the currency of all loaded payments.
const growthCurrency = payments.Currency("eur")
