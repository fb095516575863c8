package stripesim_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

func TestEventsPerTransition(t *testing.T) {
	created := "payment_intent.created"
	for name, one := range map[string]struct {
		form string
		then func(*bench, string)
		want []string
	}{
		"create":           {"", nil, []string{created}},
		"create and pay":   {"confirm=true&payment_method=pm_card_visa", nil, []string{created, "charge.succeeded", "payment_intent.succeeded"}},
		"challenge":        {"confirm=true&payment_method=pm_card_authenticationRequired", nil, []string{created, "payment_intent.requires_action"}},
		"hold":             {"capture_method=manual&confirm=true&payment_method=pm_card_visa", nil, []string{created, "charge.succeeded", "payment_intent.amount_capturable_updated"}},
		"bank debit":       {"confirm=true&payment_method=pm_usBankAccount_success", nil, []string{created, "payment_intent.processing", "charge.pending"}},
		"update is silent": {"", func(b *bench, id string) { b.post(intents+"/"+id, "amount=3000", "") }, []string{created}},
		"decline": {"", func(b *bench, id string) { b.confirm(id, "payment_method=pm_card_chargeDeclined") },
			[]string{created, "charge.failed", "payment_intent.payment_failed"}},
		"cancel": {"", func(b *bench, id string) { b.post(intents+"/"+id+"/cancel", "", "") },
			[]string{created, "payment_intent.canceled"}},
		"capture": {"capture_method=manual&confirm=true&payment_method=pm_card_visa", func(b *bench, id string) { b.post(intents+"/"+id+"/capture", "", "") },
			[]string{created, "charge.succeeded", "payment_intent.amount_capturable_updated", "charge.captured", "payment_intent.succeeded"}},
		"cancel of a hold": {"capture_method=manual&confirm=true&payment_method=pm_card_visa", func(b *bench, id string) { b.post(intents+"/"+id+"/cancel", "", "") },
			[]string{created, "charge.succeeded", "payment_intent.amount_capturable_updated", "charge.refunded", "payment_intent.canceled"}},
		"bank debit succeeds": {"confirm=true&payment_method=pm_usBankAccount_success", func(b *bench, id string) { _, _ = b.ctl.Succeed(b.t.Context(), id) },
			[]string{created, "payment_intent.processing", "charge.pending", "charge.succeeded", "payment_intent.succeeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			id := b.create(one.form)
			if one.then != nil {
				one.then(b, id)
			}
			require.Equal(t, one.want, b.types(id))
		})
	}
}

func TestDeclinedCreateLeavesAnIntentAndItsEvents(t *testing.T) {
	b := start(t)
	answer := b.post(intents, "amount=2000&currency=usd&confirm=true&payment_method=pm_card_chargeDeclined", "k")
	require.Equal(t, http.StatusPaymentRequired, answer.status)
	id := answer.json("error.payment_intent.id").(string)
	require.Equal(t, []string{"payment_intent.created", "charge.failed", "payment_intent.payment_failed"}, b.types(id))
	require.Equal(t, "requires_payment_method", b.get(intents+"/"+id).json("status"))
	list := b.get("/v1/events?type=payment_intent.payment_failed")
	require.Equal(t, "card_declined", list.json("data.0.data.object.last_payment_error.code"))
}

func TestEventIsASnapshotWithItsRequest(t *testing.T) {
	b := start(t)
	answer := b.post(intents, paidForm, "k")
	list := b.get("/v1/events?type=payment_intent.created")
	require.Equal(t, "requires_confirmation", list.json("data.0.data.object.status"), "as it was then")
	event, err := b.stripe(testKey).Events.Get(list.json("data.0.id").(string), nil)
	require.NoError(t, err)
	require.Equal(t, "2023-10-16", event.APIVersion)
	require.Equal(t, stripe.EventTypePaymentIntentCreated, event.Type)
	require.Equal(t, answer.header.Get("Request-Id"), event.Request.ID)
	require.Equal(t, "k", event.Request.IdempotencyKey)
	require.Equal(t, b.clock.now.Unix(), event.Created)
	require.Empty(t, event.Account)
	require.Nil(t, event.Data.PreviousAttributes)
	var snapshot stripe.PaymentIntent
	require.NoError(t, json.Unmarshal(event.Data.Raw, &snapshot))
	require.Equal(t, answer.json("id"), snapshot.ID)
}

