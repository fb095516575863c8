package boundaries_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
)

// The database is away while repeats are counted: the process that serves goes on, and the counts are written once it is back.
func TestCountsOutliveADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	answer, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	record := boundaries.RecordID(s.Tenant, "create_payment", boundaries.CreateOwnerKey("order-1", 1))
	require.NotEmpty(t, answer.Payment(t).ID)
	away, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/nothing?connect_timeout=1")
	require.NoError(t, err)
	defer away.Close()

	repeats := boundaries.NewRepeats()
	repeats.Count(record)
	require.Error(t, repeats.Write(t.Context(), away))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, repeats.Run(ended, away, time.Hour, slog.New(slog.DiscardHandler)))
	require.NoError(t, repeats.Write(t.Context(), s.App.System))
	s.Eventually("every repeat is counted", func() bool {
		return s.Count(`SELECT suppressed FROM payonce.idempotency_records WHERE id = $1`, record.UUID) == s.Times
	})
}
