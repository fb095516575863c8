package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// shop is an API that is right, unless it forgets.
type shop struct {
	forgets bool // neither keys nor references: each request makes a payment

	mutex    sync.Mutex
	payments map[string]string // by reference
	keys     map[string]bool
	made     int
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Reference string `json:"reference"`
	}
	if json.NewDecoder(r.Body).Decode(&order) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	body := s.payments[order.Reference]
	if body == "" || s.forgets {
		s.made++
		body = fmt.Sprintf(`{"id":%q,"status":"succeeded"}`, uuid.NewString())
		s.payments[order.Reference] = body
	}
	key := r.Header.Get("Idempotency-Key")
	if s.keys[key] {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	s.keys[key] = true
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(body))
}

func buyAt(t *testing.T, s *shop, style Style) Outcome {
	t.Helper()
	s.payments, s.keys = map[string]string{}, map[string]bool{}
	return buy(t.Context(), serve(t, s), Order{Number: 1, Reference: "run-1-order-1", Style: style})
}

func TestEveryStyleFindsNothingWrongWithAnAPIThatIsRight(t *testing.T) {
	for _, style := range []Style{StylePlain, StyleDuplicate, StyleConcurrent, StyleFreshKeys, StyleImpatient, StyleNoWait} {
		s := &shop{}
		outcome := buyAt(t, s, style)
		require.Empty(t, outcome.Problems, style)
		require.Equal(t, 1, s.made, style)
		require.NotEqual(t, uuid.Nil, outcome.Payment.ID.UUID, style)
	}
}

func TestStylesCountWhatTheyProved(t *testing.T) {
	require.Equal(t, 2, buyAt(t, &shop{}, StyleDuplicate).Duplicates)
	require.Equal(t, 5, buyAt(t, &shop{}, StyleConcurrent).AtOnce)
	require.Equal(t, 2, buyAt(t, &shop{}, StyleFreshKeys).FreshKeys)
	require.NotZero(t, buyAt(t, &shop{}, StyleImpatient).GaveUp)
}

func TestStylesSeeAnAPIThatForgets(t *testing.T) {
	for _, style := range []Style{StyleDuplicate, StyleConcurrent, StyleFreshKeys} {
		outcome := buyAt(t, &shop{forgets: true}, style)
		require.NotEmpty(t, outcome.Problems, style)
	}
}

func TestEveryOrderIsBoughtAndReported(t *testing.T) {
	s := &shop{payments: map[string]string{}, keys: map[string]bool{}}
	mixed := Mix(1, 1)[:40]
	var mutex sync.Mutex
	done := 0
	outcomes := checkout(t.Context(), serve(t, s), mixed, func() { mutex.Lock(); done++; mutex.Unlock() })
	require.Equal(t, len(mixed), done)
	require.Equal(t, len(mixed), s.made)
	for i, outcome := range outcomes {
		require.Equal(t, mixed[i].Reference, outcome.Order.Reference)
		require.Empty(t, outcome.Problems)
	}
}
