package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls the control API of a running twin. The zero value is not usable; see NewClient.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client of the twin at base, such as "http://127.0.0.1:12111". A nil httpClient means
// http.DefaultClient.
func NewClient(base string, httpClient *http.Client) *Client {
	if httpClient == nil {
		httpClient = http.DefaultClient
	}
	return &Client{base: strings.TrimRight(base, "/"), http: httpClient}
}

// Error is an answer of the control API that is not a 2xx.
type Error struct {
	Status  int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("stripesim control: %d %s", e.Status, e.Message) }

// AddFault adds a rule and returns it with its id.
func (c *Client) AddFault(ctx context.Context, rule Rule) (Rule, error) {
	return call[Rule](ctx, c, http.MethodPost, "/_twin/faults", rule)
}

// Faults lists every rule with its counts.
func (c *Client) Faults(ctx context.Context) ([]Rule, error) {
	return list[Rule](ctx, c, "/_twin/faults", nil)
}

// Fault reads one rule.
func (c *Client) Fault(ctx context.Context, id string) (Rule, error) {
	return call[Rule](ctx, c, http.MethodGet, "/_twin/faults/"+url.PathEscape(id), nil)
}

// DeleteFault removes one rule, or every rule when id is empty.
func (c *Client) DeleteFault(ctx context.Context, id string) error {
	path := "/_twin/faults"
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	_, err := call[json.RawMessage](ctx, c, http.MethodDelete, path, nil)
	return err
}

// Requests reads the log of sends with seq > after, at most limit (0 = 1,000, the greatest).
func (c *Client) Requests(ctx context.Context, after int64, limit int) ([]Request, error) {
	return list[Request](ctx, c, "/_twin/requests", page(after, limit))
}

// AllRequests reads the whole log of sends.
func (c *Client) AllRequests(ctx context.Context) ([]Request, error) {
	return all(func(after int64) ([]Request, error) { return c.Requests(ctx, after, 0) }, func(r Request) int64 { return r.Seq })
}

// BooksQuery narrows Books. An empty Account and a nil Livemode mean all.
type BooksQuery struct {
	Account  string
	Livemode *bool
	After    int64
	Limit    int
}

// Books reads one page of the books, in order of creation.
func (c *Client) Books(ctx context.Context, q BooksQuery) ([]Book, error) {
	values := page(q.After, q.Limit)
	if q.Account != "" {
		values.Set("account", q.Account)
	}
	if q.Livemode != nil {
		values.Set("livemode", strconv.FormatBool(*q.Livemode))
	}
	return list[Book](ctx, c, "/_twin/books", values)
}

// AllBooks reads the whole books.
func (c *Client) AllBooks(ctx context.Context) ([]Book, error) {
	return all(func(after int64) ([]Book, error) { return c.Books(ctx, BooksQuery{After: after}) }, func(b Book) int64 { return b.Seq })
}

// EventsQuery narrows Events. Type is a glob.
type EventsQuery struct {
	Type          string
	PaymentIntent string
	Account       string
	After         int64
	Limit         int
}

// Events reads one page of the events with their deliveries, in order of creation.
func (c *Client) Events(ctx context.Context, q EventsQuery) ([]Event, error) {
	values := page(q.After, q.Limit)
	for name, value := range map[string]string{"type": q.Type, "payment_intent": q.PaymentIntent, "account": q.Account} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return list[Event](ctx, c, "/_twin/events", values)
}

// AllEvents reads every event.
func (c *Client) AllEvents(ctx context.Context) ([]Event, error) {
	return all(func(after int64) ([]Event, error) { return c.Events(ctx, EventsQuery{After: after}) }, func(e Event) int64 { return e.Seq })
}

// Deliver sends an event again now, waits for the answers and returns them.
func (c *Client) Deliver(ctx context.Context, event string, how Deliver) (Sent, error) {
	return call[Sent](ctx, c, http.MethodPost, "/_twin/events/"+url.PathEscape(event)+"/deliver", how)
}

// Emit signs and sends a hand-made event, waits for the answers and returns them.
func (c *Client) Emit(ctx context.Context, event Emit) (Sent, error) {
	return call[Sent](ctx, c, http.MethodPost, "/_twin/events/emit", event)
}

// AddEndpoint registers a webhook endpoint. The same URL, account and mode again replaces the former.
func (c *Client) AddEndpoint(ctx context.Context, endpoint Endpoint) (Endpoint, error) {
	return call[Endpoint](ctx, c, http.MethodPost, "/_twin/endpoints", endpoint)
}

// Endpoints lists the webhook endpoints.
func (c *Client) Endpoints(ctx context.Context) ([]Endpoint, error) {
	return list[Endpoint](ctx, c, "/_twin/endpoints", nil)
}

// DeleteEndpoint removes a webhook endpoint; its open deliveries fail.
func (c *Client) DeleteEndpoint(ctx context.Context, id string) error {
	_, err := call[json.RawMessage](ctx, c, http.MethodDelete, "/_twin/endpoints/"+url.PathEscape(id), nil)
	return err
}

