package ledger_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

func TestPayoutGoesToTheBankAndComesBackOnce(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	payout := ledger.Payout{Tenant: b.tenant, Payout: uuid.New(), Currency: "usd", Amount: 700, Source: "answer", EffectiveAt: day(4)}
	_, err := b.post(ledger.PayoutBack(payout))
	require.ErrorIs(t, err, ledger.ErrNothingToResolve)
	b.mustPost(b.captured("ch_1", 1000, 0))
	for _, step := range []struct {
		posting      ledger.Posting
		stripe, bank int64
	}{{ledger.PaidOut(payout), 300, 700}, {ledger.PayoutBack(payout), 1000, 0}} {
		for _, outcome := range []boundaries.Outcome{boundaries.Acquired, boundaries.Replay} {
			require.Equal(t, outcome, b.mustPost(step.posting)[0].Outcome)
			require.Equal(t, step.stripe, b.balance(ledger.StripeReceivable, "usd"))
			require.Equal(t, step.bank, b.balance(ledger.BankSettlement, "usd"))
		}
	}
	require.EqualValues(t, -1000, b.balance(ledger.MerchantBalance, "usd"), "what Stripe sends to the bank is still owed to the merchant")
}
