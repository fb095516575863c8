package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// guard locks the guarded accounts that the postings lower, to the end of the transaction, and refuses a decision that takes more
// than is available with an InsufficientError. It answers, for each posting, the accounts that a fact takes below zero. Without such a
// posting it costs nothing.
//
// The lock is an advisory transaction lock named by the account's id, not a row lock: FOR UPDATE needs the UPDATE privilege, which no
// role but the owner has on an append-only table, and a row lock would write to the row of a busy account. Locks are taken in sorted order, after the
// payment's row and before any insert. Two accounts whose ids share 64 bits would wait for each other and nothing worse.
func guard(ctx context.Context, tx pgx.Tx, postings []Posting) ([][]AccountName, error) {
	red := make([][]AccountName, len(postings))
	accounts := lowered(postings)
	if len(accounts) == 0 {
		return red, nil
	}
	batch := &pgx.Batch{}
	for _, account := range accounts {
		batch.Queue(`SELECT pg_advisory_xact_lock($1)`, lockKey(account))
	}
	balances := map[uuid.UUID]*big.Int{}
	queueBalances(batch, accounts, balances)
	var stored []standing
	queueStanding(batch, postings, &stored)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("lock accounts: %w", err)
	}
	taken := map[identity]bool{}
	for _, journal := range stored {
		taken[journal.identity] = true
	}
	for i, posting := range postings {
		if taken[identityOf(posting)] {
			continue // a replay or a mismatch: nothing will be posted
		}
		taken[identityOf(posting)] = true
		var err error
		if red[i], err = posting.spend(balances); err != nil {
			return nil, err
		}
	}
	return red, nil
}

// spend applies the posting to the balances of locked accounts, and answers those that it takes below zero.
func (p Posting) spend(balances map[uuid.UUID]*big.Int) ([]AccountName, error) {
	var red []AccountName
	for _, change := range p.guardedChanges() {
		balance, locked := balances[change.account]
		if !locked {
			continue // only raised
		}
		available := new(big.Int).Neg(balance)
		balance.Add(balance, change.amount)
		if change.amount.Sign() <= 0 || balance.Sign() <= 0 {
			continue
		}
		if p.Decision {
			return nil, &InsufficientError{Account: change.name, Currency: change.currency, Available: available, Needed: change.amount}
		}
		red = append(red, change.name)
	}
	return red, nil
}

// change is what a posting does in all to one guarded account.
type change struct {
	account  uuid.UUID
	name     AccountName
	currency payments.Currency
	amount   *big.Int // positive: it lowers what is available
}

// guardedChanges are the posting's changes of guarded accounts, in the order of its entries.
func (p Posting) guardedChanges() []change {
	var changes []change
	for _, entry := range p.Entries {
		if kind, err := KindOf(entry.Account); err != nil || kind != Guarded {
			continue
		}
		id := accountID(p.Tenant, entry.Account, entry.Currency)
		at := slices.IndexFunc(changes, func(c change) bool { return c.account == id })
		if at < 0 {
			at = len(changes)
			changes = append(changes, change{account: id, name: entry.Account, currency: entry.Currency, amount: new(big.Int)})
		}
		changes[at].amount.Add(changes[at].amount, big.NewInt(entry.Amount))
	}
	return changes
}

// debitsGuarded tells whether a guarded account may be lowered at all.
func (p Posting) debitsGuarded() bool {
	return slices.ContainsFunc(p.Entries, func(e Entry) bool {
		kind, err := KindOf(e.Account)
		return err == nil && kind == Guarded && e.Amount > 0
	})
}

// lowered are the guarded accounts that at least one posting lowers, sorted.
func lowered(postings []Posting) []uuid.UUID {
	var accounts []uuid.UUID
	for _, posting := range postings {
		if !posting.debitsGuarded() {
			continue
		}
		for _, change := range posting.guardedChanges() {
			if change.amount.Sign() > 0 {
				accounts = append(accounts, change.account)
			}
		}
	}
	slices.SortFunc(accounts, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(accounts)
}

// lockKey is the first 64 bits of the account's id.
func lockKey(account uuid.UUID) int64 { return int64(binary.BigEndian.Uint64(account[:8])) }
