package activities_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/stripesim/control"
)

// destination is a member of a create's destinations.
func destination(account string, amount int64) payments.Destination {
	return payments.Destination{Account: account, Amount: amount}
}

// sharedOrder is the body of a create whose money goes to two sellers and the merchant: of 10010, 3340, 3330 and 3340.
func sharedOrder(s *system.System, currency payments.Currency) map[string]any {
	order := system.With(system.Order("order-1", 10_010), "currency", currency)
	return system.With(order, "destinations", []payments.Destination{
		destination(s.AddWallet("seller-1", "stripe", currency), 3340), destination(s.AddWallet("seller-2", "stripe", currency), 3330),
		destination(payments.MerchantDestination, 3340),
	})
}

// owed is the ledger of a payment whose destinations have these amounts.
func owed(first, second, merchant int64) map[string]int64 {
	left := map[string]int64{}
	for account, amount := range map[string]int64{
		"stripe:receivable": first + second + merchant, "wallet:seller-1:stripe": -first, "wallet:seller-2:stripe": -second, "merchant:balance": -merchant,
	} {
		if amount != 0 {
			left[account] = amount
		}
	}
	return left
}

// F-05: what is captured in parts is divided by the shares of the whole, and what is given back in parts is taken back by them, to the last unit, in
// currencies of none and three decimals.
func TestMoneyIsDividedAmongItsDestinationsAndTakenBackFromThem(t *testing.T) {
	t.Parallel()
	for _, currency := range []payments.Currency{"jpy", "kwd"} {
		t.Run(string(currency), func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			order := system.With(system.With(sharedOrder(s, currency), "capture_method", "manual"), "multicapture", true)
			held := authorise(t, s, order)
			require.Len(t, held.Destinations, 3)
			require.Equal(t, map[string]int64{"stripe:receivable:pending": 10_010, "merchant:balance:pending": -10_010}, s.Positions(held.ID),
				"nobody is owed what is only held")

			first := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 4000, "reference": "parcel-1", "final": false})
			require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
			last := post(t, s, held.ID, "capture", "C2", map[string]any{"amount": 6010, "reference": "parcel-2"}).Payment(t)
			require.Equal(t, payments.StatusSucceeded, last.Status)
			require.Equal(t, held.Destinations, last.Destinations)
			s.Settle()
			require.Equal(t, owed(3340, 3330, 3340), s.Positions(held.ID))

			for i, amount := range []int64{10, 5000, 5000} {
				item := fmt.Sprintf("item-%d", i)
				refund := refundOf(t, post(t, s, held.ID, "refunds", item, part(amount, item)))
				require.Len(t, refund.TakenFrom, 3)
				require.Equal(t, refund.TakenFrom, readRefund(t, s, refund.ID).TakenFrom)
			}
			s.Settle()
			require.Empty(t, s.Positions(held.ID))
		})
	}
}

// A part of a hold that is captured, and the rest let go, is divided in the proportions of the whole.
func TestAPartOfAHoldIsDividedInProportion(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	held := authorise(t, s, system.With(sharedOrder(s, "usd"), "capture_method", "manual"))
	captured := post(t, s, held.ID, "capture", "C1", map[string]any{"amount": 1001, "reference": "parcel-1"}).Payment(t)
	require.Equal(t, payments.StatusSucceeded, captured.Status)
	s.Settle()
	require.Equal(t, owed(334, 333, 334), s.Positions(held.ID))
}

