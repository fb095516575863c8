package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/seal"
)

func sealer(t *testing.T) *seal.Sealer {
	t.Helper()
	keyset, err := seal.NewKeyset()
	require.NoError(t, err)
	made, err := seal.New(keyset)
	require.NoError(t, err)
	return made
}

func TestWhatIsSealedOpensOnlyInItsColumnAndUnderItsKey(t *testing.T) {
	s := sealer(t)
	sealed, err := s.Seal("payments.client_secret", []byte("pi_secret"))
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "pi_secret")
	plain, err := s.Open("payments.client_secret", sealed)
	require.NoError(t, err)
	require.Equal(t, "pi_secret", string(plain))
	_, err = s.Open("payments.receipt_email", sealed)
	require.Error(t, err, "another column")
	_, err = sealer(t).Open("payments.client_secret", sealed)
	require.Error(t, err, "another key")
	sealed[len(sealed)-1]++
	_, err = s.Open("payments.client_secret", sealed)
	require.Error(t, err, "altered")
}

func TestNothingStaysNothing(t *testing.T) {
	s := sealer(t)
	sealed, err := s.Seal("column", nil)
	require.NoError(t, err)
	require.Nil(t, sealed)
	plain, err := s.Open("column", nil)
	require.NoError(t, err)
	require.Nil(t, plain)
}

func TestAKeysetThatIsNoneIsRefused(t *testing.T) {
	_, err := seal.New([]byte("{}"))
	require.Error(t, err)
}
