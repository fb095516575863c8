package activities

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/payments"
)

// Fits tells whether the intent is the payment's: the one that it is bound to, or one that it may be bound to.
func Fits(p payments.Payment, intent stripeapi.Intent) bool { return misfit(p, &intent) == "" }

// misfit says why an intent does not belong to the payment, or nothing. An object is bound once, by id; before that it may be adopted by its metadata
// only if account, mode, currency, authorised amount and capture method equal the frozen request.
func misfit(p payments.Payment, intent *stripeapi.Intent) string {
	switch {
	case intent == nil:
		return ""
	case intent.Account != p.Account:
		return "another account or mode"
	case p.IntentID != "" && p.IntentID != intent.ID:
		return "the payment is bound to another intent"
	case p.IntentID == "" && intent.PaymentMetadata() != p.ID.String():
		return "the intent's metadata name another payment"
	case intent.Money.Currency != p.Money.Currency:
		return "another currency"
	case intent.Money.Amount != p.Money.Amount:
		return "another amount"
	case intent.CaptureMethod != p.CaptureMethod:
		return "another capture method"
	default:
		return ""
	}
}

// quarantine keeps a misfit away from the payment: its money goes to suspense, the payment is marked for review, the event is marked, an alarm is raised.
func (all *application) quarantine(ctx context.Context, tx pgx.Tx, s situation, learnt Learnt, why string) error {
	intent := learnt.Intent
	all.Log.Error("an intent does not fit its payment: quarantined", "payment", s.payment.ID, "intent", intent.ID, "why", why, "event", eventID(learnt.Event))
	posted, err := suspensePosted(ctx, tx, s.payment.Tenant, intent.LatestCharge)
	if err != nil {
		return err
	}
	posting, took := ledger.Suspense(ledger.Quarantined{
		Tenant: s.payment.Tenant, Charge: intent.LatestCharge, Currency: intent.Money.Currency, NewTotal: intent.AmountReceived, PreviousTotal: posted,
		Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	})
	if took {
		if _, err := ledger.Post(ctx, tx, posting); err != nil {
			return err
		}
		if s.payment.Review == nil {
			all.at.payment.Review = &payments.Review{Reason: "quarantined_intent", Since: s.now, Facts: map[string]any{
				"intent": intent.ID, "why": why, "amount_received": intent.AmountReceived,
			}}
		}
	}
	queueAnsweredCall(all.last, learnt.Answer)
	queueEvent(all.last, s.payment, learnt, string(VerdictQuarantined), why)
	return nil
}

// suspensePosted is what the charge has in suspense already; read under the lock of the payment that it names.
func suspensePosted(ctx context.Context, tx pgx.Tx, tenant payments.TenantID, charge string) (posted int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT coalesce(sum(e.amount), 0)::bigint
		FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id AND e.amount > 0
		WHERE j.tenant = $1 AND starts_with(j.posting_key, 'suspense/' || $2 || '/')`, tenant.UUID, charge).Scan(&posted)
	if err != nil {
		return 0, fmt.Errorf("read suspense: %w", err)
	}
	return posted, nil
}
