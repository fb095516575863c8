package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RollUpLimits bound one statement of a roll-up.
type RollUpLimits struct {
	Accounts int // looked at in one statement; 1 or more
	Entries  int // of one account summed in one statement, beyond which only the same transaction's are added; 1 or more
}

// RolledUp counts what a roll-up did.
type RolledUp struct {
	Accounts int
	Entries  int64
}

// RollUp moves the mark of every account up to the snapshot horizon and adds what it passes to the stored balance, so that a balance sums few
// entries.
//
// Entries have no gap-free number: transactions commit in another order than they begin. But every transaction below
// pg_snapshot_xmin is over, so nothing can appear any more below (epoch, that xid), and there the mark stands. One long transaction holds the
// mark back for all, which costs speed and no money. Roll-ups may race: each stores the balance at its own mark, and the higher mark wins.
func RollUp(ctx context.Context, pool *pgxpool.Pool, limits RollUpLimits) (RolledUp, error) {
	var done RolledUp
	if limits.Accounts < 1 || limits.Entries < 1 {
		return done, fmt.Errorf("roll-up limits must be positive: %+v", limits)
	}
	after := uuid.Nil
	for {
		page, err := accountsAfter(ctx, pool, after, limits.Accounts)
		if err != nil {
			return done, err
		}
		for _, account := range page {
			passed, err := rollUpAccount(ctx, pool, account, limits.Entries)
			done.Entries += passed
			if err != nil {
				return done, err
			}
			if passed > 0 {
				done.Accounts++
			}
		}
		if len(page) < limits.Accounts {
			return done, nil
		}
		after = page[len(page)-1]
	}
}

func accountsAfter(ctx context.Context, pool *pgxpool.Pool, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	found, err := pool.Query(ctx, `SELECT id FROM payonce.ledger_accounts WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	accounts, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	return accounts, nil
}

// rollUpAccount steps the account's mark until it stands at the horizon.
func rollUpAccount(ctx context.Context, pool *pgxpool.Pool, account uuid.UUID, limit int) (int64, error) {
	var passed int64
	for {
		step, err := stepMark(ctx, pool, account, limit)
		if err != nil {
			return passed, fmt.Errorf("roll up account %s: %w", account, err)
		}
		passed += step
		if step < int64(limit) {
			return passed, nil
		}
	}
}

// stepMark moves the mark past the next limit entries, and past the rest of the last one's transaction, or to the horizon. It answers how many
// entries it passed.
func stepMark(ctx context.Context, pool *pgxpool.Pool, account uuid.UUID, limit int) (int64, error) {
	var passed int64
	err := pool.QueryRow(ctx, `
		WITH horizon AS (
			SELECT payonce.epoch() AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS xid
		), mark AS (
			SELECT coalesce(r.balance, 0) AS balance, coalesce(r.epoch, 0) AS epoch, coalesce(r.xid, '0'::xid8) AS xid
			FROM (SELECT $1::uuid AS id) a LEFT JOIN payonce.ledger_rollups r ON r.account = a.id
		), last AS (
			SELECT e.epoch, e.xid FROM payonce.ledger_entries e
			WHERE e.account = $1
				AND (e.epoch, e.xid) >= (SELECT epoch, xid FROM mark) AND (e.epoch, e.xid) < (SELECT epoch, xid FROM horizon)
			ORDER BY e.epoch, e.xid OFFSET $2 - 1 LIMIT 1
		), bound AS (
			SELECT coalesce(last.epoch, horizon.epoch) AS epoch,
				coalesce((last.xid::text::numeric + 1)::text::xid8, horizon.xid) AS xid
			FROM horizon LEFT JOIN last ON true
		), tail AS (
			SELECT count(*) AS entries, sum(e.amount) AS amount FROM payonce.ledger_entries e
			WHERE e.account = $1
				AND (e.epoch, e.xid) >= (SELECT epoch, xid FROM mark) AND (e.epoch, e.xid) < (SELECT epoch, xid FROM bound)
		), moved AS (
			INSERT INTO payonce.ledger_rollups AS r (account, balance, epoch, xid, rolled_at)
			SELECT $1, mark.balance + tail.amount, bound.epoch, bound.xid, payonce.clock()
			FROM mark, tail, bound WHERE tail.entries > 0
			ON CONFLICT (account) DO UPDATE
			SET balance = excluded.balance, epoch = excluded.epoch, xid = excluded.xid, rolled_at = excluded.rolled_at
			WHERE (r.epoch, r.xid) < (excluded.epoch, excluded.xid)
		)
		SELECT entries FROM tail`, account, limit).Scan(&passed)
	return passed, err
}
