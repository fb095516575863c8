package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

func (b *bench) dispute(id string, how control.OpenDispute) control.Dispute {
	b.t.Helper()
	opened, err := b.ctl.OpenDispute(b.t.Context(), id, how)
	require.NoError(b.t, err)
	return opened
}

func TestDisputeWithdrawsTheMoneyAndAFeeWhenItOpens(t *testing.T) {
	b := start(t)
	id := b.payment("")
	opened := b.dispute(id, control.OpenDispute{Reason: "product_not_received"})
	require.Equal(t, "needs_response", opened.Status)
	require.EqualValues(t, 2000, opened.Withdrawn)
	require.Equal(t, []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}, b.types(id)[3:])
	require.Equal(t, id, b.happened(id, "charge.dispute.created", 0)["payment_intent"])

	read, err := b.stripe(testKey).Disputes.Get(opened.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.DisputeStatusNeedsResponse, read.Status)
	require.Equal(t, stripe.DisputeReasonProductNotReceived, read.Reason)
	require.EqualValues(t, 2000, read.Amount)
	require.Greater(t, read.EvidenceDetails.DueBy, b.clock.now.Unix())
	require.False(t, read.IsChargeRefundable)
	require.Len(t, read.BalanceTransactions, 1)
	withdrawal := read.BalanceTransactions[0]
	require.EqualValues(t, -2000, withdrawal.Amount)
	require.EqualValues(t, 1500, withdrawal.Fee)
	require.EqualValues(t, -3500, withdrawal.Net)
	require.Equal(t, stripe.BalanceTransactionTypeAdjustment, withdrawal.Type)
	require.Equal(t, stripe.BalanceTransactionReportingCategoryDispute, withdrawal.ReportingCategory)
	require.Equal(t, true, b.charge(id).json("disputed"))
	book := b.book(id)
	require.EqualValues(t, 2000, book.Disputed)
	require.Zero(t, book.Reinstated)
	require.EqualValues(t, 88+1500, book.Fees)
	require.Equal(t, []control.Dispute{opened}, book.Disputes)

	for form, code := range map[string]string{"payment_intent=" + id: "charge_disputed", "charge=" + b.charge(id).json("id").(string): "charge_disputed"} {
		require.Equal(t, code, b.post(refunds, form, "").json("error.code"))
	}
	_, err = b.ctl.OpenDispute(t.Context(), id, control.OpenDispute{})
	require.Error(t, err, "there is nothing left to dispute")
}

func TestDisputeThatIsWonGivesTheMoneyBack(t *testing.T) {
	for name, one := range map[string]struct {
		how  control.CloseDispute
		told []string
		fees int64
	}{
		"closed first":     {control.CloseDispute{Status: "won"}, []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}, 1588},
		"reinstated first": {control.CloseDispute{Status: "won", ReinstatedFirst: true}, []string{"charge.dispute.funds_reinstated", "charge.dispute.closed"}, 1588},
		"with the fee":     {control.CloseDispute{Status: "won", ReturnFee: true}, []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}, 88},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.payment("")
			opened := b.dispute(id, control.OpenDispute{})
			updated, err := b.ctl.UpdateDispute(t.Context(), opened.ID, control.UpdateDispute{Status: "under_review", Evidence: true})
			require.NoError(t, err)
			require.Equal(t, "under_review", updated.Status)
			event := b.get("/v1/events?type=charge.dispute.updated")
			require.Equal(t, "needs_response", event.json("data.0.data.previous_attributes.status"))
			require.EqualValues(t, 1, event.json("data.0.data.object.evidence_details.submission_count"))
			_, err = b.ctl.CloseDispute(t.Context(), opened.ID, one.how)
			require.NoError(t, err)
			require.Equal(t, one.told, b.types(id)[6:])
			book := b.book(id)
			require.EqualValues(t, 2000, book.Disputed)
			require.EqualValues(t, 2000, book.Reinstated)
			require.Equal(t, one.fees, book.Fees)
			require.Len(t, ids(t, b.get("/v1/balance_transactions?source="+opened.ID)), 2)
			require.EqualValues(t, 2000, b.refund(id, "").json("amount"), "it can be refunded again")
			_, err = b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
			require.Error(t, err, "closed is final")
		})
	}
}

