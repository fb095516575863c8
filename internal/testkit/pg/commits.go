package pg

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// CommitCutter is a proxy before Postgres that cuts the connections of chosen COMMITs, so that their outcome is not known to whoever sent them.
type CommitCutter struct {
	// URL is the database through the proxy. Statements travel with their text, so that Cut.After can be seen.
	URL string

	backend string
	wg      sync.WaitGroup

	mutex sync.Mutex
	armed Cut
	fired int
}

// Cut says which COMMITs are cut.
type Cut struct {
	Times   int    // the next so many
	After   string // only of a transaction that sent this text; empty: of any
	Unheard bool   // cut before the COMMIT reaches Postgres; else once Postgres has answered it
}

// NewCommitCutter starts a proxy before the database; it cuts nothing until it is armed.
func NewCommitCutter(t testing.TB, databaseURL string) *CommitCutter {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	require.NoError(t, err)
	c := &CommitCutter{backend: fmt.Sprintf("%s:%d", config.Host, config.Port)}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
	query.Set("default_query_exec_mode", "cache_describe")
	through.RawQuery = query.Encode()
	c.URL = through.String()
	return c
}

// Arm says what is cut from now on.
func (c *CommitCutter) Arm(cut Cut) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.armed = cut
}

// Fired is how many COMMITs were cut.
func (c *CommitCutter) Fired() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.fired
}

// take decides over the COMMIT of a connection that has sent what was asked for, or not.
func (c *CommitCutter) take(sent bool) (cut, unheard bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.armed.Times == 0 || !sent {
		return false, false
	}
	c.armed.Times--
	c.fired++
	return true, c.armed.Unheard
}

// sends tells whether the bytes hold the text after which a COMMIT is cut.
func (c *CommitCutter) sends(message []byte) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return bytes.Contains(message, []byte(c.armed.After))
}

func (c *CommitCutter) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", c.backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	committing := make(chan struct{})
	c.wg.Go(func() {
		defer func() { _ = client.Close() }()
		answer(client, server, committing)
	})
	sent := false
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		message := buffer[:n]
		sent = sent || c.sends(message)
		if ends(message) {
			cut, unheard := c.take(sent)
			if unheard {
				return
			}
			if sent = false; cut {
				close(committing)
				_, _ = server.Write(message)
				_, _ = client.Read(buffer) // until the answer to COMMIT came: then the other side hangs up
				return
			}
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

// ends tells whether the bytes hold the query with which a transaction that is to be kept ends: alone, or behind the statements that travel with it,
// where it is parsed and then bound; parsed and described alone it is only asked about.
func ends(message []byte) bool {
	alone := bytes.HasPrefix(message, []byte{'Q'}) && bytes.Contains(bytes.ToLower(message), []byte("commit"))
	return alone || bytes.Contains(message, []byte("\x00commit\x00\x00\x00B"))
}

// answer passes on what the database says, until it has answered the COMMIT that is cut: that is done, and nobody is told.
func answer(client, server net.Conn, committing <-chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-committing:
			return
		default:
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
