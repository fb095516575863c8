package activities

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/payments"
)

// queuePayment queues the row's new values, unless nothing is new, and when to poll next: back-off for a poll that found nothing, never for what
// is over.
func (all *application) queuePayment() error {
	before, p := all.before.payment, all.at.payment
	if !all.polled && all.suppressed.postings+all.suppressed.messages == 0 && reflect.DeepEqual(before, p) {
		return nil
	}
	var secret []byte
	if before.ClientSecret == "" && p.ClientSecret != "" {
		var err error
		if secret, err = all.Sealer.Seal(paymentstore.ColumnClientSecret, []byte(p.ClientSecret)); err != nil {
			return err
		}
	}
	actionChanged := !reflect.DeepEqual(before.NextAction, p.NextAction)
	action, err := all.sealAction(p.NextAction)
	if err != nil {
		return err
	}
	var reviewReason *string
	var reviewSince *time.Time
	var reviewFacts map[string]any
	if review := p.Review; review != nil {
		reviewReason, reviewSince, reviewFacts = &review.Reason, &review.Since, review.Facts
	}
	all.last.Queue(updatePayment, p.ID.UUID, p.Status, p.Stage, // 1-3
		p.ReachedAt(payments.StageExternalResourceCreated), p.ReachedAt(payments.StageProcessing), // 4-5
		p.ReachedAt(payments.StageTerminal), p.ReachedAt(payments.StageLedgerApplied), // 6-7
		p.IntentID, secret, p.LatestCharge, p.AmountCapturable, p.AmountCaptured, // 8-12
		p.LastError, p.Failure, p.ReadBegunAt, p.LastCommand, p.LastMessage, // 13-17
		reviewReason, reviewSince, reviewFacts, all.suppressed.postings, all.suppressed.messages, // 18-22
		p.Status.Terminal(), all.facts > 0, all.Timing.PollAfter, all.Timing.PollMaximum, all.polled, // 23-27
		p.AbandonAt, actionChanged, action, p.AmountHeld, p.CaptureBefore, p.HoldDueAt, p.HoldWarned, p.AmountRefunded) // 28-35
	return nil
}

func (all *application) sealAction(action *payments.NextAction) ([]byte, error) {
	if action == nil {
		return nil, nil
	}
	plain, err := json.Marshal(action)
	if err != nil {
		return nil, fmt.Errorf("encode next action: %w", err)
	}
	return all.Sealer.Seal(paymentstore.ColumnNextAction, plain)
}

const updatePayment = `
	UPDATE payonce.payments p SET
		status = $2, stage = $3, external_resource_created_at = $4, processing_at = $5, terminal_at = $6, ledger_applied_at = $7,
		intent_id = nullif($8, ''), client_secret = coalesce(client_secret, $9), latest_charge = nullif($10, ''),
		amount_capturable = $11, amount_captured = $12, last_error = $13, failure = $14, read_begun_at = $15,
		last_command = $16, last_message = $17, review_reason = $18, review_since = $19, review_evidence = $20,
		suppressed_postings = suppressed_postings + $21, suppressed_messages = suppressed_messages + $22,
		polls = CASE WHEN $24 THEN 0 WHEN $27 THEN polls + 1 ELSE polls END,
		next_poll_at = CASE
			WHEN $23 OR $8 = '' THEN NULL
			WHEN $24 OR next_poll_at IS NULL THEN payonce.clock() + $25::interval
			WHEN $27 THEN payonce.clock() + least($25::interval * power(2, least(polls + 1, 20)), $26::interval)
			ELSE next_poll_at END,
		abandon_at = $28, next_action = CASE WHEN $29 THEN $30 ELSE next_action END,
		amount_held = $31, capture_before = $32, hold_due_at = $33, hold_warned = $34, amount_refunded = $35,
		updated_at = payonce.clock()
	WHERE id = $1`

// queueSettlement completes a command and writes its answer into every key of its record that has none yet. The settlement carries the answer if it is
// this transaction that completes the command.
func (a *Activities) queueSettlement(batch *pgx.Batch, p payments.Payment, c command) (*boundaries.Settlement, error) {
	code, contentType, body, err := p.Outcome(c.operation, c.refused)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": contentType}
	if code == 201 {
		headers["Location"] = "/v1/payments/" + p.ID.String()
	}
	return a.queueAnswer(batch, c.record, boundaries.Answer{Code: code, Headers: headers, Body: body}, p.IntentID, summaryOf(p))
}

// queueRefundSettlement is queueSettlement for the command that asked for a refund.
func (all *application) queueRefundSettlement(r payments.Refund) (*boundaries.Settlement, error) {
	code, contentType, body, err := r.Outcome()
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": contentType}
	if code == 201 {
		headers["Location"] = "/v1/refunds/" + r.ID.String()
	}
	summary := map[string]any{"refund": r.ID, "payment": r.Payment, "status": r.Status, "amount": r.Money.Amount, "currency": r.Money.Currency}
	return all.queueAnswer(all.last, *r.Record, boundaries.Answer{Code: code, Headers: headers, Body: body}, r.ProviderID, summary)
}

// queueAnswer completes a record with its answer. The workflow of a command whose outcome was unknown sleeps: the relay wakes it once.
func (a *Activities) queueAnswer(batch *pgx.Batch, record payments.RecordID, answer boundaries.Answer, external string, summary map[string]any,
) (*boundaries.Settlement, error) {
	sealed, err := a.Sealer.Seal(boundaries.ColumnResponseBody, answer.Body)
	if err != nil {
		return nil, err
	}
	settled := &boundaries.Settlement{Record: record}
	batch.Queue(`UPDATE payonce.idempotency_keys SET response_code = $2, response_headers = $3, response_body = $4
		WHERE record = $1 AND response_code IS NULL`, record.UUID, answer.Code, answer.Headers, sealed)
	batch.Queue(`
		UPDATE payonce.idempotency_records
		SET status = 'completed', completed_at = payonce.clock(), external_resource_id = nullif($2, ''), response_code = $3,
		    response_summary = $4, lease_until = NULL, attended_until = NULL,
		    next_wake_at = CASE status WHEN 'unknown' THEN payonce.clock() + $5::interval END, wakes = CASE status WHEN 'unknown' THEN 0 ELSE wakes END
		WHERE id = $1 AND status IN ('in_progress', 'unknown')`,
		record.UUID, external, answer.Code, summary, a.Timing.WakeAfter).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 1 {
			settled.Answer = &answer
		}
		return nil
	})
	return settled, nil
}

// queueLastWake lets the relay wake the workflow of a payment that ended without it, and once only: if this process dies before its own wake-up,
// the workflow would sleep for ever. The first command's record carries the wake-up.
func (a *Activities) queueLastWake(batch *pgx.Batch, id payments.PaymentID) {
	batch.Queue(`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() + $2::interval, wakes = 0 WHERE payment = $1 AND number = 1`,
		id.UUID, a.Timing.WakeAfter)
}

// queueLastWakeOf is queueLastWake for what one command has made, a refund or a payout.
func (a *Activities) queueLastWakeOf(batch *pgx.Batch, record payments.RecordID) {
	batch.Queue(`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() + $2::interval, wakes = 0 WHERE id = $1 AND status = 'completed'`,
		record.UUID, a.Timing.WakeAfter)
}

// summaryOf is what is kept of an answer for ever: ids, status, amount, decline code.
func summaryOf(p payments.Payment) map[string]any {
	summary := map[string]any{"payment": p.ID, "status": p.Status, "amount": p.Money.Amount, "currency": p.Money.Currency}
	if p.LastError != nil {
		summary["code"], summary["decline_code"] = p.LastError.Code, p.LastError.DeclineCode
	}
	if p.Failure != nil {
		summary["failure"] = p.Failure.Code
	}
	return summary
}

// engineCommand is what the engine asks for itself, under the owner key that a caller's command would have, so that both meet in one record.
type engineCommand struct {
	normalised boundaries.Normalised
	owner      boundaries.OwnerKey
	call       boundaries.ProviderKey
	before     *int64 // of a capture: what the payment had captured
}

func engineCancel(s situation, p payments.Payment) (command engineCommand, err error) {
	attempt := s.refused + 1
	cancel := payments.CancelCommand{Payment: p.ID}
	if p.Failure != nil && p.Failure.Code == payments.FailureAbandoned {
		cancel.Reason = new("abandoned")
	}
	command.owner = boundaries.CancelOwnerKey(p.ID, attempt)
	command.call = boundaries.ProviderKey{
		Tenant: p.Tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: p.ID.UUID, Operation: payments.OperationCancel, Attempt: attempt,
	}
	command.normalised, err = boundaries.Normalise(payments.OperationCancel, "/v1/payments/"+p.ID.String()+"/cancel", cancel)
	return command, err
}

func engineCapture(s situation, p payments.Payment) (command engineCommand, err error) {
	command.owner = boundaries.CaptureOwnerKey(p.ID, s.untaken+1)
	command.call = boundaries.ProviderKey{
		Tenant: p.Tenant, ResourceKind: boundaries.ResourceCapture, Operation: payments.OperationCapture, Attempt: 1,
		ResourceID: boundaries.ResourceID(p.Tenant, payments.OperationCapture, command.owner),
	}
	command.before = &p.AmountCaptured
	command.normalised, err = boundaries.Normalise(payments.OperationCapture, "/v1/payments/"+p.ID.String()+"/capture",
		payments.CaptureCommand{Payment: p.ID})
	return command, err
}

// engineRelease lets go of what is left of a hold that was captured in part: Stripe refuses its cancel, and takes a last capture of nothing
// (https://docs.stripe.com/payments/multicapture, on releasing uncaptured funds).
func engineRelease(_ situation, p payments.Payment) (command engineCommand, err error) {
	command.owner = boundaries.ReleaseOwnerKey(p.ID)
	command.call = boundaries.ProviderKey{
		Tenant: p.Tenant, ResourceKind: boundaries.ResourceCapture, Operation: payments.OperationCapture, Attempt: 1,
		ResourceID: boundaries.ResourceID(p.Tenant, payments.OperationCapture, command.owner),
	}
	command.before = &p.AmountCaptured
	command.normalised, err = boundaries.Normalise(payments.OperationCapture, "/v1/payments/"+p.ID.String()+"/capture",
		payments.CaptureCommand{Payment: p.ID, Amount: new(int64), Final: new(true)})
	return command, err
}

// queueEngineCommand queues our own cancel or capture.
func (a *Activities) queueEngineCommand(batch *pgx.Batch, s situation, ch *change) error {
	p, ask := ch.after, engineCancel
	switch {
	case ch.engine == payments.OperationCapture && p.HoldExpiry == payments.HoldCapture:
		ask = engineCapture
	case ch.engine == payments.OperationCapture:
		ask = engineRelease
	}
	command, err := ask(s, p)
	if err != nil {
		return err
	}
	sealed, err := a.Sealer.Seal(boundaries.ColumnCommand, command.normalised.JSON)
	if err != nil {
		return err
	}
	hash := command.normalised.Hash
	batch.Queue(`
		INSERT INTO payonce.idempotency_records
			(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
			 resource_kind, resource_id, payment, number, asked_by, next_wake_at, created_at, captured_before)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'in_progress', $12, $13, $9, $10, 'engine', payonce.clock() + $11::interval, payonce.clock(), $14)
		ON CONFLICT DO NOTHING`,
		boundaries.RecordID(p.Tenant, ch.engine, command.owner).UUID, p.Tenant.UUID, ch.engine, string(command.owner), command.call.IdempotencyKey(),
		hash.Sum[:], hash.Version, sealed, p.ID.UUID, p.LastCommand, a.Timing.WakeAfter, // 6-11
		command.call.ResourceKind, command.call.ResourceID, command.before) // 12-14
	return nil
}

// queueFacts notes what is newly true, and who brought it first.
func queueFacts(batch *pgx.Batch, id payments.PaymentID, learnt Learnt, facts []string) {
	for _, fact := range facts {
		batch.Queue(`
			INSERT INTO payonce.payment_facts (payment, fact, source, effective_at, applied_at)
			VALUES ($1, $2, $3, coalesce($4, payonce.clock()), payonce.clock()) ON CONFLICT DO NOTHING`,
			id.UUID, fact, learnt.Source, nullTime(learnt.EffectiveAt))
	}
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// queueAnsweredCall closes the call that the fact answers.
func queueAnsweredCall(batch *pgx.Batch, answered *AnsweredCall) {
	if answered == nil {
		return
	}
	answer := map[string]any{"replayed": answered.Replayed}
	for name, refusal := range map[string]*payments.ProviderError{"decline": answered.Decline, "refusal": answered.Refusal} {
		if refusal != nil {
			answer[name] = refusal
		}
	}
	batch.Queue(`
		UPDATE payonce.provider_calls
		SET status = 'answered', ended_at = payonce.clock(), http_status = $2, request_ids = request_ids || $3::text, answer = $4
		WHERE idempotency_key = $1 AND status = 'sent'`, answered.Call.Key, answered.Status, answered.RequestID, answer)
}

// queueEvent marks the stored event in the same commit.
func queueEvent(batch *pgx.Batch, p payments.Payment, learnt Learnt, status, reason string) {
	if learnt.Event == nil {
		return
	}
	batch.Queue(`
		UPDATE payonce.provider_events
		SET status = $2, reason = nullif($3, ''), payment = $4, tenant = $5, next_try_at = NULL, settled_at = payonce.clock()
		WHERE id = $1 AND settled_at IS NULL`, *learnt.Event, status, reason, p.ID.UUID, p.Tenant.UUID)
}

// evidence renders what a person needs to settle a review.
func evidence(facts map[string]any) []byte {
	body, err := json.Marshal(facts)
	if err != nil {
		return []byte(`{}`)
	}
	return body
}

// eventID is the stored event's id for a log line.
func eventID(event *uuid.UUID) string {
	if event == nil {
		return ""
	}
	return event.String()
}
