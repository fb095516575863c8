package demo

import (
	"context"
	"fmt"

	"payonce/internal/devstack"
	"payonce/internal/timing"
	"payonce/recovery/doctor"
)

// examine lets the doctor look at the whole database, earlier runs included.
func (r *Result) examine(ctx context.Context, stack *devstack.Stack, taken *receiver) error {
	report, err := doctor.Examine(ctx, doctor.Config{
		Owner: stack.Reader, Sealer: stack.Sealer, Twin: stack.Twin, Timing: timing.Quick(), Settled: true, Received: taken.received(),
	})
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	for _, check := range report.Checks {
		r.Checks = append(r.Checks, Check{Name: check.Name, Invariant: check.Invariant, Examined: check.Examined, Violations: check.Total})
		for _, violation := range check.Violations {
			r.Violations = append(r.Violations, fmt.Sprintf("%s: %s %s (%s)", check.Name, violation.Subject, violation.Text, violation.Next))
		}
	}
	return nil
}
