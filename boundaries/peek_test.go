package boundaries_test

import (
	"crypto/sha256"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/payments"
)

// Keys of several callers are peeked at in one statement; what each is told is what its own key names for its own tenant.
func TestEachPeekFindsWhatItsOwnKeyNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var claims [2]boundaries.Claim
	var apiKeys [2]string
	for i, tenant := range w.Tenants {
		command := paid("order-1", 1000)
		normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
		require.NoError(t, err)
		claims[i], err = w.commands.ClaimCreate(t.Context(), boundaries.Asking{Tenant: tenant, Key: "K", Normalised: normalised, AttendedFor: attended}, command)
		require.NoError(t, err)
		apiKeys[i], err = tenants.CreateAPIKey(t.Context(), w.system, tenant, tenants.ScopeWrite)
		require.NoError(t, err)
	}
	revoked, err := tenants.CreateAPIKey(t.Context(), w.system, w.Tenants[0], tenants.ScopeWrite)
	require.NoError(t, err)
	w.exec(`UPDATE payonce.api_keys SET revoked_at = payonce.clock() WHERE key_sha256 = $1`, sum(revoked))

	var found [7]boundaries.Peek
	batch := &pgx.Batch{}
	boundaries.QueuePeeks(batch, []boundaries.PeekAt{
		{APIKeySHA256: sum(apiKeys[1]), Operation: payments.OperationCreate, Key: "another", Into: &found[0]},
		{APIKeySHA256: sum(apiKeys[1]), Operation: payments.OperationCreate, Key: "K", Into: &found[1]},
		{APIKeySHA256: sum(apiKeys[0]), Operation: payments.OperationConfirm, Key: "K", Into: &found[2]},
		{APIKeySHA256: sum(revoked), Operation: payments.OperationCreate, Key: "K", Into: &found[3]},
		{APIKeySHA256: sum("unknown"), Operation: payments.OperationCreate, Key: "K", Into: &found[4]},
		{APIKeySHA256: sum(apiKeys[0]), Operation: payments.OperationCreate, Key: "K", Into: &found[5]},
		{APIKeySHA256: sum(apiKeys[0]), Operation: payments.OperationCreate, Key: "K", Into: &found[6]},
	})
	require.NoError(t, w.tenant.SendBatch(t.Context(), batch).Close())
	for i, want := range map[int]payments.RecordID{1: claims[1].Record, 5: claims[0].Record, 6: claims[0].Record} {
		record, there := found[i].Found()
		require.True(t, there)
		require.Equal(t, want, record)
		require.NotZero(t, record)
	}
	for _, i := range []int{0, 2, 3, 4} {
		_, there := found[i].Found()
		require.False(t, there, "%d", i)
	}
}

func sum(key string) []byte {
	hash := sha256.Sum256([]byte(key))
	return hash[:]
}
