package boundaries

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/payments"
)

// ClaimRefund claims a refund of a payment for a caller's key, or says what the key already names. The refund is named by its own reference, else by the
// caller's key. Its amount is reserved in the same commit, under the payment's lock, so that concurrent refunds never exceed what may be given back.
// A refund of all of a hold is claimed as the payment's cancel, and meets it. It returns paymentstore.ErrNotFound, *AmountError for an amount that the
// currency rules out, and *ConflictError when there is less to give back, or nothing yet.
func (c *Commands) ClaimRefund(ctx context.Context, asking Asking, command payments.RefundCommand) (Claim, error) {
	return c.claimFurther(ctx, asking, further{
		payment: command.Payment, operation: payments.OperationRefund, names: refundNames(command, asking.Key), judge: judgeRefund(command),
		insert: insertRefund(command),
	})
}

// refundNames finds the record of the command's owner key and what may still be given back.
func refundNames(command payments.RefundCommand, key CallerKey) func(context.Context, pgx.Tx, *standing) error {
	return func(ctx context.Context, tx pgx.Tx, at *standing) error {
		if at.onlyHeld() && capturesAll(payments.CaptureCommand{Amount: command.Amount}, *at) {
			return refundAsCancel(ctx, tx, at)
		}
		reference := string(key)
		if command.Reference != nil {
			reference = *command.Reference
		}
		owner := ReferencedOwnerKey(at.payment, reference)
		at.makes(ResourceRefund, payments.OperationRefund, owner)
		var held heldRecord
		err := tx.QueryRow(ctx, `SELECT request_hash, request_hash_version, status FROM payonce.idempotency_records WHERE id = $1`,
			RecordID(at.tenant, payments.OperationRefund, owner).UUID).Scan(&held.hash, &held.version, &held.status)
		switch {
		case err == nil:
			at.held = &held
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("read record: %w", err)
		}
		return at.readRefundable(ctx, tx)
	}
}

// onlyHeld tells whether the payment's money is held and nothing of it taken.
func (at *standing) onlyHeld() bool {
	return at.status == payments.StatusRequiresCapture && at.captured == 0
}

// refundAsCancel names the payment's cancel instead: what is only held is given back by letting go of it.
func refundAsCancel(ctx context.Context, tx pgx.Tx, at *standing) error {
	at.operation = payments.OperationCancel
	cancel, err := Normalise(payments.OperationCancel, "/v1/payments/"+at.payment.String()+"/cancel", payments.CancelCommand{Payment: at.payment})
	if err != nil {
		return err
	}
	at.instead = &cancel
	return numbered(payments.OperationCancel, CancelOwnerKey)(ctx, tx, at)
}

// readRefundable reads what may still be given back: captured, less what refunds have taken or reserved, less what disputes withdrew; and from whom the
// refunds took it. A refund of the command's own id that no command holds was made before the database was restored: its amount is reserved already.
func (at *standing) readRefundable(ctx context.Context, tx pgx.Tx) error {
	var p payments.Payment
	err := tx.QueryRow(ctx, `
		SELECT p.amount_captured - p.amount_disputed - coalesce((
			SELECT sum(r.amount) FROM payonce.refunds r WHERE r.payment = p.id AND r.status NOT IN ('failed', 'canceled')), 0)::bigint,
			p.destinations, CASE WHEN p.destinations IS NOT NULL THEN (
			SELECT jsonb_agg(d.taken) FROM payonce.refunds r, jsonb_array_elements(r.taken_from) AS d (taken)
			WHERE r.payment = p.id AND r.status NOT IN ('failed', 'canceled')) END,
			(SELECT r.amount FROM payonce.refunds r WHERE r.id = $2 AND r.payment = p.id AND r.record IS NULL)
		FROM payonce.payments p WHERE p.id = $1`, at.payment.UUID, at.call.ResourceID,
	).Scan(&at.refundable, &p.Destinations, &at.takenBack, &at.regained)
	if err != nil {
		return fmt.Errorf("read what may be given back: %w", err)
	}
	at.shares = p.Shares()
	return nil
}

