package stripesim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

func succeededEvent(fault string) control.Rule {
	return control.Rule{Fault: fault, Match: control.Match{EventType: "payment_intent.succeeded"}}
}

func TestDoubledWebhookIsSentTwice(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	rule := b.fault(succeededEvent(control.FaultDouble))
	b.post(intents, paidForm, "")
	require.Equal(t, control.Counts{Delivered: 3}, b.flush())
	require.Len(t, h.all(), 4)
	seen := map[string]int{}
	for _, one := range h.all() {
		seen[one.kind()]++
	}
	require.Equal(t, 2, seen["payment_intent.succeeded"])
	require.Equal(t, 1, b.fired(rule.ID))
}

func TestReorderedWebhookComesAfterTheNextOfItsPayment(t *testing.T) {
	b := start(t, func(c *stripesim.Config) { c.WebhookWorkers = 1 })
	h := b.listen(control.Endpoint{}, nil)
	b.fault(control.Rule{Fault: control.FaultReorder, Match: control.Match{EventType: "payment_intent.created"}})
	b.post(intents, paidForm, "")
	b.flush()
	require.ElementsMatch(t, []string{"charge.succeeded", "payment_intent.created", "payment_intent.succeeded"}, h.kinds())
	require.NotEqual(t, "payment_intent.created", h.kinds()[0])
}

func TestReorderedWebhookWithoutASuccessorIsSentByFlushOrInTime(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	b.fault(succeededEvent(control.FaultReorder))
	b.post(intents, paidForm, "")
	b.flush()
	require.Len(t, h.all(), 3)

	inTime := make(chan struct{}, 1)
	quick := start(t, func(c *stripesim.Config) { c.ReorderAtMost = time.Millisecond })
	quick.listen(control.Endpoint{EnabledEvents: []string{"payment_intent.succeeded"}}, func(int, received) int { inTime <- struct{}{}; return 200 })
	quick.fault(succeededEvent(control.FaultReorder))
	quick.post(intents, paidForm, "")
	<-inTime
}

func TestDelayedWebhookComesLater(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	b.fault(control.Rule{Fault: control.FaultDelay, DelayMS: 3_600_000, Match: control.Match{EventType: "payment_intent.created"}})
	b.post(intents, paidForm, "")
	require.Equal(t, control.Counts{Delivered: 3}, b.flush(), "a flush lets it go when the others are through")
	require.Equal(t, "payment_intent.created", h.kinds()[2])
}

func TestDelayedWebhookIsSentWithoutAFlush(t *testing.T) {
	b := start(t)
	came := make(chan struct{}, 1)
	b.listen(control.Endpoint{}, func(int, received) int { came <- struct{}{}; return 200 })
	b.fault(control.Rule{Fault: control.FaultDelay, DelayMS: 1})
	b.create("")
	<-came
}

func TestDroppedWebhookIsNeverSentNorRetriedButStaysInTheList(t *testing.T) {
	b := start(t)
	h := b.listen(control.Endpoint{}, nil)
	b.fault(succeededEvent(control.FaultDrop))
	b.post(intents, paidForm, "")
	b.clock.advance(100 * time.Hour)
	require.NoError(t, b.ctl.Tick(t.Context()))
	counts, err := b.ctl.Flush(t.Context(), true)
	require.NoError(t, err)
	require.Equal(t, control.Counts{Delivered: 2, Dropped: 1}, counts)
	require.Len(t, h.all(), 2)
	missed := b.get("/v1/events?delivery_success=false")
	require.Equal(t, "payment_intent.succeeded", missed.json("data.0.type"))
	_, err = b.ctl.Deliver(t.Context(), missed.json("data.0.id").(string), control.Deliver{})
	require.NoError(t, err)
	require.Len(t, h.all(), 3, "by hand it can be sent")
}

func TestWebhookBeforeTheAnswer(t *testing.T) {
	b := start(t)
	entered, answered := make(chan struct{}), make(chan struct{})
	b.listen(control.Endpoint{EnabledEvents: []string{"payment_intent.succeeded"}}, func(int, received) int {
		close(entered)
		<-answered
		return 200
	})
	rule := b.fault(succeededEvent(control.FaultBeforeAnswer))
	done := make(chan reply, 1)
	go func() { answer, _ := b.send(request{path: intents, form: paidForm}); done <- answer }()
	<-entered
	select {
	case <-done:
		require.Fail(t, "the API answered before the webhook was")
	default:
	}
	close(answered)
	require.Equal(t, "succeeded", (<-done).json("status"))
	require.Equal(t, control.Counts{Delivered: 1}, b.flush())
	require.Equal(t, 1, b.fired(rule.ID))
}

func TestWebhookFaultMatchesKeyAndMetadataOfItsPayment(t *testing.T) {
	b := start(t)
	b.listen(control.Endpoint{}, nil)
	byMetadata := b.fault(control.Rule{Fault: control.FaultDrop, Match: control.Match{Metadata: map[string]string{"order": "1"}}})
	byKey := b.fault(control.Rule{Fault: control.FaultDrop, Match: control.Match{KeyPrefix: "k-"}})
	b.post(intents, "amount=100&currency=usd&metadata[order]=1", "")
	b.post(intents, "amount=100&currency=usd", "k-1")
	b.post(intents, "amount=100&currency=usd", "other")
	require.Equal(t, control.Counts{Delivered: 1, Dropped: 2}, b.flush())
	require.Equal(t, 1, b.fired(byMetadata.ID))
	require.Equal(t, 1, b.fired(byKey.ID))
}
