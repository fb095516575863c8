package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// Position is what a payment's journals leave on one account.
type Position struct {
	Account  AccountName
	Currency payments.Currency
	Amount   int64 // minor units, debits minus credits
}

// AtStripe tells whether the position is what Stripe holds for us of the payment: captured, less refunded, disputed and known fees, in the currency in
// which it is held. That is the receivable alone.
func (p Position) AtStripe() bool { return p.Account == StripeReceivable }

// Positions sums the payment's entries by account and currency, from the entries themselves and sorted by both; none when nothing was posted. What is
// held only is left out. A sum beyond 64 bits is payments.ErrOverflow.
func Positions(ctx context.Context, db Querier, payment payments.PaymentID) ([]Position, error) {
	found, err := db.Query(ctx, `
		SELECT a.name, e.currency, sum(e.amount)::text
		FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries e ON e.journal = j.id
		JOIN payonce.ledger_accounts a ON a.id = e.account
		WHERE j.payment = $1 AND a.name <> ALL($2)
		GROUP BY a.name, e.currency ORDER BY a.name, e.currency`, payment.UUID, []string{string(StripeReceivablePending), string(MerchantBalancePending)})
	if err != nil {
		return nil, fmt.Errorf("read positions of payment %s: %w", payment, err)
	}
	positions, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (Position, error) {
		var position Position
		var amount string
		if err := row.Scan(&position.Account, &position.Currency, &amount); err != nil {
			return position, err
		}
		var err error
		position.Amount, err = minorUnits(position.Account, amount)
		return position, err
	})
	if err != nil {
		return nil, fmt.Errorf("read positions of payment %s: %w", payment, err)
	}
	return positions, nil
}
