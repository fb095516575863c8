package boundaries

import "context"

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
