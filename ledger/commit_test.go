package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/ledger"
)

// F-02: COMMIT reached the database and its reply was lost.
func TestRetryAfterALostCommitReplyFindsThePosting(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	proxy, through := newCommitCutter(t, b.db.SystemURL)
	posting := b.captured("ch_1", 1500, 0)

	_, err := postThrough(b.openPool(through), posting)
	require.Error(t, err)
	require.True(t, proxy.cut.Load(), "the fault fired")

	retried := b.mustPost(posting)[0]
	require.Equal(t, boundaries.Replay, retried.Outcome)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payonce.ledger_journals"))
	require.EqualValues(t, 1500, b.balance(ledger.StripeReceivable, "usd"))
}

// The other half of not knowing: the connection died before COMMIT arrived.
func TestRetryAfterACommitThatNeverArrivedPosts(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	proxy, through := newCommitCutter(t, b.db.SystemURL)
	proxy.beforeForward = true
	posting := b.captured("ch_1", 1500, 0)

	_, err := postThrough(b.openPool(through), posting)
	require.Error(t, err)
	require.True(t, proxy.cut.Load(), "the fault fired")
	require.Equal(t, boundaries.Acquired, b.mustPost(posting)[0].Outcome)
}

// commitCutter is a proxy before Postgres that forwards the first COMMIT, waits until the database has answered it, and cuts the
// connection instead of passing the answer on.
type commitCutter struct {
	backend       string
	beforeForward bool // cut before COMMIT is forwarded
	cut           atomic.Bool
	wg            sync.WaitGroup
}

// newCommitCutter answers the proxy and the database's URL through it.
func newCommitCutter(t *testing.T, databaseURL string) (*commitCutter, string) {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	require.NoError(t, err)
	c := &commitCutter{backend: fmt.Sprintf("%s:%d", config.Host, config.Port)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		c.wg.Wait()
	})
	through, err := url.Parse(databaseURL)
	require.NoError(t, err)
	through.Host = listener.Addr().String()
	query := through.Query()
	query.Set("sslmode", "disable")
	through.RawQuery = query.Encode()
	return c, through.String()
}

func (c *commitCutter) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", c.backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var committing atomic.Bool
	c.wg.Go(func() { // answers
		defer func() { _ = client.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || committing.Load() {
				return // the answer to COMMIT is here, so it is done; nobody is told
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.HasPrefix(buffer[:n], []byte{'Q'}) && bytes.Contains(bytes.ToLower(buffer[:n]), []byte("commit")) {
			c.cut.Store(true)
			if c.beforeForward {
				return
			}
			committing.Store(true)
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}
