package control

import (
	"encoding/json"
	"time"
)

// Match says which requests or events a Rule is for. Every field that is set must match; an empty Match matches all.
type Match struct {
	Method    string            `json:"method,omitempty"`     // HTTP method, upper case
	Path      string            `json:"path,omitempty"`       // glob; * stays inside one path segment
	Account   string            `json:"account,omitempty"`    // acct_…
	Key       string            `json:"key,omitempty"`        // exact Idempotency-Key
	KeyPrefix string            `json:"key_prefix,omitempty"` // beginning of the Idempotency-Key
	Metadata  map[string]string `json:"metadata,omitempty"`   // every pair must be on the request or on its payment intent
	EventType string            `json:"event_type,omitempty"` // glob over the event type; webhook faults only
}

// Rule makes a fault happen. Rules are tried in the order in which they were added; at each point of a request the
// first rule that fires wins.
type Rule struct {
	ID          string  `json:"id"`                      // given by the twin when empty
	Match       Match   `json:"match"`                   //
	Fault       string  `json:"fault"`                   // one of the Fault constants
	Times       int     `json:"times,omitempty"`         // fires at most so often; 0 = unlimited
	After       int     `json:"after,omitempty"`         // lets the first n matches pass
	Probability float64 `json:"probability,omitempty"`   // 0 < p < 1 fires by the seed; 0 or 1 = always
	DelayMS     int     `json:"delay_ms,omitempty"`      // milliseconds of wall time, for the faults that wait
	RetryAfterS int     `json:"retry_after_s,omitempty"` // seconds in Retry-After of a 429
	Status      int     `json:"status,omitempty"`        // HTTP status instead of the fault's own
	Seen        int     `json:"seen"`                    // matches so far
	Fired       int     `json:"fired"`                   // faults so far
}

// Faults of API requests.
const (
	FaultAnswerLost        = "answer_lost"         // effect done, connection cut
	FaultReset             = "reset"               // connection cut before the effect
	FaultErrorBefore       = "error_before"        // 500, not executed, not stored
	FaultErrorBeforeStored = "error_before_stored" // 500 stored under the key, no effect
	FaultErrorAfter        = "error_after"         // effect done, 500 stored under the key
	FaultRateLimited       = "rate_limited"        // 429 code rate_limit, with Retry-After if asked
	FaultLockTimeout       = "lock_timeout"        // 429 invalid_request_error code lock_timeout
	FaultSlow              = "slow"                // effect, then delay_ms, then the answer
	FaultSlowBefore        = "slow_before"         // delay_ms, then the effect; the key is in flight meanwhile
	FaultUnauthorized      = "unauthorized"        // 401
	FaultKeyMismatch       = "key_mismatch"        // 400 idempotency_error, as if the key had come with other parameters; no effect, not stored
	FaultRefused           = "refused"             // a definite 400 invalid_request_error, stored, no effect
)

// Faults of webhook deliveries.
const (
	FaultDouble       = "double"        // delivered twice
	FaultReorder      = "reorder"       // held until the next event of the same payment was sent
	FaultDelay        = "delay"         // first sent after delay_ms
	FaultDrop         = "drop"          // never delivered, not even retried
	FaultBeforeAnswer = "before_answer" // delivered, and its answer awaited, before the API's answer is sent
)

// RequestFaults lists the faults of API requests.
func RequestFaults() []string {
	return []string{FaultAnswerLost, FaultReset, FaultErrorBefore, FaultErrorBeforeStored, FaultErrorAfter,
		FaultRateLimited, FaultLockTimeout, FaultSlow, FaultSlowBefore, FaultUnauthorized, FaultKeyMismatch, FaultRefused}
}

// WebhookFaults lists the faults of webhook deliveries.
func WebhookFaults() []string {
	return []string{FaultDouble, FaultReorder, FaultDelay, FaultDrop, FaultBeforeAnswer}
}

