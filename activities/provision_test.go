package activities_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/testkit/system"
	"payonce/ledger"
	"payonce/payments"
	"payonce/stripesim/control"
	"payonce/workflows"
)

const (
	customers         = "/v1/customers"
	connectedAccounts = "/v1/connected_accounts"
	wallets           = "/v1/wallets"
)

func customer(owner string) map[string]any {
	return map[string]any{"owner": owner, "email": owner + "@shop.example", "name": "Payer"}
}

func connectedAccount(owner, currency string) map[string]any {
	return map[string]any{"owner": owner, "currency": currency, "country": "DE"}
}

func wallet(owner, currency, network string) map[string]any {
	return map[string]any{"owner": owner, "currency": currency, "network": network}
}

func provision(t *testing.T, s *system.System, path, key string, body any) system.Answer {
	t.Helper()
	answer, err := s.Post(t.Context(), s.APIKey, path, key, body, "wait=20")
	require.NoError(t, err)
	return answer
}

func provisionOf(t *testing.T, answer system.Answer, status int) payments.ProvisionView {
	t.Helper()
	require.Equal(t, status, answer.Status, "%s", answer.Body)
	var view payments.ProvisionView
	require.NoError(t, json.Unmarshal(answer.Body, &view))
	return view
}

// customersAtStripe are those that Stripe has.
func customersAtStripe(t *testing.T, s *system.System) []control.Party {
	t.Helper()
	all, err := s.Twin.AllCustomers(t.Context(), system.AccountID)
	require.NoError(t, err)
	return all
}

func accountsAtStripe(t *testing.T, s *system.System) []control.Party {
	t.Helper()
	all, err := s.Twin.AllConnectedAccounts(t.Context(), system.AccountID)
	require.NoError(t, err)
	return all
}

// An owner has one customer, whoever asks and with whatever key; what it was linked with stays.
func TestAnOwnerHasOneCustomerForEver(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := provision(t, s, customers, "C1", customer("owner-1"))
	made := provisionOf(t, first, http.StatusCreated)
	require.Equal(t, payments.ProvisionLinked, made.Status)
	require.Regexp(t, `^cus_`, made.Customer)
	require.Equal(t, customers+"/"+made.ID.String(), first.Header.Get("Location"))
	require.NotContains(t, string(first.Body), "shop.example")
	for _, key := range []string{"C1", "C2"} {
		again := provision(t, s, customers, key, customer("owner-1"))
		require.True(t, again.Replayed())
		require.Equal(t, first.Body, again.Body)
	}
	require.Equal(t, "owner_conflict", provision(t, s, customers, "C3", system.With(customer("owner-1"), "email", "b@shop.example")).Problem(t).Code)
	require.Equal(t, "key_reused", provision(t, s, customers, "C1", customer("owner-2")).Problem(t).Code)
	other := provisionOf(t, provision(t, s, customers, "C4", customer("owner-2")), http.StatusCreated)
	require.NotEqual(t, made.Customer, other.Customer)
	require.Len(t, customersAtStripe(t, s), 2)

	s.Exec(`UPDATE payonce.idempotency_keys SET response_code = NULL, response_headers = NULL, response_body = NULL, expires_at = 'infinity'`)
	for _, key := range []string{"C1", "C5"} {
		later := provision(t, s, customers, key, customer("owner-1"))
		require.Equal(t, made.Customer, provisionOf(t, later, http.StatusOK).Customer, "after the window")
	}
	read := provisionOf(t, s.Get(customers+"/"+made.ID.String()), http.StatusOK)
	require.Equal(t, made.Customer, read.Customer)
	require.Equal(t, http.StatusNotFound, s.Get(connectedAccounts+"/"+made.ID.String()).Status, "it is no account")
}

