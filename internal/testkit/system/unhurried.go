package system

import (
	"time"

	"payonce/internal/app"
)

// Unhurried is an Option: tries and workflow tasks have time enough on any machine, for tests in which a try that times out would be another story.
func Unhurried(c *app.Config) {
	c.Timing.FirstSend, c.Timing.LocalTry, c.Timing.WorkflowTask = 20*time.Second, 21*time.Second, 25*time.Second
	c.Timing.Send, c.Timing.Try, c.Timing.Lease, c.Timing.EventLease = 40*time.Second, 44*time.Second, 50*time.Second, 50*time.Second
}
