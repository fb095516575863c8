package recovery_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// outage is something that payonce needs and that is away for a while.
type outage struct {
	begin  func(s *system.System)
	end    func(s *system.System)
	status int // what a caller is told meanwhile
}

// That something is down is no outcome: the caller is told to come back, and with the same key it gets what comes of its command once all is well.
func TestAnOutageIsNoAnswer(t *testing.T) {
	for name, down := range map[string]outage{
		"Temporal is down": {
			func(s *system.System) {
				temporal := s.Config.TemporalAddress
				s.Config.TemporalAddress = nowhere
				s.App = s.Open()
				s.Config.TemporalAddress = temporal
				s.StartAPI()
			},
			func(s *system.System) {
				s.App = s.Open()
				s.StartAPI()
				s.StartWorker()
			},
			http.StatusAccepted,
		},
		"the database is down": {
			func(s *system.System) {
				s.StartAPI()
				s.StartWorker()
				s.Exec(`ALTER DATABASE "` + s.DB.Name + `" CONNECTION LIMIT 0`)
				s.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'payonce_tenant'`)
			},
			func(s *system.System) { s.Exec(`ALTER DATABASE "` + s.DB.Name + `" CONNECTION LIMIT -1`) },
			http.StatusServiceUnavailable,
		},
		"Stripe is down": {
			func(s *system.System) {
				s.StartAPI()
				s.StartWorker()
				s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost}, Fault: control.FaultErrorBefore, Status: http.StatusServiceUnavailable})
			},
			func(s *system.System) { _ = s.Twin.DeleteFault(t.Context(), "") },
			http.StatusAccepted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.New(t)
			down.begin(s)
			for range 2 {
				told, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K", system.Order("order-1", 1000), "wait=1")
				require.NoError(t, err)
				require.Equal(t, down.status, told.Status, "%s", told.Body)
				require.NotEmpty(t, told.Header.Get("Retry-After"))
				require.False(t, told.Replayed())
			}
			down.end(s)
			require.Zero(t, s.Count(`SELECT count(*) FROM payonce.idempotency_keys WHERE response_code <> 201`), "what was told is not stored")
			answer := s.Create("K", system.Order("order-1", 1000))
			require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
			require.Equal(t, payments.StatusSucceeded, answer.Payment(t).Status)
			require.Equal(t, answer.Body, s.Create("K", system.Order("order-1", 1000)).Body)
			require.Equal(t, 1, s.Book(answer.Payment(t).ID).ConfirmsExecuted)
		})
	}
}
