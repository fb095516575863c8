package api_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
)

// provisionCases bring about what docs/answers.md says of customers, connected accounts and wallets.
func provisionCases() map[string]func(*scene) {
	return map[string]func(*scene){
		"Customer or connected account 201":                  (*scene).base,
		"Customer or connected account 200 after the window": (*scene).afterTheWindow,
		"Customer or connected account 402 provider_refused": func(s *scene) {
			s.base()
			s.refusedAt(map[string]string{"create_customer": "/v1/customers", "create_connected_account": "/v1/accounts"}[s.operation])
		},
		"Customer or connected account 409 owner_conflict": (*scene).otherContentUnderTheReference,

		"Wallet 201":                  (*scene).base,
		"Wallet 200 after the window": (*scene).afterTheWindow,

		"Get customer, connected account or wallet 200": (*scene).base,
		"Get customer, connected account or wallet 404 provision_not_found": func(s *scene) {
			s.base()
			s.path = s.path[:strings.LastIndex(s.path, "/")+1] + uuid.NewString()
		},
	}
}

// ofNoPayment tells whether the operation is about no payment, so that its problems name none.
func (s *scene) ofNoPayment() bool {
	_, provisions := payments.ProvisionKindOf(payments.Operation(s.operation))
	return provisions || s.operation == string(payments.OperationPayout)
}

// baseOfProvisions is base for what is linked to owners.
func (s *scene) baseOfProvisions() {
	kind := payments.ProvisionKind(strings.TrimPrefix(strings.TrimPrefix(s.operation, "create_"), "get_"))
	s.method, s.path = http.MethodPost, kind.Path()
	s.body = map[payments.ProvisionKind]string{
		payments.ProvisionCustomer:         `{"owner":"` + key() + `","name":"US"}`,
		payments.ProvisionConnectedAccount: `{"owner":"` + key() + `","currency":"usd","country":"US"}`,
		payments.ProvisionWallet:           `{"owner":"US-` + key() + `","currency":"usd","network":"main"}`,
	}[kind]
	if strings.HasPrefix(s.operation, "create_") {
		return
	}
	s.headers["Prefer"] = "wait=30"
	created := s.ask()
	require.Equal(s.t, http.StatusCreated, created.status, created.body)
	var view payments.ProvisionView
	require.NoError(s.t, json.Unmarshal([]byte(created.body), &view))
	s.method, s.path, s.body, s.headers = http.MethodGet, s.path+"/"+view.ID.String(), "", map[string]string{"Idempotency-Key": key()}
}