// Request is one send on the wire that reached the twin, in order of arrival.
type Request struct {
	Seq            int64     `json:"seq"`
	Time           time.Time `json:"time"` // the twin's clock
	Account        string    `json:"account"`
	Livemode       bool      `json:"livemode"`
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Query          string    `json:"query,omitempty"`
	IdempotencyKey string    `json:"idempotency_key,omitempty"`
	BodySHA256     string    `json:"body_sha256"` // hex, of the bytes as received
	Body           string    `json:"body"`
	Status         int       `json:"status"`   // 0: not answered (yet), or the connection was cut
	Replayed       bool      `json:"replayed"` // the answer was a stored one
	Executed       bool      `json:"executed"` // an effect happened
	Fault          string    `json:"fault,omitempty"`
	RequestID      string    `json:"request_id"`
	BodyDiffers    bool      `json:"body_differs,omitempty"` // this key was sent before with other bytes
}

// Book is what the twin knows of one payment intent. Amounts are integer minor units of Currency.
type Book struct {
	Seq              int64             `json:"seq"`
	ID               string            `json:"id"`
	Account          string            `json:"account"`
	Livemode         bool              `json:"livemode"`
	Metadata         map[string]string `json:"metadata"`
	Status           string            `json:"status"`
	Amount           int64             `json:"amount"`
	Currency         string            `json:"currency"`
	AmountReceived   int64             `json:"amount_received"`
	Captured         int64             `json:"captured"`
	Refunded         int64             `json:"refunded"`               // by refunds that the balance paid and that neither failed nor were canceled
	Disputed         int64             `json:"disputed"`               // ever withdrawn by disputes, without fees
	Reinstated       int64             `json:"reinstated"`             // of that given back
	Fees             int64             `json:"fees"`                   // of every kind, as far as they are booked in Currency
	SettledFees      map[string]int64  `json:"settled_fees,omitempty"` // those booked in another currency, by currency
	Refunds          []Refund          `json:"refunds,omitempty"`
	Disputes         []Dispute         `json:"disputes,omitempty"`
	ConfirmsExecuted int               `json:"confirms_executed"` // attempts begun through the API, declines included
	PayerConfirms    int               `json:"payer_confirms"`    // attempts begun by the payer, without a key of ours
	CapturesExecuted int               `json:"captures_executed"`
	ChargesSucceeded int               `json:"charges_succeeded"`
	ChargesFailed    int               `json:"charges_failed"`
	Canceled         bool              `json:"canceled"`
	Created          time.Time         `json:"created"` // the twin's clock, whole seconds
}

// Try is one send of an event to an endpoint.
type Try struct {
	Time   time.Time `json:"time"`   // the twin's clock
	Status int       `json:"status"` // HTTP status; 0 when there was no answer
	Error  string    `json:"error,omitempty"`
}

// Delivery states.
const (
	DeliveryPending   = "pending"   // queued, on its way, held or waiting for its next try
	DeliveryDelivered = "delivered" // a 2xx was received
	DeliveryFailed    = "failed"    // the last try failed; there will be no other
	DeliveryDropped   = "dropped"   // by fault
)

// Delivery is an event on its way to one endpoint.
type Delivery struct {
	Endpoint string     `json:"endpoint"`
	URL      string     `json:"url"`
	Status   string     `json:"status"`
	Fault    string     `json:"fault,omitempty"`
	Tries    []Try      `json:"tries"`
	NextTry  *time.Time `json:"next_try,omitempty"` // the twin's clock; set while a retry is planned
}

