package boundaries

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/payments"
)

// met is what a caller's key was found to name.
type met struct {
	record   uuid.UUID
	payment  uuid.UUID
	hash     []byte
	version  int16
	status   RecordStatus
	code     *int
	headers  map[string]string
	body     []byte
	expired  bool
	attended bool
}

// columns are where the columns of meetColumns are read into.
func (m *met) columns() []any {
	return []any{&m.record, &m.payment, &m.hash, &m.version, &m.status, &m.code, &m.headers, &m.body, &m.expired, &m.attended}
}

const meetColumns = `k.record, coalesce(r.payment, '00000000-0000-0000-0000-000000000000'::uuid), k.request_hash, k.request_hash_version, r.status,
	k.response_code, k.response_headers, k.response_body,
	k.expires_at < payonce.clock() OR k.expires_at = 'infinity' AS expired, coalesce(r.attended_until > payonce.clock(), false) AS attended`

// queueMeet queues the reading of what a key names for a tenant; nil when it names nothing.
func queueMeet(batch *pgx.Batch, tenant payments.TenantID, operation payments.Operation, key CallerKey, into **met) {
	batch.Queue(`SELECT `+meetColumns+` FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
		WHERE k.tenant = $1 AND k.operation = $2 AND k.caller_key = $3`, tenant.UUID, operation, string(key)).QueryRow(func(row pgx.Row) error {
		var found met
		err := row.Scan(found.columns()...)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		*into = &found
		return err
	})
}

// Peek is what a caller's key was found to name before its command was read. It shortens a replay, and decides nothing.
type Peek struct{ found *met }

// PeekAt is a key that is to be peeked at, for the tenant of an API key.
type PeekAt struct {
	APIKeySHA256 []byte
	Operation    payments.Operation
	Key          CallerKey
	Into         *Peek
}

// QueuePeeks queues the reading of what keys name, so that it travels with the look-up of their API keys. Of a key that names nothing, or whose API
// key is unknown or revoked, nothing is found.
func QueuePeeks(batch *pgx.Batch, peeks []PeekAt) {
	n := len(peeks)
	apiKeys, operations, keys := make([][]byte, n), make([]string, n), make([]string, n)
	for i, peek := range peeks {
		apiKeys[i], operations[i], keys[i] = peek.APIKeySHA256, string(peek.Operation), string(peek.Key)
	}
	// Each is looked up by itself, by its unique key: the plan is made once, maybe while the tables are empty.
	batch.Queue(`SELECT p.n, found.* FROM unnest($1::bytea[], $2::text[], $3::text[]) WITH ORDINALITY AS p (api_key, operation, caller_key, n)
		CROSS JOIN LATERAL (SELECT `+meetColumns+`
			FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
			WHERE k.tenant = (SELECT a.tenant FROM payonce.api_keys a WHERE a.key_sha256 = p.api_key AND a.revoked_at IS NULL)
				AND k.operation = p.operation AND k.caller_key = p.caller_key LIMIT 1) found`, apiKeys, operations, keys).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var (
				number int
				found  met
			)
			if err := rows.Scan(append([]any{&number}, found.columns()...)...); err != nil {
				return fmt.Errorf("peek: %w", err)
			}
			peeks[number-1].Into.found = &found
		}
		return rows.Err()
	})
}
