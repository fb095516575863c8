package recovery_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/app"
	"payonce/internal/testkit/pg"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// killedCommand is a command whose worker is killed while it is under way.
type killedCommand struct {
	name    string
	prepare func(o *killing) // brings about what the command is about, and sets the path
	body    map[string]any
	stripes string             // the path of its call
	row     string             // what the commit that ends it writes
	effects func(*killing) int // how often Stripe did it
}

// killing is one command under way in a system of its own.
type killing struct {
	*testing.T

	s       *system.System
	path    string // of the command
	payment payments.View
}

func (o *killing) hold(members map[string]any) {
	order := system.With(system.Order("order-1", 1000), "capture_method", "manual")
	for name, value := range members {
		order = system.With(order, name, value)
	}
	o.payment = o.s.Create("K1", order).Payment(o)
	require.Equal(o, payments.StatusRequiresCapture, o.payment.Status)
	o.path = "/v1/payments/" + o.payment.ID.String() + "/capture"
}

func (o *killing) pay() {
	o.payment = o.s.Create("K1", system.Order("order-1", 1000)).Payment(o)
	require.Equal(o, payments.StatusSucceeded, o.payment.Status)
}

func (o *killing) captures() int { return o.s.Book(o.payment.ID).CapturesExecuted }

// killedCommands are the commands beside those that make a payment.
func killedCommands() []killedCommand {
	const capture = "/v1/payment_intents/*/capture"
	at := func(path string) func(*killing) { return func(o *killing) { o.path = path } }
	return []killedCommand{
		{"a capture", func(o *killing) { o.hold(nil) }, map[string]any{}, capture, "ledger_journals", (*killing).captures},
		{
			"a capture of a part", func(o *killing) { o.hold(map[string]any{"multicapture": true}) },
			map[string]any{"amount": 400, "reference": "parcel-1", "final": false}, capture, "ledger_journals", (*killing).captures,
		},
		{
			"a refund", func(o *killing) { o.pay(); o.path = "/v1/payments/" + o.payment.ID.String() + "/refunds" },
			map[string]any{"amount": 300, "reference": "item-1"}, "/v1/refunds", "payonce.refunds",
			func(o *killing) int { return len(o.s.Book(o.payment.ID).Refunds) },
		},
		{
			"a payout", func(o *killing) {
				o.pay()
				o.s.DB.AdvanceClock(o, 72*time.Hour) // then Stripe has released the money
				o.path = "/v1/payouts"
			},
			map[string]any{"reference": "week-1", "amount": 500, "currency": "usd"}, "/v1/payouts", "payonce.payouts",
			func(o *killing) int {
				all, err := o.s.Twin.AllPayouts(o.Context(), system.AccountID)
				require.NoError(o, err)
				return len(all)
			},
		},
		{
			"a customer", at("/v1/customers"), map[string]any{"owner": "owner-1"}, "/v1/customers", "payonce.provisions",
			func(o *killing) int {
				all, err := o.s.Twin.AllCustomers(o.Context(), system.AccountID)
				require.NoError(o, err)
				return len(all)
			},
		},
		{
			"a connected account", at("/v1/connected_accounts"), map[string]any{"owner": "owner-1", "currency": "usd", "country": "US"}, "/v1/accounts",
			"payonce.provisions",
			func(o *killing) int {
				all, err := o.s.Twin.AllConnectedAccounts(o.Context(), system.AccountID)
				require.NoError(o, err)
				return len(all)
			},
		},
	}
}

// killPoint is where a command's worker dies.
type killPoint struct {
	name string
	at   string // of the call: control.BeforeEffect or control.AfterEffect
	cut  pg.Cut // of the commit that ends it
}

func killPoints() []killPoint {
	return []killPoint{
		{name: "before the effect, which comes all the same", at: control.BeforeEffect},
		{name: "after the effect", at: control.AfterEffect},
		{name: "after the commit", cut: pg.Cut{Times: 1000}},
		{name: "before the commit", cut: pg.Cut{Times: 1000, Unheard: true}},
	}
}

// A worker dies while a command is under way, whatever the command and wherever it is: the next worker ends it, Stripe has done it once, and the caller who
// asks again hears so.
func TestAWorkerKilledWithinAnyCommandIsFollowed(t *testing.T) {
	t.Parallel()
	for _, command := range killedCommands() {
		for _, point := range killPoints() {
			t.Run(command.name+", "+point.name, func(t *testing.T) {
				t.Parallel()
				var cutter *pg.CommitCutter
				s := system.New(t, func(c *app.Config) {
					cutter = pg.NewCommitCutter(t, c.DatabaseURL)
					c.DatabaseURL = cutter.URL // of the processes
				})
				s.StartAPI()
				worker := s.WorkerProcess()
				under := &killing{T: t, s: s}
				command.prepare(under)
				s.Settle()

				killed := point.arm(under, command, cutter)
				answer, err := s.Post(t.Context(), s.APIKey, under.path, "K2", command.body, "wait=0")
				require.NoError(t, err)
				require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
				killed(worker.Kill)
				s.WorkerProcess()
				s.Eventually("the command has its outcome", func() bool {
					answer, err = s.Post(t.Context(), s.APIKey, under.path, "K2", command.body, "wait=20")
					require.NoError(t, err)
					return answer.Status != http.StatusAccepted && answer.Status != http.StatusConflict
				})
				require.Less(t, answer.Status, http.StatusBadRequest, "%s", answer.Body)
				s.Settle()
				require.Equal(t, 1, command.effects(under))
				for _, send := range s.Requests(http.MethodPost, command.stripes) {
					require.Equal(t, s.Requests(http.MethodPost, command.stripes)[0].IdempotencyKey, send.IdempotencyKey)
				}
			})
		}
	}
}

// arm makes the point come; the result waits until it has, kills, and lets go.
func (p killPoint) arm(o *killing, command killedCommand, cutter *pg.CommitCutter) (killed func(kill func())) {
	if p.at == "" {
		p.cut.After = command.row
		cutter.Arm(p.cut)
		return func(kill func()) {
			o.s.Eventually("the commit is cut", func() bool { return cutter.Fired() > 0 })
			kill()
			cutter.Arm(pg.Cut{})
		}
	}
	hold, err := o.s.Twin.Hold(o.Context(), control.Hold{Method: http.MethodPost, Path: command.stripes, Point: p.at})
	require.NoError(o, err)
	return func(kill func()) {
		_, err := o.s.Twin.Held(o.Context(), 1)
		require.NoError(o, err)
		kill()
		require.NoError(o, o.s.Twin.Release(o.Context(), hold.ID))
	}
}