// An owner has one connected account a currency.
func TestAnOwnerHasOneConnectedAccountACurrency(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	euros := provisionOf(t, provision(t, s, connectedAccounts, "A1", connectedAccount("owner-1", "EUR")), http.StatusCreated)
	require.Regexp(t, `^acct_`, euros.ConnectedAccount)
	require.EqualValues(t, "eur", euros.Currency)
	require.Equal(t, "DE", euros.Country)
	again := provisionOf(t, provision(t, s, connectedAccounts, "A2", connectedAccount("owner-1", "eur")), http.StatusCreated)
	require.Equal(t, euros, again)
	dollars := provisionOf(t, provision(t, s, connectedAccounts, "A3", connectedAccount("owner-1", "usd")), http.StatusCreated)
	require.NotEqual(t, euros.ConnectedAccount, dollars.ConnectedAccount)
	elsewhere := system.With(connectedAccount("owner-1", "eur"), "country", "FR")
	require.Equal(t, "owner_conflict", provision(t, s, connectedAccounts, "A4", elsewhere).Problem(t).Code)
	require.Len(t, accountsAtStripe(t, s), 2)
}

// An owner has one wallet a currency and network, whatever the key, and Stripe is not asked. What the wallet has is what the ledger says.
func TestAnOwnerHasOneWalletACurrencyAndNetwork(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	first := provision(t, s, wallets, "W1", wallet("owner-1", "usd", "main"))
	made := provisionOf(t, first, http.StatusCreated)
	require.Equal(t, payments.ProvisionLinked, made.Status)
	require.Equal(t, string(ledger.Wallet("owner-1", "main")), made.LedgerAccount)
	again := provision(t, s, wallets, "W2", wallet("owner-1", "usd", "main"))
	require.True(t, again.Replayed())
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, first.Body, provision(t, s, wallets, "W1", wallet("owner-1", "usd", "main")).Body)
	seen := map[payments.ProvisionID]bool{made.ID: true}
	for i, body := range []map[string]any{wallet("owner-1", "usd", "side"), wallet("owner-1", "eur", "main"), wallet("owner-2", "usd", "main")} {
		seen[provisionOf(t, provision(t, s, wallets, fmt.Sprintf("D%d", i), body), http.StatusCreated).ID] = true
	}
	require.Len(t, seen, 4)
	require.Equal(t, 4, s.Count(`SELECT count(*) FROM payonce.ledger_accounts WHERE kind = 'guarded'`))
	read := provisionOf(t, s.Get(wallets+"/"+made.ID.String()), http.StatusOK)
	require.NotNil(t, read.Available)
	require.Zero(t, *read.Available)
	require.Empty(t, s.Requests(http.MethodPost, "/v1/*"))
}

// Twenty callers at once, each with a key of its own, over a line that loses answers, link one customer and one account.
func TestConcurrentProvisionsOfAnOwnerMakeOne(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	for _, path := range []string{customers, "/v1/accounts"} {
		s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: path}, Fault: control.FaultAnswerLost, Times: 2})
	}
	const callers = 20
	var together sync.WaitGroup
	answers := make([]system.Answer, 2*callers)
	for i := range answers {
		together.Go(func() {
			path, body := customers, customer("owner-1")
			if i%2 == 1 {
				path, body = connectedAccounts, connectedAccount("owner-1", "usd")
			}
			answers[i], _ = s.Post(t.Context(), s.APIKey, path, fmt.Sprintf("K%d", i), body, "wait=30")
		})
	}
	together.Wait()
	for i, answer := range answers {
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
		require.Equal(t, answers[i%2].Body, answer.Body)
	}
	require.Len(t, customersAtStripe(t, s), 1)
	require.Len(t, accountsAtStripe(t, s), 1)
	require.Equal(t, 2, s.Count(`SELECT count(*) FROM payonce.idempotency_records`))
}

// The answer to a provision is lost: the same key asks again, and where that is no use the list decides. One customer is made.
func TestAProvisionWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]control.Rule{
		"lost":               {Fault: control.FaultAnswerLost, Times: 3},
		"an error afterward": {Fault: control.FaultErrorAfter, Times: 1},
		"a stored error":     {Fault: control.FaultErrorBeforeStored, Times: 1},
		"never arrived":      {Fault: control.FaultReset, Times: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			for _, path := range []string{customers, "/v1/accounts"} {
				rule.Match = control.Match{Method: http.MethodPost, Path: path}
				s.Fault(rule)
			}
			made := provisionOf(t, provision(t, s, customers, "C1", customer("owner-1")), http.StatusCreated)
			opened := provisionOf(t, provision(t, s, connectedAccounts, "A1", connectedAccount("owner-1", "usd")), http.StatusCreated)
			atStripe, accounts := customersAtStripe(t, s), accountsAtStripe(t, s)
			require.Len(t, atStripe, 1)
			require.Equal(t, made.Customer, atStripe[0].ID)
			require.Len(t, accounts, 1)
			require.Equal(t, opened.ConnectedAccount, accounts[0].ID)
		})
	}
}

