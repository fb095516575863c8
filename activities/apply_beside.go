package activities

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
	"payonce/notifications"
	"payonce/payments"
)

// applyBeside applies facts of what stands beside a payment, its refunds or disputes, in one transaction under the payment's lock. read queues their
// reading, in a statement of its own: what was committed while the lock was waited for is invisible to the one that waited.
func (a *Activities) applyBeside(ctx context.Context, id payments.PaymentID, what string, read func(*pgx.Batch), apply func(*application, pgx.Tx) error) error {
	var all application
	err := postgres.Pipelined(ctx, a.Pool, func(first *pgx.Batch) {
		all = application{Activities: a, offered: map[offer]bool{}}
		a.queueLock(first, id, &all.at)
		notifications.QueueEndpoints(first, id, &all.endpoints)
	}, func(tx pgx.Tx, last *pgx.Batch) error {
		all.before, all.last = all.at, last
		reading := &pgx.Batch{}
		read(reading)
		if err := tx.SendBatch(ctx, reading).Close(); err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
		if err := apply(&all, tx); err != nil {
			return err
		}
		return all.queuePayment()
	})
	if err != nil {
		return fmt.Errorf("apply %s of payment %s: %w", what, id, unknownPayment(err))
	}
	all.announce(ctx)
	return nil
}
