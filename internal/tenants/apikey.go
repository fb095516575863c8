package tenants

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/postgres"
	"payonce/payments"
)

// Scope is what a key permits.
type Scope string

// The scopes.
const (
	ScopeRead  Scope = "payments:read"
	ScopeWrite Scope = "payments:write"
)

// KeyPrefix begins every API key, so that a leaked one can be recognised.
const KeyPrefix = "payonce_"

const keyBytes = 32 // 256 random bits, 43 characters of base64url

// isKey tells whether the text has the shape of a key: the prefix and base64url.
func isKey(text string) bool {
	random, prefixed := strings.CutPrefix(text, KeyPrefix)
	if !prefixed || len(random) != base64.RawURLEncoding.EncodedLen(keyBytes) {
		return false
	}
	for _, c := range []byte(random) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// APIKey is a key without its secret.
type APIKey struct {
	ID     uuid.UUID
	Tenant payments.TenantID
	Scopes []Scope
}

// Permits tells whether the key has the scope.
func (k APIKey) Permits(scope Scope) bool {
	for _, granted := range k.Scopes {
		if granted == scope {
			return true
		}
	}
	return false
}

// CreateAPIKey makes a key of the tenant and returns it; only its hash is kept, so it is shown this once. ErrNotFound when
// there is no such tenant. For the system role.
func CreateAPIKey(ctx context.Context, pool *pgxpool.Pool, tenant payments.TenantID, scopes ...Scope) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make key id: %w", err)
	}
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("make key: %w", err)
	}
	key := KeyPrefix + base64.RawURLEncoding.EncodeToString(secret)
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	hash := sha256.Sum256([]byte(key))
	_, err = pool.Exec(ctx, `INSERT INTO payonce.api_keys (id, tenant, key_sha256, scopes, created_at)
		VALUES ($1, $2, $3, $4, payonce.clock())`, id, tenant.UUID, hash[:], names)
	switch {
	case postgres.Violates(err, "api_keys_tenant_fkey"):
		return "", fmt.Errorf("tenant %s: %w", tenant, ErrNotFound)
	case postgres.Violates(err, "api_keys_scopes_check"):
		return "", fmt.Errorf("scopes %v: one or more of %s and %s are required", scopes, ScopeRead, ScopeWrite)
	case err != nil:
		return "", fmt.Errorf("insert key: %w", err)
	}
	return key, nil
}

// FindAPIKey reads the key that a caller presents, or ErrNotFound when it is unknown or revoked. It reads at each call, so a
// revocation holds from its commit on.
func FindAPIKey(ctx context.Context, db postgres.Batcher, key string) (APIKey, error) {
	hash, err := HashAPIKey(key)
	if err != nil {
		return APIKey{}, err
	}
	batch, found := &pgx.Batch{}, make([]*APIKey, 1)
	QueueFindAPIKeys(batch, [][]byte{hash}, found)
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return APIKey{}, fmt.Errorf("read key: %w", err)
	}
	if found[0] == nil {
		return APIKey{}, ErrNotFound
	}
	return *found[0], nil
}

// HashAPIKey is the hash by which a key is found. ErrNotFound when the text cannot be a key.
func HashAPIKey(key string) ([]byte, error) {
	if !isKey(key) {
		return nil, ErrNotFound
	}
	sum := sha256.Sum256([]byte(key))
	return sum[:], nil
}

// QueueFindAPIKeys queues the look-up of keys by their hashes. The key of each hash goes into the same place of found; of one that is unknown or
// revoked nothing does.
func QueueFindAPIKeys(batch *pgx.Batch, hashes [][]byte, found []*APIKey) {
	batch.Queue(`SELECT h.n, a.id, a.tenant, a.scopes FROM unnest($1::bytea[]) WITH ORDINALITY AS h (sha256, n)
		CROSS JOIN LATERAL (SELECT id, tenant, scopes FROM payonce.api_keys WHERE key_sha256 = h.sha256 AND revoked_at IS NULL LIMIT 1) a`,
		hashes).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var (
				number int
				key    APIKey
			)
			if err := rows.Scan(&number, &key.ID, &key.Tenant.UUID, &key.Scopes); err != nil {
				return fmt.Errorf("read key: %w", err)
			}
			found[number-1] = &key
		}
		return rows.Err()
	})
}

// RevokeAPIKey ends a key; a second time changes nothing. ErrNotFound when there is none. For the system role.
func RevokeAPIKey(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) error {
	tag, err := pool.Exec(ctx, `UPDATE payonce.api_keys SET revoked_at = coalesce(revoked_at, payonce.clock()) WHERE id = $1`, id)
	if err != nil {
		return fmt.Errorf("revoke key: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("key %s: %w", id, ErrNotFound)
	}
	return nil
}
