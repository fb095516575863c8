package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// setStage moves a payment as apply would.
func (d *door) setStage(id payments.PaymentID, stage payments.Stage) {
	d.t.Helper()
	_, err := d.system.Exec(d.t.Context(), `UPDATE payonce.payments SET stage = $2, updated_at = payonce.clock() WHERE id = $1`, id.UUID, stage)
	require.NoError(d.t, err)
}

func TestAPaymentThatTheCallerHasIsNotSentAgain(t *testing.T) {
	d := newDoor(t)
	id := d.newPayment(d.tenant)
	path := "/v1/payments/" + id.String()

	first := d.send(http.MethodGet, path, "")
	tag := first.header.Get("ETag")
	require.Regexp(t, `^"[A-Za-z0-9_-]{22}"$`, tag)
	for _, known := range [][]string{{tag}, {"W/" + tag}, {`"other", ` + tag}, {`"other"`, tag}, {"*"}} {
		got := d.send(http.MethodGet, path, "", with("If-None-Match", known...))
		require.Equal(t, http.StatusNotModified, got.status, known)
		require.Empty(t, got.body)
		require.Equal(t, tag, got.header.Get("ETag"))
		require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	}
	for _, known := range []string{`"other"`, tag[1:], "", "W/"} {
		require.Equal(t, first.body, d.send(http.MethodGet, path, "", with("If-None-Match", known)).body)
	}

	// A mark beside the status changes what is shown, and so the tag, though no status moved.
	_, err := d.system.Exec(t.Context(), `UPDATE payonce.payments SET review_reason = 'looked_at', review_since = payonce.clock() WHERE id = $1`, id.UUID)
	require.NoError(t, err)
	got := d.send(http.MethodGet, path, "", with("If-None-Match", tag))
	require.Equal(t, http.StatusOK, got.status)
	require.NotEqual(t, tag, got.header.Get("ETag"))
}

func TestAReaderWaitsNoLongerThanAsked(t *testing.T) {
	d := newDoor(t)
	path := "/v1/payments/" + d.newPayment(d.tenant).String()
	tag := d.send(http.MethodGet, path, "", with("Prefer", "wait=0")).header.Get("ETag")

	require.Equal(t, http.StatusOK, d.send(http.MethodGet, path, "", with("Prefer", "wait=1")).status)
	require.Equal(t, http.StatusNotModified, d.send(http.MethodGet, path, "", with("Prefer", "wait=1"), with("If-None-Match", tag)).status)
	for _, refused := range []string{"wait=31", "wait=-1", "wait=soon"} {
		got := d.send(http.MethodGet, path, "", with("Prefer", refused))
		require.Equal(t, http.StatusBadRequest, got.status)
		require.Equal(t, "prefer_invalid", got.problem(t).Code)
	}
}

func TestAPaymentThatIsOverIsNotWaitedFor(t *testing.T) {
	d := newDoor(t)
	id := d.newPayment(d.tenant)
	d.setStage(id, payments.StageLedgerApplied)
	path := "/v1/payments/" + id.String()

	answers := make(chan answer, 2)
	go func() {
		first := d.send(http.MethodGet, path, "", with("Prefer", "wait=30"))
		answers <- first
		answers <- d.send(http.MethodGet, path, "", with("Prefer", "wait=30"), with("If-None-Match", first.header.Get("ETag")))
	}()
	require.Equal(t, http.StatusOK, receive(t, answers).status)
	require.Equal(t, http.StatusNotModified, receive(t, answers).status)
}

// A reader who waits is answered by the change, with and without something to compare with.
func TestAReaderIsAnsweredByTheChange(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: "/v1/payment_intents/*/confirm", Point: control.BeforeEffect})
	require.NoError(t, err)
	sentAway, err := s.Post(t.Context(), s.APIKey, "/v1/payments", "K1", system.Order("order-1", 1000), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, sentAway.Status)
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	path := "/v1/payments/" + sentAway.Payment(t).ID.String()
	known := s.Get(path)

	answers := make(chan *http.Response, 2)
	for _, tag := range []string{"", known.Header.Get("ETag")} {
		go func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
			if err != nil {
				return
			}
			request.Header.Set("Authorization", "Bearer "+s.APIKey)
			request.Header.Set("Prefer", "wait=30")
			if tag != "" {
				request.Header.Set("If-None-Match", tag)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				return
			}
			_ = answer.Body.Close()
			answers <- answer
		}()
	}
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	for range 2 {
		answer := receive(t, answers)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NotEqual(t, known.Header.Get("ETag"), answer.Header.Get("ETag"))
	}
	require.Equal(t, payments.StageLedgerApplied, s.Payment(sentAway.Payment(t).ID).Stage)
}

func TestAReaderWhoHangsUpEndsTheWait(t *testing.T) {
	d := newDoor(t)
	id := d.newPayment(d.tenant)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/v1/payments/"+id.String(), nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+d.key)
	request.Header.Set("Prefer", "wait=30")
	go func() {
		<-d.requests
		hangUp()
	}()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err == nil {
		require.NoError(t, answer.Body.Close())
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return strings.Contains(d.logged(), "cut=true") }, waitForLog, pollLog)
}
