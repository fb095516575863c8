package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/bench/result"
	"payonce/internal/clock"
	"payonce/internal/postgres"
	"payonce/ledger"
	"payonce/payments"
)

// Rows of the ledger.
const (
	rowJournal    = "journal_post"
	rowJournalHot = "journal_post_hot"
)

// merchants is over how many tenants the postings of journal_post spread; those of journal_post_hot all go to the accounts of one.
const merchants = 64

// measureJournals compares the posting of a captured amount with raw.sql, both in a transaction of their own.
func (s *session) measureJournals(ctx context.Context) ([]result.Row, error) {
	if err := s.still.makeRaw(ctx); err != nil {
		return nil, err
	}
	pool, err := s.still.openPool(ctx, postgres.RoleSystem, microInFlight)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	tenants, err := s.still.makeMerchants(ctx)
	if err != nil {
		return nil, err
	}
	var rows []result.Row
	for _, spread := range []struct {
		name    string
		tenants []payments.TenantID
		note    string
	}{
		{rowJournal, tenants, fmt.Sprintf("over the accounts of %d tenants", merchants)},
		{rowJournalHot, tenants[:1], "all to the same two accounts"},
	} {
		if !s.options.wants(spread.name) {
			continue
		}
		values, baselines, err := s.contest(ctx,
			func(ctx context.Context) error { return postCapture(ctx, pool, spread.tenants) },
			func(ctx context.Context) error { return postRaw(ctx, pool, spread.tenants) })
		if err != nil {
			return nil, err
		}
		row := result.NewRow(spread.name, "journals/s", values, "raw.sql: two tables, a unique key, no trigger", baselines, result.AtLeast(0.65))
		row.Note = fmt.Sprintf("ledger.Post of a capture, in a transaction of its own on both sides, %s; %d callers", spread.note, microInFlight)
		rows = append(rows, row)
	}
	return rows, nil
}

// makeMerchants makes the tenants that journals are posted for.
func (s *site) makeMerchants(ctx context.Context) ([]payments.TenantID, error) {
	made := make([]payments.TenantID, merchants)
	for i := range made {
		made[i] = payments.TenantID{UUID: uuid.New()}
		_, err := s.system.Exec(ctx, `INSERT INTO payonce.tenants (id, name, account, livemode, created_at) VALUES ($1, $2, $3, false, payonce.clock())`,
			made[i].UUID, fmt.Sprintf("merchant-%d", i), accountID)
		if err != nil {
			return nil, fmt.Errorf("make tenant: %w", err)
		}
	}
	return made, nil
}

func postCapture(ctx context.Context, pool *pgxpool.Pool, tenants []payments.TenantID) error {
	posting, taken := ledger.Captured(ledger.Capture{
		Tenant: tenants[rand.IntN(len(tenants))], Payment: payments.PaymentID{UUID: uuid.New()}, Charge: "ch_" + uuid.NewString(),
		Currency: growthCurrency, NewTotal: 1999, Source: "answer", EffectiveAt: clock.Wall(),
	})
	if !taken {
		return fmt.Errorf("capture %s books nothing", posting.Key)
	}
	return postgres.InTransaction(ctx, pool, func(tx pgx.Tx) error {
		results, err := ledger.Post(ctx, tx, posting)
		if err == nil && results[0].Outcome != boundaries.Acquired {
			err = fmt.Errorf("post %s: %s", posting.Key, results[0].Outcome)
		}
		return err
	})
}

func postRaw(ctx context.Context, pool *pgxpool.Pool, tenants []payments.TenantID) error {
	tenant := tenants[rand.IntN(len(tenants))]
	debit, credit := ledgerAccount(tenant, ledger.StripeReceivable), ledgerAccount(tenant, ledger.MerchantBalance)
	return postgres.InTransaction(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			WITH journal AS (
				INSERT INTO raw.journals (id, posting_key, effective_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id)
			INSERT INTO raw.entries (journal, line, account, amount, currency)
			SELECT journal.id, e.line, e.account, e.amount, $4
			FROM journal, (VALUES (1::smallint, $5::uuid, $6::bigint), (2::smallint, $7::uuid, -$6::bigint)) AS e (line, account, amount)`,
			uuid.Must(uuid.NewV7()), "capture/ch_"+uuid.NewString()+"/1999", clock.Wall(), string(growthCurrency), debit, int64(1999), credit)
		if err == nil && tag.RowsAffected() != 2 {
			err = fmt.Errorf("raw journal: %s", tag)
		}
		return err
	})
}
