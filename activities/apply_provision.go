package activities

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// LearntProvision is what somebody brings of a provision: what Stripe made, or that Stripe refused to make it.
type LearntProvision struct {
	Party  *stripeapi.Party // nil with a refusal
	Answer *AnsweredCall    // the call of ours that this answers
}

// ApplyProvision applies what Stripe says of a provision, as Apply does for a payment: one transaction locks it, links what Stripe made or notes its
// refusal, and completes the command. What is linked stays linked: anything else of Stripe's that names the provision is one too many, and a person is
// shown.
func (a *Activities) ApplyProvision(ctx context.Context, id payments.ProvisionID, learnt LearntProvision) error {
	var p payments.Provision
	var settled *boundaries.Settlement
	err := postgres.Pipelined(ctx, a.Pool, func(first *pgx.Batch) {
		settled = nil
		first.Queue(paymentstore.SelectProvisions+`WHERE p.id = $1 FOR NO KEY UPDATE OF p`, id.UUID).QueryRow(func(row pgx.Row) (err error) {
			p, err = paymentstore.ScanProvision(row)
			return err
		})
	}, func(_ pgx.Tx, last *pgx.Batch) error {
		surplus := a.decideProvision(&p, learnt)
		last.Queue(`
			UPDATE payonce.provisions SET status = $2, provider_id = nullif($3, ''), last_error = $4, updated_at = payonce.clock(),
				review_reason = CASE WHEN $5 <> '' THEN 'surplus_at_stripe' WHEN $2 = 'linked' AND review_reason = 'outcome_unknown' THEN NULL ELSE review_reason END,
				review_since = CASE WHEN $5 <> '' THEN payonce.clock() WHEN $2 = 'linked' AND review_reason = 'outcome_unknown' THEN NULL ELSE review_since END,
				review_evidence = CASE WHEN $5 <> '' THEN jsonb_build_object('surplus', $5::text)
					WHEN $2 = 'linked' AND review_reason = 'outcome_unknown' THEN NULL ELSE review_evidence END
			WHERE id = $1`, p.ID.UUID, p.Status, p.ProviderID, p.LastError, surplus)
		queueAnsweredCall(last, learnt.Answer)
		if p.Status == payments.ProvisionSubmitted {
			return nil
		}
		var err error
		settled, err = a.queueProvisionSettlement(last, p)
		return err
	})
	if err != nil {
		return fmt.Errorf("apply provision %s: %w", id, err)
	}
	if settled != nil {
		a.Settled.Announce(*settled)
	}
	return nil
}

// decideProvision says what a fact makes of a provision, and names what Stripe has too many.
func (a *Activities) decideProvision(p *payments.Provision, learnt LearntProvision) (surplus string) {
	said := learnt.Party
	switch {
	case said != nil && (said.Account != p.Account || p.ProviderID != "" && p.ProviderID != said.ID):
		a.Log.Error("Stripe has made one too many for an owner, or in another account or mode", "provision", p.ID, "linked", p.ProviderID, "stripe", said.ID)
		return said.ID
	case said != nil:
		p.Status, p.ProviderID, p.LastError = payments.ProvisionLinked, said.ID, nil
	case learnt.Answer != nil && learnt.Answer.Refusal != nil && p.Status == payments.ProvisionSubmitted:
		p.Status, p.LastError = payments.ProvisionRefused, learnt.Answer.Refusal
	}
	return ""
}

// queueProvisionSettlement is queueSettlement for the command that asked for a provision.
func (a *Activities) queueProvisionSettlement(batch *pgx.Batch, p payments.Provision) (*boundaries.Settlement, error) {
	code, contentType, body, err := p.Outcome()
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": contentType}
	if code == 201 {
		headers["Location"] = p.Kind.Path() + "/" + p.ID.String()
	}
	summary := map[string]any{string(p.Kind): p.ID, "status": p.Status}
	if p.LastError != nil {
		summary["code"] = p.LastError.Code
	}
	return a.queueAnswer(batch, p.Record, boundaries.Answer{Code: code, Headers: headers, Body: body}, p.ProviderID, summary)
}
