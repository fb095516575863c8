package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/payments"
	"payonce/workflows"
)

// ResolvePayout is Resolve for a payout: it reads at Stripe first and believes what that says. What was said is kept with the payout.
func (a *Activities) ResolvePayout(ctx context.Context, id payments.PayoutID, said Resolution) error {
	unknown, err := a.unknownOfPayout(ctx, id)
	if err == nil {
		err = said.fits(unknown != nil)
	}
	if err != nil {
		return err
	}
	if unknown == nil {
		return a.payoutResolved(ctx, id, said, nil)
	}
	shown, err := a.showPayout(ctx, id, *unknown)
	if err != nil {
		return err
	}
	executed, err := a.settledNow(ctx, *unknown)
	if err == nil {
		err = said.against(executed)
	}
	if err != nil {
		return err
	}
	if said.As == ResolvedNotExecuted {
		if err := a.sendOneAgain(ctx, *unknown, `SELECT FROM payonce.payouts WHERE id = $1 FOR NO KEY UPDATE`); err != nil {
			return err
		}
	}
	return a.payoutResolved(ctx, id, said, map[string]any{"record": unknown.record, "operation": unknown.operation, "stripe": shown})
}

// unknownOfPayout is the payout's command if its outcome is unknown, or nil.
func (a *Activities) unknownOfPayout(ctx context.Context, id payments.PayoutID) (*unknownCommand, error) {
	c := unknownCommand{kind: boundaries.ResourcePayout, resource: id.UUID}
	err := a.Pool.QueryRow(ctx, `
		SELECT r.id, r.operation, payonce.clock(),
		       (SELECT max(coalesce(c.ended_at, c.last_sent_at + $2::interval)) FROM payonce.provider_calls c WHERE c.record = r.id)
		FROM payonce.payouts p JOIN payonce.idempotency_records r ON r.id = p.record
		WHERE p.id = $1 AND r.status = 'unknown'`, id.UUID, a.Timing.Send).Scan(&c.record.UUID, &c.operation, &c.now, &c.lastSend)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read unknown command: %w", err)
	}
	return &c, nil
}

// showPayout looks for the payout in the list of its account's, where our metadata prove it, and applies it: that settles the command without anybody's word.
func (a *Activities) showPayout(ctx context.Context, id payments.PayoutID, c unknownCommand) (map[string]any, error) {
	p, err := paymentstore.PayoutByID(ctx, a.Pool, id)
	if err != nil {
		return nil, err
	}
	call, err := a.Calls.Newest(ctx, c.record)
	if err != nil || call == nil {
		return map[string]any{"payout": nil}, err
	}
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return nil, err
	}
	if err := a.mayRead(ctx, p.Account, budget.ListPayouts, budget.Reads); err != nil {
		return nil, err
	}
	listing, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	made, err := a.Stripe.ListPayouts(listing, credentials, call.FirstSentAt.Add(-lookMargin), c.now.Add(lookMargin))
	if err != nil {
		return nil, a.refusedAccount(ctx, p.Account, err)
	}
	for i := range made {
		if made[i].Metadata[payments.MetadataPayout] == id.String() {
			shown := map[string]any{"payout": made[i].ID, "status": made[i].Status, "amount": made[i].Money.Amount}
			return shown, a.ApplyPayout(ctx, id, LearntPayout{Source: SourceOperator, Payout: &made[i], BegunAt: c.now, EffectiveAt: c.now})
		}
	}
	return map[string]any{"payout": nil}, nil
}

// payoutResolved takes the mark off once nothing is unknown any more, and keeps who said what, with what the mark had said.
func (a *Activities) payoutResolved(ctx context.Context, id payments.PayoutID, said Resolution, shown map[string]any) error {
	detail := evidence(map[string]any{"as": said.As, "reason": said.Reason, "by": said.By, "shown": shown})
	tag, err := a.Pool.Exec(ctx, `
		UPDATE payonce.payouts p SET
			resolutions = p.resolutions || jsonb_build_array($2::jsonb || jsonb_build_object('at', payonce.clock(),
				'review', jsonb_build_object('reason', p.review_reason, 'since', p.review_since, 'evidence', p.review_evidence))),
			review_reason = CASE WHEN u.unknown THEN p.review_reason END, review_since = CASE WHEN u.unknown THEN p.review_since END,
			review_evidence = CASE WHEN u.unknown THEN p.review_evidence END, updated_at = payonce.clock()
		FROM (SELECT EXISTS (
			SELECT FROM payonce.idempotency_records r JOIN payonce.payouts o ON o.record = r.id WHERE o.id = $1 AND r.status = 'unknown') AS unknown) u
		WHERE p.id = $1`, id.UUID, detail)
	if err == nil && tag.RowsAffected() == 0 {
		err = paymentstore.ErrNoPayout
	}
	if err != nil {
		return fmt.Errorf("note the resolution: %w", err)
	}
	if err := a.Waker.WakePayout(ctx, id); err != nil && !errors.Is(err, workflows.ErrOver) {
		a.Log.Warn("the workflow was not woken: the relay will", "payout", id, "error", err)
	}
	return nil
}
