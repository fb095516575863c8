package worker_test

import (
	"flag"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/nexus-rpc/sdk-go/nexus"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"payonce/activities"
	"payonce/internal/testkit/system"
	"payonce/worker"
)

var update = flag.Bool("update", false, "record the histories anew: only with a new workflow version")

const histories = "testdata/histories"

// A payment may live for weeks: code of today must replay what code of before recorded, whatever the stage, and a hundred times alike.
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), len(stages()), "a history of each stage is recorded")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for range 100 {
				require.NoError(t, replayer().ReplayWorkflowHistoryFromJSONFile(quiet(), file))
			}
		})
	}
}

// replayer runs the workflows of today over a history.
func replayer() sdkworker.WorkflowReplayer {
	replayer := sdkworker.NewWorkflowReplayer()
	worker.Register(replayerRegistry{replayer}, &activities.Activities{})
	return replayer
}

func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

func readWorkflow(t *testing.T, s *system.System, workflow string) *historypb.History {
	t.Helper()
	history := &historypb.History{}
	events := s.App.Temporal.GetWorkflowHistory(t.Context(), workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		history.Events = append(history.Events, event)
	}
	return history
}

// replayerRegistry lets Register register workflows at a replayer, which runs no activities.
type replayerRegistry struct{ sdkworker.WorkflowReplayer }

func (replayerRegistry) RegisterActivity(any)                                         {}
func (replayerRegistry) RegisterActivityWithOptions(any, activity.RegisterOptions)    {}
func (replayerRegistry) RegisterDynamicActivity(any, activity.DynamicRegisterOptions) {}
func (replayerRegistry) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}
func (replayerRegistry) RegisterNexusService(*nexus.Service)                          {}
