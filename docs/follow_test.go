package docs_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/paymentstore"
	"payonce/internal/testkit/system"
)

// step is a row of follow-one-payment.md.
type step struct{ number, text, where, leaves string }

func stepsOfOnePayment(t *testing.T) []step {
	t.Helper()
	var steps []step
	row := regexp.MustCompile(`(?m)^\| (\d) \| (.+) \| (.+) \|(.*)\|$`)
	for _, cells := range row.FindAllStringSubmatch(read(t, "follow-one-payment.md"), -1) {
		steps = append(steps, step{cells[1], cells[2], cells[3], strings.TrimSpace(cells[4])})
	}
	return steps
}

func TestThePaymentIsFollowedInNineStepsThatExist(t *testing.T) {
	source := newSource()
	steps := stepsOfOnePayment(t)
	require.Len(t, steps, 9)
	for i, step := range steps {
		require.Equal(t, string(rune('1'+i)), step.number)
		at := symbol.FindStringSubmatch(step.where)
		require.NotNil(t, at, "step %s names no file and function: %s", step.number, step.where)
		require.True(t, source.declares(t, at[1], at[2]), "step %s: %s", step.number, step.where)
	}
}

// A payment leaves on its timeline what the steps say, in their order. The event may be stored before or after the answer is applied, so of it the
// end counts: when it was settled.
func TestAPaymentLeavesItsStepsInTheirOrder(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	answer := s.Create("checkout-1", system.Order("order-1", 1999))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	s.Settle()
	timeline := s.Get("/v1/payments/" + answer.Payment(t).ID.String() + "/timeline")
	var left struct{ Data []paymentstore.Step }
	require.NoError(t, json.Unmarshal(timeline.Body, &left), "%s", timeline.Body)

	at := map[string]time.Time{}
	for _, one := range left.Data {
		if name, when := trace(one); at[name].IsZero() {
			at[name] = when
		}
	}
	var order []time.Time
	for _, step := range stepsOfOnePayment(t) {
		if step.leaves == "" {
			continue
		}
		require.Contains(t, at, step.leaves, "step %s", step.number)
		order = append(order, at[step.leaves])
	}
	told := order[len(order)-1]
	beforeEvent := order[:len(order)-2]
	require.Len(t, beforeEvent, 5)
	require.True(t, slices.IsSortedFunc(beforeEvent, time.Time.Compare), "%v", at)
	require.False(t, order[len(order)-2].Before(beforeEvent[4]), "the event is settled once its fact is booked: %v", at)
	require.False(t, told.Before(beforeEvent[4]), "a message is sent once it is true: %v", at)
}

// trace names what a step of the timeline tells, and when it was done here.
func trace(of paymentstore.Step) (string, time.Time) {
	switch {
	case of.Command != nil:
		return "command: " + of.Command.Operation, of.At
	case of.Call != nil:
		return "call: " + of.Call.Operation, of.At
	case of.Stage != nil:
		return "stage: " + of.Stage.Stage, of.At
	case of.Journal != nil:
		return "journal: " + of.Journal.Rule, of.At
	case of.Event != nil && of.Event.SettledAt != nil:
		return "event: " + of.Event.Type, *of.Event.SettledAt
	case of.Message != nil && of.Message.FirstSentAt != nil:
		return "message: " + of.Message.Kind, *of.Message.FirstSentAt
	default:
		return "", time.Time{}
	}
}
