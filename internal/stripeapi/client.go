package stripeapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
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
}

// Request is a frozen POST.
type Request struct {
	IdempotencyKey uuid.UUID
	Path           string // from /v1
	Body           []byte // form-encoded, sent as it is
	Version        string // Stripe-Version that it was frozen with
}

// Answer is a 2xx.
type Answer struct {
	Intent    Intent
	RequestID string
	Replayed  bool // Stripe answered from its memory of the key
	Status    int
}

// Send sends a frozen request once. It returns *Error for Stripe's refusals, *NotSentError when certainly nothing left this machine,
// and any other error when the outcome is not known.
func (c *Client) Send(ctx context.Context, credentials Credentials, request Request) (Answer, error) {
	key := request.IdempotencyKey.String()
	intent := &stripe.PaymentIntent{}
	err := c.call(ctx, http.MethodPost, request.Path, request.Version, credentials, &key, bytes.NewBuffer(request.Body), intent)
	if err != nil {
		return Answer{}, err
	}
	response := intent.LastResponse
	return Answer{
		Intent:    intentOf(intent, credentials.Account),
		RequestID: response.RequestID,
		Replayed:  replayed(response.Header),
		Status:    response.StatusCode,
	}, nil
}

// ReadIntent reads a PaymentIntent by its id; strongly consistent, unlike search.
func (c *Client) ReadIntent(ctx context.Context, credentials Credentials, id string) (Intent, error) {
	intent := &stripe.PaymentIntent{}
	if err := c.call(ctx, http.MethodGet, "/v1/payment_intents/"+url.PathEscape(id), APIVersion, credentials, nil, nil, intent); err != nil {
		return Intent{}, err
	}
	return intentOf(intent, credentials.Account), nil
}

// Page is a page of intents, newest first.
type Page struct {
	Intents []Intent
	More    bool
}

// PageLimit is the largest page that Stripe gives (https://docs.stripe.com/api/pagination).
const PageLimit = 100

// ListIntents lists the intents created within [from, to], newest first, after the one named (empty: from the newest). A list call, unlike
// search, reads its own account's writes, so it can prove absence.
func (c *Client) ListIntents(ctx context.Context, credentials Credentials, from, to time.Time, after string) (Page, error) {
	query := url.Values{
		"limit":        {strconv.Itoa(PageLimit)},
		"created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lte]": {strconv.FormatInt(to.Unix()+1, 10)},
	}
	if after != "" {
		query.Set("starting_after", after)
	}
	list := &stripe.PaymentIntentList{}
	if err := c.call(ctx, http.MethodGet, "/v1/payment_intents?"+query.Encode(), APIVersion, credentials, nil, nil, list); err != nil {
		return Page{}, err
	}
	page := Page{More: list.HasMore, Intents: make([]Intent, 0, len(list.Data))}
	for _, intent := range list.Data {
		page.Intents = append(page.Intents, intentOf(intent, credentials.Account))
	}
	return page, nil
}

func (c *Client) call(ctx context.Context, method, path, version string, credentials Credentials, key *string, body *bytes.Buffer,
	into stripe.LastResponseSetter,
) error {
	params := &stripe.Params{Context: ctx, IdempotencyKey: key, Headers: http.Header{"Stripe-Version": {version}}}
	request, err := c.backend.NewRequest(method, path, credentials.SecretKey, "application/x-www-form-urlencoded", params)
	if err != nil {
		return &NotSentError{Cause: err}
	}
	return errorOf(c.backend.Do(request, body, into), credentials.Account)
}

func replayed(header http.Header) bool { return header.Get("Idempotent-Replayed") == "true" }
