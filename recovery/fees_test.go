package recovery_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/app"
	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/recovery"
	"payonce/stripesim/control"
)

// oftenFees has fees booked at once.
func oftenFees(c *app.Config) {
	c.Timing.FeesEvery, c.Timing.FeesLag = 100*time.Millisecond, 0
}

const countFees = `SELECT count(*) FROM payonce.ledger_journals WHERE posting_key LIKE 'fee/%'`

const foreignSeen = `SELECT coalesce(sum(foreign_seen), 0) FROM payonce.fee_cursors`

// feesOf is a collector of another process, whose round is always due.
func feesOf(s *system.System) *recovery.Fees {
	durations := s.Config.Timing
	durations.FeesEvery = 0
	return &recovery.Fees{Pool: s.App.System, Activities: s.App.Activities, Timing: durations, Log: slog.New(slog.DiscardHandler)}
}

func collect(t *testing.T, s *system.System, processes int) {
	t.Helper()
	s.Exec(`UPDATE payonce.fee_cursors SET next_round_at = payonce.clock()`)
	group, ctx := errgroup.WithContext(t.Context())
	for range processes {
		group.Go(func() error {
			_, err := feesOf(s).Collect(ctx)
			return err
		})
	}
	require.NoError(t, group.Wait())
}

func positionsOf(t *testing.T, s *system.System, payment payments.PaymentID) map[ledger.AccountName]int64 {
	t.Helper()
	positions, err := ledger.Positions(context.Background(), s.App.System, payment)
	require.NoError(t, err)
	amounts := map[ledger.AccountName]int64{}
	for _, position := range positions {
		amounts[position.Account+"/"+ledger.AccountName(position.Currency)] = position.Amount
	}
	return amounts
}

// Each fee is booked once, though the list is gone through again from the first, by several processes at the same time.
func TestAFeeIsBookedOnce(t *testing.T) {
	t.Parallel()
	s := system.Start(t, oftenFees)
	var paid []payments.View
	for _, key := range []string{"1", "2", "3"} {
		paid = append(paid, s.Create("key-"+key, system.Order("order-"+key, 1000)).Payment(t))
	}
	s.Eventually("the fees are booked", func() bool { return s.Count(countFees) == 3 })

	s.Exec(`UPDATE payonce.fee_cursors SET place = NULL`)
	collect(t, s, 4)

	require.Equal(t, 3, s.Count(countFees))
	for _, payment := range paid {
		fee := s.Book(payment.ID).Fees
		require.Positive(t, fee)
		require.Equal(t, map[ledger.AccountName]int64{
			"stripe:receivable/usd": 1000 - fee, "fees:stripe/usd": fee, "merchant:balance/usd": -1000,
		}, positionsOf(t, s, payment.ID))
	}
	s.Settle()
}

