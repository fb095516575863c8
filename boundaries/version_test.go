package boundaries_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
)

// Bytes of one API version are sent under it, also when the next deploy speaks another.
func TestACallStaysWithTheAPIVersionItWasFrozenWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	freeze := w.freeze(w.prepared("order-1"), workflow)
	require.Equal(t, stripeapi.APIVersion, w.begin(freeze).Version)
	freeze.Version = "2030-01-01"
	require.Equal(t, stripeapi.APIVersion, w.begin(freeze).Version)
}