// judgeRefund says whether the refund may be claimed.
func judgeRefund(command payments.RefundCommand) func(standing, Normalised) error {
	return func(at standing, normalised Normalised) error {
		conflict := func(code ConflictCode, detail string) error {
			return &ConflictError{Code: code, Payment: at.payment, Status: at.status, Detail: detail}
		}
		switch {
		case at.operation == payments.OperationCancel:
			return nil
		case at.held != nil && at.held.differs(normalised):
			return conflict(ConflictReference, "")
		case at.held != nil:
			return nil
		case at.regained != nil && command.Amount != nil && *command.Amount != *at.regained:
			return conflict(ConflictReference, fmt.Sprintf("It was made at Stripe before, of %d.", *at.regained))
		case at.regained != nil:
			return nil
		case at.captured == 0 && at.status.Terminal():
			return conflict(ConflictPaymentEnded, "The payment took no money.")
		case at.onlyHeld():
			return conflict(ConflictUnexpectedState, "The money is only held: capture less of it, or refund all of it, which cancels the payment.")
		case at.captured == 0:
			return conflict(ConflictUnexpectedState, "Nothing is captured yet: the payment is "+string(at.status)+".")
		}
		part := payments.Money{Amount: refundAmount(command, at), Currency: at.money.Currency}
		if command.Amount != nil {
			if err := part.ValidatePart(); err != nil {
				return &AmountError{Reason: err.Error()}
			}
		}
		if part.Amount <= 0 || part.Amount > at.refundable {
			return conflict(ConflictAmountTooLarge, fmt.Sprintf("%d of %d may still be given back.", max(at.refundable, 0), at.captured))
		}
		return nil
	}
}

func refundAmount(command payments.RefundCommand, at standing) int64 {
	if command.Amount != nil {
		return *command.Amount
	}
	return at.refundable
}

// insertRefund reserves the amount, and fixes who gives it back; one that was made before the database was restored becomes the command's.
func insertRefund(command payments.RefundCommand) func(context.Context, pgx.Tx, Claim, standing) error {
	return func(ctx context.Context, tx pgx.Tx, claim Claim, at standing) error {
		if at.operation == payments.OperationCancel {
			return nil
		}
		metadata := command.Metadata
		if metadata == nil {
			metadata = map[string]string{}
		}
		err := postgres.ForTenant(ctx, tx, at.tenant.UUID, func(batch *pgx.Batch) {
			if at.regained != nil {
				batch.Queue(`UPDATE payonce.refunds SET record = $2, reference = $3, reason = $4, metadata = $5 WHERE id = $1 AND record IS NULL`,
					at.call.ResourceID, claim.Record.UUID, command.Reference, command.Reason, metadata)
				return
			}
			batch.Queue(`
				INSERT INTO payonce.refunds
					(id, tenant, payment, record, reference, amount, currency, reason, metadata, status, stage, submitted_at, account, livemode,
					 created_at, updated_at, taken_from)
				SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, 'submitted', 'submitted', r.created_at, p.account, p.livemode, r.created_at, r.created_at, $10
				FROM payonce.payments p, payonce.idempotency_records r WHERE p.id = $3 AND r.id = $4`,
				at.call.ResourceID, at.tenant.UUID, at.payment.UUID, claim.Record.UUID, command.Reference, refundAmount(command, at),
				at.money.Currency, command.Reason, metadata, paymentstore.Destinations(at.shares.TakeBack(at.takenBack, refundAmount(command, at))))
		})
		if err != nil {
			return fmt.Errorf("reserve refund: %w", err)
		}
		return nil
	}
}

// ExternalRefundID is the id of a refund that was made elsewhere.
func ExternalRefundID(tenant payments.TenantID, account payments.Account, refund string) payments.RefundID {
	return payments.RefundID{UUID: derive("external refund", tenant.String(), account.ID, mode(account.Livemode), refund)}
}

func mode(live bool) string {
	if live {
		return "live"
	}
	return "test"
}

// RefundWorkflowID is the workflow that runs a refund.
func RefundWorkflowID(refund payments.RefundID) string { return "refund/" + refund.String() }
