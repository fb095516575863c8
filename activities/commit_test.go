package activities_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/pg"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// The transaction that moves the payment, posts and queues the message commits, and its reply is lost: the act is tried again and finds that all
// of it is done. When the COMMIT never arrived, it finds that none of it is.
func TestALostCommitReplyOfAnApplyIsNoSecondEffect(t *testing.T) {
	for name, cut := range map[string]pg.Cut{
		"the reply is lost":      {Times: 1, After: "ledger_journals"},
		"the COMMIT is lost":     {Times: 1, After: "ledger_journals", Unheard: true},
		"every reply for a time": {Times: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cutter *pg.CommitCutter
			s := system.New(t, func(c *app.Config) {
				cutter = pg.NewCommitCutter(t, c.SystemDatabaseURL)
				c.SystemDatabaseURL = cutter.URL
			})
			s.StartAPI()
			s.StartWorker()
			s.Fault(control.Rule{Match: control.Match{EventType: "charge.*"}, Fault: control.FaultDrop})
			cutter.Arm(cut)
			var answer system.Answer
			s.Eventually("the caller has its outcome", func() bool {
				answer = s.Create("K1", system.Order("order-1", 1000))
				return answer.Status == http.StatusCreated
			})
			payment := answer.Payment(t)
			require.Equal(t, payments.StatusSucceeded, payment.Status)
			s.Eventually("the faults fired", func() bool { return cutter.Fired() == cut.Times || cut.After == "" && cutter.Fired() > 1 })
			s.Settle()
			require.Equal(t, 1, s.Book(payment.ID).ConfirmsExecuted)
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.ledger_journals`))
			require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.notifications`))
			require.Len(t, s.Receiver.Of(t, payment.ID.String()), 1)
			again := s.Create("K1", system.Order("order-1", 1000))
			require.True(t, again.Replayed())
			require.Equal(t, answer.Body, again.Body)
		})
	}
}
