package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/payments"
	"payonce/workflows"
)

// ResolveProvision is Resolve for a customer or a connected account: it reads at Stripe first and believes what that says. What was said is kept with the
// provision.
func (a *Activities) ResolveProvision(ctx context.Context, id payments.ProvisionID, said Resolution) error {
	p, err := a.readProvision(ctx, id)
	if err != nil {
		return err
	}
	unknown := p.unknown(a.Timing.Send)
	if err := said.fits(unknown != nil); err != nil {
		return err
	}
	if unknown == nil {
		return a.provisionResolved(ctx, p.provision, said, nil)
	}
	made, shown, err := a.showProvision(ctx, p)
	if err == nil {
		err = said.against(made)
	}
	if err != nil {
		return err
	}
	if said.As == ResolvedNotExecuted {
		if err := a.sendOneAgain(ctx, *unknown, `SELECT FROM payonce.provisions WHERE id = $1 FOR NO KEY UPDATE`); err != nil {
			return err
		}
	}
	return a.provisionResolved(ctx, p.provision, said, map[string]any{"record": unknown.record, "operation": unknown.operation, "stripe": shown})
}

// unknown is the provision's command if its outcome is unknown, or nil; a send is over after the time-out.
func (p provisioning) unknown(timeout time.Duration) *unknownCommand {
	if p.asked == nil || p.asked.status != boundaries.RecordUnknown {
		return nil
	}
	c := unknownCommand{record: p.asked.record, operation: p.asked.operation, kind: p.asked.kind, resource: p.provision.ID.UUID, now: p.now}
	if len(p.calls) > 0 {
		end := p.calls[0].Call.LastSendEnd(timeout)
		c.lastSend = &end
	}
	return &c
}

// showProvision looks for what Stripe has made and applies it: that settles the command without anybody's word.
func (a *Activities) showProvision(ctx context.Context, p provisioning) (made bool, shown map[string]any, err error) {
	shown = map[string]any{string(p.provision.Kind): nil}
	if len(p.calls) == 0 {
		return false, shown, nil
	}
	ours, err := a.partyAtStripe(ctx, p, p.calls[0].Call)
	if err != nil || ours == nil {
		return false, shown, err
	}
	if err := a.ApplyProvision(ctx, p.provision.ID, LearntProvision{Party: ours}); err != nil {
		return false, nil, err
	}
	a.wakeProvision(ctx, p.provision)
	return true, map[string]any{string(p.provision.Kind): ours.ID, "created": ours.Created}, nil
}

// provisionResolved takes the mark off once nothing is unknown any more, and keeps who said what, with what the mark had said before Stripe was read.
func (a *Activities) provisionResolved(ctx context.Context, p payments.Provision, said Resolution, shown map[string]any) error {
	detail := evidence(map[string]any{"as": said.As, "reason": said.Reason, "by": said.By, "shown": shown, "review": reviewOf(p.Review)})
	tag, err := a.Pool.Exec(ctx, `
		UPDATE payonce.provisions p SET
			resolutions = p.resolutions || jsonb_build_array($2::jsonb || jsonb_build_object('at', payonce.clock())),
			review_reason = CASE WHEN u.unknown THEN p.review_reason END, review_since = CASE WHEN u.unknown THEN p.review_since END,
			review_evidence = CASE WHEN u.unknown THEN p.review_evidence END, updated_at = payonce.clock()
		FROM (SELECT EXISTS (
			SELECT FROM payonce.idempotency_records r JOIN payonce.provisions o ON o.record = r.id WHERE o.id = $1 AND r.status = 'unknown') AS unknown) u
		WHERE p.id = $1`, p.ID.UUID, detail)
	if err == nil && tag.RowsAffected() == 0 {
		err = paymentstore.ErrNoProvision
	}
	if err != nil {
		return fmt.Errorf("note the resolution: %w", err)
	}
	a.wakeProvision(ctx, p)
	return nil
}

// wakeProvision tells the workflow of what Stripe makes that its command was settled or put back.
func (a *Activities) wakeProvision(ctx context.Context, p payments.Provision) {
	if !p.Kind.AtStripe() {
		return
	}
	if err := a.Waker.WakeProvision(ctx, p.ID, p.Record); err != nil && !errors.Is(err, workflows.ErrOver) {
		a.Log.Warn("the workflow was not woken", "provision", p.ID, "error", err)
	}
}
