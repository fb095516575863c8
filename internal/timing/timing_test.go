package timing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/timing"
)

func TestTheSetsThatShipHoldTogether(t *testing.T) {
	require.NoError(t, timing.Production().Validate())
	require.NoError(t, timing.Quick().Validate())
}

func TestABrokenRelationIsNamed(t *testing.T) {
	durations := timing.Production()
	durations.Try = durations.Send - time.Second
	require.ErrorContains(t, durations.Validate(), "Send (30s) must be below Try (29s)")
	durations = timing.Production()
	durations.ReplayWindow = time.Hour
	require.ErrorContains(t, durations.Validate(), "ReplayWindow")
	durations = timing.Production()
	durations.BlindResend = 25 * time.Hour
	require.ErrorContains(t, durations.Validate(), "KeyMemory")
}