func TestAutomaticEventHasNoRequest(t *testing.T) {
	b := start(t)
	b.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	b.clock.advance(8 * 24 * time.Hour)
	list := b.get("/v1/events?type=payment_intent.canceled")
	require.NotNil(t, list.json("data.0.request"))
	require.Nil(t, list.json("data.0.request.id"))
	require.Nil(t, list.json("data.0.request.idempotency_key"))
}

func TestUpdatedEventCarriesPreviousAttributes(t *testing.T) {
	b := start(t)
	id := b.create("metadata[a]=1&confirm=true&payment_method=pm_card_visa")
	charge := b.get(intents + "/" + id).json("latest_charge").(string)
	require.Equal(t, http.StatusOK, b.post("/v1/charges/"+charge, "metadata[a]=2&metadata[b]=3&description=late", "").status)
	list := b.get("/v1/events?type=charge.updated")
	require.Equal(t, map[string]any{"metadata": map[string]any{"a": "1", "b": nil}, "description": nil}, list.json("data.0.data.previous_attributes"))
	require.Equal(t, "late", list.json("data.0.data.object.description"))
	b.post("/v1/charges/"+charge, "description=late", "")
	require.Len(t, ids(t, b.get("/v1/events?type=charge.updated")), 1, "nothing changed, no event")
}

func TestConnectedAccountsEventNamesTheAccount(t *testing.T) {
	b := start(t)
	ours := b.listen(control.Endpoint{Account: "acct_shop", Connect: true}, nil)
	theirs := b.listen(control.Endpoint{Account: "acct_seller"}, nil)
	direct := b.listen(control.Endpoint{Account: "acct_shop"}, nil)
	b.do(request{path: intents, form: "amount=100&currency=usd", connected: "acct_seller"})
	b.flush()
	require.Len(t, ours.all(), 1)
	require.Len(t, theirs.all(), 1)
	require.Empty(t, direct.all())
	require.Equal(t, "acct_seller", dig(ours.all()[0].body, "account"))
	list := b.do(request{method: http.MethodGet, path: "/v1/events", connected: "acct_seller"})
	require.Equal(t, "acct_seller", list.json("data.0.account"))
	require.Empty(t, ids(t, b.get("/v1/events")))
}

func TestEventListFilters(t *testing.T) {
	b := start(t)
	b.create("confirm=true&payment_method=pm_card_visa")
	count := func(query string) int { return len(ids(t, b.get("/v1/events?"+query))) }
	require.Equal(t, 3, count(""))
	require.Equal(t, 1, count("type=charge.succeeded"))
	require.Equal(t, 2, count("type=payment_intent.*"))
	require.Equal(t, 2, count("types[]=charge.succeeded&types[]=payment_intent.created"))
	require.Equal(t, http.StatusBadRequest, b.get("/v1/events?type=a&types[]=b").status)
	all := ids(t, b.get("/v1/events"))
	require.Equal(t, all[:2], ids(t, b.get("/v1/events?ending_before="+all[2])))

	params := &stripe.EventListParams{Types: stripe.StringSlice([]string{"charge.succeeded"}), DeliverySuccess: stripe.Bool(true)}
	params.CreatedRange = &stripe.RangeQueryParams{GreaterThanOrEqual: b.clock.now.Unix()}
	list := b.stripe(testKey).Events.List(params)
	require.True(t, list.Next(), "an event without endpoints counts as delivered")
	require.NoError(t, list.Err())
}

func TestEventListCoversThirtyDays(t *testing.T) {
	b := start(t)
	b.create("")
	b.clock.advance(30 * 24 * time.Hour)
	require.Len(t, ids(t, b.get("/v1/events")), 1)
	b.clock.advance(time.Second)
	require.Empty(t, ids(t, b.get("/v1/events")))
}

func TestEventListByDeliverySuccess(t *testing.T) {
	b := start(t)
	b.listen(control.Endpoint{}, func(_ int, r received) int {
		if r.kind() == "charge.succeeded" {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	b.create("confirm=true&payment_method=pm_card_visa")
	b.flush()
	failed := b.get("/v1/events?delivery_success=false")
	require.Len(t, ids(t, failed), 1)
	require.Equal(t, "charge.succeeded", failed.json("data.0.type"))
	require.EqualValues(t, 1, failed.json("data.0.pending_webhooks"))
	require.Len(t, ids(t, b.get("/v1/events?delivery_success=true")), 2)
}
