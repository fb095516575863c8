package recovery_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/recovery"
)

// restores takes the database back to how it was when it was called.
func restores(t *testing.T, s *system.System) (restore func()) {
	t.Helper()
	reconnect := func() {
		s.Owner.Reset()
		s.App.System.Reset()
		s.App.Tenant.Reset()
	}
	back := s.DB.Snapshot(t)
	reconnect()
	return func() {
		back()
		reconnect()
		for _, pool := range []*pgxpool.Pool{s.App.System, s.App.Tenant} {
			require.NoError(t, pool.Ping(t.Context()))
		}
	}
}

// A database that was restored closes itself; Stripe is read since then and it is opened: what was paid after the time to which it was restored is not
// charged again, whether it was known then or not, and what was given back or paid out is so once.
func TestARestoredDatabaseChargesNobodyAgain(t *testing.T) {
	t.Parallel()
	s := system.New(t, neverPolls, system.Unhurried)
	s.StartAPI()
	stop := s.StartWorker()
	debit := system.With(system.With(system.Order("order-1", 1000), "payment_method", "pm_usBankAccount_processing"),
		"payment_method_types", []string{"us_bank_account"})
	open := s.Create("K1", debit).Payment(t)
	paid := s.Create("K2", system.Order("order-2", 1000)).Payment(t)
	s.DB.AdvanceClock(t, 72*time.Hour) // Stripe lets go of the money
	s.Settle()
	stop()
	restore := restores(t, s)
	var taken time.Time
	require.NoError(t, s.Owner.QueryRow(t.Context(), `SELECT payonce.clock()`).Scan(&taken))

	stop = s.StartWorker()
	lost := s.Create("K3", system.Order("order-3", 1000)).Payment(t)
	_, err := s.Twin.Succeed(t.Context(), open.PaymentIntent)
	require.NoError(t, err)
	refund := map[string]any{"amount": 300, "reference": "item-1"}
	back, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R1", refund, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, back.Status, "%s", back.Body)
	payout := map[string]any{"amount": 200, "currency": "usd", "reference": "week-1"}
	out, err := s.Post(t.Context(), s.APIKey, "/v1/payouts", "P1", payout, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, out.Status, "%s", out.Body)
	s.Settle()
	stop()
	restore()

	require.Zero(t, s.Count(`SELECT count(*) FROM payonce.payments WHERE id = $1`, lost.ID.UUID), "it is lost")
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.freezes WHERE lifted_at IS NULL AND frozen_by = 'payonce'`), "it has closed itself, once")
	s.StartWorker()
	early, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K5", system.Order("order-5", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, early.Status, "%s", early.Body)
	epoch := s.Count(`SELECT payonce.epoch()`)
	require.ErrorContains(t, recovery.CloseRestored(t.Context(), s.Owner, taken.Add(1000*time.Hour), "an operator"), "to come")
	require.NoError(t, recovery.CloseRestored(t.Context(), s.Owner, taken, "an operator"))
	require.Equal(t, epoch+1, s.Count(`SELECT payonce.epoch()`))
	require.Positive(t, backfills(t, s))
	var left recovery.Unread
	s.Eventually("everything is read", func() bool {
		left, err = recovery.UnreadOf(t.Context(), s.App.System)
		require.NoError(t, err)
		return left.Events+left.Open == 0
	})
	require.EqualValues(t, 1, left.Lost)
	require.Equal(t, payments.StatusSucceeded, s.Payment(open.ID).Status)
	require.EqualValues(t, 300, s.Payment(paid.ID).AmountRefunded)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payouts WHERE moved AND amount = 200`))
	confirms := len(s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"))
	held, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K4", system.Order("order-4", 1000), "wait=1")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, held.Status, "%s", held.Body)
	require.Len(t, s.Requests(http.MethodPost, "/v1/payment_intents/*/confirm"), confirms, "it is closed")

	opened, err := recovery.OpenRestored(t.Context(), s.App.System, "an operator")
	require.NoError(t, err)
	require.Equal(t, 1, opened)
	again := s.Create("K3", system.Order("order-3", 1000))
	require.Equal(t, http.StatusCreated, again.Status, "%s", again.Body)
	require.Equal(t, lost.ID, again.Payment(t).ID)
	require.Equal(t, lost.PaymentIntent, again.Payment(t).PaymentIntent)
	other, err := s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R2", system.With(refund, "amount", 299), "wait=1")
	require.NoError(t, err)
	require.Equal(t, "reference_conflict", other.Problem(t).Code, "%s", other.Body)
	back, err = s.Post(t.Context(), s.APIKey, "/v1/payments/"+paid.ID.String()+"/refunds", "R1", refund, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, back.Status, "%s", back.Body)
	other, err = s.Post(t.Context(), s.APIKey, "/v1/payouts", "P2", system.With(payout, "amount", 199), "wait=1")
	require.NoError(t, err)
	require.Equal(t, "reference_conflict", other.Problem(t).Code, "%s", other.Body)
	out, err = s.Post(t.Context(), s.APIKey, "/v1/payouts", "P1", payout, "wait=20")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, out.Status, "%s", out.Body)
	s.Settle()
	require.Len(t, s.Requests(http.MethodPost, "/v1/payouts"), 1, "what Stripe brought back is not sent again")
	require.Len(t, s.Requests(http.MethodPost, "/v1/refunds"), 1)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.payouts WHERE record IS NOT NULL`))
	for _, payment := range []payments.PaymentID{lost.ID, paid.ID, open.ID} {
		require.EqualValues(t, 1000, s.Book(payment).Captured)
		require.Len(t, s.Books(payment), 1)
	}
	require.Len(t, s.Book(paid.ID).Refunds, 1)
}
