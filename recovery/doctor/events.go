package doctor

import (
	"context"
	"time"
)

// events: every stored fact is settled in time, and a fact that was applied names its payment.
func (e *examiner) events(ctx context.Context) error {
	c := e.check("events", 4, "every stored event is settled, or tried again in time; an applied one names its payment")
	return e.judge(ctx, c, "is the worker running? Its applier takes what is due and logs why an event is put off", `
		SELECT v.id, 'event ' || v.event_id || ' (' || v.type || ')', array_remove(ARRAY[
			CASE WHEN v.next_try_at < $3 THEN format('was to be tried at %s', v.next_try_at) END,
			CASE WHEN v.status = 'parked' AND greatest(v.received_at, v.replayed_at) < $3::timestamptz - $4::interval
				THEN format('is parked since %s', v.received_at) END,
			CASE WHEN v.status = 'stored' AND greatest(v.received_at, v.replayed_at) < $3::timestamptz - $5::interval AND NOT s.stopped
				THEN format('was received at %s and is not applied', v.received_at) END,
			CASE WHEN v.status IN ('applied', 'stale') AND v.object_kind = 'payout' AND v.tenant IS NULL THEN format('is %s and names no tenant', v.status) END,
			CASE WHEN v.status IN ('applied', 'stale') AND v.payment IS NULL AND v.object_kind IS DISTINCT FROM 'payout'
				THEN format('is %s and names no payment', v.status) END,
			CASE WHEN v.payment IS NOT NULL AND v.tenant IS DISTINCT FROM p.tenant THEN 'has another tenant than its payment' END,
			CASE WHEN $6 AND v.status IN ('stored', 'parked') THEN format('is %s, and the system is settled', v.status) END], NULL)
		FROM payonce.provider_events v
		LEFT JOIN payonce.payments p ON p.id = v.payment
		CROSS JOIN LATERAL (SELECT EXISTS (
			SELECT FROM payonce.provider_accounts a WHERE a.account = v.account AND a.livemode = v.livemode AND a.stopped_at IS NOT NULL) AS stopped) AS s
		WHERE v.id > $1 ORDER BY v.id LIMIT $2`,
		e.overdue(), e.Timing.ParkedMaximum, e.Timing.KeyMemory, e.Settled)
}

// listBehind is how far the place in Stripe's list of an account's events may be behind.
const listBehind = time.Hour

// listed: what Stripe never delivers is found, since its own list of events is gone through.
func (e *examiner) listed(ctx context.Context) error {
	c := e.check("listed", 4, "Stripe's list of each account's events was gone through in the last hour")
	return e.judge(ctx, c, "does Temporal run, and the worker? A schedule of it starts the backfill; `payonce events backfill` does it now", `
		SELECT v.id, 'the list of events of ' || v.account, array_remove(ARRAY[
			CASE WHEN v.seen_until < $3::timestamptz - $4::interval AND NOT v.stopped THEN format('was gone through until %s', v.seen_until) END], NULL)
		FROM (
			SELECT md5(c.account || c.livemode)::uuid AS id, c.account, c.seen_until, a.stopped_at IS NOT NULL AS stopped
			FROM payonce.event_cursors c JOIN payonce.provider_accounts a ON a.account = c.account AND a.livemode = c.livemode) AS v
		WHERE v.id > $1 ORDER BY v.id LIMIT $2`, e.overdue(), listBehind)
}
