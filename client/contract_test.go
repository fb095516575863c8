package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// A code that the API does not know would never be met, and a checkout would wait for it in vain.
func TestEveryCodeIsOneOfTheAPI(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "api", "openapi.yaml"))
	require.NoError(t, err)
	documented := regexp.MustCompile("`[a-z_]+`").FindAllString(string(document), -1)
	for _, code := range []client.Code{
		client.CodeInProgress, client.CodeReferenceConflict, client.CodeReferenceEnded, client.CodeReplacesUnknown, client.CodePaymentSucceeded,
		client.CodePaymentEnded, client.CodeUnexpectedState, client.CodeProviderRefused, client.CodePaymentNotFound, client.CodeKeyReused,
		client.CodeKeyInvalid, client.CodeFieldInvalid, client.CodeParameterInvalid, client.CodeCardDataRefused, client.CodeUnauthorized,
		client.CodeForbiddenScope, client.CodeUnavailable, client.CodeAmountTooLarge, client.CodeRefundNotFound, client.CodeExpiredUnsent, client.CodePayoutNotFound,
		client.CodeDisputeNotFound, client.CodeOwnerConflict, client.CodeProvisionNotFound,
	} {
		require.Contains(t, documented, "`"+string(code)+"`")
	}
}
