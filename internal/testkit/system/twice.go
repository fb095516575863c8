package system

import (
	"bytes"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TwiceVariable switches on the standing mode in which every POST to payonce is sent twice, a client's and Stripe's alike. The suite passes
// unchanged: that somebody repeats is no case of its own.
const TwiceVariable = "PAYONCE_TEST_TWICE"

// once are the tests that send what they say and no more, each with its reason. A test under a name here is run as without the mode.
func once() map[string]string {
	return map[string]string{
		"TestTheTimelineTellsEveryStepOfTheFourBoundaries": "it counts the repeats that the timeline shows",
	}
}

// sendsTwice tells whether the test runs in the mode, and says so in its log.
func sendsTwice(t testing.TB) bool {
	t.Helper()
	if os.Getenv(TwiceVariable) == "" {
		return false
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	if reason, exempt := once()[name]; exempt {
		t.Logf("%s: not in this test, since %s", TwiceVariable, reason)
		return false
	}
	t.Logf("%s: every POST to payonce is sent twice", TwiceVariable)
	return true
}

// carrier is what carries the test's requests to payonce, and how often it sends a POST.
func carrier(t testing.TB) (client *http.Client, times int) {
	t.Helper()
	if sendsTwice(t) {
		return &http.Client{Transport: &twice{t: t, next: http.DefaultTransport}}, 2
	}
	return http.DefaultClient, 1
}

// twice is a line to payonce on which every POST arrives twice with the same bytes: at once, or the second after the answer to the first. Which
// of them, its content decides, so that a run can be repeated.
type twice struct {
	t    testing.TB
	next http.RoundTripper
}

// sending is one of the two and its answer.
type sending struct {
	response *http.Response
	body     []byte
	err      error
}

// RoundTrip gives the answer that a client without a double would have: the first that is not 409 in_progress.
func (w *twice) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPost || request.Body == nil {
		return w.next.RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	if err != nil {
		return nil, err
	}
	var first, second sending
	if atOnce(request, body) {
		arriving := make(chan sending, 2)
		for range 2 {
			go func() { arriving <- w.send(request, body) }()
		}
		if first, second = <-arriving, <-arriving; first.replayed() && !second.replayed() {
			first, second = second, first
		}
	} else {
		first = w.send(request, body)
		second = w.send(request, body)
	}
	w.compare(request, first, second)
	if first.sentAway() && (first.err == nil || !second.sentAway()) {
		first = second
	}
	return first.response, first.err
}

// atOnce says how the two follow each other.
func atOnce(request *http.Request, body []byte) bool {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, request.URL.Path+request.Header.Get("Idempotency-Key"))
	_, _ = sum.Write(body)
	return sum.Sum32()%2 == 0
}

func (w *twice) send(request *http.Request, body []byte) sending {
	sent := request.Clone(request.Context())
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := w.next.RoundTrip(sent)
	if err != nil {
		return sending{err: err}
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(answer))
	return sending{response: response, body: answer, err: err}
}

func (s sending) status() int {
	if s.err != nil {
		return 0
	}
	return s.response.StatusCode
}

// sentAway tells whether there was no answer, or 409 in_progress, which is none.
func (s sending) sentAway() bool {
	return s.err != nil || s.status() == http.StatusConflict && bytes.Contains(s.body, []byte(`"in_progress"`))
}

// replayed tells whether the answer came from memory; the client's own did not.
func (s sending) replayed() bool {
	return s.err == nil && s.response.Header.Get("Idempotent-Replayed") != ""
}

// compare holds that both are told one outcome, byte for byte. Who was told that there is none yet, or that a dependency is down, is told of
// the outcome later.
func (w *twice) compare(request *http.Request, first, second sending) {
	if !first.outcome(request) || !second.outcome(request) {
		return
	}
	if first.status() != second.status() || !bytes.Equal(first.body, second.body) {
		w.t.Errorf("%s was sent twice and answered twice:\n%d %s\n%d %s", request.URL.Path, first.status(), first.body, second.status(), second.body)
	}
}

// outcome tells whether the answer is a command's stored one. A create that is answered 200 shows the payment as it is now.
func (s sending) outcome(request *http.Request) bool {
	switch s.status() {
	case http.StatusCreated, http.StatusPaymentRequired:
		return true
	case http.StatusOK:
		return request.URL.Path != "/v1/payments"
	default:
		return false
	}
}

// doorOf is where Stripe sends its events for the API at address: in this mode a relay that passes each on twice.
func (s *System) doorOf(address string) string {
	doubled, ok := s.HTTP.Transport.(*twice)
	if !ok {
		return address + "/webhooks/stripe"
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		onwards, err := http.NewRequestWithContext(r.Context(), r.Method, address+r.URL.RequestURI(), r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		onwards.Header = r.Header.Clone()
		response, err := doubled.RoundTrip(onwards)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = response.Body.Close() }()
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body)
	}))
	s.t.Cleanup(func() {
		relay.CloseClientConnections()
		relay.Close()
	})
	return relay.URL + "/webhooks/stripe"
}
