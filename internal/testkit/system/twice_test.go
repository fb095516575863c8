package system

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// answered is a line to nowhere that gives its answers in turn.
type answered struct {
	mutex   sync.Mutex
	answers []answer
	bodies  []string
}

type answer struct {
	status   int // 0: none
	body     string
	replayed bool
}

func (a *answered) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.bodies = append(a.bodies, request.Header.Get("Idempotency-Key")+" "+string(body))
	next := a.answers[0]
	a.answers = a.answers[1:]
	if next.status == 0 {
		return nil, errors.New("connection lost")
	}
	header := http.Header{}
	if next.replayed {
		header.Set("Idempotent-Replayed", "true")
	}
	return &http.Response{StatusCode: next.status, Header: header, Body: io.NopCloser(bytes.NewBufferString(next.body))}, nil
}

// complaints takes what a test would be failed with.
type complaints struct {
	testing.TB
	made []string
}

func (c *complaints) Errorf(format string, arguments ...any) {
	c.made = append(c.made, fmt.Sprintf(format, arguments...))
}

// keys give one request whose double is sent at once and one whose double follows.
func keys(t *testing.T) []string {
	t.Helper()
	var of [2]string
	for n := 0; of[0] == "" || of[1] == ""; n++ {
		request := post(t, strconv.Itoa(n))
		if atOnce(request, []byte("{}")) {
			of[0] = strconv.Itoa(n)
		} else {
			of[1] = strconv.Itoa(n)
		}
	}
	return of[:]
}

func post(t *testing.T, key string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/v1/payments", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("Idempotency-Key", key)
	return request
}

func TestTheTestSeesTheAnswerThatIsOne(t *testing.T) {
	created, again := answer{201, "paid", false}, answer{201, "paid", true}
	busy := answer{409, `{"code":"in_progress"}`, false}
	accepted, down, lost := answer{202, "open", false}, answer{503, "down", false}, answer{}
	conflict := answer{409, `{"code":"reference_conflict"}`, false}
	for name, tc := range map[string]struct {
		answers    [2]answer
		sees       answer
		complaints int
		either     bool // when both are sent at once
	}{
		"one outcome, byte for byte":             {[2]answer{created, again}, created, 0, false},
		"the double waits for the first":         {[2]answer{created, busy}, created, 0, false},
		"the double was first":                   {[2]answer{busy, created}, created, 0, false},
		"both wait for somebody else":            {[2]answer{busy, busy}, busy, 0, false},
		"no outcome yet":                         {[2]answer{accepted, busy}, accepted, 0, false},
		"no outcome, then one":                   {[2]answer{accepted, again}, accepted, 0, false},
		"a dependency goes down":                 {[2]answer{created, down}, created, 0, true},
		"one answer is lost":                     {[2]answer{lost, created}, created, 0, false},
		"the answer is lost, the double waits":   {[2]answer{lost, busy}, lost, 0, false},
		"both are lost":                          {[2]answer{lost, lost}, lost, 0, false},
		"a conflict that time resolves":          {[2]answer{conflict, created}, conflict, 0, true},
		"other bytes":                            {[2]answer{created, {201, "paid twice", true}}, created, 1, false},
		"another status":                         {[2]answer{created, {402, "paid", true}}, created, 1, false},
		"another status of a definite refusal":   {[2]answer{{402, "no", false}, {201, "no", true}}, answer{402, "no", false}, 1, false},
		"a create that shows the payment as now": {[2]answer{{200, "now", false}, {200, "later", false}}, answer{200, "now", false}, 0, true},
	} {
		for order, key := range keys(t) {
			t.Run(name+"/"+strconv.Itoa(order), func(t *testing.T) {
				line := &answered{answers: tc.answers[:]}
				heard := &complaints{TB: t}
				response, err := (&twice{t: heard, next: line}).RoundTrip(post(t, key))
				require.Equal(t, []string{key + " {}", key + " {}"}, line.bodies)
				require.Len(t, heard.made, tc.complaints)
				if tc.sees.status == 0 {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				defer func() { _ = response.Body.Close() }()
				seen, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				if tc.either && order == 0 {
					require.Contains(t, []string{tc.answers[0].body, tc.answers[1].body}, string(seen))
					return
				}
				require.Equal(t, tc.sees.body, string(seen))
			})
		}
	}
}
