package doctor

import (
	"context"
	"fmt"
	"time"
)

// idleSettled is how long a session of a quiet system may stand idle inside a transaction.
const idleSettled = time.Second

type session struct {
	Process int32
	Role    string
	For     time.Duration
	Idle    bool
}

// sessions: no session of this database is idle in transaction. Between two statements of a transaction a session is so for a moment, so only what
// lasts counts; sessions are on wall time, whatever the offset of payonce.clock().
func (e *examiner) sessions(ctx context.Context) error {
	c := e.check("sessions", 6, "no session stays idle in a transaction")
	var (
		role      string
		permitted bool
	)
	err := e.Owner.QueryRow(ctx, `SELECT quote_ident(current_user), pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`).Scan(&role, &permitted)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	if !permitted {
		c.Skipped = fmt.Sprintf("%s may not see other sessions; as a superuser: GRANT pg_read_all_stats TO %s", role, role)
		return nil
	}
	bound := e.Timing.IdleTransaction
	if e.Settled {
		bound = min(bound, idleSettled)
	}
	sessions, err := collect[session](ctx, e, `
		SELECT pid, coalesce(usename, ''), clock_timestamp() - coalesce(state_change, clock_timestamp()), coalesce(state LIKE 'idle in transaction%', false)
		FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	for _, s := range sessions {
		c.Examined++
		if s.Idle && s.For > bound {
			c.violate(fmt.Sprintf("session %d of %s", s.Process, s.Role), "SELECT pg_terminate_backend(pid), then find what waits inside a transaction",
				"is idle in a transaction for %s", s.For.Round(time.Millisecond))
		}
	}
	return nil
}
