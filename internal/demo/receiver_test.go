package demo

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"payonce/internal/devstack"
)

const receiverSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // of the specification's example

// deliver delivers a message, signed now.
func deliver(t *testing.T, r *receiver, id, body string) int {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(receiverSecret)
	require.NoError(t, err)
	at := time.Now()
	signature, err := signer.Sign(id, at, []byte(body))
	require.NoError(t, err)
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	header.Set("webhook-signature", signature)
	return r.take(devstack.Message{ID: id, Header: header, Body: []byte(body)})
}

// inMood finds an id whose first delivery goes so.
func inMood(r *receiver, want mood) string {
	for i := 0; ; i++ {
		if id := "message-" + strconv.Itoa(i); r.moodOf(id) == want {
			return id
		}
	}
}

func trusting(t *testing.T) *receiver {
	t.Helper()
	r := newReceiver(1)
	require.NoError(t, r.trust(receiverSecret))
	return r
}

func TestReceiverRefusesOrLosesSomeFirstDeliveriesAndTakesEachMessageOnce(t *testing.T) {
	r := trusting(t)
	for _, want := range []struct {
		mood  mood
		first int
	}{{takes, 200}, {refuses, 500}, {loses, 504}} {
		id := inMood(r, want.mood)
		require.Equal(t, want.first, deliver(t, r, id, `{}`))
		require.Equal(t, 200, deliver(t, r, id, `{}`))
	}
	count, problems := r.count()
	require.Empty(t, problems)
	require.Equal(t, ReceiverCount{Taken: 3, Refused: 1, Lost: 1, Duplicates: 2}, count, "the refused one was not taken before")
	require.Len(t, r.received(), 5)
}

func TestReceiverSeesOtherBytesUnderOneID(t *testing.T) {
	r := trusting(t)
	id := inMood(r, takes)
	deliver(t, r, id, `{"a":1}`)
	deliver(t, r, id, `{"a":2}`)
	_, problems := r.count()
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "other bytes")
}

func TestReceiverRefusesWhatIsNotSignedAndWaitsForItsSecret(t *testing.T) {
	require.Equal(t, 503, deliver(t, newReceiver(1), "m", `{}`))
	r := trusting(t)
	require.Equal(t, 401, r.take(devstack.Message{ID: "m", Header: http.Header{}, Body: []byte(`{}`)}))
	_, problems := r.count()
	require.Len(t, problems, 1)
}
