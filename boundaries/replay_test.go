package boundaries_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/boundaries"
	"payonce/payments"
)

// Whatever the outcome was, every caller is sent the same bytes with the same status, also after the payment has gone on.
func TestAnOutcomeIsReplayedByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, outcome := range []struct {
		name    string
		settle  func(string)
		code    int
		content string
		says    string
	}{
		{"success", func(reference string) { w.succeed(reference, 1000) }, 201, "application/json", `"status":"succeeded"`},
		{"decline", w.decline, 201, "application/json", `"decline_code":"insufficient_funds"`},
		{"refusal", w.refuse, 402, "application/problem+json", `"code":"provider_refused"`},
		{"expiry", w.expire, 409, "application/problem+json", `"code":"expired_unsent"`},
	} {
		command := paid(outcome.name, 1000)
		first := w.claim("K1 "+outcome.name, command)
		w.claim("K2 "+outcome.name, command)
		outcome.settle(outcome.name)
		answer, err := w.commands.Await(t.Context(), first, nothing)
		require.NoError(t, err)
		require.NotNil(t, answer)
		require.Equal(t, outcome.code, answer.Code, outcome.name)
		require.Equal(t, outcome.content, answer.Headers["Content-Type"])
		require.Contains(t, string(answer.Body), outcome.says)
		require.Equal(t, outcome.code == 201, answer.Headers["Location"] == "/v1/payments/"+first.Payment.String())
		for _, key := range []string{"K1 ", "K2 ", "K1 "} {
			require.Equal(t, answer, w.replay(key+outcome.name, command), outcome.name)
		}
		w.exec(`UPDATE payonce.payments SET description = 'changed later', updated_at = payonce.clock() WHERE id = $1`, first.Payment.UUID)
		w.advance(time.Hour)
		require.Equal(t, answer, w.replay("K1 "+outcome.name, command), "an answer is stored, not made anew")
		require.Equal(t, answer, w.replay("K3 "+outcome.name, command), "a key attached after completion copies its sibling's answer")
	}
}

func TestADeclineStaysTheAnswerWhenTheIntentSucceedsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	command := paid("order-1", 1000)
	claim := w.claim("K", command)
	w.decline("order-1")
	declined := w.replay("K", command)
	w.succeed("order-1", 1000)
	require.Equal(t, payments.StatusSucceeded, w.status(claim.Payment))
	require.Equal(t, declined, w.replay("K", command))
	var view payments.View
	require.NoError(t, json.Unmarshal(declined.Body, &view))
	require.Equal(t, payments.StatusRequiresPaymentMethod, view.Status)
}

// A key that attaches while the record completes gets the one answer, whichever of them is first.
func TestAKeyThatAttachesDuringCompletionGetsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range 5 {
		reference := fmt.Sprintf("order-%d", round)
		command := paid(reference, 1000)
		w.claim("K0 "+reference, command)
		var race errgroup.Group
		answers := make([]*boundaries.Answer, connections)
		for i := range answers {
			race.Go(func() error {
				claim, err := w.create(t.Context(), 0, boundaries.CallerKey(fmt.Sprintf("K%d %s", i+1, reference)), command)
				if err != nil || claim.Outcome == boundaries.Replay {
					answers[i] = claim.Answer
					return err
				}
				answers[i], err = w.commands.Await(t.Context(), claim, nothing)
				return err
			})
		}
		w.succeed(reference, 1000)
		require.NoError(t, race.Wait())
		for i, answer := range answers {
			require.Equal(t, w.replay("K0 "+reference, command), answer)
			require.Equal(t, answer, w.replay(fmt.Sprintf("K%d %s", i+1, reference), command))
		}
	}
}
