package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// shop is an API that is right, unless it forgets. Every create succeeds but where a status is given.
type shop struct {
	forgets bool // neither keys nor references: each request makes a payment, a capture or a refund
	status  payments.Status

	mutex    sync.Mutex
	payments map[string]string // by reference
	keys     map[string]bool
	made     int
	further  map[string]string // answers to captures, cancels and refunds, by their path and reference, else key
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
	key := r.Header.Get("Idempotency-Key")
	if r.URL.Path != "/v1/payments" {
		s.goOn(w, r.URL.Path, order.Reference, key)
		return
	}
	body := s.payments[order.Reference]
	if body == "" || s.forgets {
		s.made++
		status := s.status
		if status == "" {
			status = payments.StatusSucceeded
		}
		body = fmt.Sprintf(`{"id":%q,"status":%q}`, uuid.NewString(), status)
		s.payments[order.Reference] = body
	}
	if s.keys[key] {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	s.keys[key] = true
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(body))
}

// goOn answers a capture, a cancel or a refund.
func (s *shop) goOn(w http.ResponseWriter, path, reference, key string) {
	name := path
	if reference != "" || strings.HasSuffix(path, "/refunds") {
		name += "/" + cmp.Or(reference, key)
	}
	if s.further[name] == "" || s.forgets {
		s.further[name] = fmt.Sprintf(`{"id":%q}`, uuid.NewString())
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(s.further[name]))
}

// opened is the shop before its first order.
func (s *shop) opened() *shop {
	s.payments, s.keys, s.further = map[string]string{}, map[string]bool{}, map[string]string{}
	return s
}

func buyAt(t *testing.T, s *shop, style Style) Outcome {
	t.Helper()
	return buy(t.Context(), serve(t, s.opened()), Order{Number: 1, Reference: "run-1-order-1", Style: style})
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
	s := (&shop{}).opened()
	mixed := slices.DeleteFunc(Mix(1, 1), func(o Order) bool { return o.Answered() != payments.StatusSucceeded })[:40]
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

// Each plan asks for what it says and no more, whatever the style: a capture, a cancel or a refund sent again is the same.
func TestEveryPlanAsksForItsCommandsOnce(t *testing.T) {
	for _, planned := range Plans() {
		for _, style := range []Style{StylePlain, StyleDuplicate, StyleConcurrent, StyleFreshKeys} {
			order := Order{Number: 1, Reference: "run-1-order-1", Amount: 900, Currency: "usd", Plan: planned.Plan, Style: style}
			s := (&shop{status: order.Answered()}).opened()
			outcome := buy(t.Context(), serve(t, s), order)
			require.Empty(t, outcome.Problems, "%s, %s", planned.Plan, style)
			require.Len(t, s.further, outcome.Further, "%s, %s", planned.Plan, style)
			if style == StyleConcurrent {
				require.Equal(t, 2*outcome.Further, outcome.Repeated, planned.Plan)
			}
		}
	}
}

func TestACommandThatIsMadeTwiceIsSeen(t *testing.T) {
	for _, style := range []Style{StyleDuplicate, StyleConcurrent, StyleFreshKeys} {
		order := Order{Number: 1, Reference: "run-1-order-1", Amount: 900, Currency: "usd", Plan: PlanPart, Style: style}
		s := (&shop{status: order.Answered(), forgets: true}).opened()
		b := &buyer{client: serve(t, s), outcome: Outcome{Order: order}}
		b.goOn(t.Context())
		require.NotEmpty(t, b.outcome.Problems, style)
	}
}

func TestACommandThatIsRefusedIsSeen(t *testing.T) {
	b := &buyer{client: serve(t, says(http.StatusConflict, `{"code":"amount_too_large"}`)), outcome: Outcome{Order: Order{Plan: PlanRefund}}}
	b.goOn(t.Context())
	require.Len(t, b.outcome.Problems, 1)
	require.Contains(t, b.outcome.Problems[0], "answered 409")
}
