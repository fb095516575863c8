package activities

import (
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// writeRefund queues the refund's row, and the outcome of the command that asked for it.
func (all *application) writeRefund(before, after payments.Refund, isNew bool, learnt LearntRefund) error {
	metadata := after.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	sql := updateRefund
	arguments := []any{
		after.ID.UUID, after.Status, after.Stage, // 1-3
		after.ReachedAt(payments.StageExternalResourceCreated), after.ReachedAt(payments.StageProcessing), // 4-5
		after.ReachedAt(payments.StageTerminal), after.ReachedAt(payments.StageLedgerApplied), // 6-7
		after.ProviderID, after.Charge, after.FailureReason, after.LastError, after.Moved, after.Returned, after.ReadBegunAt, // 8-14
		after.Status.Terminal(), after.Status != before.Status, all.Timing.PollAfter, all.Timing.PollMaximum, learnt.Source == SourcePoll, // 15-19
	}
	if isNew {
		sql = adoptRefund
		arguments = append(arguments, after.Tenant.UUID, after.Payment.UUID, after.Money.Amount, after.Money.Currency, after.Reason, // 20-24
			metadata, after.Reached[payments.StageSubmitted], all.at.payment.Account.ID, all.at.payment.Account.Livemode, // 25-28
			paymentstore.Destinations(after.TakenFrom)) // 29
	}
	all.last.Queue(sql, arguments...)
	if after.Record == nil {
		return nil
	}
	bound := before.ProviderID == "" && (after.ProviderID != "" || after.LastError != nil)
	if bound || learnt.Answer != nil || learnt.Answers {
		settled, err := all.queueRefundSettlement(after)
		if err != nil {
			return err
		}
		all.settled = append(all.settled, settled)
	}
	if learnt.Source == SourceEvent || learnt.Source == SourcePoll {
		if bound || after.Status != before.Status {
			all.woken = append(all.woken, after.ID)
			all.queueLastWakeOf(all.last, *after.Record)
		}
	}
	return nil
}

const updateRefund = `
	UPDATE payonce.refunds SET
		status = $2, stage = $3, external_resource_created_at = $4, processing_at = $5, terminal_at = $6, ledger_applied_at = $7,
		refund_id = nullif($8, ''), charge = nullif($9, ''), failure_reason = nullif($10, ''), last_error = $11, moved = $12, returned = $13,
		read_begun_at = $14, polls = CASE WHEN $16 THEN 0 WHEN $19 THEN polls + 1 ELSE polls END,
		next_poll_at = CASE
			WHEN $15 OR $8 = '' THEN NULL
			WHEN $16 OR next_poll_at IS NULL THEN payonce.clock() + $17::interval
			WHEN $19 THEN payonce.clock() + least($17::interval * power(2, least(polls + 1, 20)), $18::interval)
			ELSE next_poll_at END,
		updated_at = payonce.clock()
	WHERE id = $1`

// adoptRefund takes up a refund that was made elsewhere.
const adoptRefund = `
	INSERT INTO payonce.refunds
		(id, status, stage, external_resource_created_at, processing_at, terminal_at, ledger_applied_at, refund_id, charge, failure_reason, last_error,
		 moved, returned, read_begun_at, next_poll_at, tenant, payment, amount, currency, reason, metadata, submitted_at, account, livemode,
		 created_at, updated_at, taken_from)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, ''), nullif($10, ''), $11, $12, $13, $14,
		CASE WHEN NOT $15::boolean THEN payonce.clock()
			+ CASE WHEN $16::boolean AND NOT $19::boolean THEN $17::interval ELSE least($17::interval, $18::interval) END END,
		$20, $21, $22, $23, $24, $25, $26, $27, $28, payonce.clock(), payonce.clock(), $29)`

// refundMetadata is what a refund carries at Stripe so that it is found again.
func refundMetadata(r payments.Refund) map[string]string {
	return map[string]string{
		payments.MetadataRefund: r.ID.String(), payments.MetadataPayment: r.Payment.String(), payments.MetadataTenant: r.Tenant.String(),
	}
}

// oursAmong is the refund of a list that carries the metadata of ours, or nil.
func oursAmong(refunds []stripeapi.Refund, id payments.RefundID) *stripeapi.Refund {
	for i := range refunds {
		if refunds[i].Metadata[payments.MetadataRefund] == id.String() {
			return &refunds[i]
		}
	}
	return nil
}
