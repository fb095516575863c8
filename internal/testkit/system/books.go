package system

import (
	"maps"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/ledger"
	"payonce/payments"
)

// Positions are what a payment's journals leave on each account, the pending side too, by the account's name; accounts that are even are left out. What
// Stripe kept as fees is booked sooner or later, so it is counted as if it were not.
func (s *System) Positions(payment payments.PaymentID) map[string]int64 {
	s.t.Helper()
	rows, err := s.Owner.Query(s.t.Context(), `
		SELECT a.name, sum(e.amount)::bigint
		FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id JOIN payonce.ledger_accounts a ON a.id = e.account
		WHERE j.payment = $1 AND j.rule <> 'fee' GROUP BY a.name`, payment.UUID)
	require.NoError(s.t, err)
	left := map[string]int64{}
	var name string
	var amount int64
	_, err = pgx.ForEachRow(rows, []any{&name, &amount}, func() error {
		if name == string(ledger.StripeFees) { // of a dispute
			name = string(ledger.StripeReceivable)
		}
		left[name] += amount
		return nil
	})
	require.NoError(s.t, err)
	maps.DeleteFunc(left, func(_ string, amount int64) bool { return amount == 0 })
	return left
}

// Told are the messages of a kind about a payment that were taken.
func (s *System) Told(payment payments.PaymentID, kind string) []Message {
	s.t.Helper()
	var told []Message
	for _, message := range s.Receiver.Of(s.t, payment.String()) {
		if message.Type == kind {
			told = append(told, message)
		}
	}
	return told
}

// Feed sets how the account's endpoints are told of refunds: one of control's Feed constants.
func (s *System) Feed(feed string) {
	s.t.Helper()
	endpoints, err := s.Twin.Endpoints(s.t.Context())
	require.NoError(s.t, err)
	for _, endpoint := range endpoints {
		require.NoError(s.t, s.Twin.DeleteEndpoint(s.t.Context(), endpoint.ID))
		endpoint.RefundFeed = feed
		_, err := s.Twin.AddEndpoint(s.t.Context(), endpoint)
		require.NoError(s.t, err)
	}
}
