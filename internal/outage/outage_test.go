package outage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"payonce/internal/outage"
)

func TestADependencyThatIsDownIsToldFromAFault(t *testing.T) {
	for name, err := range map[string]error{
		"time is over":       context.DeadlineExceeded,
		"connection reset":   &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		"connection cut":     io.ErrUnexpectedEOF,
		"connection closed":  net.ErrClosed,
		"shutting down":      &pgconn.PgError{Code: "57P01"},
		"too many clients":   &pgconn.PgError{Code: "53300"},
		"lock not available": &pgconn.PgError{Code: "55P03"},
	} {
		require.True(t, outage.Is(fmt.Errorf("ask: %w", err)), name)
	}
	for name, err := range map[string]error{
		"a constraint":    &pgconn.PgError{Code: "23514"},
		"a wrong column":  &pgconn.PgError{Code: "42703"},
		"a caller's end":  context.Canceled,
		"some other word": errors.New("wrong key or altered value"),
	} {
		require.False(t, outage.Is(fmt.Errorf("ask: %w", err)), name)
	}
}
