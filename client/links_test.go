package client_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever links the client links little.
func TestTheClientNeedsNoMoreThanTheStandardLibraryAndUUID(t *testing.T) {
	t.Parallel()
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"github.com/google/uuid", "payonce/payments", "payonce/client"}, strings.Fields(string(listed)))
}
