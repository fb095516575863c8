package stripesim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
)

const customers = "/v1/customers"

// customer makes a customer and returns its id.
func (b *bench) customer(form string) string {
	b.t.Helper()
	answer := b.post(customers, form, "")
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	return answer.json("id").(string)
}

func TestCustomerIsMadeReadChangedAndDeleted(t *testing.T) {
	b := start(t)
	api := b.stripe(testKey).Customers
	made, err := api.New(&stripe.CustomerParams{Email: stripe.String("payer@shop.example"), Name: stripe.String("Payer"),
		Metadata: map[string]string{"ref": "1", "old": "x"}})
	require.NoError(t, err)
	require.Regexp(t, `^cus_\w{14}$`, made.ID)

	changed, err := api.Update(made.ID, &stripe.CustomerParams{Name: stripe.String("Other"), Metadata: map[string]string{"ref": "2", "old": ""}})
	require.NoError(t, err)
	require.Equal(t, "payer@shop.example", changed.Email)
	require.Equal(t, "Other", changed.Name)
	require.Equal(t, map[string]string{"ref": "2"}, changed.Metadata)
	read, err := api.Get(made.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "Other", read.Name)
	require.Equal(t, b.clock.now.Unix(), read.Created)

	gone, err := api.Del(made.ID, nil)
	require.NoError(t, err)
	require.True(t, gone.Deleted)
	read, err = api.Get(made.ID, nil)
	require.NoError(t, err)
	require.True(t, read.Deleted)
	for _, again := range []reply{b.do(request{method: http.MethodDelete, path: customers + "/" + made.ID}), b.post(customers+"/"+made.ID, "name=x", "")} {
		require.Equal(t, http.StatusNotFound, again.status)
		require.Equal(t, "resource_missing", again.json("error.code"))
	}
}

func TestCustomerEventsCarryPreviousAttributes(t *testing.T) {
	b := start(t)
	id := b.customer("email=a%40shop.example&metadata[k]=1")
	b.post(customers+"/"+id, "email=b%40shop.example&metadata[k]=&metadata[n]=2", "")
	b.post(customers+"/"+id, "email=b%40shop.example", "")
	b.do(request{method: http.MethodDelete, path: customers + "/" + id})
	list := b.get("/v1/events?type=customer.*")
	var kinds []string
	for _, row := range list.json("data").([]any) {
		kinds = append(kinds, row.(map[string]any)["type"].(string))
	}
	require.Equal(t, []string{"customer.deleted", "customer.updated", "customer.created"}, kinds, "what changes nothing is no event")
	updated := b.get("/v1/events?type=customer.updated")
	require.Equal(t, map[string]any{"email": "a@shop.example", "metadata": map[string]any{"k": "1", "n": nil}},
		updated.json("data.0.data.previous_attributes"))
	require.Equal(t, "b@shop.example", updated.json("data.0.data.object.email"))
}

func TestCustomersAreListedNewestFirstWithoutTheDeleted(t *testing.T) {
	b := start(t)
	first := b.customer("email=a%40shop.example")
	b.clock.advance(time.Second)
	second := b.customer("email=b%40shop.example")
	third := b.customer("email=b%40shop.example")
	b.do(request{method: http.MethodDelete, path: customers + "/" + third})
	require.Equal(t, []string{second, first}, ids(t, b.get(customers)))
	require.Equal(t, []string{second}, ids(t, b.get(customers+"?email=b%40shop.example")))
	require.Empty(t, ids(t, b.do(request{method: http.MethodGet, path: customers, auth: "Bearer sk_live_shop"})))
}

func TestIntentsCustomerMustExist(t *testing.T) {
	b := start(t)
	id := b.customer("")
	deleted := b.customer("")
	b.do(request{method: http.MethodDelete, path: customers + "/" + deleted})
	intent := b.create("customer=" + id + "&confirm=true&payment_method=pm_card_visa")
	read := b.get(intents + "/" + intent + "?expand[]=latest_charge")
	require.Equal(t, id, read.json("customer"))
	require.Equal(t, id, read.json("latest_charge.customer"))
	for _, missing := range []string{"cus_nobody", "nobody", deleted} {
		for _, answer := range []reply{b.post(intents, "amount=2000&currency=usd&customer="+missing, ""), b.post(intents+"/"+b.create(""), "customer="+missing, "")} {
			require.Equal(t, http.StatusBadRequest, answer.status, missing)
			require.Equal(t, "resource_missing", answer.json("error.code"))
			require.Equal(t, "customer", answer.json("error.param"))
		}
	}
	other := b.do(request{path: intents, form: "amount=2000&currency=usd&customer=" + id, auth: "Bearer sk_live_shop"})
	require.Equal(t, "resource_missing", other.json("error.code"), "a customer of the other mode")
}

func TestCustomerParametersAreChecked(t *testing.T) {
	b := start(t)
	for _, form := range []string{"email=nobody", "email=a%20b%40shop.example", "colour=red", "metadata[a][b]=1"} {
		require.Equal(t, http.StatusBadRequest, b.post(customers, form, "").status, form)
	}
	require.Empty(t, ids(t, b.get(customers)))
}

func TestKeyHasNoEffectOnDelete(t *testing.T) {
	b := start(t)
	for range 2 {
		answer := b.do(request{method: http.MethodDelete, path: customers + "/" + b.customer(""), key: "k"})
		require.Equal(t, http.StatusOK, answer.status)
		require.Empty(t, answer.header.Get("Idempotency-Key"))
	}
}
