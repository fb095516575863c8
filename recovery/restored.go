package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/tenants"
)

// restoreMargin is how long before the time to which a database was restored Stripe is read again: commits and events do not keep one order.
const restoreMargin = time.Hour

// CloseRestored closes a database that was restored to an older time, unless it has closed itself: nothing goes to Stripe any more, feeds begin a new
// epoch, Stripe's list of events is gone through again from a little before that time, and everything that is open is read. It refuses a time to come. For
// the owner's role; one transaction.
func CloseRestored(ctx context.Context, owner *pgxpool.Pool, to time.Time, by string) error {
	err := pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error {
		var now time.Time
		if err := tx.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&now); err != nil {
			return err
		}
		if to.After(now) {
			return errors.New("the time to which it was restored is still to come")
		}
		if err := closedFor(ctx, tx, to, by); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`UPDATE payonce.restore_epoch SET epoch = epoch + 1`)
		batch.Queue(`
			INSERT INTO payonce.event_cursors AS c (account, livemode, seen_until, moved_at)
			SELECT account, livemode, $1::timestamptz, payonce.clock() FROM payonce.provider_accounts
			ON CONFLICT (account, livemode) DO UPDATE SET seen_until = least(c.seen_until, excluded.seen_until)`, to.Add(-restoreMargin))
		for _, table := range []string{"payments", "refunds", "disputes", "payouts"} {
			batch.Queue(`UPDATE payonce.` + table + ` SET next_poll_at = payonce.clock() WHERE next_poll_at IS NOT NULL`)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("close the restored database: %w", err)
	}
	return nil
}

// closedFor writes down to when the database was restored: beside the freeze by which it closed itself, or beside one that is set now.
func closedFor(ctx context.Context, tx pgx.Tx, to time.Time, by string) error {
	tag, err := tx.Exec(ctx, `UPDATE payonce.restores SET restored_to = $1 WHERE restored_to IS NULL`, to)
	if err != nil {
		return err
	}
	var closed bool
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM payonce.restores r JOIN payonce.freezes f ON f.id = r.freeze_id WHERE f.lifted_at IS NULL)`).Scan(&closed)
	if err != nil || closed && tag.RowsAffected() > 0 {
		return err
	}
	freeze, err := tenants.SetFreeze(ctx, tx, tenants.Freeze{Reason: "the database was restored to " + to.UTC().Format(time.RFC3339), By: by})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO payonce.restores (freeze_id, closed_at, restored_to) VALUES ($1, payonce.clock(), $2)`, freeze, to)
	return err
}

// Unread is what has not been read at Stripe since a restored database was closed, and what Stripe has that this database lost.
type Unread struct {
	Events int64 // stored and not judged yet
	Open   int64 // payments, refunds, disputes and payouts whose read is due
	Lost   int64 // payments of ours that Stripe's events name and that are not here
}

// UnreadOf reads what is still to be read at Stripe. A database that was closed may be opened when there is neither event nor open object left: what is lost
// comes back with its caller's repeat, under the same id and the same key at Stripe. For the system role.
func UnreadOf(ctx context.Context, pool *pgxpool.Pool) (Unread, error) {
	var left Unread
	err := pool.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM payonce.provider_events WHERE status = 'stored'),
		       (SELECT count(*) FROM payonce.payments WHERE next_poll_at <= payonce.clock())
		       + (SELECT count(*) FROM payonce.refunds WHERE next_poll_at <= payonce.clock())
		       + (SELECT count(*) FROM payonce.disputes WHERE next_poll_at <= payonce.clock())
		       + (SELECT count(*) FROM payonce.payouts WHERE next_poll_at <= payonce.clock()),
		       (SELECT count(DISTINCT intent_id) FROM payonce.provider_events WHERE status = 'parked')`).Scan(&left.Events, &left.Open, &left.Lost)
	if err != nil {
		return Unread{}, fmt.Errorf("read what is left to be read: %w", err)
	}
	return left, nil
}

// OpenRestored lifts the freezes that keep a restored database closed, once everything is read; it says how many there were. For the system role.
func OpenRestored(ctx context.Context, pool *pgxpool.Pool, by string) (int, error) {
	rows, err := pool.Query(ctx, `
		SELECT f.id FROM payonce.restores r JOIN payonce.freezes f ON f.id = r.freeze_id WHERE f.lifted_at IS NULL AND r.restored_to IS NOT NULL`)
	if err != nil {
		return 0, fmt.Errorf("find what keeps it closed: %w", err)
	}
	closing, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return 0, fmt.Errorf("find what keeps it closed: %w", err)
	}
	for _, freeze := range closing {
		if err := tenants.LiftFreeze(ctx, pool, freeze, by); err != nil {
			return 0, err
		}
	}
	return len(closing), nil
}
