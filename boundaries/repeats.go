package boundaries

import (
	"context"
	"fmt"
	"log/slog"
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

// Write stores the counts so far; what could not be stored is kept for the next time. Records are locked in the order of their ids, so that the
// counters of two processes wait for each other and never both.
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
		WITH locked AS MATERIALIZED (
			SELECT id FROM payonce.idempotency_records WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE)
		UPDATE payonce.idempotency_records r SET suppressed = r.suppressed + c.count
		FROM unnest($1::uuid[], $2::int[]) AS c (record, count), locked WHERE r.id = c.record AND r.id = locked.id`, records, counts)
	if err != nil {
		r.keep(records, counts)
		return fmt.Errorf("write suppressed commands: %w", err)
	}
	return nil
}

// keep takes counts back that were not stored.
func (r *Repeats) keep(records []uuid.UUID, counts []int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i, record := range records {
		if _, known := r.counts[record]; known || len(r.counts) < maxCountedRecords {
			r.counts[record] += counts[i]
		}
	}
}

// Run writes every interval until ctx ends, and once more then. A database that is away is waited for: no count is worth a process that serves.
func (r *Repeats) Run(ctx context.Context, pool *pgxpool.Pool, interval time.Duration, log *slog.Logger) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if err := r.Write(final, pool); err != nil {
				log.WarnContext(final, "suppressed commands not counted", "error", err)
			}
			return nil
		case <-ticker.C:
			if err := r.Write(ctx, pool); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "suppressed commands not counted yet", "error", err)
			}
		}
	}
}
