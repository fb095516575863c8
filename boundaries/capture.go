package boundaries

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// ClaimCapture claims a capture of a payment's hold for a caller's key, or says what the key already names. All that is held, or the payment's own
// amount, is captured once: a fresh key attaches to that capture, also to the engine's own; only a refused one is followed by another. A part has
// its own reference, else the caller's key. It returns paymentstore.ErrNotFound, *AmountError for an amount that the currency rules out, and
// *ConflictError when another capture is open, the payment holds less, or its state rules a capture out.
func (c *Commands) ClaimCapture(ctx context.Context, asking Asking, command payments.CaptureCommand) (Claim, error) {
	return c.claimFurther(ctx, asking, further{
		payment: command.Payment, operation: payments.OperationCapture, names: captureNames(command, asking.Key), judge: judgeCapture(command),
	})
}

// capturesAll tells whether the command takes all there is: what it asks for is not a part.
func capturesAll(command payments.CaptureCommand, at standing) bool {
	return command.Amount == nil || *command.Amount == at.money.Amount
}

// captureNames finds the record of the command's owner key, and whether another capture is open.
func captureNames(command payments.CaptureCommand, key CallerKey) func(context.Context, pgx.Tx, *standing) error {
	return func(ctx context.Context, tx pgx.Tx, at *standing) error {
		captures, err := capturesOf(ctx, tx, at.payment)
		if err != nil {
			return err
		}
		owner := captureOwner(command, key, *at, captures)
		at.makes(ResourceCapture, payments.OperationCapture, owner)
		before := at.captured
		at.capturedBefore = &before
		if !capturesAll(command, *at) {
			after := before + *command.Amount
			at.capturedAfter = &after
		}
		for _, one := range captures {
			switch {
			case one.owner == owner:
				at.held = &one.heldRecord
			case one.status != RecordCompleted:
				at.open = true
			}
		}
		return nil
	}
}

func captureOwner(command payments.CaptureCommand, key CallerKey, at standing, captures []captureRecord) OwnerKey {
	switch {
	case capturesAll(command, at):
		n := 1
		for _, one := range captures {
			if one.refused && strings.HasPrefix(string(one.owner), at.payment.String()+"/capture#") {
				n++
			}
		}
		return CaptureOwnerKey(at.payment, n)
	case command.Reference != nil:
		return PartOwnerKey(at.payment, *command.Reference)
	default:
		return PartOwnerKey(at.payment, string(key))
	}
}

// captureRecord is a capture that was asked for before.
type captureRecord struct {
	heldRecord
	owner   OwnerKey
	refused bool
}

func capturesOf(ctx context.Context, tx pgx.Tx, payment payments.PaymentID) ([]captureRecord, error) {
	rows, err := tx.Query(ctx, `
		SELECT owner_key, request_hash, request_hash_version, status, coalesce(status = 'completed' AND response_code >= 400, false)
		FROM payonce.idempotency_records WHERE payment = $1 AND operation = $2 ORDER BY number`, payment.UUID, payments.OperationCapture)
	if err != nil {
		return nil, fmt.Errorf("read captures: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (captureRecord, error) {
		var one captureRecord
		err := row.Scan(&one.owner, &one.hash, &one.version, &one.status, &one.refused)
		return one, err
	})
}

// judgeCapture says whether the capture may be claimed. What is captured in full once is the same whatever was sent with it.
func judgeCapture(command payments.CaptureCommand) func(standing, Normalised) error {
	return func(at standing, normalised Normalised) error {
		all := capturesAll(command, at)
		conflict := func(code ConflictCode, detail string) error {
			return &ConflictError{Code: code, Payment: at.payment, Status: at.status, Detail: detail}
		}
		switch {
		case at.held != nil && !all && at.held.differs(normalised):
			return conflict(ConflictReference, "")
		case at.held != nil:
			return nil
		case at.open:
			return conflict(ConflictReference, "Another capture is open.")
		case at.status == payments.StatusSucceeded:
			return conflict(ConflictPaymentSucceeded, "")
		case at.status.Terminal() || at.ending:
			return conflict(ConflictPaymentEnded, "")
		case at.status != payments.StatusRequiresCapture:
			return conflict(ConflictUnexpectedState, "Nothing is held yet: the payment is "+string(at.status)+".")
		default:
			return judgePart(command, at)
		}
	}
}

// judgePart says whether the amount of a capture can be taken.
func judgePart(command payments.CaptureCommand, at standing) error {
	if command.Amount == nil {
		return nil
	}
	part := payments.Money{Amount: *command.Amount, Currency: at.money.Currency}
	if err := part.ValidatePart(); err != nil {
		return &AmountError{Reason: err.Error()}
	}
	if part.Amount > at.capturable {
		return &ConflictError{
			Code: ConflictAmountTooLarge, Payment: at.payment, Status: at.status,
			Detail: fmt.Sprintf("%d of %d is held.", at.capturable, at.money.Amount),
		}
	}
	if command.Final != nil && !*command.Final && !at.multicapture {
		return &ConflictError{
			Code: ConflictUnexpectedState, Payment: at.payment, Status: at.status,
			Detail: "The payment was not created with multicapture: what one capture leaves is given back.",
		}
	}
	return nil
}
