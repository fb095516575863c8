package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// arrivals tells the load which payments the receiver has accepted a message of.
type arrivals struct {
	mutex   sync.Mutex
	waiting map[string]chan struct{}
	cancel  context.CancelFunc
	ended   chan struct{}
}

// listen begins to read the receiver's stream; close ends it.
func listen(ctx context.Context, receiver string) (*arrivals, error) {
	ctx, cancel := context.WithCancel(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, receiver+pathAccepted, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listen to the receiver: %w", err)
	}
	a := &arrivals{waiting: map[string]chan struct{}{}, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			a.arrived(strings.TrimSpace(lines.Text()))
		}
	}()
	return a, nil
}

func (a *arrivals) close() {
	a.cancel()
	<-a.ended
}

func (a *arrivals) arrived(payment string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if told, awaited := a.waiting[payment]; awaited {
		close(told)
		delete(a.waiting, payment)
	}
}

// expect is closed when a message of the payment is accepted. It is asked for before the payment is.
func (a *arrivals) expect(payment string) <-chan struct{} {
	told := make(chan struct{})
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.waiting[payment] = told
	return told
}

// errSilent says that the stream of the receiver ended, so that nothing more can be learnt.
var errSilent = errors.New("the receiver tells nothing any more")

// await waits for what expect returned.
func (a *arrivals) await(ctx context.Context, told <-chan struct{}) error {
	select {
	case <-told:
		return nil
	case <-a.ended:
		return errSilent
	case <-ctx.Done():
		return ctx.Err()
	}
}
