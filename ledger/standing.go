package ledger

import (
	"bytes"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
)

// identity is what makes a posting one posting.
type identity struct {
	tenant uuid.UUID
	key    string
}

func identityOf(posting Posting) identity {
	return identity{tenant: posting.Tenant.UUID, key: string(posting.Key)}
}

// standing is a journal as it stands under its identity.
type standing struct {
	identity
	id   uuid.UUID
	hash []byte
}

// outcomeFor compares the journal that stands with the one that was offered.
func (s standing) outcomeFor(offered uuid.UUID, hash []byte) boundaries.Outcome {
	switch {
	case s.id == offered:
		return boundaries.Acquired
	case bytes.Equal(s.hash, hash):
		return boundaries.Replay
	default:
		return boundaries.Mismatch
	}
}

// queueStanding queues the reading of the journals that stand under the postings' identities.
func queueStanding(batch *pgx.Batch, postings []Posting, into *[]standing) {
	tenants, keys := make([]uuid.UUID, len(postings)), make([]string, len(postings))
	for i, posting := range postings {
		tenants[i], keys[i] = posting.Tenant.UUID, string(posting.Key)
	}
	batch.Queue(`
		SELECT j.tenant, j.posting_key, j.id, j.content_hash
		FROM (SELECT DISTINCT tenant, posting_key FROM unnest($1::uuid[], $2::text[]) AS o (tenant, posting_key)) AS offered
		JOIN payonce.ledger_journals j USING (tenant, posting_key)`, tenants, keys).Query(func(found pgx.Rows) error {
		var err error
		*into, err = pgx.CollectRows(found, func(row pgx.CollectableRow) (standing, error) {
			var s standing
			return s, row.Scan(&s.tenant, &s.key, &s.id, &s.hash)
		})
		return err
	})
}
