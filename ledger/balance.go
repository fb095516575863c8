package ledger

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// selectBalances reads the balances of the accounts $1: the roll-up and the entries from its mark on, of one snapshot. Sums are numeric, so
// they never wrap. The mark is always bound, so that the tail is one range of the index.
const selectBalances = `
	SELECT a.id, (coalesce(r.balance, 0) + (
		SELECT coalesce(sum(e.amount), 0) FROM payonce.ledger_entries e
		WHERE e.account = a.id AND (e.epoch, e.xid) >= (coalesce(r.epoch, 0), coalesce(r.xid, '0'::xid8))))::text
	FROM unnest($1::uuid[]) AS a (id)
	LEFT JOIN payonce.ledger_rollups r ON r.account = a.id`

// Balance is the balance of the tenant's account in minor units, debits minus credits; zero when nothing was posted. A
// balance beyond 64 bits is payments.ErrOverflow, never wrapped.
func Balance(ctx context.Context, db Querier, tenant payments.TenantID, account AccountName, currency payments.Currency) (int64, error) {
	if _, err := KindOf(account); err != nil {
		return 0, err
	}
	var id uuid.UUID
	var balance string
	err := db.QueryRow(ctx, selectBalances, []uuid.UUID{accountID(tenant, account, currency)}).Scan(&id, &balance)
	if err != nil {
		return 0, fmt.Errorf("read balance of %s: %w", account, err)
	}
	return minorUnits(account, balance)
}

// BalanceAt is the balance of what had happened at the provider by effective and was known to us by booked. A fact that arrives later
// changes the answer for a past effective time, and never the one for a past booked time: a closed report stays as it was.
func BalanceAt(ctx context.Context, db Querier, tenant payments.TenantID, account AccountName, currency payments.Currency,
	effective, booked time.Time,
) (int64, error) {
	if _, err := KindOf(account); err != nil {
		return 0, err
	}
	var balance string
	err := db.QueryRow(ctx, `
		SELECT coalesce(sum(e.amount), 0)::text
		FROM payonce.ledger_entries e JOIN payonce.ledger_journals j ON j.id = e.journal
		WHERE e.account = $1 AND j.effective_at <= $2 AND j.booked_at <= $3`,
		accountID(tenant, account, currency), effective, booked).Scan(&balance)
	if err != nil {
		return 0, fmt.Errorf("read balance of %s at %s: %w", account, effective, err)
	}
	return minorUnits(account, balance)
}

// queueBalances queues the reading of balances of any size.
func queueBalances(batch *pgx.Batch, accounts []uuid.UUID, into map[uuid.UUID]*big.Int) {
	batch.Queue(selectBalances, accounts).Query(func(found pgx.Rows) error {
		var id uuid.UUID
		var balance string
		_, err := pgx.ForEachRow(found, []any{&id, &balance}, func() error {
			parsed, err := parse(balance)
			into[id] = parsed
			return err
		})
		return err
	})
}

func parse(numeric string) (*big.Int, error) {
	parsed, ok := new(big.Int).SetString(numeric, 10)
	if !ok {
		return nil, fmt.Errorf("not a whole amount: %q", numeric)
	}
	return parsed, nil
}

func minorUnits(account AccountName, numeric string) (int64, error) {
	parsed, err := parse(numeric)
	if err != nil {
		return 0, err
	}
	if !parsed.IsInt64() {
		return 0, fmt.Errorf("balance of %s: %w", account, payments.ErrOverflow)
	}
	return parsed.Int64(), nil
}
