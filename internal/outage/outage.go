// Package outage tells an error of a dependency that is down from one of ours, for the packages that answer over HTTP: the first
// is a 503 and the sender comes back, the second is a 500.
//
// It may import internal/postgres and libraries. It must not know what was asked of the dependency.
package outage

import (
	"context"
	"errors"
	"io"
	"net"

	"payonce/internal/postgres"
)

// Is tells whether err says that the database cannot be reached, has no room, lost the connection, or did not answer in time,
// also for a lock. Whether a statement that was cut had an effect is not known, so only what may be repeated may be tried again.
func Is(err error) bool {
	var network net.Error
	return postgres.Unavailable(err) || postgres.Retryable(err) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}
