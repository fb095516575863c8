package activities

import (
	"context"
	"errors"
	"slices"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

// withoutReleased leaves out what is no refund of money: until its version 2025-03-31.basil Stripe also writes a refund object when a hold is let go, in
// whole or for the part that a capture left (https://docs.stripe.com/changelog). The charge tells: what was given back of it in all, less what was
// released, is the sum of its refunds; what is above that is the release. Before the sum can be told from one read to the next, the act is asked for again.
func (a *Activities) withoutReleased(ctx context.Context, credentials stripeapi.Credentials, p payments.Payment, refunds []stripeapi.Refund,
) ([]stripeapi.Refund, error) {
	if p.CaptureMethod != payments.CaptureManual || !slices.ContainsFunc(refunds, mayBeRelease) {
		return refunds, nil
	}
	charge, err := a.Stripe.ReadCharge(ctx, credentials, p.LatestCharge)
	if err != nil {
		return nil, err
	}
	return moneyGivenBack(charge, refunds)
}

// mayBeRelease tells whether nobody of ours asked for the refund, and it took no money of its own.
func mayBeRelease(r stripeapi.Refund) bool {
	return r.Metadata[payments.MetadataRefund] == "" && r.Status == stripeapi.RefundSucceeded
}

// errMoving says that a charge and its refunds, read one after the other, do not agree: something moved in between.
var errMoving = errors.New("the charge and its refunds do not agree: read them again")

// moneyGivenBack is the list without the release of the charge's hold.
func moneyGivenBack(charge stripeapi.Charge, refunds []stripeapi.Refund) ([]stripeapi.Refund, error) {
	released, listed := charge.Money.Amount-charge.AmountCaptured, int64(0)
	for _, r := range refunds {
		if r.Charge == charge.ID && r.Status != stripeapi.RefundFailed && r.Status != stripeapi.RefundCanceled {
			listed += r.Money.Amount
		}
	}
	switch {
	case !charge.Captured && charge.AmountRefunded == 0, listed == charge.AmountRefunded-released:
		return refunds, nil // the hold stands, or its release is not among them
	case listed != charge.AmountRefunded:
		return nil, errMoving
	}
	for i := range slices.Backward(refunds) { // the newest comes first, and the release was the first of its amount
		if mayBeRelease(refunds[i]) && refunds[i].Money.Amount == released {
			return slices.Delete(slices.Clone(refunds), i, i+1), nil
		}
	}
	return refunds, nil
}
