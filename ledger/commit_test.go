package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/pg"
	"payonce/ledger"
)

// COMMIT reached the database and its reply was lost.
func TestRetryAfterALostCommitReplyFindsThePosting(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	cutter := pg.NewCommitCutter(t, b.db.SystemURL)
	cutter.Arm(pg.Cut{Times: 1})
	posting := b.captured("ch_1", 1500, 0)

	_, err := postThrough(b.openPool(cutter.URL), posting)
	require.Error(t, err)
	require.Equal(t, 1, cutter.Fired(), "the fault fired")

	retried := b.mustPost(posting)[0]
	require.Equal(t, boundaries.Replay, retried.Outcome)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_journals"))
	require.EqualValues(t, 1500, b.balance(ledger.StripeReceivable, "usd"))
}

// The other half of not knowing: the connection died before COMMIT arrived.
func TestRetryAfterACommitThatNeverArrivedPosts(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	cutter := pg.NewCommitCutter(t, b.db.SystemURL)
	cutter.Arm(pg.Cut{Times: 1, Unheard: true})
	posting := b.captured("ch_1", 1500, 0)

	_, err := postThrough(b.openPool(cutter.URL), posting)
	require.Error(t, err)
	require.Equal(t, 1, cutter.Fired(), "the fault fired")
	require.Equal(t, boundaries.Acquired, b.mustPost(posting)[0].Outcome)
}
