package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

const (
	heldForm     = "capture_method=manual&confirm=true&payment_method=pm_card_visa"
	severalTimes = heldForm + "&payment_method_options[card][request_multicapture]=if_available"
)

func (b *bench) capture(id, form string) reply {
	b.t.Helper()
	return b.post(intents+"/"+id+"/capture", form, "")
}

func TestHoldShowsUntilWhenAndHowOftenItCanBeCaptured(t *testing.T) {
	b := start(t)
	until := b.clock.now.Add(7 * 24 * time.Hour).Unix()
	card := "latest_charge.payment_method_details.card."
	made := b.post(intents, "amount=2000&currency=usd&"+severalTimes+"&expand[]=latest_charge", "")
	require.EqualValues(t, until, made.json(card+"capture_before"))
	require.Equal(t, "available", made.json(card+"multicapture.status"))
	require.Equal(t, "if_available", made.json("payment_method_options.card.request_multicapture"))

	later := b.confirm(b.create("capture_method=manual"), "payment_method=pm_card_visa&expand[]=latest_charge"+
		"&payment_method_options[card][request_multicapture]=if_available")
	require.EqualValues(t, until, later.json(card+"capture_before"))
	require.Equal(t, "available", later.json(card+"multicapture.status"))

	once := b.get(intents + "/" + b.create(heldForm) + "?expand[]=latest_charge")
	require.Equal(t, "unavailable", once.json(card+"multicapture.status"))
	never := b.create(heldForm + "&payment_method_options[card][request_multicapture]=never")
	require.Equal(t, "unavailable", b.get(intents+"/"+never+"?expand[]=latest_charge").json(card+"multicapture.status"))

	captured := b.capture(never, "amount_to_capture=100&expand[]=latest_charge")
	require.EqualValues(t, until, captured.json(card+"capture_before"))

	pi, err := b.stripe(testKey).PaymentIntents.Get(made.json("id").(string), &stripe.PaymentIntentParams{
		Expand: stripe.StringSlice([]string{"latest_charge"})})
	require.NoError(t, err)
	require.Equal(t, until, pi.LatestCharge.PaymentMethodDetails.Card.CaptureBefore)
	require.Equal(t, stripe.ChargePaymentMethodDetailsCardMulticaptureStatusAvailable, pi.LatestCharge.PaymentMethodDetails.Card.Multicapture.Status)
}

func TestHoldIsCapturedSeveralTimes(t *testing.T) {
	b := start(t)
	id := b.create(severalTimes)
	first := b.capture(id, "amount_to_capture=500&final_capture=false&expand[]=latest_charge")
	require.Equal(t, "requires_capture", first.json("status"), first.body)
	require.EqualValues(t, 1500, first.json("amount_capturable"))
	require.EqualValues(t, 500, first.json("amount_received"))
	require.EqualValues(t, 500, first.json("latest_charge.amount_captured"))
	require.EqualValues(t, 0, first.json("latest_charge.amount_refunded"))
	require.Equal(t, true, first.json("latest_charge.captured"))

	second := b.capture(id, "amount_to_capture=700&final_capture=false")
	require.EqualValues(t, 800, second.json("amount_capturable"))
	last := b.capture(id, "amount_to_capture=300&expand[]=latest_charge")
	require.Equal(t, "succeeded", last.json("status"))
	require.EqualValues(t, 1500, last.json("amount_received"))
	require.EqualValues(t, 0, last.json("amount_capturable"))
	require.EqualValues(t, 500, last.json("latest_charge.amount_refunded"), "what was left of the hold")

	book := b.book(id)
	require.Equal(t, 3, book.CapturesExecuted)
	require.EqualValues(t, 1500, book.Captured)
	charge := last.json("latest_charge.id").(string)
	require.Len(t, ids(t, b.get("/v1/balance_transactions?source="+charge)), 3, "one a capture")
	require.Equal(t, []string{
		"charge.captured", "charge.updated", "payment_intent.amount_capturable_updated",
		"charge.updated", "payment_intent.amount_capturable_updated", "charge.updated", "payment_intent.succeeded",
	}, b.types(id)[3:])
	updated := b.get("/v1/events?type=charge.updated")
	require.EqualValues(t, 1200, updated.json("data.0.data.previous_attributes.amount_captured"))
	require.EqualValues(t, 0, updated.json("data.0.data.previous_attributes.amount_refunded"))
}

