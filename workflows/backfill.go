package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// BackfillInput starts a round of the backfill.
type BackfillInput struct {
	Version   int           `json:"version"`   // 1
	Act       time.Duration `json:"act"`       // start-to-close of an act
	Heartbeat time.Duration `json:"heartbeat"` // an act that is not heard of for so long is begun again
}

// BackfillAct asks for a bounded piece of the round.
type BackfillAct struct {
	Version int `json:"version"` // 1
}

// BackfillStep is what came of it. It crosses into Temporal.
type BackfillStep struct {
	Version int  `json:"version"` // 1
	Found   int  `json:"found"`   // events that no delivery had brought
	More    bool `json:"more"`    // there is more to go through
}

// Backfill goes through Stripe's list of events until now; a schedule starts it. What an act has stored stays, and the next round begins where this one
// ends: an act that fails a few times is left to it.
func Backfill(ctx workflow.Context, input BackfillInput) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: input.Act, HeartbeatTimeout: input.Heartbeat,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: 3},
	})
	for {
		var step BackfillStep
		if err := workflow.ExecuteActivity(ctx, NameBackfillEvents, BackfillAct{Version: 1}).Get(ctx, &step); err != nil {
			return err
		}
		if !step.More {
			return nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, NameBackfill, input)
		}
	}
}
