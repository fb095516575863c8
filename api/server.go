package api

import (
	"log/slog"
	"net/http"
	"time"

	"payonce/internal/timing"
)

// Bounds of a connection. There is no read time-out of the whole request: each body is read within its own, and a caller
// who waits for an outcome is not cut.
const (
	readHeaderWithin = 5 * time.Second
	idleWithin       = 2 * time.Minute
	writeMargin      = 30 * time.Second // beyond the longest wait, for the claim and the answer
	maxHeaderBytes   = 16 << 10
)

// NewServer makes the server of the handler; the caller listens, serves and shuts down.
func NewServer(handler http.Handler, durations timing.Timing, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderWithin,
		WriteTimeout:      durations.MaximumWait + writeMargin,
		IdleTimeout:       idleWithin,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
