package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"payonce/payments"
)

// client is a checkout backend's: it repeats a request under the same key until it has an outcome.
type client struct {
	base   string
	apiKey string
	http   *http.Client

	noAnswer    atomic.Int64 // requests that were cut, refused a connection or given up
	inProgress  atomic.Int64 // 409 in_progress
	unavailable atomic.Int64 // 429 and 5xx
	sentAway    atomic.Int64 // 202
}

func newClient(base, apiKey string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second}
	return &client{base: base, apiKey: apiKey, http: &http.Client{Transport: transport}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// answer is what the API answered.
type answer struct {
	Status     int
	Replayed   bool
	RetryAfter time.Duration
	Location   string
	Body       []byte
}

func (a answer) payment() (payments.View, error) {
	var view payments.View
	if err := json.Unmarshal(a.Body, &view); err != nil {
		return view, fmt.Errorf("%d %s: %w", a.Status, a.Body, err)
	}
	return view, nil
}

func (a answer) code() string {
	var problem payments.Problem
	if json.Unmarshal(a.Body, &problem) != nil {
		return ""
	}
	return problem.Code
}

// manner is how a client submits.
type manner struct {
	patience func(try int) time.Duration // how long it waits for an answer; nil: longer than the API makes anybody wait
	wait     int                         // Prefer: wait, in seconds
}

// patient is a client that waits.
func patient() manner { return manner{wait: 10} }

// longest is how long a patient client waits for an answer: more than it asks the API to wait.
const longest = 25 * time.Second

// submit sends a create until it has its outcome: the same key again when there was no answer, while it is in progress and while something is
// down; sent away with a 202 it looks at the payment until that has an outcome, and then asks for the answer that is stored.
func (c *client) submit(ctx context.Context, key string, body []byte, how manner) (answer, error) {
	return c.insist(ctx, "/v1/payments", key, body, how, func(got answer) (time.Duration, error) { return 0, c.follow(ctx, got) })
}

// further sends a command on a payment until it has its outcome, as submit does; sent away with a 202 it asks again under the same key, which waits.
func (c *client) further(ctx context.Context, path, key string, body []byte) (answer, error) {
	return c.insist(ctx, path, key, body, patient(), func(got answer) (time.Duration, error) { return max(got.RetryAfter, backoff(0)), nil })
}

// insist sends a request under the same key until it has its outcome. away says what is done with a 202, and how long to rest before the next try.
func (c *client) insist(ctx context.Context, path, key string, body []byte, how manner, away func(answer) (time.Duration, error)) (answer, error) {
	for try := 0; ; try++ {
		patience := longest
		if how.patience != nil {
			patience = how.patience(try)
		}
		got, err := c.post(ctx, path, key, body, how.wait, patience)
		var pause time.Duration
		switch {
		case ctx.Err() != nil:
			return got, fmt.Errorf("no outcome after %d tries: %w", try+1, errors.Join(context.Cause(ctx), err))
		case err != nil:
			c.noAnswer.Add(1)
			pause = backoff(try)
		case got.Status == http.StatusConflict && got.code() == "in_progress":
			c.inProgress.Add(1)
			pause = max(got.RetryAfter, backoff(0))
		case got.Status == http.StatusTooManyRequests || got.Status >= http.StatusInternalServerError:
			c.unavailable.Add(1)
			pause = max(got.RetryAfter, backoff(try))
		case got.Status == http.StatusAccepted:
			c.sentAway.Add(1)
			if pause, err = away(got); err != nil {
				return got, err
			}
		default:
			return got, nil
		}
		rest(ctx, pause)
	}
}

// follow looks at the payment of a 202 until it has an outcome.
func (c *client) follow(ctx context.Context, sentAway answer) error {
	pause := sentAway.RetryAfter
	for try := 0; ; try++ {
		rest(ctx, pause)
		got, err := c.get(ctx, sentAway.Location)
		if ctx.Err() != nil {
			return fmt.Errorf("no outcome after a 202: %w", context.Cause(ctx))
		}
		if err == nil && got.Status == http.StatusOK {
			view, err := got.payment()
			if err != nil {
				return err
			}
			if hasOutcome(view) {
				return nil
			}
		}
		pause = backoff(min(try, 2))
	}
}

// hasOutcome tells whether the create has its outcome: the payer's attempt is over, the money is held, or the bank has the debit.
func hasOutcome(view payments.View) bool {
	held := view.Status == payments.StatusRequiresCapture || view.Status == payments.StatusProcessing
	return view.Status.Terminal() || held || view.Status == payments.StatusRequiresPaymentMethod && view.LastError != nil
}

func (c *client) post(ctx context.Context, path, key string, body []byte, wait int, patience time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Prefer", "wait="+strconv.Itoa(wait))
	return c.do(request)
}

func (c *client) get(ctx context.Context, path string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return answer{}, err
	}
	return c.do(request)
}

func (c *client) do(request *http.Request) (answer, error) {
	request.Header.Set("Authorization", "Bearer "+c.apiKey)
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // absent: 0
	return answer{
		Status: response.StatusCode, Replayed: response.Header.Get("Idempotent-Replayed") == "true",
		RetryAfter: time.Duration(seconds) * time.Second, Location: response.Header.Get("Location"), Body: body,
	}, nil
}

// backoff is 50 ms, doubled each try up to a second, less a random part of up to half.
func backoff(try int) time.Duration {
	wait := min(50*time.Millisecond<<min(try, 10), time.Second)
	return wait - rand.N(wait/2)
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, pause time.Duration) {
	if pause <= 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
