package stripesim_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
)

const accounts = "/v1/accounts"

func TestConnectedAccountIsMadeAndRead(t *testing.T) {
	b := start(t)
	api := b.stripe(testKey).Accounts
	made, err := api.New(&stripe.AccountParams{Type: stripe.String("express"), Country: stripe.String("DE"), DefaultCurrency: stripe.String("eur"),
		Email: stripe.String("seller@shop.example"), Metadata: map[string]string{"ref": "1"}})
	require.NoError(t, err)
	require.Regexp(t, `^acct_\w{16}$`, made.ID)
	require.Equal(t, stripe.AccountTypeExpress, made.Type)
	require.EqualValues(t, "eur", made.DefaultCurrency)
	require.False(t, made.ChargesEnabled)
	read, err := api.GetByID(made.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "seller@shop.example", read.Email)
	require.Equal(t, map[string]string{"ref": "1"}, read.Metadata)
	require.Equal(t, b.clock.now.Unix(), read.Created)
	again := b.do(request{path: accounts, form: "type=express", key: "k"})
	require.Equal(t, again.body, b.do(request{path: accounts, form: "type=express", key: "k"}).body)
}

func TestConnectedAccountsAreOfTheirPlatformAndMode(t *testing.T) {
	b := start(t)
	first := b.post(accounts, "type=express&country=US", "").json("id").(string)
	second := b.post(accounts, "type=express&country=US", "").json("id").(string)
	require.Equal(t, []string{second, first}, ids(t, b.get(accounts)))
	require.Empty(t, ids(t, b.do(request{method: http.MethodGet, path: accounts, auth: "Bearer sk_live_shop"})))
	for _, form := range []string{"", "type=giant", "type=express&country=Germany", "type=express&email=nobody", "type=express&colour=red"} {
		require.Equal(t, http.StatusBadRequest, b.post(accounts, form, "").status, form)
	}
	refused := b.post(accounts, "type=express&country=AQ", "")
	require.Equal(t, http.StatusBadRequest, refused.status)
	require.Equal(t, "country_unsupported", refused.json("error.code"))
	require.Len(t, ids(t, b.get(accounts)), 2)
}
