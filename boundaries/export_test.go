package boundaries

import (
	"context"

	"payonce/payments"
)

// SweepKeys is the statement whose plan a test looks at.
const SweepKeys = sweepKeys

// Insert stores the events in one round trip, as if they had arrived together, and tells which were new.
func (e *Events) Insert(ctx context.Context, events ...Event) ([]bool, error) {
	rows := make([]eventRow, len(events))
	for i, event := range events {
		var err error
		if rows[i], err = newEventRow(e.sealer, event); err != nil {
			return nil, err
		}
	}
	return e.insert(ctx, rows)
}

// Found is the record that the key was found to name, if any.
func (p *Peek) Found() (record payments.RecordID, found bool) {
	if p.found == nil {
		return payments.RecordID{}, false
	}
	return payments.RecordID{UUID: p.found.record}, true
}
