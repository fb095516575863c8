package boundaries

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/payments"
)

// Repeats counts suppressed commands per record and writes them in batches, so that a replay costs no write. A kill loses at most the counts
// of one interval: they inform, nothing hangs on them.
type Repeats struct {
	mutex  sync.Mutex
	counts map[uuid.UUID]int
}

// maxCountedRecords bounds the memory between two writes; beyond it counts are dropped.
const maxCountedRecords = 10_000

// NewRepeats makes a counter for a process.
func NewRepeats() *Repeats { return &Repeats{counts: map[uuid.UUID]int{}} }

// Count adds one suppressed repeat of the record.
func (r *Repeats) Count(record payments.RecordID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.counts[record.UUID]; known || len(r.counts) < maxCountedRecords {
		r.counts[record.UUID]++
	}
}

// Write stores the counts so far.
func (r *Repeats) Write(ctx context.Context, pool *pgxpool.Pool) error {
	r.mutex.Lock()
	records, counts := make([]uuid.UUID, 0, len(r.counts)), make([]int, 0, len(r.counts))
	for record, count := range r.counts {
		records, counts = append(records, record), append(counts, count)
	}
	r.counts = map[uuid.UUID]int{}
	r.mutex.Unlock()
	if len(records) == 0 {
		return nil
	}
	_, err := pool.Exec(ctx, `
		UPDATE payonce.idempotency_records r SET suppressed = r.suppressed + c.count
		FROM unnest($1::uuid[], $2::int[]) AS c (record, count) WHERE r.id = c.record`, records, counts)
	if err != nil {
		return fmt.Errorf("write suppressed commands: %w", err)
	}
	return nil
}

// Run writes every interval until ctx ends, and once more then.
func (r *Repeats) Run(ctx context.Context, pool *pgxpool.Pool, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return r.Write(final, pool)
		case <-ticker.C:
			if err := r.Write(ctx, pool); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}
