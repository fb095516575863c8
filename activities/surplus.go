package activities

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/stripeapi"
	"payonce/payments"
)

// CancelSurplus cancels an unconfirmed intent that was made for a payment which is bound to another: a doubled create moves no money, and is not
// left open for anybody to pay.
func (a *Activities) CancelSurplus(ctx context.Context, p payments.Payment, intent string) error {
	credentials, err := a.credentials(ctx, p.Account)
	if err != nil {
		return err
	}
	key := boundaries.ProviderKey{
		Tenant: p.Tenant, ResourceKind: "surplus_intent", ResourceID: uuid.NewSHA1(p.ID.UUID, []byte(intent)),
		Operation: payments.OperationCancel, Attempt: 1,
	}
	if key.Generation, err = a.surplusGeneration(ctx, key); err != nil {
		return err
	}
	if err := a.mayCall(ctx, true, budget.Call{Account: p.Account, Endpoint: budget.CancelIntent, Priority: budget.GivesBack}); err != nil {
		return err
	}
	path := "/v1/payment_intents/" + url.PathEscape(intent) + "/cancel"
	body := []byte("cancellation_reason=duplicate")
	if err := a.noteSurplus(ctx, p, key, path, body); err != nil {
		return err
	}
	sending, cancel := context.WithTimeout(ctx, a.Timing.Send)
	defer cancel()
	_, err = a.Stripe.Send(sending, credentials, stripeapi.Request{IdempotencyKey: key.IdempotencyKey(), Path: path, Body: body, Version: stripeapi.APIVersion})
	var refusal *stripeapi.Error
	status := 200
	switch {
	case errors.As(err, &refusal) && causeOf(err) == causeUnexpectedState:
		status = refusal.Status // canceled already, or confirmed: the event of that brings it here again
	case err != nil && causeOf(err) == causeCachedError:
		// Stripe's memory of the error repeats for ever, and a second cancel moves nothing: the next try goes under the next generation.
		return errors.Join(err, a.Calls.Absent(ctx, key.IdempotencyKey()))
	case err != nil:
		return a.refusedAccount(ctx, p.Account, err)
	}
	_, err = a.Pool.Exec(ctx, `UPDATE payonce.provider_calls SET status = 'answered', ended_at = payonce.clock(), http_status = $2
		WHERE idempotency_key = $1 AND status = 'sent'`, key.IdempotencyKey(), status)
	if err != nil {
		return fmt.Errorf("note canceled surplus: %w", err)
	}
	a.Log.Warn("canceled a surplus intent", "payment", p.ID, "intent", intent)
	return nil
}

// surplusGeneration is how many generations of the cancel were answered by nothing but a stored error.
func (a *Activities) surplusGeneration(ctx context.Context, key boundaries.ProviderKey) (int, error) {
	var generation int
	err := a.Pool.QueryRow(ctx, `
		SELECT count(*) FROM payonce.provider_calls
		WHERE tenant = $1 AND resource_kind = $2 AND resource_id = $3 AND operation = $4 AND status = 'absent'`,
		key.Tenant.UUID, key.ResourceKind, key.ResourceID, key.Operation).Scan(&generation)
	if err != nil {
		return 0, fmt.Errorf("count surplus cancels: %w", err)
	}
	return generation, nil
}

func (a *Activities) noteSurplus(ctx context.Context, p payments.Payment, key boundaries.ProviderKey, path string, body []byte) error {
	sealed, err := a.Sealer.Seal(boundaries.ColumnCallBody, body)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	_, err = a.Pool.Exec(ctx, `
		INSERT INTO payonce.provider_calls AS c
			(idempotency_key, tenant, payment, resource_kind, resource_id, operation, attempt, generation, method, path, body, body_sha256,
			 api_version, account, livemode, status, first_sent_at, last_sent_at)
		VALUES ($1, $2, $3, $4, $5, $6, 1, $13, 'POST', $7, $8, $9, $10, $11, $12, 'sent', payonce.clock(), payonce.clock())
		ON CONFLICT (idempotency_key) DO UPDATE SET sends = c.sends + 1, last_sent_at = payonce.clock()`,
		key.IdempotencyKey(), p.Tenant.UUID, p.ID.UUID, key.ResourceKind, key.ResourceID, key.Operation, path, sealed, sum[:],
		stripeapi.APIVersion, p.Account.ID, p.Account.Livemode, key.Generation)
	if err != nil {
		return fmt.Errorf("freeze surplus cancel: %w", err)
	}
	return nil
}
