package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

func TestProvisionsThatAreRefusedBurnNoKey(t *testing.T) {
	d := newDoor(t)
	for path, refused := range map[string][]struct{ body, code, field string }{
		"/v1/customers": {
			{`owner=1`, "body_invalid", ""},
			{`{}`, "field_invalid", "owner"},
			{`{"owner":""}`, "field_invalid", "owner"},
			{`{"owner":"a/b"}`, "field_invalid", "owner"},
			{`{"owner":"a#2"}`, "field_invalid", "owner"},
			{`{"owner":"` + strings.Repeat("a", 129) + `"}`, "field_invalid", "owner"},
			{`{"owner":"a","email":"nobody"}`, "field_invalid", "email"},
			{`{"owner":"a","name":""}`, "field_invalid", "name"},
			{`{"owner":"a","currency":"usd"}`, "field_invalid", "currency"},
			{`{"owner":"a","name":"4242424242424242"}`, "card_data_refused", "name"},
		},
		"/v1/connected_accounts": {
			{`{"owner":"a","currency":"usd"}`, "field_invalid", "country"},
			{`{"owner":"a","currency":"usd","country":"us"}`, "field_invalid", "country"},
			{`{"owner":"a","country":"US"}`, "field_invalid", "currency"},
			{`{"owner":"a","currency":"zzz","country":"US"}`, "field_invalid", "currency"},
			{`{"owner":"a","currency":"dollars","country":"US"}`, "field_invalid", "currency"},
			{`{"owner":"4242424242424242","currency":"usd","country":"US"}`, "card_data_refused", "owner"},
		},
		"/v1/wallets": {
			{`{"owner":"a","currency":"usd"}`, "field_invalid", "network"},
			{`{"owner":"a","currency":"usd","network":"Main"}`, "field_invalid", "network"},
			{`{"owner":"a","currency":"usd","network":"` + strings.Repeat("a", 33) + `"}`, "field_invalid", "network"},
			{`{"owner":"a","network":"main"}`, "field_invalid", "currency"},
			{`{"owner":"a","currency":"usd","network":"main","email":"a@shop.example"}`, "field_invalid", "email"},
		},
	} {
		for _, c := range refused {
			got := d.send(http.MethodPost, path, c.body, with("Idempotency-Key", "k1"))
			require.Equal(t, http.StatusBadRequest, got.status, "%s of %s: %s", c.body, path, got.body)
			problem := got.problem(t)
			require.Equal(t, c.code, problem.Code, "%s of %s", c.body, path)
			require.Equal(t, c.field, problem.Field, "%s of %s", c.body, path)
		}
	}
	require.Zero(t, d.commands.count(), "no claim")
}

// What is said is another command than what is not; letter case of a currency and null members make no difference.
func TestProvisionsAreReadAsTheyWereMeant(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	asked := func(path, body string) claimed {
		got := d.send(http.MethodPost, path, body, with("Idempotency-Key", "k1"))
		require.Equal(t, "key_reused", got.problem(t).Code, "%s: %s", body, got.body)
		return d.commands.claims[d.commands.count()-1]
	}
	email := "a@shop.example"
	plain := asked("/v1/customers", `{"owner":"A.b-c_9"}`)
	require.Equal(t, payments.ProvisionCommand{Kind: payments.ProvisionCustomer, Owner: "A.b-c_9"}, plain.command)
	require.Equal(t, plain.normalised.Hash, asked("/v1/customers", ` { "email":null, "owner":"A.b-c_9" }`).normalised.Hash)
	with := asked("/v1/customers", `{"owner":"A.b-c_9","email":"`+email+`"}`)
	require.Equal(t, &email, with.command.(payments.ProvisionCommand).Email)
	require.NotEqual(t, plain.normalised.Hash, with.normalised.Hash)
	account := asked("/v1/connected_accounts", `{"owner":"a","currency":"USD","country":"US"}`)
	require.Equal(t, payments.ProvisionCommand{Kind: payments.ProvisionConnectedAccount, Owner: "a", Currency: "usd", Country: "US"}, account.command)
	require.Equal(t, account.normalised.Hash, asked("/v1/connected_accounts", `{"owner":"a","currency":"usd","country":"US"}`).normalised.Hash)
	require.Equal(t, payments.ProvisionCommand{Kind: payments.ProvisionWallet, Owner: "a", Currency: "usd", Network: "main"},
		asked("/v1/wallets", `{"owner":"a","currency":"usd","network":"main"}`).command)
}

func TestAProvisionIsShownToItsTenantAlone(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	wallet := &scene{t: t, system: s, operation: "get_wallet"}
	wallet.base()
	got := s.Get(wallet.path)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	_, s.APIKey = s.NewTenant("another")
	require.Equal(t, http.StatusNotFound, s.Get(wallet.path).Status)
}
