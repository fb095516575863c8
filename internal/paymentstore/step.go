package paymentstore

import "time"

// Step is one thing that happened to a payment; of the details exactly one is there.
type Step struct {
	At      time.Time    `json:"at" doc:"When it began here; steps are in this order"`
	Kind    string       `json:"kind" enum:"command,call,event,fact,journal,stage,message" doc:"Which detail is there"`
	Command *CommandStep `json:"command,omitempty" doc:"Somebody asked for something"`
	Call    *CallStep    `json:"call,omitempty" doc:"Stripe was asked to change something"`
	Event   *EventStep   `json:"event,omitempty" doc:"Stripe told of something"`
	Fact    *FactStep    `json:"fact,omitempty" doc:"Something became known, and from whom first"`
	Journal *JournalStep `json:"journal,omitempty" doc:"The ledger took it"`
	Stage   *StageStep   `json:"stage,omitempty" doc:"The payment reached a stage"`
	Message *MessageStep `json:"message,omitempty" doc:"An endpoint of the tenant is told"`

	Position StepPosition `json:"-"`
}

// CommandStep is a record of the command boundary.
type CommandStep struct {
	ID                 string     `json:"id"`
	Number             int        `json:"number" doc:"The order of commands within the payment"`
	Operation          string     `json:"operation"`
	OwnerKey           string     `json:"owner_key" doc:"The business attempt"`
	AskedBy            string     `json:"asked_by" enum:"caller,engine,operator"`
	CallerKey          string     `json:"caller_key,omitempty" doc:"The first Idempotency-Key that asked for it, while it is kept"`
	Status             string     `json:"status" enum:"in_progress,completed,failed,unknown"`
	Fence              int64      `json:"fence" doc:"How often somebody took it up"`
	Suppressed         int        `json:"suppressed" doc:"Repeats that met it"`
	ExternalResourceID string     `json:"external_resource_id,omitempty"`
	ResponseCode       int        `json:"response_code,omitempty" doc:"Status of the stored answer"`
	Outcome            *OutcomeOf `json:"outcome,omitempty" doc:"What is kept of the answer for ever"`
	NotAfter           *time.Time `json:"not_after,omitempty" doc:"It is not sent to Stripe for the first time after this"`
	CompletedAt        *time.Time `json:"completed_at,omitempty"`
}

// OutcomeOf is the end of a command, in codes.
type OutcomeOf struct {
	Status      string `json:"status"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	Failure     string `json:"failure,omitempty"`
}

// CallStep is a call to Stripe that can change something, with its tries.
type CallStep struct {
	IdempotencyKey string     `json:"idempotency_key"`
	Command        string     `json:"command,omitempty" doc:"The id of the command that it serves"`
	Operation      string     `json:"operation"`
	Attempt        int        `json:"attempt"`
	Generation     int        `json:"generation" doc:"How often the call before was proved to have left nothing"`
	Path           string     `json:"path"`
	Status         string     `json:"status" enum:"sent,answered,absent,unknown"`
	Sends          int        `json:"sends" doc:"Tries, all with the same key and bytes"`
	LastSentAt     time.Time  `json:"last_sent_at"`
	EndedAt        *time.Time `json:"ended_at,omitempty" doc:"When the answer was there"`
	HTTPStatus     int        `json:"http_status,omitempty"`
	RequestIDs     []string   `json:"request_ids" doc:"Stripe's"`
	Code           string     `json:"code,omitempty" doc:"Of a decline or refusal"`
	DeclineCode    string     `json:"decline_code,omitempty"`
}

// EventStep is a stored event of Stripe.
type EventStep struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	Object     string     `json:"object,omitempty"`
	Source     string     `json:"source" enum:"webhook,backfill"`
	CreatedAt  time.Time  `json:"created_at" doc:"Stripe's"`
	Deliveries int        `json:"deliveries"`
	Suppressed int        `json:"suppressed" doc:"Deliveries beyond the first"`
	Tries      int        `json:"tries" doc:"To apply it"`
	Verdict    string     `json:"verdict" enum:"stored,parked,applied,stale,ignored,foreign,quarantined"`
	Reason     string     `json:"reason,omitempty"`
	SettledAt  *time.Time `json:"settled_at,omitempty"`
}

// FactStep is something that became known of the payment.
type FactStep struct {
	Fact        string    `json:"fact"`
	Source      string    `json:"source" enum:"answer,event,poll,read,backfill,engine,operator"`
	EffectiveAt time.Time `json:"effective_at" doc:"When it happened at Stripe"`
}

// JournalStep is a journal of the ledger.
type JournalStep struct {
	ID          string      `json:"id"`
	PostingKey  string      `json:"posting_key"`
	Rule        string      `json:"rule"`
	Phase       string      `json:"phase" enum:"posted,pending,void"`
	Resolves    string      `json:"resolves,omitempty" doc:"The journal that it posts, voids or reverses"`
	Source      string      `json:"source"`
	EffectiveAt time.Time   `json:"effective_at"`
	Entries     []EntryStep `json:"entries" doc:"They sum to zero for each currency"`
}

// EntryStep is a line of a journal.
type EntryStep struct {
	Account  string `json:"account"`
	Amount   int64  `json:"amount" doc:"In minor units: a debit is positive, a credit negative"`
	Currency string `json:"currency"`
}

// StageStep is a stage that was reached.
type StageStep struct {
	Stage       string    `json:"stage" enum:"submitted,external_resource_created,processing,terminal,ledger_applied"`
	EffectiveAt time.Time `json:"effective_at" doc:"As the payment's stages have it; at Stripe, where Stripe told"`
}

// MessageStep is a message to an endpoint of the tenant.
type MessageStep struct {
	ID          string     `json:"id" doc:"The webhook-id"`
	Kind        string     `json:"kind"`
	Subject     string     `json:"subject"`
	Endpoint    string     `json:"endpoint"`
	Sequence    int        `json:"sequence" doc:"The order of messages within the payment"`
	Status      string     `json:"status" enum:"queued,delivered,parked"`
	Tries       int        `json:"tries"`
	LastStatus  int        `json:"last_status,omitempty" doc:"The receiver's last answer"`
	FirstSentAt *time.Time `json:"first_sent_at,omitempty"`
	DeliveredAt *time.Time `json:"delivered_at,omitempty"`
	ParkedAt    *time.Time `json:"parked_at,omitempty"`
}
