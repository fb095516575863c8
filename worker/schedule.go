package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"payonce/workflows"
)

// Schedule is when Stripe's list of events is gone through.
type Schedule struct {
	TaskQueue string
	Every     time.Duration // counted from the epoch, in UTC; at least a minute in production
	Act       time.Duration // start-to-close of an act of a round
	Heartbeat time.Duration
}

// ID is the schedule's, one for each task queue.
func (s Schedule) ID() string { return workflows.NameBackfill + "/" + s.TaskQueue }

// Ensure makes Temporal start a round of the backfill every so often, or changes the schedule that is there to what is asked for. Rounds never overlap: one
// that is due while another runs is left out. After Temporal was away one round is caught up at most, since a round goes on where the one before ended.
func (s Schedule) Ensure(ctx context.Context, c client.Client) error {
	action := &client.ScheduleWorkflowAction{
		ID: s.ID(), Workflow: workflows.NameBackfill, TaskQueue: s.TaskQueue,
		Args: []any{workflows.BackfillInput{Version: 1, Act: s.Act, Heartbeat: s.Heartbeat}},
	}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: s.Every}}, TimeZoneName: "UTC"}
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: s.ID(), Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: s.Every,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return scheduleError(err)
	}
	return scheduleError(c.ScheduleClient().GetHandle(ctx, s.ID()).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(at client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			at.Description.Schedule.Spec, at.Description.Schedule.Action = &spec, action
			at.Description.Schedule.Policy.Overlap = enumspb.SCHEDULE_OVERLAP_POLICY_SKIP
			at.Description.Schedule.Policy.CatchupWindow = s.Every
			return &client.ScheduleUpdate{Schedule: &at.Description.Schedule}, nil
		},
	}))
}

func scheduleError(err error) error {
	if err != nil {
		return fmt.Errorf("schedule the backfill of events: %w", err)
	}
	return nil
}
