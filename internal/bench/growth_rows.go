package main

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// finished is a payment that has gone its way, with everything that is derived from it.
type finished struct {
	tenant         payments.TenantID
	id             uuid.UUID
	reference      string
	amount         int64
	intent, charge string
	at             time.Time // when it was asked for; everything else followed within a second
	create         step
	confirm        step
	journal        uuid.UUID
	message        uuid.UUID
	endpoint       uuid.UUID
}

// step is a command that was carried out.
type step struct {
	operation payments.Operation
	owner     boundaries.OwnerKey
	record    uuid.UUID
	call      uuid.UUID
	number    int
	path      string
}

// answered is how long after it was asked for a loaded payment was paid.
const answered = 60 * time.Millisecond

func newFinished(tenant payments.TenantID, endpoint uuid.UUID, n int, at time.Time) finished {
	f := finished{
		tenant: tenant, endpoint: endpoint, reference: fmt.Sprintf("grown-%d", n), amount: int64(100 + n%50_000), at: at,
		intent: fmt.Sprintf("pi_grown%012d", n), charge: fmt.Sprintf("ch_grown%012d", n),
	}
	payment := boundaries.PaymentID(tenant, f.reference, 1)
	f.id = payment.UUID
	f.create = newStep(f, payments.OperationCreate, boundaries.CreateOwnerKey(f.reference, 1), 1, "/v1/payment_intents")
	f.confirm = newStep(f, payments.OperationConfirm, boundaries.ConfirmOwnerKey(payment, 1), 2, "/v1/payment_intents/"+f.intent+"/confirm")
	f.journal = uuid.Must(uuid.NewV7())
	f.message = boundaries.NotificationID(tenant, f.subject(), string(notifications.PaymentSucceeded), endpoint)
	return f
}

func newStep(f finished, operation payments.Operation, owner boundaries.OwnerKey, number int, path string) step {
	return step{
		operation: operation, owner: owner, number: number, path: path, record: boundaries.RecordID(f.tenant, operation, owner).UUID,
		call: boundaries.ProviderKey{
			Tenant: f.tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: f.id, Operation: operation, Attempt: 1,
		}.IdempotencyKey(),
	}
}

func (f finished) subject() string { return "payment/" + f.id.String() }

func (f finished) done() time.Time { return f.at.Add(answered) }

func (f finished) steps() []step { return []step{f.create, f.confirm} }

func (f finished) postingKey() string {
	return string(boundaries.CapturePostingKey(f.charge, f.amount))
}

func ledgerAccount(tenant payments.TenantID, name ledger.AccountName) uuid.UUID {
	return boundaries.LedgerAccountID(tenant, string(name), growthCurrency)
}

// tableRows is what a payment leaves in a table.
type tableRows struct {
	name    string
	columns []string
	each    int // rows of a payment
	rows    func(finished) [][]any
}

func (f frozen) tables() []tableRows {
	return []tableRows{f.payments(), facts(), f.records(), f.keys(), f.calls(), f.events(), journals(), entries(), f.messages()}
}

func (f frozen) payments() tableRows {
	return tableRows{
		name: "payments", each: 1,
		columns: []string{
			"id", "tenant", "reference", "attempt", "account", "livemode", "amount", "currency", "capture_method", "description", "metadata",
			"status", "stage", "submitted_at", "external_resource_created_at", "processing_at", "terminal_at", "ledger_applied_at",
			"intent_id", "client_secret", "latest_charge", "amount_captured", "read_begun_at", "last_command", "last_message", "created_at", "updated_at",
		},
		rows: func(p finished) [][]any {
			return [][]any{{
				p.id, p.tenant.UUID, p.reference, 1, accountID, false, p.amount, string(growthCurrency),
				"automatic", "An order of before", map[string]string{"shop": "bench"},
				"succeeded", "ledger_applied", p.at, p.at, p.at, p.done(), p.done(),
				p.intent, f.secret, p.charge, p.amount, p.at, 2, 1, p.at, p.done(),
			}}
		},
	}
}

func facts() tableRows {
	return tableRows{
		name: "payment_facts", each: 2, columns: []string{"payment", "fact", "source", "effective_at", "applied_at"},
		rows: func(p finished) [][]any {
			return [][]any{{p.id, "intent_created", "answer", p.at, p.at}, {p.id, "succeeded", "answer", p.done(), p.done()}}
		},
	}
}

func (f frozen) records() tableRows {
	hash := sha256.Sum256(f.command)
	return tableRows{
		name: "idempotency_records", each: 2,
		columns: []string{
			"id", "tenant", "operation", "owner_key", "idempotency_key", "request_hash", "request_hash_version", "command", "status", "fence",
			"resource_kind", "resource_id", "external_resource_id", "response_summary", "response_code", "payment", "number", "answered_by",
			"not_after", "asked_by", "created_at", "completed_at",
		},
		rows: func(p finished) [][]any {
			var rows [][]any
			for i, s := range p.steps() {
				var answeredBy any
				if i == 0 {
					answeredBy = p.confirm.record
				}
				summary := map[string]any{"payment": p.id, "status": "succeeded", "amount": p.amount, "currency": growthCurrency}
				rows = append(rows, []any{
					s.record, p.tenant.UUID, string(s.operation), string(s.owner), s.call, hash[:], 1, f.command, "completed", 1,
					boundaries.ResourcePayment, p.id, p.intent, summary, 201 - i, p.id, s.number, answeredBy,
					p.at.Add(15 * time.Minute), "caller", p.at, p.done(),
				})
			}
			return rows
		},
	}
}

