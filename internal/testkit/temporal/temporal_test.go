package temporal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"payonce/internal/testkit/temporal"
)

func TestAWorkflowRunsOnTheTestsOwnTaskQueue(t *testing.T) {
	t.Parallel()
	runWorkflow(t, temporal.Client(t))
}

func TestANamespaceOfItsOwnCanBeUsedAtOnce(t *testing.T) {
	t.Parallel()
	runWorkflow(t, temporal.ClientIn(t, temporal.Namespace(t)))
}

func TestTaskQueuesAreNeverShared(t *testing.T) {
	t.Parallel()
	one, other := temporal.TaskQueue(t), temporal.TaskQueue(t)
	require.NotEqual(t, one, other)
}

func runWorkflow(t *testing.T, c client.Client) {
	t.Helper()
	queue := temporal.TaskQueue(t)
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(echo, workflow.RegisterOptions{Name: "echo"})
	require.NoError(t, w.Start())
	defer w.Stop()

	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: queue, TaskQueue: queue}, "echo", "hello")
	require.NoError(t, err)
	var said string
	require.NoError(t, run.Get(t.Context(), &said))
	require.Equal(t, "hello", said)
}

func echo(_ workflow.Context, text string) (string, error) { return text, nil }
