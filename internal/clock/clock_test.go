package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/clock"
)

func TestWallIsUTC(t *testing.T) {
	require.Equal(t, time.UTC, clock.Wall().Location())
}

func TestPostgresClockAsksTheDatabaseAndAnswersInUTC(t *testing.T) {
	there := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("east", 7200))
	db := &fakeDatabase{answer: there}

	now, err := clock.Postgres{Source: db}.Now(t.Context())

	require.NoError(t, err)
	require.Equal(t, "SELECT payonce.clock()", db.asked)
	require.Equal(t, there.UTC(), now)
}

func TestPostgresClockPassesTheErrorOn(t *testing.T) {
	gone := errors.New("connection gone")

	_, err := clock.Postgres{Source: &fakeDatabase{fails: gone}}.Now(t.Context())

	require.ErrorIs(t, err, gone)
}

// fakeDatabase answers every query with one time.
type fakeDatabase struct {
	answer time.Time
	fails  error
	asked  string
}

func (f *fakeDatabase) QueryRow(_ context.Context, sql string, _ ...any) pgx.Row {
	f.asked = sql
	return f
}

func (f *fakeDatabase) Scan(into ...any) error {
	if f.fails != nil {
		return f.fails
	}
	*into[0].(*time.Time) = f.answer
	return nil
}
