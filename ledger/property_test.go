package ledger_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

// TestRandomPostingsKeepEveryInvariant drives one book with random postings, repeats, clashes, roll-backs and roll-ups beside a model: a map from
// key to content. After each step the invariants at the top of book_test.go and the model's balances hold.
func TestRandomPostingsKeepEveryInvariant(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := &model{book: b, prefix: fmt.Sprintf("run%d/", run), stands: map[boundaries.PostingKey]ledger.Posting{}}
		m.tenant = b.newTenant(fmt.Sprintf("shop-%d", run))
		rt.Repeat(map[string]func(*rapid.T){
			"post":      m.post,
			"roll back": m.rollBack,
			"roll up": func(rt *rapid.T) {
				b.rollUp(ledger.RollUpLimits{Accounts: 100, Entries: rapid.IntRange(1, 5).Draw(rt, "entries")})
			},
			"": m.check,
		})
	})
}

type model struct {
	*book
	prefix string
	stands map[boundaries.PostingKey]ledger.Posting
}

func (m *model) draw(rt *rapid.T) ledger.Posting {
	accounts := []ledger.AccountName{ledger.StripeReceivable, ledger.MerchantBalance, ledger.StripeFees, ledger.SuspenseMoney}
	key := m.prefix + rapid.StringMatching(`k[0-9]`).Draw(rt, "key") // few keys: repeats and clashes are common
	posting := m.transfer(key, rapid.Int64Range(1, 3).Draw(rt, "amount"), rapid.SampledFrom(accounts).Draw(rt, "debit"),
		rapid.SampledFrom(accounts).Draw(rt, "credit"), rapid.SampledFrom([]payments.Currency{"usd", "jpy"}).Draw(rt, "currency"))
	return posting
}

// expect is what the model says will come of the postings, in their order; it learns those that are acquired.
func (m *model) expect(postings []ledger.Posting) []boundaries.Outcome {
	outcomes := make([]boundaries.Outcome, len(postings))
	for i, posting := range postings {
		stands, taken := m.stands[posting.Key]
		switch {
		case !taken:
			outcomes[i] = boundaries.Acquired
			m.stands[posting.Key] = posting
		case string(stands.ContentHash()) == string(posting.ContentHash()):
			outcomes[i] = boundaries.Replay
		default:
			outcomes[i] = boundaries.Mismatch
		}
	}
	return outcomes
}

func (m *model) post(rt *rapid.T) {
	posting := m.draw(rt)
	want := m.expect([]ledger.Posting{posting})
	results, err := m.book.post(posting)
	require.NoError(rt, err)
	require.Equal(rt, want[0], results[0].Outcome)
}

func (m *model) rollBack(rt *rapid.T) {
	tx, err := m.pool.Begin(context.Background())
	require.NoError(rt, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = ledger.Post(context.Background(), tx, m.draw(rt))
	require.NoError(rt, err)
}

func (m *model) check(rt *rapid.T) {
	type account struct {
		name     ledger.AccountName
		currency payments.Currency
	}
	sums := map[account]int64{}
	for _, posting := range m.stands {
		for _, entry := range posting.Entries {
			sums[account{entry.Account, entry.Currency}] += entry.Amount
		}
	}
	for a, sum := range sums {
		require.Equal(rt, sum, m.balance(a.name, a.currency), a.name)
	}
	var journals int
	require.NoError(rt, m.pool.QueryRow(context.Background(), "SELECT count(*) FROM payonce.ledger_journals WHERE tenant = $1",
		m.tenant.UUID).Scan(&journals))
	require.Len(rt, m.stands, journals)
}
