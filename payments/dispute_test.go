package payments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

func TestADisputeThatIsDecidedStaysSoButForItsBank(t *testing.T) {
	seen := map[[2]payments.DisputeStatus]bool{}
	for _, edge := range payments.DisputeTransitions() {
		pair := [2]payments.DisputeStatus{edge.From, edge.To}
		require.False(t, seen[pair], "%v stands twice", pair)
		seen[pair] = true
		require.NotEqual(t, payments.DisputeWon, edge.From, "won absorbs")
		require.NotEmpty(t, edge.Why)
		require.True(t, edge.From.CanBecome(edge.To))
	}
	require.False(t, payments.DisputeLost.CanBecome(payments.DisputeUnderReview))
	require.False(t, payments.DisputeNeedsResponse.CanBecome(payments.DisputeWarningClosed), "money has moved")
	require.Equal(t, payments.StageProcessing, payments.DisputeNeedsResponse.StageOf(), "opened is not lost")
	for _, status := range payments.DisputeStatuses() {
		require.True(t, status.CanBecome(status))
		require.Equal(t, status.Terminal(), status.StageOf() == payments.StageLedgerApplied)
	}
}
