package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// examiner is one examination under way.
type examiner struct {
	Config
	now    time.Time // payonce.clock() when it began: what became due later is not judged
	report *Report
	checks []*Check
	lost   []lostTime
}

// Examine looks at everything once and reports. It reads in pages, so that it holds little at a time, and bounds what it reports. An error means
// that something could not be read; what is wrong with what was read is in the report.
func Examine(ctx context.Context, config Config) (Report, error) {
	if err := config.validate(); err != nil {
		return Report{}, err
	}
	if config.Late == 0 {
		config.Late = LateAfter(config.Timing)
	}
	e := &examiner{Config: config, report: &Report{Settled: config.Settled}}
	if err := e.Owner.QueryRow(ctx, `SELECT payonce.clock()`).Scan(&e.now); err != nil {
		return Report{}, fmt.Errorf("read clock: %w", err)
	}
	e.report.At = e.now
	if err := e.readLost(ctx); err != nil {
		return Report{}, err
	}
	for _, step := range []func(context.Context) error{
		e.journals, e.balances, e.captured, e.held, e.refunded, e.destinations, e.disputed, e.paidOut, e.modelled,
		e.stripe, e.linked, e.wire,
		e.outcomes, e.replays,
		e.payments, e.refundWaits, e.disputeWaits, e.payoutWaits, e.commands, e.events, e.listed, e.messages,
		e.messageIDs, e.messageOrder, e.told, e.received,
		e.sessions,
		e.records, e.calls, e.stages, e.refunds, e.disputes, e.payouts, e.provisions, e.references, e.guards,
		e.reviews,
	} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	for _, check := range e.checks {
		e.report.Checks = append(e.report.Checks, *check)
	}
	slices.SortStableFunc(e.report.Checks, func(a, b Check) int { return a.Invariant - b.Invariant })
	return *e.report, nil
}

// check begins a check, which passes until it is violated.
func (e *examiner) check(name string, invariant int, asks string) *Check {
	c := &Check{Name: name, Invariant: invariant, Asks: asks, Passed: true}
	e.checks = append(e.checks, c)
	return c
}

// overdue is the time before which what was due must be done.
func (e *examiner) overdue() time.Time { return e.now.Add(-e.Late) }

// mustBeDone tells whether what began at the time may not be under way any more.
func (e *examiner) mustBeDone(begun time.Time) bool { return e.Settled || begun.Before(e.overdue()) }
