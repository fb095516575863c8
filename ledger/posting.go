package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"payonce/boundaries"
	"payonce/payments"
)

// Posting is a journal to be: one effect on the books, named by its key.
type Posting struct {
	Tenant      payments.TenantID
	Key         boundaries.PostingKey // names the effect; unique within the tenant for ever
	Rule        string                // the rule that made it, for instance "captured"
	Phase       Phase                 // zero: posted
	Resolves    boundaries.PostingKey // the earlier journal that this one posts, voids or reverses; empty: none. The rule decides it, as it does the phase
	Payment     *payments.PaymentID   // nil when the money belongs to no payment
	Source      string                // what brought the fact: answer, event, poll, …
	Memo        string                // for people; may be empty
	EffectiveAt time.Time             // when it happened at the provider
	Decision    bool                  // ours to refuse: it may not take more than is available. False: a fact, which posts into the red
	Entries     []Entry               // at least two; they sum to zero in each currency
}

// Entry is one debit or credit.
type Entry struct {
	Account  AccountName
	Amount   int64 // minor units; a debit is positive, a credit negative, never zero
	Currency payments.Currency
}

// Validate refuses what the database would refuse, with ErrUnbalanced, ErrUnknownAccount or ErrInvalidPosting.
func (p Posting) Validate() error {
	switch {
	case p.Tenant == payments.TenantID{}:
		return fmt.Errorf("%w: no tenant", ErrInvalidPosting)
	case len(p.Key) == 0 || len(p.Key) > maxKey:
		return fmt.Errorf("%w: key of %d bytes", ErrInvalidPosting, len(p.Key))
	case p.Rule == "" || p.Source == "":
		return fmt.Errorf("%w: %s has no rule or source", ErrInvalidPosting, p.Key)
	case p.EffectiveAt.IsZero():
		return fmt.Errorf("%w: %s has no effective time", ErrInvalidPosting, p.Key)
	case len(p.Entries) < 2 || len(p.Entries) > maxEntries:
		return fmt.Errorf("%w: %s has %d entries", ErrInvalidPosting, p.Key, len(p.Entries))
	}
	for _, entry := range p.Entries {
		if _, err := KindOf(entry.Account); err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
		if entry.Amount == 0 {
			return fmt.Errorf("%w: %s has an entry of zero", ErrInvalidPosting, p.Key)
		}
	}
	if err := p.validatePhase(); err != nil {
		return err
	}
	if p.mirrored() {
		return nil
	}
	sums := map[payments.Currency]*big.Int{}
	for _, entry := range p.Entries {
		if sums[entry.Currency] == nil {
			sums[entry.Currency] = new(big.Int)
		}
		sums[entry.Currency].Add(sums[entry.Currency], big.NewInt(entry.Amount))
	}
	for currency, sum := range sums {
		if sum.Sign() != 0 {
			return fmt.Errorf("%w: %s is off by %s %s", ErrUnbalanced, p.Key, sum, currency)
		}
	}
	return nil
}

// mirrored tells whether the posting is one debit and its credit, as most are: that balances without adding anything up.
func (p Posting) mirrored() bool {
	return len(p.Entries) == 2 && p.Entries[0].Currency == p.Entries[1].Currency && p.Entries[0].Amount == -p.Entries[1].Amount &&
		p.Entries[0].Amount != math.MinInt64
}

// maxKey bounds a posting key, in bytes.
const maxKey = 500

// maxEntries bounds a journal: line numbers are smallint and one statement carries them all.
const maxEntries = 1000

// contentHash is SHA-256 over the content that must not differ under one key: rule, accounts, amounts, currency. Times, memo, source
// and payment are left out, since each bringer of the same fact may know them differently; the order of the entries means nothing. Stored
// for ever: the golden test pins it.
func (p Posting) contentHash() []byte {
	entries := slices.SortedFunc(slices.Values(p.Entries), func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Amount, b.Amount))
	})
	content := appendText(nil, "ledger content v1")
	content = appendText(content, p.Rule)
	for _, entry := range entries {
		content = appendText(content, string(entry.Account))
		content = appendText(content, string(entry.Currency))
		content = binary.BigEndian.AppendUint64(content, uint64(entry.Amount))
	}
	sum := sha256.Sum256(content)
	return sum[:]
}

// appendText appends the text after its length, so that no two lists of texts meet.
func appendText(content []byte, text string) []byte {
	content = binary.BigEndian.AppendUint32(content, uint32(len(text)))
	return append(content, text...)
}
