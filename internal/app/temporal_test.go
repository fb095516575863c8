package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheLogTellsOnceThatTemporalIsAwayAndOnceThatItIsBack(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	state := &temporal{log: slog.New(slog.NewTextHandler(&out, nil)), address: "127.0.0.1:7233", now: func() time.Time { return now }}
	lines := func() []string {
		defer out.Reset()
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	down := errors.New("connection refused")

	state.note(nil)
	require.Equal(t, []string{""}, lines(), "it answers, as it should")
	for range 100 { // a try a second
		state.note(down)
		now = now.Add(time.Second)
	}
	told := lines()
	require.True(t, state.away())
	require.Len(t, told, 2, "when it goes away, and a minute later")
	require.Contains(t, told[0], "level=WARN")
	require.Contains(t, told[0], "commands are accepted and wait")
	require.Contains(t, told[0], "--temporal")
	require.Contains(t, told[0], "connection refused")
	require.Contains(t, told[1], "away=1m0s")
	for range 2 {
		state.note(nil)
	}
	told = lines()
	require.False(t, state.away())
	require.Len(t, told, 1)
	require.Contains(t, told[0], "level=INFO")
	require.Contains(t, told[0], "away=1m40s")

	state.note(down)
	require.Len(t, lines(), 1, "the next outage is told like the first")
}
