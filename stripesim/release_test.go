package stripesim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

func TestWhatAPartialCaptureReleasesMayBeARefundToo(t *testing.T) {
	for name, lag := range map[string]int64{"at once": 0, "late": 60} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			b.account(control.Account{ReleasesAsRefunds: true, BalanceLagS: lag})
			id := b.create(heldForm)
			b.capture(id, "amount_to_capture=1500")
			b.clock.advance(time.Minute)
			require.Equal(t, []string{"charge.captured", "charge.refunded", "refund.created", "charge.refund.updated", "payment_intent.succeeded"}, b.types(id)[3:8])
			list := b.get(refunds + "?payment_intent=" + id + "&expand[]=data.balance_transaction")
			require.Len(t, ids(t, list), 1)
			require.EqualValues(t, 500, list.json("data.0.amount"))
			require.Equal(t, "succeeded", list.json("data.0.status"))
			require.EqualValues(t, -500, list.json("data.0.balance_transaction.amount"))
			require.Equal(t, "partial_capture_reversal", list.json("data.0.balance_transaction.reporting_category"))
			require.EqualValues(t, -14, list.json("data.0.balance_transaction.fee"), "88 of all, 74 of what was captured")
			require.Equal(t, []string{"2000"}, b.captures(id), "of all that was held")
			require.EqualValues(t, 500, b.charge(id).json("amount_refunded"))
			book := b.book(id)
			require.EqualValues(t, 1500, book.Captured)
			require.Zero(t, book.Refunded)
			require.EqualValues(t, 74, book.Fees)
			require.True(t, book.Refunds[0].Released)
			_, err := b.ctl.SettleRefund(t.Context(), book.Refunds[0].ID, control.SettleRefund{Status: "failed"})
			require.Error(t, err)
			require.EqualValues(t, 1500, b.refund(id, "").json("amount"), "what was captured can still be refunded")
			require.EqualValues(t, 2000, b.charge(id).json("amount_refunded"))
		})
	}
}

func TestWhatACancellationReleasesMayBeARefundToo(t *testing.T) {
	b := start(t)
	b.account(control.Account{ReleasesAsRefunds: true})
	canceled, expired, open := b.create(heldForm), b.create(heldForm), b.create("")
	for _, id := range []string{canceled, open} {
		require.Equal(t, "canceled", b.post(intents+"/"+id+"/cancel", "", "").json("status"))
	}
	b.clock.advance(8 * 24 * time.Hour)
	for id, reason := range map[string]any{canceled: nil, expired: "expired_uncaptured_charge"} {
		list := b.get(refunds + "?payment_intent=" + id)
		require.EqualValues(t, 2000, list.json("data.0.amount"))
		require.Equal(t, reason, list.json("data.0.reason"))
		require.Nil(t, list.json("data.0.balance_transaction"), "no money moved")
		require.Zero(t, b.book(id).Refunded)
	}
	require.Empty(t, ids(t, b.get(refunds+"?payment_intent="+open)))
}