// Stripe has forgotten the key by the time that a worker is back: what was made then is found by our metadata.
func TestACustomerWhoseKeyStripeForgotIsFoundAndLinked(t *testing.T) {
	t.Parallel()
	s := system.New(t)
	s.StartAPI()
	stop := s.StartWorker()
	rule := s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: customers}, Fault: control.FaultAnswerLost})
	waiting, err := s.Post(t.Context(), s.APIKey, customers, "C1", customer("owner-1"), "wait=0")
	require.NoError(t, err)
	asked := provisionOf(t, waiting, http.StatusAccepted)
	require.Equal(t, payments.ProvisionSubmitted, asked.Status)
	s.Eventually("it is made, and its answer lost", func() bool { return len(customersAtStripe(t, s)) == 1 })
	stop() // nothing is on its way while the day passes
	s.DB.AdvanceClock(t, 25*time.Hour)
	require.NoError(t, s.Twin.DeleteFault(t.Context(), rule.ID))
	s.App = s.Open()
	s.StartWorker()
	var made payments.ProvisionView
	s.Eventually("it is linked", func() bool {
		made = provisionOf(t, s.Get(customers+"/"+asked.ID.String()), http.StatusOK)
		return made.Status == payments.ProvisionLinked
	})
	atStripe := customersAtStripe(t, s)
	require.Len(t, atStripe, 1)
	require.Equal(t, made.Customer, atStripe[0].ID)
}

// Stripe says that the key came with other content: nothing more can be learnt by machine, a person is shown, and nothing else is made for the owner.
func TestAProvisionWhoseOutcomeCannotBeLearntIsShown(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	s.Fault(control.Rule{Match: control.Match{Method: http.MethodPost, Path: customers}, Fault: control.FaultKeyMismatch, Times: 1})
	asked, err := s.Post(t.Context(), s.APIKey, customers, "C1", customer("owner-1"), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, asked.Status, "%s", asked.Body)
	s.Eventually("a person is shown", func() bool {
		return s.Count(`SELECT count(*) FROM payonce.provisions p JOIN payonce.idempotency_records r ON r.id = p.record
			WHERE p.review_reason = 'outcome_unknown' AND r.status = 'unknown'`) == 1
	})
	again, err := s.Post(t.Context(), s.APIKey, customers, "C2", customer("owner-1"), "wait=0")
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, again.Status, "%s", again.Body)
	require.Equal(t, "owner_conflict", provision(t, s, customers, "C3", map[string]any{"owner": "owner-1"}).Problem(t).Code)
	require.Empty(t, customersAtStripe(t, s))
}

// What Stripe refuses is an outcome, stored for its key; the owner is left without, and may be provisioned with other content under a fresh key.
func TestARefusedProvisionIsAnOutcomeAndLinksNothing(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	unserved := system.With(connectedAccount("owner-1", "usd"), "country", "AQ")
	refused := provision(t, s, connectedAccounts, "A1", unserved)
	require.Equal(t, http.StatusPaymentRequired, refused.Status, "%s", refused.Body)
	require.Equal(t, "provider_refused", refused.Problem(t).Code)
	require.Equal(t, refused.Body, provision(t, s, connectedAccounts, "A1", unserved).Body)
	again := provision(t, s, connectedAccounts, "A2", unserved)
	require.Equal(t, http.StatusPaymentRequired, again.Status, "it is asked again")
	require.False(t, again.Replayed())
	made := provisionOf(t, provision(t, s, connectedAccounts, "A3", connectedAccount("owner-1", "usd")), http.StatusCreated)
	require.Equal(t, payments.ProvisionLinked, made.Status)
	require.Equal(t, refused.Body, provision(t, s, connectedAccounts, "A1", unserved).Body, "its answer stays")
	require.Len(t, accountsAtStripe(t, s), 1)
}

