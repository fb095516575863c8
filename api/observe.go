package api

import (
	"net/http"
	"runtime/debug"

	"github.com/google/uuid"

	"payonce/internal/clock"
)

// headerRequest carries the id of a request, in every answer and in the log.
const headerRequest = "Request-Id"

func requestID(w http.ResponseWriter) string { return w.Header().Get(headerRequest) }

// observe names each request, logs it and answers a panic with a problem. Neither bodies nor headers are logged.
func (a *api) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		began := clock.Wall()
		w := &observed{ResponseWriter: plain}
		w.Header().Set(headerRequest, "req_"+uuid.NewString())
		w.Header().Set("X-Content-Type-Options", "nosniff")
		defer func() {
			fault := recover()
			cut := fault == http.ErrAbortHandler //nolint:errorlint // the sentinel is panicked bare
			if fault != nil && !cut {
				a.Log.ErrorContext(r.Context(), "panic", "request_id", requestID(w), "panic", fault, "stack", string(debug.Stack()))
				if cut = w.status != 0; !cut {
					a.refuse(w, refusal{Code: codeInternal})
				}
			}
			a.Log.InfoContext(r.Context(), "request", "request_id", requestID(w), "method", r.Method, "route", r.Pattern,
				"status", w.status, "cut", cut, "milliseconds", clock.Wall().Sub(began).Milliseconds())
			if cut {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// observed remembers the status of an answer; 0 when none was written.
type observed struct {
	http.ResponseWriter
	status int
}

func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(body []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return o.ResponseWriter.Write(body) //nolint:wrapcheck // the writer's own error
}

// Unwrap lets http.ResponseController reach the connection.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }
