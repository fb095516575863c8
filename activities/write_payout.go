package activities

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/payments"
)

// queuePayout queues the row's new values, and when to poll next: back-off for a poll that found nothing, never for what is over.
func (all *payoutApplication) queuePayout(batch *pgx.Batch, before, after payments.Payout, learnt LearntPayout) {
	var reviewReason *string
	var reviewSince *time.Time
	var reviewFacts map[string]any
	if review := after.Review; review != nil {
		reviewReason, reviewSince, reviewFacts = &review.Reason, &review.Since, review.Facts
	}
	batch.Queue(updatePayout,
		after.ID.UUID, after.Status, after.Stage, // 1-3
		after.ReachedAt(payments.StageExternalResourceCreated), after.ReachedAt(payments.StageProcessing), // 4-5
		after.ReachedAt(payments.StageTerminal), after.ReachedAt(payments.StageLedgerApplied), // 6-7
		after.ProviderID, after.Automatic, after.ArrivalDate, after.FailureReason, after.LastError, after.Moved, after.Returned, // 8-14
		after.ReadBegunAt, reviewReason, reviewSince, reviewFacts, // 15-18
		after.Status.Terminal(), after.Status != before.Status, all.Timing.PollAfter, all.Timing.PollMaximum, learnt.Source == SourcePoll, // 19-23
		after.LastMessage)
}

const updatePayout = `
	UPDATE payonce.payouts SET
		status = $2, stage = $3, external_resource_created_at = $4, processing_at = $5, terminal_at = $6, ledger_applied_at = $7,
		payout_id = nullif($8, ''), automatic = $9, arrival_date = $10, failure_reason = nullif($11, ''), last_error = $12, moved = $13, returned = $14,
		last_message = coalesce(nullif($24, 0), last_message), read_begun_at = $15, review_reason = $16, review_since = $17, review_evidence = $18,
		polls = CASE WHEN $20 THEN 0 WHEN $23 THEN polls + 1 ELSE polls END,
		next_poll_at = CASE
			WHEN $19 OR $8 = '' THEN NULL
			WHEN $20 OR next_poll_at IS NULL THEN payonce.clock() + $21::interval
			WHEN $23 THEN payonce.clock() + least($21::interval * power(2, least(polls + 1, 20)), $22::interval)
			ELSE next_poll_at END,
		updated_at = payonce.clock()
	WHERE id = $1`

// adoptPayout takes up a payout that was made elsewhere; what Stripe says of it is applied to the row as to any other.
const adoptPayout = `
	INSERT INTO payonce.payouts (id, tenant, amount, currency, status, stage, submitted_at, account, livemode, created_at, updated_at)
	VALUES ($1, $2, $3, $4, 'submitted', 'submitted', $5, $6, $7, payonce.clock(), payonce.clock())
	ON CONFLICT (id) DO NOTHING`

// queuePayoutSettlement is queueSettlement for the command that asked for a payout.
func (all *payoutApplication) queuePayoutSettlement(batch *pgx.Batch, p payments.Payout) (*boundaries.Settlement, error) {
	code, contentType, body, err := p.Outcome()
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": contentType}
	if code == 201 {
		headers["Location"] = "/v1/payouts/" + p.ID.String()
	}
	summary := map[string]any{"payout": p.ID, "status": p.Status, "amount": p.Money.Amount, "currency": p.Money.Currency}
	if p.LastError != nil {
		summary["code"] = p.LastError.Code
	}
	return all.queueAnswer(batch, *p.Record, boundaries.Answer{Code: code, Headers: headers, Body: body}, p.ProviderID, summary)
}

// queuePayoutEvent marks the stored event in the same commit.
func queuePayoutEvent(batch *pgx.Batch, p payments.Payout, event *uuid.UUID, verdict Verdict, reason string) {
	if event == nil {
		return
	}
	batch.Queue(`
		UPDATE payonce.provider_events
		SET status = $2, reason = nullif($3, ''), tenant = $4, next_try_at = NULL, settled_at = payonce.clock()
		WHERE id = $1 AND settled_at IS NULL`, *event, string(verdict), reason, p.Tenant.UUID)
}

// recordOf is the record of the payout's command, or nil.
func recordOf(p payments.Payout) *uuid.UUID {
	if p.Record == nil {
		return nil
	}
	return &p.Record.UUID
}
