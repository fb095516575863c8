package webhooks_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/webhooks"
)

// Whoever holds one account's signing secret can tell nothing of another account or mode that has secrets of its own, and cannot take the place of
// its true event.
func TestASecretSpeaksForItsOwnAccountAndModeAlone(t *testing.T) {
	e := newEndpoint(t)
	shopLive := payments.Account{ID: shop.ID, Livemode: true}
	require.NoError(t, tenants.CreateAccount(t.Context(), e.pool, e.sealer, shopLive, "sk_live_shop", []string{"whsec_shop_live"}))
	require.NoError(t, e.handler.Refresh(t.Context()))
	live := strings.Replace(succeeded("evt_1"), `"livemode":false`, `"livemode":true`, 1)
	ofShop := strings.Replace(live, `{`, `{"account":"`+shop.ID+`",`, 1)

	require.Equal(t, http.StatusOK, e.deliver("whsec_market", ofShop), "another account's secret")
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", live), "the secret of test mode")
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_live", live))

	rows := e.rows()
	require.Len(t, rows, 3)
	for _, r := range rows {
		if r.Account == shopLive {
			require.Equal(t, "stored", r.Status)
			require.Equal(t, live, r.Body)
			continue
		}
		require.Equal(t, "ignored", r.Status)
		require.Equal(t, webhooks.IgnoredSigner, *r.Reason)
	}
}

// A connected account is told of by its platform, and by no other account that may have an endpoint here.
func TestAConnectedAccountIsToldOfByItsPlatformAlone(t *testing.T) {
	e := newEndpoint(t)
	seller := payments.Account{ID: "acct_seller", Livemode: true}
	other := payments.Account{ID: "acct_other", Livemode: true}
	require.NoError(t, tenants.ConnectAccount(t.Context(), e.pool, e.sealer, seller, market.ID, nil))
	require.NoError(t, tenants.CreateAccount(t.Context(), e.pool, e.sealer, other, "sk_live_other", []string{"whsec_other"}))
	require.NoError(t, e.handler.Refresh(t.Context()))
	event := func(id string) string {
		live := strings.Replace(succeeded(id), `"livemode":false`, `"livemode":true`, 1)
		return strings.Replace(live, `{`, `{"account":"acct_seller",`, 1)
	}

	require.Equal(t, http.StatusOK, e.deliver("whsec_market", event("evt_true")))
	require.Equal(t, http.StatusOK, e.deliver("whsec_other", event("evt_false")))

	rows := e.rows()
	require.Len(t, rows, 2)
	for _, r := range rows {
		if r.Account == seller {
			require.Equal(t, "stored", r.Status)
			require.Equal(t, event("evt_true"), r.Body)
			continue
		}
		require.Equal(t, other, r.Account, "it is kept under the signer's account")
		require.Equal(t, webhooks.IgnoredSigner, *r.Reason)
	}
}
