package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"
)

// Roles of the database, from the first migration.
const (
	RoleOwner  = "payonce_owner"
	RoleTenant = "payonce_tenant"
	RoleSystem = "payonce_system"
	RoleTwin   = "payonce_twin"
)

// PoolConfig says how to open a pool. Every field is required.
type PoolConfig struct {
	URL                    string
	MaxConns               int32
	StatementTimeout       time.Duration
	LockTimeout            time.Duration
	IdleTransactionTimeout time.Duration
}

// Open opens a pool whose sessions carry the time-outs as start-up parameters; there is no other session state.
func Open(ctx context.Context, config PoolConfig) (*pgxpool.Pool, error) {
	parsed, err := pgxpool.ParseConfig(config.URL)
	if err != nil {
		return nil, fmt.Errorf("database url: %w", err)
	}
	parsed.MaxConns = config.MaxConns
	parsed.MaxConnLifetime = time.Hour
	parsed.HealthCheckPeriod = 15 * time.Second
	parameters := parsed.ConnConfig.RuntimeParams
	parameters["statement_timeout"] = milliseconds(config.StatementTimeout)
	parameters["lock_timeout"] = milliseconds(config.LockTimeout)
	parameters["idle_in_transaction_session_timeout"] = milliseconds(config.IdleTransactionTimeout)
	parameters["timezone"] = "UTC"
	parameters["synchronous_commit"] = "on"
	parameters["application_name"] = "payonce"
	// Statements look rows up by their keys: one plan serves every value, and none is made five times a connection before that is seen.
	parameters["plan_cache_mode"] = "force_generic_plan"
	// A plan that was made while a table was empty would read it whole for as long as it is kept, and the tables grow meanwhile.
	parameters["enable_seqscan"] = "off"
	parameters["jit"] = "off" // no statement runs long enough to earn the compiling
	shared := &sync.Map{}
	// pgx would send a uuid.UUID as text, by way of database/sql's interface: every statement has some.
	parsed.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		pgxuuid.Register(conn.TypeMap())
		share(conn, shared)
		return noticeDatabase(ctx, conn)
	}
	pool, err := pgxpool.NewWithConfig(ctx, parsed)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	return pool, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// errNoURL holds nothing of the text that it refuses: a password may be in it.
var errNoURL = errors.New("the database url must be a well-formed postgres://… address")

// WithRole is rawURL with the user replaced by role, for a database that trusts its local roles. Keywords and values
// (host=… user=…) are refused: they would parse as the path of an address that names no host.
func WithRole(rawURL, role string) (string, error) {
	parsed, err := url.Parse(rawURL)
	if err != nil || (parsed.Scheme != "postgres" && parsed.Scheme != "postgresql") {
		return "", errNoURL
	}
	parsed.User = url.User(role)
	return parsed.String(), nil
}

// Batcher is a pool, a connection or a transaction.
type Batcher interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// ForTenant sends the queued statements with the tenant set for just their implicit transaction, in one round trip: the
// setting that row-level security reads.
func ForTenant(ctx context.Context, db Batcher, tenant uuid.UUID, queue func(*pgx.Batch)) error {
	batch := &pgx.Batch{}
	batch.Queue("SELECT set_config('payonce.tenant', $1, true)", tenant.String())
	queue(batch)
	return db.SendBatch(ctx, batch).Close()
}
