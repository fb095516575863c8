// Package temporal connects a test to the Temporal server for tests and keeps it
// apart from the other tests there: a task queue of its own, and where fixed
// workflow ids could meet, a namespace of its own.
//
// Without a server the test fails and says what to run. It imports the Temporal
// SDK and the test kit's services; it must not know any workflow.
package temporal

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"payonce/internal/testkit/services"
)

// Client is a client of the shared namespace, closed after the test.
func Client(t testing.TB) client.Client {
	t.Helper()
	return ClientIn(t, services.Namespace)
}

// ClientIn is a client of the namespace, closed after the test. Of the SDK's log
// only errors are shown.
func ClientIn(t testing.TB, namespace string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort:  Address(t),
		Namespace: namespace,
		Logger:    quiet(),
	})
	require.NoError(t, err, "is the stack up? go run ./internal/testkit/teststack up")
	t.Cleanup(c.Close)
	return c
}

// Address is host:port of the server, for a system that a test builds from its
// configuration.
func Address(t testing.TB) string {
	t.Helper()
	address, err := services.Temporal()
	require.NoError(t, err)
	return address
}

// TaskQueue is a task queue that no other test and no other run has.
func TaskQueue(t testing.TB) string {
	t.Helper()
	return unique(t)
}

// Namespace creates a namespace that no other test has. It is for a test that
// starts workflows under ids that another test may use too; workflow ids are
// unique per namespace, and test databases are not.
func Namespace(t testing.TB) string {
	t.Helper()
	name := unique(t)
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: Address(t), Logger: quiet()})
	require.NoError(t, err, "is the stack up? go run ./internal/testkit/teststack up")
	defer namespaces.Close()
	require.NoError(t, namespaces.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace:                        name,
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	}))
	return name
}

func unique(t testing.TB) string {
	t.Helper()
	t.Helper()
	name := strings.NewReplacer("/", "-", " ", "-", "#", "-").Replace(t.Name())
	return name[:min(len(name), 60)] + "-" + uuid.NewString()[:13]
}

// quiet logs errors alone; to stderr, because the SDK may log after the test.
func quiet() log.Logger {
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
}
