package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestAStatementIsSentAgainForAnotherOrder(t *testing.T) {
	tenant, record := uuid.New(), uuid.New()
	confirm := record
	text := "confirm#1"
	first := statement{sql: "INSERT INTO t", arguments: []any{tenant, record, &confirm, "order-1#1", &text, 5, (*uuid.UUID)(nil)}}

	again := first.again("order-1", "order-2", tenant)

	require.Equal(t, tenant, again.arguments[0], "the tenant stays")
	require.NotEqual(t, record, again.arguments[1])
	require.Equal(t, again.arguments[1], *again.arguments[2].(*uuid.UUID), "one id stays one id")
	require.Equal(t, "order-2#1", again.arguments[3])
	require.NotEqual(t, text, *again.arguments[4].(*string))
	require.Equal(t, 5, again.arguments[5])
	require.Nil(t, again.arguments[6])
	require.Equal(t, record, first.arguments[1], "the first is left as it is")
}

func TestOnlyWhatChangesRowsIsAWrite(t *testing.T) {
	for sql, want := range map[string]bool{
		"\n WITH at AS (SELECT 1) INSERT INTO payonce.x VALUES (1)": true, "\n\tUPDATE payonce.x SET y = 1": true,
		"SELECT updated_at FROM x": false, "begin": false, "SELECT set_config('a', $1, true)": false,
	} {
		require.Equal(t, want, statement{sql: sql}.writes(), sql)
	}
}

func TestTheTitleOfABackendSaysWhomItServes(t *testing.T) {
	require.Equal(t, "bench_grown", servedBy("postgres: payonce_system bench_grown 127.0.0.1(4711) idle\x00"))
	require.Equal(t, "background", servedBy("postgres: walwriter \x00\x00"))
	require.Equal(t, "background", servedBy(""))
}

func TestUsageIsADifferenceByProcess(t *testing.T) {
	used := usage{"payonce": 3, "postgres": 5}.since(usage{"payonce": 1, "postgres": 4.5})
	require.Equal(t, usage{"payonce": 2, "postgres": 0.5}, used)
	require.InDelta(t, 2.5, used.total(), 1e-9)
	require.Equal(t, "payonce 200.0 ms, postgres 50.0 ms", shares([]throughput{{used: used, done: 10}}))
	require.Empty(t, shares(nil))
}

func TestRowsAreChosenByNameAndAWrongNameIsRefused(t *testing.T) {
	o, err := parse([]string{"-only", "replay, growth", "-rounds", "3"}, io.Discard)
	require.NoError(t, err)
	require.Empty(t, o.json, "a part does not take the place of the newest run")
	require.True(t, o.wants("replay"))
	require.True(t, o.wants("growth"))
	require.False(t, o.wants("rss"))
	require.True(t, options{}.wants("rss"), "nothing chosen: all")
	require.NoError(t, o.known())
	o.only = "reply"
	require.ErrorContains(t, o.known(), "there are payments_completed")

	for _, wrong := range [][]string{{"-rounds", "0"}, {"-growth", "-1"}, {"now"}, {"-no-such"}} {
		_, err := parse(wrong, io.Discard)
		require.Error(t, err, "%s", wrong)
	}
}

func TestEveryRowHasAnotherName(t *testing.T) {
	seen := map[string]bool{}
	for _, group := range rows() {
		for _, name := range group.names {
			require.False(t, seen[name], name)
			seen[name] = true
		}
	}
	require.Len(t, seen, 15)
}

func TestAnEventHasTheSizeThatItIsSaidToHave(t *testing.T) {
	require.Len(t, newEvent("evt_1"), eventBytes)
	require.Len(t, filler(300), 300)
	require.True(t, strings.HasSuffix(string(newEvent("evt_1")), `"}}}`))
}

func TestALoopFinishesWhatItBeganAndStopsAtTheFirstError(t *testing.T) {
	done, _, err := loop(t.Context(), 3, time.Nanosecond, func(context.Context) error { return nil })
	require.NoError(t, err)
	require.LessOrEqual(t, done, 3)

	broken := errors.New("broken")
	_, _, err = loop(t.Context(), 3, time.Hour, func(context.Context) error { return broken })
	require.ErrorIs(t, err, broken)
}

func TestTheReceiverTellsWhoListens(t *testing.T) {
	a := &arrivals{waiting: map[string]chan struct{}{}, ended: make(chan struct{})}
	told := a.expect("p1")
	a.arrived("p2")
	a.arrived("p1")
	a.arrived("p1") // a message may come twice
	require.NoError(t, a.await(t.Context(), told))

	waiting := a.expect("p3")
	close(a.ended)
	require.ErrorIs(t, a.await(t.Context(), waiting), errSilent)
}
