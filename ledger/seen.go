package ledger

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// seen are the accounts that a connection has seen committed. Accounts are never removed, so this does not age, and a posting to accounts that were seen
// need not look for them: that is a sixth of its statement. It belongs to the connection, which ends when another database takes the place of its own.
// It decides nothing: the database refuses an entry without an account.
type seen map[uuid.UUID]struct{}

// maxSeen bounds what a connection remembers, in accounts of some 50 bytes.
const maxSeen = 10_000

// seenKey names it among what a connection carries.
const seenKey = "payonce ledger accounts"

// accountsSeenBy is what the connection has seen. Only the holder of the connection may use it.
func accountsSeenBy(conn *pgx.Conn) seen {
	carried := conn.PgConn().CustomData()
	accounts, ok := carried[seenKey].(seen)
	if !ok {
		accounts = seen{}
		carried[seenKey] = accounts
	}
	return accounts
}

func (s seen) has(account uuid.UUID) bool {
	_, found := s[account]
	return found
}

// missing is an account as the row that is to be made.
type missing struct {
	id, tenant           uuid.UUID
	name, currency, kind string
}

// queueMissing queues the making of the accounts that were not seen, and learns which of them other transactions have committed: what this one makes may
// yet be rolled back. An account that is there costs an index look-up and no write.
func (s seen) queueMissing(batch *pgx.Batch, claims []*claim) {
	var accounts []missing
	for _, claim := range claims {
		for i, entry := range claim.Entries {
			if s.has(claim.accounts[i]) {
				continue
			}
			kind, _ := KindOf(entry.Account) // validated before
			accounts = append(accounts, missing{claim.accounts[i], claim.Tenant.UUID, string(entry.Account), string(entry.Currency), string(kind)})
		}
	}
	if len(accounts) == 0 {
		return
	}
	slices.SortFunc(accounts, func(a, b missing) int { return bytes.Compare(a.id[:], b.id[:]) })
	accounts = slices.Compact(accounts)
	ids, tenants := make([]uuid.UUID, len(accounts)), make([]uuid.UUID, len(accounts))
	names, currencies, kinds := make([]string, len(accounts)), make([]string, len(accounts)), make([]string, len(accounts))
	for i, a := range accounts {
		ids[i], tenants[i], names[i], currencies[i], kinds[i] = a.id, a.tenant, a.name, a.currency, a.kind
	}
	batch.Queue(`
		WITH wanted AS MATERIALIZED ( -- a look-up each: as a join it may read all
			SELECT a.*, (SELECT known.xmin FROM payonce.ledger_accounts known WHERE known.id = a.id) AS made_by
			FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS a (id, tenant, name, currency, kind)
		), made AS (
			INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
			SELECT id, tenant, name, currency, kind, payonce.clock() FROM wanted WHERE made_by IS NULL ORDER BY id
			ON CONFLICT DO NOTHING
		)
		SELECT id FROM wanted WHERE made_by <> pg_current_xact_id()::xid`,
		ids, tenants, names, currencies, kinds).Query(func(found pgx.Rows) error {
		committed, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
		if len(s)+len(committed) > maxSeen {
			clear(s)
		}
		for _, account := range committed {
			s[account] = struct{}{}
		}
		return err
	})
}
