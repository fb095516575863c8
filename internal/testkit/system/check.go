package system

import "github.com/stretchr/testify/require"

func (s *System) check() {}

// Settle waits until nothing is under way: no delivery of the twin, no open command, no event to apply, no message to deliver.
func (s *System) Settle() {
	s.t.Helper()
	s.Eventually("everything is settled", func() bool {
		counts, err := s.Twin.Flush(s.t.Context(), true)
		require.NoError(s.t, err)
		return counts.Pending+counts.Scheduled == 0 && s.Count(`
			SELECT (SELECT count(*) FROM payonce.idempotency_records WHERE status = 'in_progress')
			     + (SELECT count(*) FROM payonce.provider_events WHERE settled_at IS NULL)
			     + (SELECT count(*) FROM payonce.notifications WHERE settled_at IS NULL)`) == 0
	})
}
