package notifications

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// claim is a message that this dispatcher holds until its lease ends.
type claim struct {
	id       uuid.UUID
	endpoint uuid.UUID
	tries    int           // this one included: with the dispatcher's id it is the fence of a failure's mark
	age      time.Duration // when it was taken
	body     []byte        // sealed
	url      string
	secret   []byte // sealed
	disabled bool
}

// claim takes the due messages that may be tried now: of each (payment or payout, endpoint) only the lowest sequence that is not settled, of each
// endpoint at most what its limit leaves beside busy, oldest first. Taking moves next_try_at past the lease and counts the try, and
// first_sent_at commits here, before any byte is sent. Two dispatchers never take one row: a locked row is skipped, a taken one is not due.
func (d *Dispatcher) claim(ctx context.Context, busy map[uuid.UUID]int, limit int) ([]claim, error) {
	endpoints, sends := make([]uuid.UUID, 0, len(busy)), make([]int, 0, len(busy))
	for endpoint, count := range busy {
		endpoints, sends = append(endpoints, endpoint), append(sends, count)
	}
	found, err := d.pool.Query(ctx, `
		WITH clock AS MATERIALIZED (
			SELECT payonce.clock() AS now
		), due AS (
			SELECT head.id
			FROM payonce.notification_endpoints e
			LEFT JOIN unnest($1::uuid[], $2::integer[]) AS busy (endpoint, sends) ON busy.endpoint = e.id
			CROSS JOIN LATERAL (
				SELECT n.id, n.next_try_at FROM payonce.notifications n
				WHERE n.endpoint = e.id AND n.next_try_at <= (SELECT now FROM clock)
					AND n.sequence = CASE WHEN n.payout IS NULL THEN ( -- a sub-select: as an anti join it would be one scan of the whole table
						SELECT min(open.sequence) FROM payonce.notifications open
						WHERE open.payment = n.payment AND open.endpoint = n.endpoint AND open.status = 'queued')
					ELSE (
						SELECT min(open.sequence) FROM payonce.notifications open
						WHERE open.payout = n.payout AND open.endpoint = n.endpoint AND open.status = 'queued') END
				ORDER BY n.next_try_at
				LIMIT greatest($3 - coalesce(busy.sends, 0), 0)
				FOR UPDATE SKIP LOCKED
			) AS head
			ORDER BY head.next_try_at
			LIMIT $4
		)
		UPDATE payonce.notifications n
		SET next_try_at = clock.now + $5::interval, lease_owner = $6, tries = n.tries + 1,
			first_sent_at = coalesce(n.first_sent_at, clock.now)
		FROM due, clock, payonce.notification_endpoints e
		WHERE n.id = due.id AND e.id = n.endpoint
		RETURNING n.id, n.endpoint, n.tries, clock.now - n.created_at, n.body, e.url, e.secret, e.disabled_at IS NOT NULL`,
		endpoints, sends, d.config.MaxSendsPerEndpoint, limit, d.config.Lease, d.owner)
	if err != nil {
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	claims, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (claim, error) {
		var c claim
		return c, row.Scan(&c.id, &c.endpoint, &c.tries, &c.age, &c.body, &c.url, &c.secret, &c.disabled)
	})
	if err != nil {
		return nil, fmt.Errorf("claim messages: %w", err)
	}
	return claims, nil
}
