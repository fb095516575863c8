package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

// hold makes a payment whose hold allows several captures, and captures 300 of its 1000.
func (p *patient) hold(t *testing.T) {
	t.Helper()
	method, part := "pm_card_visa", int64(300)
	p.held = p.create(t, payments.CreateCommand{
		Reference: "order-held", Amount: 1000, Currency: "usd", PaymentMethod: &method, CaptureMethod: new(payments.CaptureManual), Multicapture: new(true),
	}, "key-5")
	p.act(t, p.held, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	command := payments.CaptureCommand{Payment: p.held, Amount: &part, Reference: new("parcel-1"), Final: new(false)}
	normalised, err := boundaries.Normalise(payments.OperationCapture, "/v1/payments/"+p.held.String()+"/capture", command)
	require.NoError(t, err)
	_, err = p.app.Commands.ClaimCapture(t.Context(), boundaries.Asking{Tenant: p.tenant, Key: "key-6", Normalised: normalised}, command)
	require.NoError(t, err)
	p.act(t, p.held, p.app.Activities.CaptureIntent)
}

// giveBack makes a payment of which we give back three parts, one of them pending and one failed, and somebody else a fourth.
func (p *patient) giveBack(t *testing.T, twin *control.Client) {
	t.Helper()
	ctx := t.Context()
	p.returned = p.claim(t, "order-returned", "pm_card_visa", "key-7")
	p.act(t, p.returned, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	intent := p.payment(t, p.returned).IntentID
	for i, plan := range []control.RefundPlan{{Status: "succeeded"}, {Status: "pending"}, {Status: "succeeded"}} {
		_, err := twin.PlanRefund(ctx, intent, plan)
		require.NoError(t, err)
		p.refunds[i] = p.refund(t, p.returned, "item-"+string(rune('1'+i)), 100*int64(i+1))
	}
	failing, err := paymentstore.RefundByID(ctx, p.app.System, p.refunds[2])
	require.NoError(t, err)
	_, err = twin.SettleRefund(ctx, failing.ProviderID, control.SettleRefund{Status: "failed", FailureReason: "lost_or_stolen_card"})
	require.NoError(t, err)
	elsewhere, err := twin.RefundElsewhere(ctx, intent, control.RefundElsewhere{Amount: 50})
	require.NoError(t, err)
	p.refunds[3] = boundaries.ExternalRefundID(p.tenant, payments.Account{ID: "acct_merchant"}, elsewhere.ID)
	_, err = p.app.Activities.SyncRefunds(ctx, p.payment(t, p.returned), activities.SourceRead, nil)
	require.NoError(t, err)
}

func (p *patient) payment(t *testing.T, id payments.PaymentID) payments.Payment {
	t.Helper()
	payment, err := paymentstore.ByID(t.Context(), p.app.System, p.app.Sealer, id)
	require.NoError(t, err)
	return payment
}

func (p *patient) refund(t *testing.T, of payments.PaymentID, reference string, amount int64) payments.RefundID {
	t.Helper()
	command := payments.RefundCommand{Payment: of, Amount: &amount, Reference: &reference}
	normalised, err := boundaries.Normalise(payments.OperationRefund, "/v1/payments/"+of.String()+"/refunds", command)
	require.NoError(t, err)
	_, err = p.app.Commands.ClaimRefund(t.Context(), boundaries.Asking{Tenant: p.tenant, Key: boundaries.CallerKey("key-" + reference), Normalised: normalised}, command)
	require.NoError(t, err)
	id := payments.RefundID{UUID: boundaries.ResourceID(p.tenant, payments.OperationRefund, boundaries.ReferencedOwnerKey(of, reference))}
	_, err = p.app.Activities.CreateRefund(t.Context(), workflows.RefundAct{Version: 1, Refund: id, Owner: boundaries.RefundWorkflowID(id)})
	require.NoError(t, err)
	return id
}

// dispute makes two payments: of one a bank took 300 for good, of the other it asks for 200.
func (p *patient) dispute(t *testing.T, twin *control.Client) {
	t.Helper()
	ctx := t.Context()
	for i, amount := range []int64{300, 200} {
		name := string(rune('1' + i))
		p.disputed[i] = p.claim(t, "order-disputed-"+name, "pm_card_visa", "key-disputed-"+name)
		p.act(t, p.disputed[i], p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
		payment := p.payment(t, p.disputed[i])
		opened, err := twin.OpenDispute(ctx, payment.IntentID, control.OpenDispute{Amount: amount})
		require.NoError(t, err)
		if i == 0 {
			_, err = twin.CloseDispute(ctx, opened.ID, control.CloseDispute{Status: "lost"})
			require.NoError(t, err)
		}
		said, begun, err := p.app.Activities.ReadDisputeAtStripe(ctx, payment, opened.ID, budget.Reads)
		require.NoError(t, err)
		require.NoError(t, p.app.Activities.ApplyDisputes(ctx, payment.ID,
			activities.LearntDispute{Source: activities.SourceRead, Dispute: &said, BegunAt: begun, EffectiveAt: begun}))
		p.disputes[i] = boundaries.DisputeID(p.tenant, payments.Account{ID: "acct_merchant"}, opened.ID)
	}
}

// split makes a payment of which a wallet gets 600 and the merchant 400, and gives 300 back.
func (p *patient) split(t *testing.T) {
	t.Helper()
	const wallet = "wallet:seller-1:stripe"
	p.exec(t, p.superuser, `INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
		VALUES ($1, $2, $3, 'usd', 'guarded', payonce.clock())`, boundaries.LedgerAccountID(p.tenant, wallet, "usd"), p.tenant.UUID, wallet)
	method := "pm_card_visa"
	p.divided = p.create(t, payments.CreateCommand{
		Reference: "order-divided", Amount: 1000, Currency: "usd", PaymentMethod: &method,
		Destinations: []payments.Destination{{Account: wallet, Amount: 600}, {Account: payments.MerchantDestination, Amount: 400}},
	}, "key-divided")
	p.act(t, p.divided, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	p.dividedRefund = p.refund(t, p.divided, "item-of-divided", 300)
}
