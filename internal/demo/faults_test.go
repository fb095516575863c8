package demo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

func TestEveryKindOfFaultIsPlantedAndNoDefiniteRefusal(t *testing.T) {
	planted := map[string]bool{}
	ids := map[string]bool{}
	for _, rule := range Rules(1, 3) {
		planted[rule.Fault] = true
		require.False(t, ids[rule.ID], rule.ID)
		ids[rule.ID] = true
	}
	all := slices.Concat(control.RequestFaults(), control.WebhookFaults())
	for _, kind := range all {
		refusal := kind == control.FaultUnauthorized || kind == control.FaultRefused || kind == control.FaultKeyMismatch
		require.Equal(t, !refusal, planted[kind], kind)
		require.Equal(t, !refusal, slices.Contains(kindsOfFaults(), kind), kind)
	}
}

func TestFaultsAreThoseOfTheirSeedAndRun(t *testing.T) {
	first, again := Rules(1, 3), Rules(1, 3)
	require.Equal(t, first, again)
	require.NotEqual(t, first, Rules(2, 3))
	require.NotEqual(t, first[0].ID, Rules(1, 4)[0].ID, "an id names a rule of one run")
}