// A refund that fails days later gives each its own back; what others gave back meanwhile is taken by the same shares, and the last refund leaves nothing.
func TestARefundThatFailsGivesEachDestinationItsOwnBack(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K", sharedOrder(s, "usd")).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	failing := refundOf(t, post(t, s, payment.ID, "refunds", "R1", part(1001, "item-1")))
	require.Equal(t, []payments.Destination{
		destination("wallet:seller-1:stripe", 334), destination("wallet:seller-2:stripe", 333), destination(payments.MerchantDestination, 334),
	}, failing.TakenFrom)
	_, err := s.Twin.RefundElsewhere(t.Context(), payment.PaymentIntent, control.RefundElsewhere{Amount: 2002})
	require.NoError(t, err)
	s.Settle()
	require.Equal(t, owed(3340-1002, 3330-999, 3340-1002), s.Positions(payment.ID))

	s.DB.AdvanceClock(t, 72*time.Hour)
	_, err = s.Twin.SettleRefund(t.Context(), failing.Refund, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
	require.NoError(t, err)
	s.Eventually("it has failed", func() bool { return readRefund(t, s, failing.ID).Status == payments.RefundFailed })
	s.Settle()
	require.Equal(t, owed(3340-668, 3330-666, 3340-668), s.Positions(payment.ID))

	rest := refundOf(t, post(t, s, payment.ID, "refunds", "R2", map[string]any{}))
	require.EqualValues(t, 8008, rest.Amount)
	s.Settle()
	require.Empty(t, s.Positions(payment.ID))
}

// A wallet that gave its money away meanwhile is in the red: a refund is not refused for it.
func TestARefundTakesWhatAWalletHasNot(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("K", sharedOrder(s, "usd")).Payment(t)
	s.Settle()
	other := s.AddWallet("seller-3", "stripe", "usd")
	const amount = 3340
	require.NoError(t, pgx.BeginFunc(t.Context(), s.App.System, func(tx pgx.Tx) error {
		_, err := ledger.Post(t.Context(), tx, ledger.Posting{
			Tenant: s.Tenant, Key: "moved/1", Rule: "moved", Source: "operator", EffectiveAt: payment.CreatedAt, Decision: true,
			Entries: []ledger.Entry{
				{Account: "wallet:seller-1:stripe", Amount: amount, Currency: "usd"}, {Account: ledger.AccountName(other), Amount: -amount, Currency: "usd"},
			},
		})
		return err
	}))
	refund := refundOf(t, post(t, s, payment.ID, "refunds", "R1", map[string]any{}))
	require.Equal(t, payments.RefundSucceeded, refund.Status)
	s.Settle()
	require.Empty(t, s.Positions(payment.ID))
	short, err := ledger.Balance(t.Context(), s.Owner, s.Tenant, "wallet:seller-1:stripe", "usd")
	require.NoError(t, err)
	require.EqualValues(t, 3340, short, "in the red")
}

// A create names its destinations: with others, or none, it is another create. A wallet that is not there is refused before anything is claimed.
func TestACreateNamesItsDestinations(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	order := sharedOrder(s, "usd")
	first := s.Create("K", order)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	again := s.Create("K", order)
	require.True(t, again.Replayed())
	require.Equal(t, first.Body, again.Body)
	swapped := system.With(order, "destinations", []payments.Destination{
		destination("wallet:seller-1:stripe", 3330), destination("wallet:seller-2:stripe", 3340), destination(payments.MerchantDestination, 3340),
	})
	for name, other := range map[string]map[string]any{"swapped": swapped, "none": system.With(order, "destinations", nil)} {
		require.Equal(t, "key_reused", s.Create("K", other).Problem(t).Code, name)
		require.Equal(t, "reference_conflict", s.Create("K "+name, other).Problem(t).Code, name)
	}
	s.AddWallet("seller-4", "stripe", "eur")
	for _, unknown := range []string{"wallet:nobody:stripe", "wallet:seller-1:other", "wallet:seller-4:stripe"} {
		refused := s.Create("U", map[string]any{"reference": "order-2", "amount": 1000, "currency": "usd", "destinations": []payments.Destination{
			destination(payments.MerchantDestination, 1), destination(unknown, 999),
		}})
		require.Equal(t, http.StatusBadRequest, refused.Status, "%s", refused.Body)
		require.Equal(t, "destinations[1].account", refused.Problem(t).Field, unknown)
	}
	taken := s.Create("U", map[string]any{"reference": "order-2", "amount": 1000, "currency": "usd"})
	require.Equal(t, http.StatusCreated, taken.Status, "the key and the reference are as good as new: %s", taken.Body)
	s.Settle()
}
