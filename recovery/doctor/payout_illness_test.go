package doctor_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/budget"
	"payonce/internal/paymentstore"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

func illnessesOfPayouts() []illness {
	return []illness{
		{name: "a payout without its journal", check: "paid_out", sees: "booked 0 as gone", plant: madeElsewhere("po_1", `SELECT 1`)},
		{name: "a payout that came back and is not booked", check: "paid_out", sees: "has it back: f", plant: madeElsewhere("po_1",
			`UPDATE payonce.payouts SET status = 'canceled' WHERE payout_id = 'po_1'`)},
		{name: "a payout under a foreign id", check: "payouts", sees: "does not derive", also: []string{"paid_out"}, plant: madeElsewhere("po_2", `SELECT 1`)},
		{name: "a paid payout ahead of its stage", check: "payouts", sees: "has the stage processing", also: []string{"paid_out"}, plant: madeElsewhere("po_1",
			`UPDATE payonce.payouts SET stage = 'processing' WHERE payout_id = 'po_1'`)},
		{name: "a payout that is not told", check: "told", sees: "has no message of it", also: []string{"received"}, plant: onPaid(
			`DELETE FROM payonce.notifications WHERE payout = $1`)},
		{name: "a payout told as what it never was", check: "told", sees: "told endpoint", also: []string{"message_ids"}, plant: onPaid(
			`UPDATE payonce.notifications SET kind = 'payout.canceled' WHERE payout = $1`)},
		{name: "a payout's message with another number", check: "message_order", sees: "of a payout that numbered 0", plant: onPaid(
			`UPDATE payonce.payouts SET last_message = 0 WHERE id = $1`)},
		{name: "a payout that nobody polls", check: "payout_waits", sees: "never polled", also: []string{"paid_out"}, plant: madeElsewhere("po_1",
			`UPDATE payonce.payouts SET status = 'pending', stage = 'processing' WHERE payout_id = 'po_1'`)},
	}
}

// onPaid changes the payout that is paid, of ours.
func onPaid(change string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		_, err := tx.Exec(t.Context(), change, boundaries.PayoutID(p.tenant, boundaries.PayoutOwnerKey("acct_merchant", "usd", "paid")).UUID)
		require.NoError(t, err)
	}
}

// madeElsewhere plants a paid payout po_1 under the id that Stripe's id derives, and changes it.
func madeElsewhere(derivedFrom, change string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		account := payments.Account{ID: "acct_elsewhere"}
		for _, sql := range []struct {
			text      string
			arguments []any
		}{
			{`INSERT INTO payonce.payouts (id, tenant, amount, currency, status, stage, submitted_at, external_resource_created_at, processing_at, terminal_at,
				ledger_applied_at, account, livemode, payout_id, moved, last_message, created_at, updated_at)
			VALUES ($1, $2, 100, 'usd', 'paid', 'ledger_applied', now(), now(), now(), now(), now(), $3, false, 'po_1', true, NULL, now(), now())`,
				[]any{boundaries.ExternalPayoutID(p.tenant, account, derivedFrom).UUID, p.tenant.UUID, account.ID}},
			{change, nil},
		} {
			_, err := tx.Exec(t.Context(), sql.text, sql.arguments...)
			require.NoError(t, err)
		}
	}
}

// payOut makes two payouts of money that Stripe has released: one is under way, the other is paid.
func (p *patient) payOut(t *testing.T, twin *control.Client) {
	t.Helper()
	ctx := t.Context()
	released := p.claim(t, "order-released", "pm_card_bypassPending", "key-released")
	p.act(t, released, p.app.Activities.CreateIntent, p.app.Activities.ConfirmIntent)
	for _, status := range []string{"pending", "paid"} {
		command := payments.PayoutCommand{Amount: 100, Currency: "usd", Reference: status}
		normalised, err := boundaries.Normalise(payments.OperationPayout, "/v1/payouts", command)
		require.NoError(t, err)
		_, err = p.app.Commands.ClaimPayout(ctx, boundaries.Asking{Tenant: p.tenant, Key: boundaries.CallerKey(status), Normalised: normalised}, command)
		require.NoError(t, err)
		id := boundaries.PayoutID(p.tenant, boundaries.PayoutOwnerKey("acct_merchant", "usd", status))
		_, err = p.app.Activities.CreatePayout(ctx, workflows.PayoutAct{Version: 1, Payout: id, Owner: boundaries.PayoutWorkflowID(id)})
		require.NoError(t, err)
		made, err := paymentstore.PayoutByID(ctx, p.app.System, id)
		require.NoError(t, err)
		require.Equal(t, payments.PayoutPending, made.Status, "%v", made.LastError)
		if status == "pending" {
			continue
		}
		_, err = twin.SettlePayout(ctx, made.ProviderID, control.SettlePayout{Status: status})
		require.NoError(t, err)
		said, begun, err := p.app.Activities.ReadPayoutAtStripe(ctx, made.Account, made.ProviderID, budget.Reads)
		require.NoError(t, err)
		require.NoError(t, p.app.Activities.ApplyPayout(ctx, id,
			activities.LearntPayout{Source: activities.SourceRead, Payout: &said, BegunAt: begun, EffectiveAt: begun}))
	}
}
