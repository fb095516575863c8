package demo

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKillerKillsBothWhileOrdersAreUnderWay(t *testing.T) {
	var k *killer
	k = newKiller(100, func(context.Context, string) error { k.orderDone(); return nil })
	for range 70 {
		k.orderDone()
	}
	kills, err := k.run(t.Context())
	require.NoError(t, err)
	require.Len(t, kills, len(plan()))
	for _, kill := range kills {
		require.Less(t, kill.After, 100)
	}
}

func TestKillerDoesNotCountAKillAfterTheTraffic(t *testing.T) {
	k := newKiller(10, func(context.Context, string) error { return nil })
	for range 10 {
		k.orderDone()
	}
	kills, err := k.run(t.Context())
	require.NoError(t, err)
	require.Empty(t, kills)
}

func TestKillerEndsWithTheRunAndTellsWhatDidNotStartAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	kills, err := newKiller(10, nil).run(ctx)
	require.NoError(t, err)
	require.Empty(t, kills)

	k := newKiller(10, func(context.Context, string) error { return errors.New("it does not start") })
	for range 9 {
		k.orderDone()
	}
	_, err = k.run(t.Context())
	require.ErrorContains(t, err, "it does not start")
}
