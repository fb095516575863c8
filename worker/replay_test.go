package worker_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-rpc/sdk-go/nexus"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/worker"
)

var update = flag.Bool("update", false, "record the histories anew: only with a new workflow version")

const histories = "testdata/histories"

// A payment may live for weeks: code of today must replay what code of before recorded.
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 2, "the histories of success and decline are recorded")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			replayer := sdkworker.NewWorkflowReplayer()
			worker.Register(replayerRegistry{replayer}, &activities.Activities{})
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file))
		})
	}
}

// Each history of the repository comes from a run of the whole system.
func TestPaymentsLeaveReplayableHistories(t *testing.T) {
	s := system.Start(t)
	for name, method := range map[string]string{"succeeded": "pm_card_visa", "declined": "pm_card_chargeDeclined"} {
		answer := s.Create("key-"+name, system.With(system.Order("order-"+name, 1000), "payment_method", method))
		require.Equal(t, 201, answer.Status, "%s", answer.Body)
		payment := answer.Payment(t)
		var history *historypb.History
		s.Eventually("the workflow is at rest", func() bool {
			history = read(t, s, payment.ID)
			last := history.Events[len(history.Events)-1].EventType
			waits := last == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED || last == enumspb.EVENT_TYPE_MARKER_RECORDED
			return last == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED || payment.Status != payments.StatusSucceeded && waits
		})
		replayer := sdkworker.NewWorkflowReplayer()
		worker.Register(replayerRegistry{replayer}, &activities.Activities{})
		require.NoError(t, replayer.ReplayWorkflowHistory(nil, history))
		if *update {
			body, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(history)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(histories, name+".json"), append(body, '\n'), 0o644))
		}
	}
}

func read(t *testing.T, s *system.System, payment payments.PaymentID) *historypb.History {
	t.Helper()
	history := &historypb.History{}
	events := s.App.Temporal.GetWorkflowHistory(t.Context(), boundaries.PaymentWorkflowID(payment), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
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
