package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/payments"
)

// Reversal takes a journal back, by a journal that names it: a mistake stays on the books beside what puts it right.
type Reversal struct {
	Tenant      payments.TenantID
	Journal     uuid.UUID // posted, and not on the pending side
	Part        int       // 0: in full. From 1, each after the one before: in parts
	Amount      int64     // of a part, minor units; in full it is the journal's, and 0 here
	Decision    bool      // ours to refuse: it may not take more than is available
	Source      string    // who reverses
	Memo        string    // why
	EffectiveAt time.Time
}

// maxParts bounds in how many parts a journal is reversed.
const maxParts = 1000

// Reverse posts a reversal in the caller's transaction, once for ever by its journal and part: the same again is a Replay. Reversals of one journal wait
// for each other, by an advisory lock to the end of the transaction that is taken after the payment's row. ErrNotReversible refuses, and posts
// nothing: a journal that is unknown, another tenant's or not posted; one in full when a part exists, or a part when it is reversed in full; a part
// that leaves a gap, or with which the parts would exceed the whole; parts of a journal that is no single debit and its credit. Like Post it needs
// READ COMMITTED; its other errors are Post's.
func Reverse(ctx context.Context, tx pgx.Tx, r Reversal) (Result, error) {
	if r.Part < 0 || r.Part > maxParts || (r.Part == 0) != (r.Amount == 0) || r.Amount < 0 {
		return Result{}, fmt.Errorf("%w: part %d of %d", ErrInvalidPosting, r.Part, r.Amount)
	}
	taken, original, err := r.read(ctx, tx)
	if err != nil {
		return Result{}, err
	}
	posting := original.reversedBy(r)
	if _, again := taken[posting.Key]; !again {
		if err := r.permit(taken, original); err != nil {
			return Result{}, err
		}
	}
	results, err := Post(ctx, tx, posting)
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// reversible is a journal as it stands.
type reversible struct {
	key     boundaries.PostingKey
	posted  bool
	payment *uuid.UUID
	entries []Entry
}

// keys are the posting keys that this reversal depends on: its own, and those of the parts up to it or of the first.
func (r Reversal) keys() []string {
	keys := []string{string(boundaries.ReversePostingKey(r.Journal, 0))}
	for part := 1; part <= max(r.Part, 1); part++ {
		keys = append(keys, string(boundaries.ReversePostingKey(r.Journal, part)))
	}
	return keys
}

// read locks the journal's reversals and reads, in statements that begin after, what is taken back already by posting key and the journal.
func (r Reversal) read(ctx context.Context, tx pgx.Tx) (taken map[boundaries.PostingKey]int64, original reversible, err error) {
	taken = map[boundaries.PostingKey]int64{}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT pg_advisory_xact_lock($1)`, reversalLock(r.Journal))
	batch.Queue(`
		SELECT j.posting_key, (SELECT sum(e.amount) FROM payonce.ledger_entries e WHERE e.journal = j.id AND e.amount > 0)::bigint
		FROM payonce.ledger_journals j WHERE j.tenant = $1 AND j.posting_key = ANY($2)`, r.Tenant.UUID, r.keys()).Query(func(found pgx.Rows) error {
		var key boundaries.PostingKey
		var amount int64
		_, err := pgx.ForEachRow(found, []any{&key, &amount}, func() error {
			taken[key] = amount
			return nil
		})
		return err
	})
	batch.Queue(`
		SELECT j.posting_key, j.phase = 'posted', j.payment, a.name, e.amount, e.currency
		FROM payonce.ledger_journals j
		JOIN payonce.ledger_entries e ON e.journal = j.id
		JOIN payonce.ledger_accounts a ON a.id = e.account
		WHERE j.id = $1 AND j.tenant = $2 ORDER BY e.line`, r.Journal, r.Tenant.UUID).Query(func(found pgx.Rows) error {
		var entry Entry
		_, err := pgx.ForEachRow(found, []any{
			&original.key, &original.posted, &original.payment, &entry.Account, &entry.Amount, &entry.Currency,
		}, func() error {
			original.entries = append(original.entries, entry)
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, original, fmt.Errorf("read journal %s to reverse: %w", r.Journal, err)
	}
	if len(original.entries) == 0 || !original.posted || original.entries[0].Account.pending() {
		return nil, original, fmt.Errorf("%w: %s is no posted journal of the tenant", ErrNotReversible, r.Journal)
	}
	return taken, original, nil
}

// permit tells whether a reversal that does not stand yet may.
func (r Reversal) permit(taken map[boundaries.PostingKey]int64, original reversible) error {
	refused := func(why string) error { return fmt.Errorf("%w: journal %s %s", ErrNotReversible, r.Journal, why) }
	first := boundaries.ReversePostingKey(r.Journal, 1)
	if r.Part == 0 {
		if _, partly := taken[first]; partly {
			return refused("is reversed in part")
		}
		return nil
	}
	if _, whole := taken[boundaries.ReversePostingKey(r.Journal, 0)]; whole {
		return refused("is reversed in full")
	}
	if !(Posting{Entries: original.entries}).mirrored() {
		return refused("has more than one debit and its credit")
	}
	left := max(original.entries[0].Amount, original.entries[1].Amount)
	for part := 1; part < r.Part; part++ {
		amount, there := taken[boundaries.ReversePostingKey(r.Journal, part)]
		if !there {
			return refused(fmt.Sprintf("has no part %d yet", part))
		}
		left -= amount
	}
	if r.Amount > left {
		return refused(fmt.Sprintf("has %d left", left))
	}
	return nil
}

// reversedBy is the posting that takes the journal back, or an amount of it.
func (original reversible) reversedBy(r Reversal) Posting {
	posting := Posting{
		Tenant: r.Tenant, Key: boundaries.ReversePostingKey(r.Journal, r.Part), Rule: "reversed", Resolves: original.key,
		Source: r.Source, Memo: r.Memo, EffectiveAt: r.EffectiveAt, Decision: r.Decision,
	}
	if original.payment != nil {
		posting.Payment = &payments.PaymentID{UUID: *original.payment}
	}
	for _, entry := range original.entries {
		amount := -entry.Amount
		switch {
		case r.Part > 0 && amount > 0:
			amount = r.Amount
		case r.Part > 0:
			amount = -r.Amount
		}
		posting.Entries = append(posting.Entries, Entry{Account: entry.Account, Amount: amount, Currency: entry.Currency})
	}
	return posting
}

// reversalLock is the last 64 bits of the journal's id: the first ones are its time.
func reversalLock(journal uuid.UUID) int64 { return int64(binary.BigEndian.Uint64(journal[8:])) }
