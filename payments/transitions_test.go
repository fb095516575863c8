package payments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

func TestNoEdgeLeavesAnEnd(t *testing.T) {
	seen := map[[2]payments.Status]bool{}
	for _, edge := range payments.Transitions() {
		require.False(t, edge.From.Terminal(), "%s absorbs", edge.From)
		require.NotEqual(t, edge.From, edge.To)
		require.NotEmpty(t, edge.Why)
		pair := [2]payments.Status{edge.From, edge.To}
		require.False(t, seen[pair], "%v stands twice", pair)
		seen[pair] = true
	}
}

func TestEveryStatusCanBeReachedAndLeft(t *testing.T) {
	for _, status := range payments.Statuses() {
		reached, left := status == payments.StatusSubmitted, status.Terminal()
		for _, edge := range payments.Transitions() {
			reached = reached || edge.To == status
			left = left || edge.From == status
		}
		require.True(t, reached, "nothing leads to %s", status)
		require.True(t, left, "nothing leads out of %s", status)
	}
}

func TestStagesOnlyMoveForwardAlongAnyEdgeThatTakesMoney(t *testing.T) {
	for _, edge := range payments.Transitions() {
		if edge.To.Terminal() {
			require.Equal(t, payments.StageLedgerApplied, edge.To.StageOf(), "an end is booked")
		}
	}
	for rank, stage := range payments.Stages() {
		require.Equal(t, rank, stage.Rank())
	}
}
