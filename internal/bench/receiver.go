package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"payonce/internal/devstack"
)

// childReceiver is the process that takes messages: it verifies each, and tells the load which payments were told of.
const childReceiver = "receiver"

// Paths of the receiver, beside /messages.
const (
	pathTrust    = "/trust"    // POST: one more signing secret
	pathAccepted = "/accepted" // GET: a line for each message accepted from now on, with its payment's id
)

type receiver struct {
	mutex     sync.Mutex
	verifiers []*standardwebhooks.Webhook
	listeners map[chan string]struct{}
}

func serveReceiver(ctx context.Context, arguments []string, out io.Writer) error {
	if len(arguments) != 1 {
		return fmt.Errorf("%s needs an address", childReceiver)
	}
	listener, err := net.Listen("tcp", arguments[0])
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	r := &receiver{listeners: map[chan string]struct{}{}}
	server := devstack.NewReceiver(r.take)
	mux := http.NewServeMux()
	mux.Handle("/messages", server.Handler)
	mux.HandleFunc("POST "+pathTrust, r.trust)
	mux.HandleFunc("GET "+pathAccepted, r.tell)
	server.Handler = mux
	fmt.Fprintf(out, "receiver: listening on http://%s\n", listener.Addr())
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

func (r *receiver) trust(w http.ResponseWriter, request *http.Request) {
	secret, err := io.ReadAll(io.LimitReader(request.Body, 1024))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	verifier, err := standardwebhooks.NewWebhook(string(secret))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.verifiers = append(r.verifiers, verifier)
}

// take accepts what one of the trusted secrets signed.
func (r *receiver) take(m devstack.Message) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, verifier := range r.verifiers {
		if verifier.Verify(m.Body, m.Header) != nil {
			continue
		}
		for listener := range r.listeners {
			select {
			case listener <- m.Payment:
			default: // it does not read: it is told to by the end of its stream
				close(listener)
				delete(r.listeners, listener)
			}
		}
		return http.StatusOK
	}
	return http.StatusUnauthorized
}

// tell streams the payments of accepted messages until the listener goes.
func (r *receiver) tell(w http.ResponseWriter, request *http.Request) {
	accepted := make(chan string, 4096)
	r.mutex.Lock()
	r.listeners[accepted] = struct{}{}
	r.mutex.Unlock()
	defer func() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		delete(r.listeners, accepted)
	}()
	lines := bufio.NewWriter(w)
	flush := func() error {
		if err := lines.Flush(); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	if flush() != nil {
		return
	}
	for {
		select {
		case <-request.Context().Done():
			return
		case payment, open := <-accepted:
			if !open {
				return
			}
			_, _ = fmt.Fprintln(lines, payment) // an error stays until the flush
			if len(accepted) == 0 && flush() != nil {
				return
			}
		}
	}
}
