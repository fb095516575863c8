package worker_test

import (
	"sort"
	"testing"

	"github.com/nexus-rpc/sdk-go/nexus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"payonce/activities"
	"payonce/worker"
)

// names collects what is registered.
type names struct{ registered []string }

func (n *names) RegisterWorkflow(any) { n.registered = append(n.registered, "workflow without a name") }
func (n *names) RegisterWorkflowWithOptions(_ any, options workflow.RegisterOptions) {
	n.registered = append(n.registered, "workflow "+options.Name)
}
func (n *names) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}
func (n *names) RegisterActivity(any)                                         { n.registered = append(n.registered, "activity without a name") }
func (n *names) RegisterActivityWithOptions(_ any, options activity.RegisterOptions) {
	n.registered = append(n.registered, "activity "+options.Name)
}
func (n *names) RegisterDynamicActivity(any, activity.DynamicRegisterOptions) {}
func (n *names) RegisterNexusService(*nexus.Service)                          {}

// A rename breaks the workflows that run: the names only grow.
func TestRegisteredNamesArePinned(t *testing.T) {
	var registered names
	worker.Register(&registered, &activities.Activities{})
	sort.Strings(registered.registered)
	require.Equal(t, []string{
		"activity BackfillEvents", "activity CancelIntent", "activity CaptureIntent", "activity ConfirmIntent", "activity CreateIntent", "activity CreatePayout",
		"activity CreateProvision", "activity CreateRefund",
		"activity ReadPayment", "activity ReadPayout", "activity ReadProvision", "activity ReadRefund",
		"workflow Backfill", "workflow Payment", "workflow Payout", "workflow Provision", "workflow Refund",
	}, registered.registered)
}