func (f frozen) keys() tableRows {
	hash := sha256.Sum256(f.command)
	return tableRows{
		name: "idempotency_keys", each: 1,
		columns: []string{
			"tenant", "operation", "caller_key", "request_hash", "request_hash_version", "record", "response_code", "response_headers", "response_body",
			"created_at", "expires_at",
		},
		rows: func(p finished) [][]any {
			headers := map[string]string{"Content-Type": payments.ContentTypeJSON, "Location": "/v1/payments/" + p.id.String()}
			return [][]any{{
				p.tenant.UUID, string(payments.OperationCreate), p.reference, hash[:], 1, p.create.record, 201, headers, f.answer, p.at, p.at.Add(24 * time.Hour),
			}}
		},
	}
}

func (f frozen) calls() tableRows {
	sum := sha256.Sum256(f.callBody)
	return tableRows{
		name: "provider_calls", each: 2,
		columns: []string{
			"idempotency_key", "tenant", "record", "payment", "resource_kind", "resource_id", "operation", "attempt", "generation", "method", "path",
			"body", "body_sha256", "api_version", "account", "livemode", "status", "first_sent_at", "last_sent_at", "ended_at", "http_status", "request_ids", "answer",
		},
		rows: func(p finished) [][]any {
			var rows [][]any
			for _, s := range p.steps() {
				rows = append(rows, []any{
					s.call, p.tenant.UUID, s.record, p.id, boundaries.ResourcePayment, p.id, string(s.operation), 1, 0, "POST", s.path,
					f.call, sum[:], stripeapi.APIVersion, accountID, false, "answered", p.at, p.at, p.done(), 200,
					[]string{"req_" + s.call.String()[:16]}, map[string]any{"replayed": false},
				})
			}
			return rows
		},
	}
}

func (f frozen) events() tableRows {
	return tableRows{
		name: "provider_events", each: 3,
		columns: []string{
			"id", "account", "livemode", "event_id", "type", "api_version", "object_kind", "object_id", "intent_id", "created", "body", "source", "status",
			"tenant", "payment", "tries", "received_at", "settled_at",
		},
		rows: func(p finished) [][]any {
			var rows [][]any
			for i, event := range []struct{ kind, object, id string }{
				{"payment_intent.created", "payment_intent", p.intent}, {"charge.succeeded", "charge", p.charge}, {"payment_intent.succeeded", "payment_intent", p.intent},
			} {
				rows = append(rows, []any{
					uuid.Must(uuid.NewV7()), accountID, false, fmt.Sprintf("evt_%s_%d", p.intent, i), event.kind, stripeapi.APIVersion, event.object, event.id,
					p.intent, p.at, f.event, "webhook", "applied", p.tenant.UUID, p.id, 1, p.done(), p.done(),
				})
			}
			return rows
		},
	}
}

func journals() tableRows {
	return tableRows{
		name: "ledger_journals", each: 1,
		columns: []string{"id", "tenant", "posting_key", "rule", "content_hash", "phase", "payment", "source", "memo", "effective_at", "booked_at"},
		rows: func(p finished) [][]any {
			hash := sha256.Sum256([]byte(p.postingKey()))
			return [][]any{{
				p.journal, p.tenant.UUID, p.postingKey(), "captured", hash[:], "posted", p.id, "answer", "charge captured", p.done(), p.done(),
			}}
		},
	}
}

func entries() tableRows {
	return tableRows{
		name: "ledger_entries", each: 2, columns: []string{"journal", "line", "account", "amount", "currency"},
		rows: func(p finished) [][]any {
			return [][]any{
				{p.journal, 1, ledgerAccount(p.tenant, ledger.StripeReceivable), p.amount, string(growthCurrency)},
				{p.journal, 2, ledgerAccount(p.tenant, ledger.MerchantBalance), -p.amount, string(growthCurrency)},
			}
		},
	}
}

func (f frozen) messages() tableRows {
	return tableRows{
		name: "notifications", each: 1,
		columns: []string{
			"id", "tenant", "subject", "kind", "endpoint", "payment", "sequence", "body", "status", "tries", "first_sent_at", "last_status", "created_at", "settled_at",
		},
		rows: func(p finished) [][]any {
			return [][]any{{
				p.message, p.tenant.UUID, p.subject(), string(notifications.PaymentSucceeded), p.endpoint, p.id, 1, f.message, "delivered", 1,
				p.done(), 200, p.done(), p.done(),
			}}
		},
	}
}