// Event is an event with its deliveries.
type Event struct {
	Seq            int64           `json:"seq"`
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	Account        string          `json:"account"`
	Livemode       bool            `json:"livemode"`
	Created        time.Time       `json:"created"`
	PaymentIntent  string          `json:"payment_intent,omitempty"`
	RequestID      string          `json:"request_id,omitempty"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
	Object         json.RawMessage `json:"object,omitempty"`
	Deliveries     []Delivery      `json:"deliveries"`
}

// Endpoint is a webhook endpoint.
type Endpoint struct {
	ID            string   `json:"id"` // we_…, given by the twin when empty
	URL           string   `json:"url"`
	Secret        string   `json:"secret"`                   // whsec_…, given by the twin when empty
	OldSecret     string   `json:"old_secret,omitempty"`     // while a secret is rolled: a second v1
	Account       string   `json:"account,omitempty"`        // only this account's events; empty = every account's
	Connect       bool     `json:"connect,omitempty"`        // with Account: the events of its connected accounts too
	Livemode      *bool    `json:"livemode,omitempty"`       // null = both modes
	EnabledEvents []string `json:"enabled_events,omitempty"` // globs; empty = all
	RefundFeed    string   `json:"refund_feed,omitempty"`    // how refunds are told of: one of the Feed constants; empty = FeedBoth
}

// What an endpoint hears of refunds, which Stripe has changed with its API versions. charge.refunded comes in each.
const (
	FeedLegacy = "legacy" // charge.refund.updated
	FeedRefund = "refund" // refund.created, refund.updated, refund.failed
	FeedBoth   = "both"
)

// Points at which a Hold stops a request.
const (
	BeforeEffect = "before_effect" // the key is in flight: others get 409
	AfterEffect  = "after_effect"  // the effect and the stored answer are durable; only the answer is withheld
)

// Hold stops every matching request at a point until it is released.
type Hold struct {
	ID     string `json:"id"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"` // glob
	Point  string `json:"point"`          // BeforeEffect or AfterEffect
	Times  int    `json:"times,omitempty"`
}

// Held is a request that a Hold, or the delay of a rule, has stopped.
type Held struct {
	Hold       string `json:"hold"`  // id of the hold or of the rule
	Point      string `json:"point"` // BeforeEffect, AfterEffect or the fault that delays
	RequestSeq int64  `json:"request_seq"`
	RequestID  string `json:"request_id"`
	Method     string `json:"method"`
	Path       string `json:"path"`
	Key        string `json:"idempotency_key,omitempty"`
}

// Emit is a hand-made event. Where Raw is set, exactly these bytes are sent.
type Emit struct {
	ID                 string          `json:"id,omitempty"`
	Type               string          `json:"type,omitempty"`
	Account            string          `json:"account,omitempty"`
	Platform           string          `json:"platform,omitempty"` // of a connected account: then the body carries account
	Livemode           bool            `json:"livemode,omitempty"`
	Object             json.RawMessage `json:"object,omitempty"` // data.object
	PreviousAttributes json.RawMessage `json:"previous_attributes,omitempty"`
	IdempotencyKey     string          `json:"idempotency_key,omitempty"`
	Created            int64           `json:"created,omitempty"` // Unix seconds; 0 = now
	APIVersion         string          `json:"api_version,omitempty"`
	Raw                string          `json:"raw,omitempty"`
	Secret             string          `json:"secret,omitempty"`             // signs with this instead of the endpoint's
	SignatureOffsetS   int             `json:"signature_offset_s,omitempty"` // seconds added to the signature's t
}

// Deliver asks for an event to be sent again now.
type Deliver struct {
	Times      int    `json:"times,omitempty"`      // 0 = once
	Concurrent bool   `json:"concurrent,omitempty"` // all at the same time instead of one after the other
	Endpoint   string `json:"endpoint,omitempty"`   // only this one; empty = every matching one
}

// Answer is what an endpoint answered to a delivery that was asked for.
type Answer struct {
	Endpoint string `json:"endpoint"`
	Status   int    `json:"status"`
	Error    string `json:"error,omitempty"`
}

// Sent is the outcome of Deliver and Emit.
type Sent struct {
	Event   string   `json:"event"`
	Answers []Answer `json:"answers"`
}

// Search is how search behaves.
type Search struct {
	LagMS int64 `json:"lag_ms"` // milliseconds of the twin's clock until a change is visible to search
}

// Pay is what the payer, holding the client secret, does without any key of ours.
type Pay struct {
	PaymentMethod string `json:"payment_method"`
	ClientSecret  string `json:"client_secret,omitempty"` // checked when given
}

// Fail says how a processing or challenged payment fails.
type Fail struct {
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message,omitempty"`
}

// Counts is the state of the deliveries after a flush.
type Counts struct {
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Dropped   int `json:"dropped"`
	Scheduled int `json:"scheduled"` // failed so far; the next try is planned on the twin's clock
	Pending   int `json:"pending"`   // still queued, held or on the way: only after a time-out
}
