package stripesim_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

// fakeDatabase speaks enough of Postgres to answer SELECT payonce.clock().
type fakeDatabase struct {
	listener net.Listener
	mu       sync.Mutex
	now      time.Time
	queries  []string
	conns    []net.Conn
	serving  sync.WaitGroup
}

func startDatabase(t *testing.T) *fakeDatabase {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fakeDatabase{listener: listener}
	f.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns = append(f.conns, conn)
			f.mu.Unlock()
			f.serving.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(f.stop)
	return f
}

func (f *fakeDatabase) stop() {
	_ = f.listener.Close()
	f.mu.Lock()
	for _, conn := range f.conns {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.serving.Wait()
}

func (f *fakeDatabase) url() string {
	return "postgres://clock@" + f.listener.Addr().String() + "/payonce?sslmode=disable&default_query_exec_mode=simple_protocol"
}

func (f *fakeDatabase) set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}

func (f *fakeDatabase) serve(conn net.Conn) {
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	backend.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if backend.Flush() != nil {
		return
	}
	for {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		query, ok := message.(*pgproto3.Query)
		if !ok {
			continue
		}
		f.mu.Lock()
		f.queries = append(f.queries, query.String)
		now := f.now.UTC().Format("2006-01-02 15:04:05.999999+00")
		f.mu.Unlock()
		backend.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("clock"), DataTypeOID: 1184, DataTypeSize: 8, TypeModifier: -1}}})
		backend.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(now)}})
		backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if err := backend.Flush(); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestDatabaseClockReadsOnlyTheClockFunction(t *testing.T) {
	db := startDatabase(t)
	day := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	db.set(day)
	clock, err := stripesim.NewDatabaseClock(t.Context(), db.url(), silent())
	require.NoError(t, err)
	defer clock.Close()
	now, err := clock.Now(t.Context())
	require.NoError(t, err)
	require.True(t, now.Equal(day))
	db.set(day.Add(24 * time.Hour))
	now, err = clock.Now(t.Context())
	require.NoError(t, err)
	require.True(t, now.Equal(day.Add(24*time.Hour)), "a moved clock is seen at once")
	for _, query := range db.queries {
		require.Equal(t, "SELECT payonce.clock()", query)
	}
}

func TestDatabaseClockIsNeverOlderThanTheQuestion(t *testing.T) {
	db := startDatabase(t)
	day := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	db.set(day)
	clock, err := stripesim.NewDatabaseClock(t.Context(), db.url(), silent())
	require.NoError(t, err)
	defer clock.Close()
	for i := range 20 {
		moved := day.Add(time.Duration(i) * time.Hour)
		db.set(moved)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				now, err := clock.Now(t.Context())
				if err != nil || now.Before(moved) {
					t.Errorf("read %v, want at least %v (%v)", now, moved, err)
				}
			})
		}
		all.Wait()
	}
}

func TestDatabaseClockGoesOnWithItsOffsetWhenTheDatabaseIsAway(t *testing.T) {
	db := startDatabase(t)
	wall, err := stripesim.WallClock{}.Now(t.Context())
	require.NoError(t, err)
	db.set(wall.Add(48 * time.Hour))
	clock, err := stripesim.NewDatabaseClock(t.Context(), db.url(), silent())
	require.NoError(t, err)
	defer clock.Close()
	db.stop()
	now, err := clock.Now(t.Context())
	require.NoError(t, err)
	require.False(t, now.Before(wall.Add(47*time.Hour)))
}

func TestDatabaseClockIsAskedByRequestsAndNotByWebhooks(t *testing.T) {
	db := startDatabase(t)
	day := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	db.set(day)
	clock, err := stripesim.NewDatabaseClock(t.Context(), db.url(), silent())
	require.NoError(t, err)
	b := start(t, func(c *stripesim.Config) { c.Clock = clock })
	t.Cleanup(clock.Close)
	h := b.listen(control.Endpoint{}, nil)
	db.set(day.Add(24 * time.Hour))
	b.post(intents, paidForm, "")
	require.Equal(t, control.Counts{Delivered: 3}, b.flush())
	require.Len(t, h.all(), 3)
	db.mu.Lock()
	require.Len(t, db.queries, 2, "one at the start and one for the request")
	db.mu.Unlock()
	events, err := b.ctl.AllEvents(t.Context())
	require.NoError(t, err)
	for _, event := range events {
		require.False(t, event.Deliveries[0].Tries[0].Time.Before(day.Add(24*time.Hour)), "the day had passed by then")
	}
}

func TestDatabaseClockNeedsItsDatabaseToStart(t *testing.T) {
	db := startDatabase(t)
	url := db.url()
	db.stop()
	_, err := stripesim.NewDatabaseClock(t.Context(), url, silent())
	require.Error(t, err)
	_, err = stripesim.NewDatabaseClock(t.Context(), "nonsense://", silent())
	require.Error(t, err)
}
