package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// ErrNoAnswer says that no definite answer came, however often it was tried: a command may have taken effect or not. Repeat it with the same
// key, now or days later. It wraps what the last try met, and the context's error if that ended the tries.
var ErrNoAnswer = errors.New("payonce: no answer")

// errUnreadable says that an answer arrived cut, or was written by something between us.
var errUnreadable = errors.New("unreadable answer")

const (
	maxBody     = 4 << 20          // bytes of an answer
	answerGrace = 10 * time.Second // a try has this much longer than the API may wait
)

// request is what is sent, the same bytes at every try.
type request struct {
	method string
	path   string
	key    Key // zero for a read
	body   []byte
	wait   time.Duration
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) replayed() bool { return r.header.Get("Idempotent-Replayed") == "true" }

func (r reply) requestID() string { return r.header.Get("Request-Id") }

// exchange sends until read takes the reply, a refusal is definite, the tries are used up or the context ends.
func exchange[T any](ctx context.Context, c *Client, q request, read func(reply) (T, error)) (T, error) {
	var none T
	for try := 1; ; try++ {
		got, err := c.send(ctx, q)
		if err == nil {
			var value T
			if value, err = read(got); err == nil {
				return value, nil
			}
		}
		var (
			refused *RefusedError
			asked   time.Duration
		)
		if errors.As(err, &refused) {
			if !refused.temporary() {
				return none, err
			}
			asked = refused.RetryAfter
		}
		if try == c.tries {
			return none, fmt.Errorf("%w after %d tries: %w", ErrNoAnswer, try, err)
		}
		if ended := c.sleep(ctx, c.backoff.pause(try, asked)); ended != nil {
			return none, fmt.Errorf("%w after %d tries: %w: %w", ErrNoAnswer, try, ended, err)
		}
	}
}

// send sends once and reads the whole reply.
func (c *Client) send(ctx context.Context, q request) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, q.wait+answerGrace)
	defer cancel()
	sent, err := http.NewRequestWithContext(ctx, q.method, c.base+q.path, bytes.NewReader(q.body))
	if err != nil {
		return reply{}, err
	}
	sent.GetBody = nil // the transport repeats nothing by itself: every repeat is a try, and waits
	sent.Header.Set("Authorization", "Bearer "+c.apiKey)
	sent.Header.Set("Accept", "application/json")
	if q.method == http.MethodPost {
		sent.Header.Set("Content-Type", "application/json")
		sent.Header.Set("Idempotency-Key", q.key.text)
		sent.Header.Set("Prefer", "wait="+strconv.Itoa(int(q.wait.Seconds())))
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("%w: %w", errUnreadable, err)
	case len(body) > maxBody:
		return reply{}, fmt.Errorf("%w: longer than %d bytes", errUnreadable, maxBody)
	}
	return reply{status: response.StatusCode, header: response.Header, body: body}, nil
}
