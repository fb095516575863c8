// Package httpbody reads the body of a request within a bound of bytes and of time.
//
// It may import internal/clock. It must not know what the bytes are or how a refusal is answered.
package httpbody

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"payonce/internal/clock"
)

// ErrTooLarge says that the body exceeds the bound; the connection is closed after the answer.
var ErrTooLarge = errors.New("the body is too large")

// ErrTooSlow says that the body did not arrive in time.
var ErrTooSlow = errors.New("the body arrives too slowly")

// maxPromised bounds the bytes that are made ready because the sender says that they come.
const maxPromised = 16 << 10

// Read returns the raw body, at most limit bytes of it and all within the given time, or ErrTooLarge or ErrTooSlow; another
// error means that the sender went away. The deadline ends with the body: the server has no read time-out of its own, which
// would cut a caller who waits for an outcome.
func Read(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(clock.Wall().Add(within)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("set the deadline of a body: %w", err)
	}
	var buffer bytes.Buffer
	buffer.Grow(int(min(max(r.ContentLength, 0), maxPromised)) + bytes.MinRead)
	_, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			return nil, ErrTooLarge
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, ErrTooSlow
		default:
			return nil, fmt.Errorf("read the body: %w", err)
		}
	}
	if err := connection.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("lift the deadline of a body: %w", err)
	}
	return buffer.Bytes(), nil
}
