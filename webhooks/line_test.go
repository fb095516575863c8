package webhooks_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// line carries connections to an address until it is cut.
type line struct {
	listener net.Listener
	mutex    sync.Mutex
	ends     []net.Conn
	ended    bool
	carrying sync.WaitGroup
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &line{listener: listener}
	l.carrying.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.carry(near, far)
		}
	})
	t.Cleanup(l.cut)
	return l
}

func (l *line) carry(near, far net.Conn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.ended {
		_, _ = near.Close(), far.Close()
		return
	}
	l.ends = append(l.ends, near, far)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		l.carrying.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = way[0].Close(), way[1].Close()
		})
	}
}

func (l *line) host() (string, uint16) {
	address := l.listener.Addr().(*net.TCPAddr)
	return address.IP.String(), uint16(address.Port)
}

// cut ends every connection and refuses new ones.
func (l *line) cut() {
	_ = l.listener.Close()
	l.mutex.Lock()
	l.ended = true
	for _, end := range l.ends {
		_ = end.Close()
	}
	l.mutex.Unlock()
	l.carrying.Wait()
}
