package ledger

import (
	"bytes"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/internal/postgres"
)

// seen are the accounts that some connection of the pool has seen committed. Accounts are never removed, so this does not age, and a posting to accounts
// that were seen need not look for them. It decides nothing: the database refuses an entry without an account, and then all is forgotten.
type seen struct {
	mutex    sync.Mutex
	accounts map[uuid.UUID]struct{}
}

// maxSeen bounds what a pool remembers, in accounts of some 50 bytes.
const maxSeen = 100_000

// seenKey names it among what the connections of a pool share.
type seenKey struct{}

// seenBy is what the pool of the connection has seen.
func seenBy(conn *pgx.Conn) *seen {
	shared := postgres.Shared(conn)
	known, ok := shared.Load(seenKey{})
	if !ok {
		known, _ = shared.LoadOrStore(seenKey{}, &seen{accounts: map[uuid.UUID]struct{}{}})
	}
	return known.(*seen)
}

func (s *seen) learn(accounts []uuid.UUID) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.accounts)+len(accounts) > maxSeen {
		clear(s.accounts)
	}
	for _, account := range accounts {
		s.accounts[account] = struct{}{}
	}
}

func (s *seen) forget() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	clear(s.accounts)
}

// missing are the accounts of the claims that were not seen, as the rows that are to be made, in the order of their ids.
func (s *seen) missing(claims []*claim) []missing {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var accounts []missing
	for _, claim := range claims {
		for i, entry := range claim.Entries {
			if _, known := s.accounts[claim.accounts[i]]; known {
				continue
			}
			kind, _ := KindOf(entry.Account) // validated before
			accounts = append(accounts, missing{claim.accounts[i], claim.Tenant.UUID, string(entry.Account), string(entry.Currency), string(kind)})
		}
	}
	slices.SortFunc(accounts, func(a, b missing) int { return bytes.Compare(a.id[:], b.id[:]) })
	return slices.Compact(accounts)
}

// missing is an account as the row that is to be made.
type missing struct {
	id, tenant           uuid.UUID
	name, currency, kind string
}

// queueMissing queues the making of the accounts that were not seen, and learns which of them other transactions have committed: what this one makes may
// yet be rolled back. An account that is there costs an index look-up and no write.
func (s *seen) queueMissing(batch *pgx.Batch, claims []*claim) {
	accounts := s.missing(claims)
	if len(accounts) == 0 {
		return
	}
	ids, tenants := make([]uuid.UUID, len(accounts)), make([]uuid.UUID, len(accounts))
	names, currencies, kinds := make([]string, len(accounts)), make([]string, len(accounts)), make([]string, len(accounts))
	for i, a := range accounts {
		ids[i], tenants[i], names[i], currencies[i], kinds[i] = a.id, a.tenant, a.name, a.currency, a.kind
	}
	batch.Queue(`
		WITH wanted AS MATERIALIZED ( -- a look-up each: as a join it may read all
			SELECT a.id, a.tenant, a.name, a.currency, a.kind, (SELECT known.xmin FROM payonce.ledger_accounts known WHERE known.id = a.id) AS made_by
			FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS a (id, tenant, name, currency, kind)
		), made AS (
			INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
			SELECT id, tenant, name, currency, kind, payonce.clock() FROM wanted WHERE made_by IS NULL ORDER BY id
			ON CONFLICT DO NOTHING
		)
		SELECT id FROM wanted WHERE made_by <> pg_current_xact_id()::xid`,
		ids, tenants, names, currencies, kinds).Query(func(found pgx.Rows) error {
		committed, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
		s.learn(committed)
		return err
	})
}