func TestCaptureOfAllThatIsLeftIsFinalWhateverItSays(t *testing.T) {
	b := start(t)
	id := b.create(severalTimes)
	require.Equal(t, "succeeded", b.capture(id, "final_capture=false").json("status"))
}

func TestRestOfAHoldIsReleasedByACaptureOfNothing(t *testing.T) {
	b := start(t)
	id := b.create(severalTimes)
	require.Equal(t, http.StatusBadRequest, b.capture(id, "amount_to_capture=0").status, "nothing was captured yet")
	b.capture(id, "amount_to_capture=500&final_capture=false")
	require.Equal(t, http.StatusBadRequest, b.capture(id, "amount_to_capture=0&final_capture=false").status)
	cancel := b.post(intents+"/"+id+"/cancel", "", "")
	require.Equal(t, "payment_intent_unexpected_state", cancel.json("error.code"))
	released := b.capture(id, "amount_to_capture=0&final_capture=true&expand[]=latest_charge")
	require.Equal(t, "succeeded", released.json("status"), released.body)
	require.EqualValues(t, 500, released.json("amount_received"))
	require.EqualValues(t, 1500, released.json("latest_charge.amount_refunded"))
	require.Equal(t, 1, b.book(id).CapturesExecuted)
}

func TestHoldCapturedInPartSucceedsWhenItExpires(t *testing.T) {
	b := start(t)
	id := b.create(severalTimes)
	b.capture(id, "amount_to_capture=500&final_capture=false")
	b.clock.advance(8 * 24 * time.Hour)
	read := b.get(intents + "/" + id)
	require.Equal(t, "succeeded", read.json("status"))
	require.EqualValues(t, 500, read.json("amount_received"))
	require.EqualValues(t, 500, b.book(id).Captured)
}

func TestHoldWithoutMulticaptureIsCapturedOnce(t *testing.T) {
	b := start(t)
	id := b.create(heldForm)
	refused := b.capture(id, "amount_to_capture=500&final_capture=false")
	require.Equal(t, http.StatusBadRequest, refused.status)
	require.Equal(t, "final_capture", refused.json("error.param"))
	require.Equal(t, http.StatusBadRequest, b.capture(id, "final_capture=perhaps").status)
	require.Equal(t, "succeeded", b.capture(id, "amount_to_capture=500&final_capture=true").json("status"))
}

func TestHoldIsCapturedAtMostFiftyTimes(t *testing.T) {
	b := start(t)
	id := b.create(severalTimes)
	for range 50 {
		require.Equal(t, http.StatusOK, b.capture(id, "amount_to_capture=10&final_capture=false").status)
	}
	require.Equal(t, http.StatusBadRequest, b.capture(id, "amount_to_capture=10&final_capture=false").status)
	require.Equal(t, "succeeded", b.capture(id, "amount_to_capture=0").json("status"))
}

func TestCaptureAndCancelElsewhereHaveNoKeyOfOurs(t *testing.T) {
	b := start(t)
	id, other := b.create(severalTimes), b.create(heldForm)
	book, err := b.ctl.CaptureElsewhere(t.Context(), id, control.CaptureElsewhere{Amount: 400, Keep: true})
	require.NoError(t, err)
	require.EqualValues(t, 400, book.Captured)
	require.Equal(t, "requires_capture", book.Status)
	require.Zero(t, book.CapturesExecuted)
	event := b.get("/v1/events?type=charge.captured")
	require.NotNil(t, event.json("data.0.request.id"))
	require.Nil(t, event.json("data.0.request.idempotency_key"))

	canceled, err := b.ctl.CancelElsewhere(t.Context(), other, control.CancelElsewhere{})
	require.NoError(t, err)
	require.True(t, canceled.Canceled)
	_, err = b.ctl.CancelElsewhere(t.Context(), other, control.CancelElsewhere{})
	require.Error(t, err)
	_, err = b.ctl.CaptureElsewhere(t.Context(), other, control.CaptureElsewhere{})
	require.Error(t, err)
}
