package stripeapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// APIVersion is the version that stripe-go v76 pins and that every frozen request is sent with.
const APIVersion = stripe.APIVersion

// maxConnections bounds the idle connections kept to Stripe's host.
const maxConnections = 64

// Client talks to one Stripe base URL; credentials come with each call, so one client serves every account.
type Client struct {
	backend *stripe.BackendImplementation
}

// New makes a client of baseURL, for instance https://api.stripe.com. A nil transport gets a pooled one.
func New(baseURL string, transport http.RoundTripper) (*Client, error) {
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Host == "" {
		return nil, fmt.Errorf("stripe base url %q: want scheme and host", baseURL)
	}
	if transport == nil {
		pooled := http.DefaultTransport.(*http.Transport).Clone()
		pooled.MaxIdleConnsPerHost = maxConnections
		transport = pooled
	}
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL:               stripe.String(baseURL),
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		HTTPClient:        &http.Client{Transport: onceOnTheWire{transport}},
	})
	implementation, ok := backend.(*stripe.BackendImplementation)
	if !ok {
		return nil, errors.New("stripe-go gave a backend of another kind")
	}
	return &Client{backend: implementation}, nil
}

// onceOnTheWire keeps net/http from sending a POST again on its own: it would, over a connection that broke, for any request that has an
// Idempotency-Key and a body that can be rewound (net/http, Request.isReplayable).
type onceOnTheWire struct{ next http.RoundTripper }

// RoundTrip sends the request once.
func (t onceOnTheWire) RoundTrip(request *http.Request) (*http.Response, error) {
	request.GetBody = nil
	return t.next.RoundTrip(request)
}

// Credentials pin the account and mode that a call goes to.
type Credentials struct {
	SecretKey string
	Account   payments.Account
	Connected bool // the key is that of the account's platform, so the call names the account (https://docs.stripe.com/connect/authentication)
}

// read reads an object or a page of a list.
func (c *Client) read(ctx context.Context, credentials Credentials, path string, query url.Values, into stripe.LastResponseSetter) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, APIVersion, credentials, nil, nil, into)
}

func (c *Client) call(ctx context.Context, method, path, version string, credentials Credentials, key *string, body *bytes.Buffer,
	into stripe.LastResponseSetter,
) error {
	params := &stripe.Params{Context: ctx, IdempotencyKey: key, Headers: http.Header{"Stripe-Version": {version}}}
	if credentials.Connected {
		params.SetStripeAccount(credentials.Account.ID)
	}
	request, err := c.backend.NewRequest(method, path, credentials.SecretKey, "application/x-www-form-urlencoded", params)
	if err != nil {
		return &NotSentError{Cause: err}
	}
	return errorOf(c.backend.Do(request, body, into), credentials.Account)
}
