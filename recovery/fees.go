package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/payments"
)

// feePages bounds a round of an account.
const feePages = 50

// Fees books what Stripe kept of each payment, and what it exchanged: a payment's money is booked when it is taken, and its fee is often not known yet. It
// goes through each account's balance transactions by hundreds, oldest first, and reads no payment by itself. What moved the balance and was never told
// of is brought to its payment on the way.
//
// The place that it has come to moves with what it books, in one transaction. FeesLag keeps it behind the newest: Stripe does not promise that
// transactions are listed in the order in which they came to be. Two processes, or a place that is set back, only meet posting keys that are taken.
type Fees struct {
	Pool       *pgxpool.Pool
	Activities *activities.Activities
	Timing     timing.Timing
	Log        *slog.Logger
}

// feeCursor is how far an account's transactions were gone through.
type feeCursor struct {
	ID       string
	Livemode bool
	ReadFrom time.Time
	Place    string    // txn_…; empty: from the first on
	Now      time.Time // payonce.clock() when the round began
}

func (c feeCursor) account() payments.Account {
	return payments.Account{ID: c.ID, Livemode: c.Livemode}
}

// Collect goes through what is new of each account whose round is due. It returns how many journals were booked.
func (f *Fees) Collect(ctx context.Context) (int, error) {
	due, err := f.take(ctx)
	if err != nil {
		return 0, err
	}
	booked := 0
	var failed []error
	for _, cursor := range due {
		some, err := f.round(ctx, cursor)
		booked += some
		failed = append(failed, err)
	}
	return booked, errors.Join(failed...)
}

// take takes the accounts whose round is due. A new account has its first one then, from a little before it was made: Stripe's clock may differ.
func (f *Fees) take(ctx context.Context) ([]feeCursor, error) {
	batch := &pgx.Batch{}
	batch.Queue(`
		INSERT INTO payonce.fee_cursors (account, livemode, read_from, next_round_at)
		SELECT a.account, a.livemode, a.created_at - interval '1 minute', payonce.clock() + $1::interval FROM payonce.provider_accounts a
		WHERE NOT EXISTS (SELECT FROM payonce.fee_cursors c WHERE c.account = a.account AND c.livemode = a.livemode)
		ON CONFLICT DO NOTHING`, f.Timing.FeesEvery/2)
	var due []feeCursor
	batch.Queue(`
		UPDATE payonce.fee_cursors SET next_round_at = payonce.clock() + $1::interval
		WHERE (account, livemode) IN (
			SELECT account, livemode FROM payonce.fee_cursors WHERE next_round_at <= (SELECT payonce.clock()) FOR UPDATE SKIP LOCKED)
		RETURNING account, livemode, read_from, coalesce(place, ''), payonce.clock()`, f.Timing.FeesEvery/2,
	).Query(func(rows pgx.Rows) (err error) {
		due, err = pgx.CollectRows(rows, pgx.RowToStructByPos[feeCursor])
		return err
	})
	if err := f.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("take due fee rounds: %w", err)
	}
	return due, nil
}

// round books page after page until nothing is left, something has to wait, or somebody else has moved the place.
func (f *Fees) round(ctx context.Context, c feeCursor) (booked int, err error) {
	page, goes, err := f.first(ctx, c)
	for range feePages {
		if err != nil || !goes || len(page.Transactions) == 0 {
			return booked, err
		}
		some, on, err := f.book(ctx, &c, page.OldestFirst())
		booked += some
		if err != nil || !on || !page.More {
			return booked, err
		}
		page, goes, err = f.list(ctx, c, stripeapi.Transactions{Above: c.Place})
		if err != nil {
			return booked, err
		}
	}
	return booked, nil
}

// first is the page that comes next. Without a place that is the oldest one, to which Stripe's list, newest first, is gone down.
func (f *Fees) first(ctx context.Context, c feeCursor) (stripeapi.TransactionPage, bool, error) {
	if c.Place != "" {
		page, goes, err := f.list(ctx, c, stripeapi.Transactions{Above: c.Place})
		var refusal *stripeapi.Error
		if errors.As(err, &refusal) && refusal.Code == stripeapi.CodeResourceMissing {
			f.Log.Error("Stripe does not know the balance transaction any more up to which fees were booked: from the first one again",
				"account", c.ID, "livemode", c.Livemode, "transaction", c.Place)
			return page, false, f.forget(ctx, c)
		}
		return page, goes, err
	}
	page, goes, err := f.list(ctx, c, stripeapi.Transactions{From: c.ReadFrom})
	newer := false
	for goes && err == nil && page.More {
		newer = true
		page, goes, err = f.list(ctx, c, stripeapi.Transactions{From: c.ReadFrom, Below: page.Transactions[len(page.Transactions)-1].ID})
	}
	page.More = newer
	return page, goes, err
}

func (f *Fees) list(ctx context.Context, c feeCursor, which stripeapi.Transactions) (stripeapi.TransactionPage, bool, error) {
	which.To = c.Now.Add(-f.Timing.FeesLag)
	return f.Activities.TransactionsAtStripe(ctx, c.account(), which)
}

// forget sets the place back to the first transaction.
func (f *Fees) forget(ctx context.Context, c feeCursor) error {
	_, err := f.Pool.Exec(ctx, `UPDATE payonce.fee_cursors SET place = NULL WHERE account = $1 AND livemode = $2 AND place = $3`, c.ID, c.Livemode, c.Place)
	if err != nil {
		return fmt.Errorf("forget the place of fees: %w", err)
	}
	return nil
}

// book books transactions, oldest first, and moves the place behind them. It answers false when the round is over: one has to wait for its payment, or
// another process has moved the place.
func (f *Fees) book(ctx context.Context, c *feeCursor, transactions []stripeapi.BalanceTransaction) (booked int, on bool, err error) {
	owners, err := f.owners(ctx, c.account(), transactions)
	if err != nil {
		return 0, false, err
	}
	gone := f.judge(*c, transactions, owners)
	if gone.passed == 0 {
		return 0, false, nil
	}
	if err := f.tell(ctx, *c, transactions[:gone.passed], owners); err != nil {
		return 0, false, err
	}
	place := transactions[gone.passed-1].ID
	err = pgx.BeginFunc(ctx, f.Pool, func(tx pgx.Tx) error {
		results, err := ledger.Post(ctx, tx, gone.postings...)
		if err != nil {
			return err
		}
		for i, result := range results {
			switch result.Outcome {
			case boundaries.Acquired:
				booked++
			case boundaries.Mismatch:
				f.Log.Error("a posting key holds other content: nothing was posted", "posting_key", gone.postings[i].Key)
				gone.unclear++
			default: // it stood already
			}
		}
		moved, err := tx.Exec(ctx, `
			UPDATE payonce.fee_cursors SET place = $4, foreign_seen = foreign_seen + $5, unclear_seen = unclear_seen + $6
			WHERE account = $1 AND livemode = $2 AND coalesce(place, '') = $3`, c.ID, c.Livemode, c.Place, place, gone.foreign, gone.unclear)
		on = err == nil && moved.RowsAffected() > 0 && gone.passed == len(transactions)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("book fees of %s: %w", c.ID, err)
	}
	c.Place = place
	return booked, on, nil
}