// Succeed lets a processing or challenged payment intent succeed.
func (c *Client) Succeed(ctx context.Context, intent string) (Book, error) {
	return c.act(ctx, intent, "succeed", nil)
}

// Fail lets a processing or challenged payment intent fail.
func (c *Client) Fail(ctx context.Context, intent string, how Fail) (Book, error) {
	return c.act(ctx, intent, "fail", how)
}

// Authenticate lets the payer pass the challenge of a payment intent in requires_action.
func (c *Client) Authenticate(ctx context.Context, intent string) (Book, error) {
	return c.act(ctx, intent, "authenticate", nil)
}

// Pay confirms an open payment intent as the payer who holds its client secret.
func (c *Client) Pay(ctx context.Context, intent string, pay Pay) (Book, error) {
	return c.act(ctx, intent, "pay", pay)
}

func (c *Client) act(ctx context.Context, intent, what string, body any) (Book, error) {
	return call[Book](ctx, c, http.MethodPost, "/_twin/payment_intents/"+url.PathEscape(intent)+"/"+what, body)
}

// Flush waits until no delivery is queued, on its way, delayed or held back for reordering. Retries that are
// planned for later on the twin's clock are not waited for, unless retryNow makes each of them be tried at once.
func (c *Client) Flush(ctx context.Context, retryNow bool) (Counts, error) {
	path := "/_twin/deliveries/flush"
	if retryNow {
		path += "?retry_now=true"
	}
	return call[Counts](ctx, c, http.MethodPost, path, nil)
}

// Tick does at once what the twin's clock has made due: retries, settlements, expiries. For use after moving the clock.
func (c *Client) Tick(ctx context.Context) error {
	_, err := call[json.RawMessage](ctx, c, http.MethodPost, "/_twin/tick", nil)
	return err
}

// SetSearchLag sets how old, on the twin's clock, a change must be to be visible to search; an hour is an outage. What
// was visible stays so.
func (c *Client) SetSearchLag(ctx context.Context, lag time.Duration) error {
	_, err := call[Search](ctx, c, http.MethodPost, "/_twin/search", Search{LagMS: lag.Milliseconds()})
	return err
}

// SearchLag reads what SetSearchLag sets. A twin begins with a minute, unless its configuration says otherwise.
func (c *Client) SearchLag(ctx context.Context) (time.Duration, error) {
	search, err := call[Search](ctx, c, http.MethodGet, "/_twin/search", nil)
	return time.Duration(search.LagMS) * time.Millisecond, err
}

// Hold stops matching requests at a point until Release.
func (c *Client) Hold(ctx context.Context, hold Hold) (Hold, error) {
	return call[Hold](ctx, c, http.MethodPost, "/_twin/hold", hold)
}

// Release removes a hold, or every hold when id is empty, and lets go whom it has stopped.
func (c *Client) Release(ctx context.Context, id string) error {
	_, err := call[json.RawMessage](ctx, c, http.MethodPost, "/_twin/release", map[string]string{"id": id})
	return err
}

// Held waits until at least n requests are stopped (0 = does not wait) and returns all that are. A request that a
// rule delays counts too; its point is the fault, its hold the rule's id.
func (c *Client) Held(ctx context.Context, n int) ([]Held, error) { return c.HeldAt(ctx, "", n) }

// HeldAt is Held for one point only.
func (c *Client) HeldAt(ctx context.Context, point string, n int) ([]Held, error) {
	return list[Held](ctx, c, "/_twin/held", url.Values{"wait_for": {strconv.Itoa(n)}, "point": {point}})
}

// Reset forgets everything except the endpoints of the twin's own configuration.
func (c *Client) Reset(ctx context.Context) error {
	_, err := call[json.RawMessage](ctx, c, http.MethodPost, "/_twin/reset", nil)
	return err
}

func page(after int64, limit int) url.Values {
	if limit == 0 {
		limit = 1000
	}
	return url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}}
}

func all[T any](read func(after int64) ([]T, error), seq func(T) int64) ([]T, error) {
	var rows []T
	var after int64
	for {
		next, err := read(after)
		if err != nil || len(next) == 0 {
			return rows, err
		}
		rows = append(rows, next...)
		after = seq(next[len(next)-1])
	}
}

func list[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	answer, err := call[struct {
		Data []T `json:"data"`
	}](ctx, c, http.MethodGet, path, nil)
	return answer.Data, err
}

func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var result T
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return result, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return result, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return result, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return result, err
	}
	if response.StatusCode/100 != 2 {
		problem := struct {
			Error string `json:"error"`
		}{}
		_ = json.Unmarshal(answer, &problem)
		return result, &Error{Status: response.StatusCode, Message: problem.Error}
	}
	if len(answer) == 0 {
		return result, nil
	}
	return result, json.Unmarshal(answer, &result)
}
