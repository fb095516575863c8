package system

import (
	"encoding/json"
	"net/http"

	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// AddWallet provisions a wallet of the tenant, with which a payment may share its money, and answers its account of the ledger.
func (s *System) AddWallet(owner, network string, currency payments.Currency) string {
	s.t.Helper()
	body := map[string]any{"owner": owner, "network": network, "currency": currency}
	answer, err := s.Post(s.t.Context(), s.APIKey, "/v1/wallets", "wallet of "+owner+" "+network+" "+string(currency), body, "")
	require.NoError(s.t, err)
	require.Contains(s.t, []int{http.StatusCreated, http.StatusOK}, answer.Status, "%s", answer.Body)
	var wallet struct {
		Account string `json:"ledger_account"`
	}
	require.NoError(s.t, json.Unmarshal(answer.Body, &wallet))
	return wallet.Account
}