// Stripe may make the balance transaction of a capture after the payment has succeeded, and tell of it twice: the money is booked at once, and the fee
// when it is known.
func TestAFeeThatIsKnownLateHoldsUpNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t, oftenFees)
	_, err := s.Twin.SetAccount(t.Context(), control.Account{ID: system.AccountID, BalanceLagS: 3600})
	require.NoError(t, err)
	s.Fault(control.Rule{Match: control.Match{EventType: "charge.updated"}, Fault: control.FaultDouble})
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	require.Equal(t, payments.StatusSucceeded, payment.Status)
	s.Settle()
	collect(t, s, 1)
	require.Zero(t, s.Count(countFees))

	s.DB.AdvanceClock(t, 2*time.Hour)
	require.NoError(t, s.Twin.Tick(t.Context()))

	s.Eventually("the fee is booked", func() bool { return s.Count(countFees) == 1 })
	s.Eventually("the event is settled", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provider_events WHERE type = 'charge.updated' AND settled_at IS NOT NULL`) == 1
	})
	collect(t, s, 2)
	require.Equal(t, s.Book(payment.ID).Fees, positionsOf(t, s, payment.ID)["fees:stripe/usd"])
	require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
	s.Settle()
}

// The account settles in another currency than the payer paid in: what Stripe holds changes its currency, as Stripe counted it, and what is owed does not.
func TestWhatSettlesInAnotherCurrencyIsExchanged(t *testing.T) {
	t.Parallel()
	s := system.Start(t, oftenFees)
	_, err := s.Twin.SetAccount(t.Context(), control.Account{
		ID: system.AccountID, SettlementCurrency: "eur", RateNumerator: 9301, RateDenominator: 10000,
	})
	require.NoError(t, err)
	payment := s.Create("key-1", system.Order("order-1", 1001)).Payment(t)
	s.Eventually("the fee is booked", func() bool { return s.Count(countFees) == 1 })
	s.Exec(`UPDATE payonce.fee_cursors SET place = NULL`)
	collect(t, s, 2)
	positions := positionsOf(t, s, payment.ID)
	fee := positions["fees:stripe/eur"]
	require.Positive(t, fee)
	require.Equal(t, map[ledger.AccountName]int64{
		"fx:usd:eur/usd": 1001, "fx:usd:eur/eur": -931, "stripe:receivable/usd": 0, "stripe:receivable/eur": 931 - fee,
		"fees:stripe/eur": fee, "merchant:balance/usd": -1001,
	}, positions)
	s.Settle()
}

// What is new is more than a page, and what is there at first too: all of it is gone through, in pages, oldest first.
func TestFeesAreBookedPageAfterPage(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	create := func(from, to int) {
		group := errgroup.Group{}
		group.SetLimit(8)
		for n := from; n < to; n++ {
			group.Go(func() error {
				reference := uuid.NewString()
				_, err := s.Post(t.Context(), s.APIKey, "/v1/payments", reference, system.Order(reference, int64(1000+n)), "wait=20")
				return err
			})
		}
		require.NoError(t, group.Wait())
	}
	create(0, 105)
	s.Settle()
	collect(t, s, 1)
	s.DB.AdvanceClock(t, time.Minute)
	collect(t, s, 1)
	require.Equal(t, 105, s.Count(countFees))
	create(105, 210)
	s.Settle()
	s.DB.AdvanceClock(t, time.Minute)
	before := len(s.Requests(http.MethodGet, "/v1/balance_transactions"))
	collect(t, s, 1)
	require.Equal(t, 210, s.Count(countFees))
	require.Equal(t, 2, len(s.Requests(http.MethodGet, "/v1/balance_transactions"))-before)
	require.Equal(t, 210, s.Count(`SELECT count(DISTINCT payment) FROM payonce.ledger_journals WHERE rule = 'fee'`))
}

// The account is shared with another system, and with another payonce: what is theirs is passed over, at once or when nothing can come of it any more.
func TestFeesOfOthersArePassedOver(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	const paidAtOnce = "amount=700&currency=usd&confirm=true&payment_method=pm_card_visa"
	s.CreateAtStripe(system.OutsideKey+"1", paidAtOnce)
	before := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	s.CreateAtStripe(system.OutsideKey+"2", paidAtOnce+"&metadata["+payments.MetadataPayment+"]="+uuid.NewString())
	behind := s.Create("key-2", system.Order("order-2", 1000)).Payment(t)
	s.DB.AdvanceClock(t, time.Second)
	collect(t, s, 2)
	require.Equal(t, 1, s.Count(foreignSeen))
	require.Positive(t, positionsOf(t, s, before.ID)["fees:stripe/usd"])
	require.Equal(t, 1, s.Count(countFees), "the one before it may still be ours")

	s.DB.AdvanceClock(t, s.Config.Timing.FeesWait)
	collect(t, s, 2)

	require.Equal(t, 2, s.Count(foreignSeen))
	require.Equal(t, s.Book(behind.ID).Fees, positionsOf(t, s, behind.ID)["fees:stripe/usd"])
}

// A stopped account is not called, and Stripe's refusal of the key stops it.
func TestFeesOfAStoppedAccountWait(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	payment := s.Create("key-1", system.Order("order-1", 1000)).Payment(t)
	s.Settle()
	s.Fault(control.Rule{
		Match: control.Match{Method: http.MethodGet, Path: "/v1/balance_transactions"}, Fault: control.FaultUnauthorized, Times: 1,
	})
	s.DB.AdvanceClock(t, time.Minute)
	s.Exec(`UPDATE payonce.fee_cursors SET next_round_at = payonce.clock()`)
	_, err := feesOf(s).Collect(t.Context())
	require.Error(t, err)
	asked := len(s.Requests(http.MethodGet, "/v1/balance_transactions"))
	collect(t, s, 1)
	require.Len(t, s.Requests(http.MethodGet, "/v1/balance_transactions"), asked)
	s.Resume()
	collect(t, s, 1)
	require.Equal(t, 1, s.Count(countFees))
	require.Positive(t, positionsOf(t, s, payment.ID)["fees:stripe/usd"])
}