func TestDisputeThatIsLostMovesNothingMore(t *testing.T) {
	b := start(t)
	id := b.payment("")
	opened := b.dispute(id, control.OpenDispute{Amount: 500})
	_, err := b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "warning_closed"})
	require.Error(t, err)
	closed, err := b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.NoError(t, err)
	require.Equal(t, "lost", closed.Status)
	require.EqualValues(t, 500, b.book(id).Disputed)
	require.Equal(t, "charge.dispute.closed", b.types(id)[5])
	require.Len(t, ids(t, b.get("/v1/balance_transactions?source="+opened.ID)), 1)
	require.Equal(t, "refund_disputed_payment", b.post(refunds, "payment_intent="+id, "").json("error.code"))
	require.Equal(t, "charge_disputed", b.post(refunds, "charge="+closed.Charge, "").json("error.code"))
	_, err = b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.Error(t, err)
	regained, err := b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "won"})
	require.NoError(t, err, "a bank may change its mind")
	require.EqualValues(t, 500, regained.Reinstated)
	require.EqualValues(t, 500, b.book(id).Reinstated)
}

func TestInquiryMovesNoMoneyUntilItBecomesAChargeback(t *testing.T) {
	b := start(t)
	id := b.payment("")
	opened := b.dispute(id, control.OpenDispute{Status: "warning_needs_response"})
	require.Zero(t, opened.Withdrawn)
	read := b.get("/v1/disputes/" + opened.ID)
	require.Empty(t, read.json("balance_transactions"))
	require.Equal(t, true, read.json("is_charge_refundable"))
	require.EqualValues(t, 100, b.refund(id, "amount=100").json("amount"), "it can be refunded")
	_, err := b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "lost"})
	require.Error(t, err)
	_, err = b.ctl.CloseDispute(t.Context(), opened.ID, control.CloseDispute{Status: "warning_closed"})
	require.NoError(t, err)
	require.Zero(t, b.book(id).Disputed)

	other := b.payment("")
	second := b.dispute(other, control.OpenDispute{Status: "warning_needs_response"})
	taken, err := b.ctl.UpdateDispute(t.Context(), second.ID, control.UpdateDispute{Status: "needs_response"})
	require.NoError(t, err)
	require.EqualValues(t, 2000, taken.Withdrawn)
	require.Equal(t, []string{"charge.dispute.created", "charge.dispute.updated", "charge.dispute.funds_withdrawn"}, b.types(other)[3:])
	_, err = b.ctl.UpdateDispute(t.Context(), second.ID, control.UpdateDispute{Status: "warning_under_review"})
	require.Error(t, err)
}

func TestDisputeOfABankDebitIsLostAtOnce(t *testing.T) {
	b := start(t)
	id := b.debit("eur", "pm_success_de")
	_, err := b.ctl.Succeed(t.Context(), id)
	require.NoError(t, err)
	b.clock.advance(40 * day)
	fee := int64(750)
	opened := b.dispute(id, control.OpenDispute{Fee: &fee})
	require.Equal(t, "lost", opened.Status)
	read := b.get("/v1/disputes/" + opened.ID)
	require.Nil(t, read.json("evidence_details.due_by"))
	require.EqualValues(t, 750, read.json("balance_transactions.0.fee"))
	require.Equal(t, []string{"charge.dispute.created", "charge.dispute.funds_withdrawn", "charge.dispute.closed"}, b.types(id)[5:])
	require.EqualValues(t, 2000, b.book(id).Disputed)
	_, err = b.ctl.UpdateDispute(t.Context(), opened.ID, control.UpdateDispute{Evidence: true})
	require.Error(t, err)
}

func TestDisputesAreListed(t *testing.T) {
	b := start(t)
	first := b.dispute(b.payment(""), control.OpenDispute{})
	b.clock.advance(time.Minute)
	second := b.dispute(b.payment(""), control.OpenDispute{Status: "lost"})
	require.Equal(t, []string{second.ID, first.ID}, ids(t, b.get("/v1/disputes")))
	require.Equal(t, []string{first.ID}, ids(t, b.get("/v1/disputes?payment_intent="+first.PaymentIntent)))
	require.Equal(t, []string{second.ID}, ids(t, b.get("/v1/disputes?charge="+second.Charge)))
	require.Len(t, ids(t, b.get("/v1/disputes?limit=1")), 1)
	expanded := b.get("/v1/disputes/" + first.ID + "?expand[]=charge&expand[]=payment_intent")
	require.Equal(t, first.Charge, expanded.json("charge.id"))
	require.Equal(t, first.PaymentIntent, expanded.json("payment_intent.id"))
	require.Equal(t, http.StatusNotFound, b.get("/v1/disputes/dp_nobody").status)
	_, err := b.ctl.OpenDispute(t.Context(), b.create(""), control.OpenDispute{})
	require.Error(t, err, "nothing was paid")
	_, err = b.ctl.OpenDispute(t.Context(), "pi_nobody", control.OpenDispute{})
	require.Error(t, err)
	_, err = b.ctl.CloseDispute(t.Context(), "dp_nobody", control.CloseDispute{Status: "won"})
	require.Error(t, err)
}
