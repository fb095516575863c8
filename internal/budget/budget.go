package budget

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// Budget is this process's share of what the accounts may send. Safe for concurrent use.
type Budget struct {
	pool *pgxpool.Pool // the system role

	mu     sync.Mutex
	queues map[payments.Account]*queue
}

// New makes a budget on a pool with the system role.
func New(pool *pgxpool.Pool) *Budget {
	return &Budget{pool: pool, queues: map[payments.Account]*queue{}}
}

// Take waits, at most for patience, until the call may go: those that wait in this process go by priority, and then first come first. It returns 0 when
// the call may go now, which nothing gives back; else nothing may be sent, and the caller is to come again after the pause. An error says that the
// buckets could not be asked, or that ctx ended.
func (b *Budget) Take(ctx context.Context, call Call, patience time.Duration) (pause time.Duration, err error) {
	return b.queue(call.Account).take(ctx, call, patience)
}

func (b *Budget) queue(account payments.Account) *queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[account]
	if q == nil {
		q = newQueue(b.pool, account)
		b.queues[account] = q
	}
	return q
}
