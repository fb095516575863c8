package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

// maxBalanceReads bounds how often a balance that moves while it is compared is read again.
const maxBalanceReads = 5

type ledgerAccount struct {
	ID       uuid.UUID
	Tenant   uuid.UUID
	Name     ledger.AccountName
	Currency payments.Currency
}

// balances: what the ledger says of an account, from its roll-up and the tail, is the sum of all its entries.
func (e *examiner) balances(ctx context.Context) error {
	c := e.check("balances", 1, "every account's balance (roll-up and tail) is the sum of all its entries")
	err := page(ctx, e, `
		SELECT id, tenant, name, currency FROM payonce.ledger_accounts WHERE id > $1 ORDER BY id LIMIT $2`, nil,
		func(a ledgerAccount) uuid.UUID { return a.ID },
		func(accounts []ledgerAccount) error {
			for _, a := range accounts {
				if err := e.balance(ctx, c, a); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

func (e *examiner) balance(ctx context.Context, c *Check, a ledgerAccount) error {
	c.Examined++
	tenant := payments.TenantID{UUID: a.Tenant}
	subject := fmt.Sprintf("account %s %s of tenant %s", a.Name, a.Currency, tenant)
	if a.ID != boundaries.LedgerAccountID(tenant, string(a.Name), a.Currency) {
		c.violate(subject, "find what inserts accounts without deriving their id", "has an id that does not derive from it")
		return nil
	}
	// An account that is posted to between the two reads is read again: equal sums around the balance mean that nothing came between.
	sum, err := e.sumOf(ctx, a.ID)
	for range maxBalanceReads {
		if err != nil {
			return err
		}
		held, balanceErr := ledger.Balance(ctx, e.Owner, tenant, a.Name, a.Currency)
		switch {
		case errors.Is(balanceErr, ledger.ErrUnknownAccount), errors.Is(balanceErr, payments.ErrOverflow):
			c.violate(subject, "move its entries by a reversing journal", "has no balance: %s", balanceErr)
			return nil
		case balanceErr != nil:
			return balanceErr
		case strconv.FormatInt(held, 10) == sum:
			return nil
		}
		before := sum
		if sum, err = e.sumOf(ctx, a.ID); err == nil && sum == before {
			c.violate(subject, "delete its row of payonce.ledger_rollups: the next roll-up makes it anew from the entries",
				"has the balance %d, and its entries sum to %s", held, sum)
			return nil
		}
	}
	return err
}

func (e *examiner) sumOf(ctx context.Context, account uuid.UUID) (string, error) {
	var sum string
	err := e.Owner.QueryRow(ctx, `SELECT coalesce(sum(amount), 0)::text FROM payonce.ledger_entries WHERE account = $1`, account).Scan(&sum)
	return sum, err
}
