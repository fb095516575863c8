package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client speaks to one payonce with one API key. It is safe for use by many goroutines.
type Client struct {
	base    string
	apiKey  string
	http    *http.Client
	wait    time.Duration
	tries   int
	backoff backoff
	sleep   func(context.Context, time.Duration) error
}

// Defaults of the options.
const (
	DefaultTries = 8
	DefaultWait  = 10 * time.Second
)

// maxWait is the longest wait for an outcome that the API takes.
const maxWait = 30 * time.Second

// Option changes what New gives.
type Option func(*Client)

// Wait is how long the API may hold a command's answer back while there is no outcome: whole seconds, 0 to 30. After it, the answer is
// unsettled: see Answer.Settled.
func Wait(wait time.Duration) Option { return func(c *Client) { c.wait = wait } }

// Tries is how often one call is sent at most, at least once.
func Tries(tries int) Option { return func(c *Client) { c.tries = tries } }

// HTTP is what carries the requests, for instance with a proxy or certificates of yours. Redirects are not followed whatever it says, and its
// Timeout should be zero: each try has a deadline of its own.
func HTTP(carrier *http.Client) Option { return func(c *Client) { c.http = carrier } }

// New is a client of the payonce at address, for instance https://payonce.internal, with an API key of one tenant.
func New(address, apiKey string, options ...Option) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") || parsed.RawQuery != "" || parsed.User != nil {
		return nil, fmt.Errorf("payonce: %q is no address of an API", address)
	}
	c := &Client{
		base: strings.TrimRight(address, "/"), apiKey: apiKey, http: &http.Client{}, wait: DefaultWait, tries: DefaultTries,
		backoff: newBackoff(), sleep: sleep,
	}
	for _, option := range options {
		option(c)
	}
	switch {
	case apiKey == "":
		return nil, errors.New("payonce: an API key is required")
	case c.wait < 0 || c.wait > maxWait || c.wait%time.Second != 0:
		return nil, fmt.Errorf("payonce: wait takes whole seconds from 0 to %d", int(maxWait.Seconds()))
	case c.tries < 1:
		return nil, errors.New("payonce: a call is tried at least once")
	}
	carrier := *c.http
	carrier.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a followed POST becomes a GET
	c.http = &carrier
	return c, nil
}

// sleep waits, or ends with the context.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
