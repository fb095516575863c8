package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5"
)

// sharedKey names, among what a connection carries, what it shares with the others of its pool.
const sharedKey = "payonce shared"

// share gives the connection what the others of its pool have.
func share(conn *pgx.Conn, shared *sync.Map) { conn.PgConn().CustomData()[sharedKey] = shared }

// Shared is memory that the connections of a pool have together, for what one of them learnt of the database and the others need not ask again. It lives
// as long as the pool. Keys are types of the package that keeps something there. A connection that Open did not make has one of its own. Only the holder
// of the connection may ask.
func Shared(conn *pgx.Conn) *sync.Map {
	shared, ok := conn.PgConn().CustomData()[sharedKey].(*sync.Map)
	if !ok {
		shared = &sync.Map{}
		share(conn, shared)
	}
	return shared
}
