package activities

import (
	"reflect"

	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// queueDispute queues the dispute's row, and when to read it next: until it is decided.
func (all *application) queueDispute(before, after payments.Dispute, isNew bool, learnt LearntDispute) {
	polled := learnt.Source == SourcePoll
	if !isNew && !polled && reflect.DeepEqual(before, after) {
		return
	}
	p := all.at.payment
	all.last.Queue(putDispute, after.ID.UUID, after.Tenant.UUID, after.Payment.UUID, p.Account.ID, p.Account.Livemode, after.ProviderID, // 1-6
		after.Charge, after.Money.Amount, after.Money.Currency, after.Reason, after.Status, after.Stage, // 7-12
		after.ReachedAt(payments.StageExternalResourceCreated), after.ReachedAt(payments.StageProcessing), // 13-14
		after.ReachedAt(payments.StageTerminal), after.ReachedAt(payments.StageLedgerApplied), // 15-16
		after.DueBy, after.Withdrawn, after.Reinstated, after.Transactions, after.Lost, after.ReadBegunAt, after.CreatedAt, // 17-23
		after.Status.Terminal(), after.Status != before.Status, all.Timing.PollAfter, all.Timing.PollMaximum, polled) // 24-28
}

const putDispute = `
	INSERT INTO payonce.disputes AS d
		(id, tenant, payment, account, livemode, dispute_id, charge, amount, currency, reason, status, stage, external_resource_created_at, processing_at,
		 terminal_at, ledger_applied_at, due_by, withdrawn, reinstated, transactions, lost, read_begun_at, created_at, next_poll_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), $8, $9, nullif($10, ''), $11, $12, $13, $14, $15, $16, $17, $18, $19, coalesce($20::text[], '{}'),
		$21, $22, $23,
		CASE WHEN NOT $24::boolean THEN payonce.clock() + $26::interval END, payonce.clock())
	ON CONFLICT (id) DO UPDATE SET
		amount = excluded.amount, reason = excluded.reason, status = excluded.status, stage = excluded.stage,
		external_resource_created_at = excluded.external_resource_created_at, processing_at = excluded.processing_at,
		terminal_at = excluded.terminal_at, ledger_applied_at = excluded.ledger_applied_at, due_by = excluded.due_by,
		withdrawn = excluded.withdrawn, reinstated = excluded.reinstated, transactions = excluded.transactions, lost = excluded.lost,
		read_begun_at = excluded.read_begun_at, polls = CASE WHEN $25 THEN 0 WHEN $28 THEN d.polls + 1 ELSE d.polls END,
		next_poll_at = CASE
			WHEN $24 THEN NULL
			WHEN $25 OR d.next_poll_at IS NULL THEN payonce.clock() + $26::interval
			WHEN $28 THEN payonce.clock() + least($26::interval * power(2, least(d.polls + 1, 20)), $27::interval)
			ELSE d.next_poll_at END,
		updated_at = payonce.clock()`

// queueDisputed queues what may not be given back a second time: what Stripe withdrew for disputes of the payment and has not reinstated.
func queueDisputed(batch *pgx.Batch, id payments.PaymentID, disputes []payments.Dispute) {
	taken := int64(0)
	for _, d := range disputes {
		taken += max(d.Taken(), 0)
	}
	batch.Queue(`UPDATE payonce.payments SET amount_disputed = $2, updated_at = payonce.clock() WHERE id = $1 AND amount_disputed <> $2`, id.UUID, taken)
}
