package doctor

import (
	"context"
	"fmt"
	"time"
)

// lostTime is a time of which a restored database may know nothing, while Stripe does.
type lostTime struct {
	From time.Time // to which it was restored; long ago when nobody has said
	To   time.Time // when it was closed
}

func (e *examiner) readLost(ctx context.Context) (err error) {
	e.lost, err = collect[lostTime](ctx, e, `SELECT coalesce(restored_to, 'epoch'), closed_at FROM payonce.restores`)
	if err != nil {
		return fmt.Errorf("read what was restored: %w", err)
	}
	return nil
}

// maySurprise tells whether what went out at that time may be unknown here.
func (e *examiner) maySurprise(at time.Time) bool {
	for _, lost := range e.lost {
		if !at.Before(lost.From.Add(-time.Minute)) && !at.After(lost.To.Add(time.Minute)) { // a twin's clock may differ
			return true
		}
	}
	return false
}

// outlived tells whether something that was made at a time was there, or may have been, when calls were lost: what Stripe executed for it is then not bounded
// by the calls that are known here.
func (e *examiner) outlived(made time.Time) bool {
	for _, lost := range e.lost {
		if !made.After(lost.To) {
			return true
		}
	}
	return false
}