// Another tenant's owner of the same name is another owner, though both are of one account at Stripe.
func TestOwnersOfTwoTenantsAreTwo(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	made := provisionOf(t, provision(t, s, customers, "C1", customer("owner-1")), http.StatusCreated)
	_, other := s.NewTenant("another")
	answer, err := s.Post(t.Context(), other, customers, "C1", customer("owner-1"), "wait=20")
	require.NoError(t, err)
	require.NotEqual(t, made.Customer, provisionOf(t, answer, http.StatusCreated).Customer)
	require.Len(t, customersAtStripe(t, s), 2)
}

// A payment names its payer by the customer's id of ours, which is asked of Stripe by Stripe's; one that is not the tenant's is refused, and so is an account.
func TestAPaymentNamesItsCustomer(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	made := provisionOf(t, provision(t, s, customers, "C1", customer("owner-1")), http.StatusCreated)
	account := provisionOf(t, provision(t, s, connectedAccounts, "A1", connectedAccount("owner-1", "usd")), http.StatusCreated)
	_, another := s.NewTenant("another")
	answer, err := s.Post(t.Context(), another, customers, "C1", customer("owner-1"), "wait=20")
	require.NoError(t, err)
	for i, other := range []payments.ProvisionID{account.ID, provisionOf(t, answer, http.StatusCreated).ID} {
		refused := s.Create(fmt.Sprintf("R%d", i), system.With(system.Order("order-1", 1000), "customer", other))
		require.Equal(t, http.StatusBadRequest, refused.Status, "%s", refused.Body)
		require.Equal(t, "customer", refused.Problem(t).Field)
	}
	order := system.With(system.Order("order-1", 1000), "customer", made.ID)
	paid := s.Create("K1", order)
	require.Equal(t, http.StatusCreated, paid.Status, "%s", paid.Body)
	require.Equal(t, paid.Body, s.Create("K1", order).Body)
	require.Equal(t, "reference_conflict", s.Create("K2", system.Order("order-1", 1000)).Problem(t).Code, "without its customer it is another order")
	sends := s.Requests(http.MethodPost, "/v1/payment_intents")
	require.Contains(t, sends[0].Body, "customer="+made.Customer)
	s.Create("K3", system.Order("order-2", 1000))
	sends = s.Requests(http.MethodPost, "/v1/payment_intents")
	require.NotContains(t, sends[len(sends)-1].Body, "customer=")
}

// A stranger takes the call over only once its owner's lease has run out, and asks with the same key; what the slow owner learns then is the same customer.
func TestAProvisionTakenOverIsLinkedOnce(t *testing.T) {
	t.Parallel()
	s := system.New(t, system.Unhurried)
	s.StartAPI()
	asked, err := s.Post(t.Context(), s.APIKey, customers, "C1", customer("owner-1"), "wait=0")
	require.NoError(t, err)
	id := provisionOf(t, asked, http.StatusAccepted).ID
	hold, err := s.Twin.Hold(t.Context(), control.Hold{Method: http.MethodPost, Path: customers, Point: control.AfterEffect, Times: 1})
	require.NoError(t, err)
	slow := make(chan error, 1)
	go func() {
		_, err := s.App.Activities.CreateProvision(t.Context(), workflows.ProvisionAct{Version: 1, Provision: id, Owner: "slow"})
		slow <- err
	}()
	_, err = s.Twin.Held(t.Context(), 1)
	require.NoError(t, err)
	stranger := workflows.ProvisionAct{Version: 1, Provision: id, Owner: "stranger"}
	_, err = s.App.Activities.CreateProvision(t.Context(), stranger)
	require.ErrorIs(t, err, boundaries.ErrLeased)
	s.DB.AdvanceClock(t, s.Config.Timing.Lease+time.Second)
	step, err := s.App.Activities.CreateProvision(t.Context(), stranger)
	require.NoError(t, err)
	require.Equal(t, workflows.ProvisionStep{Version: 1, Status: payments.ProvisionLinked, Over: true}, step)
	require.NoError(t, s.Twin.Release(t.Context(), hold.ID))
	require.NoError(t, <-slow)
	require.Len(t, customersAtStripe(t, s), 1)
	require.Equal(t, 2, s.Count(`SELECT fence FROM payonce.idempotency_records`))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM payonce.provider_calls`))
}
