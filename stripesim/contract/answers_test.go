package contract_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-mock/spec"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

const (
	intents   = "/v1/payment_intents"
	customers = "/v1/customers"
	secretKey = "sk_test_contract"
)

// exchange is a request and what the twin answered.
type exchange struct {
	method, path string
	status       int
	body         []byte
}

// driver speaks to a twin and remembers what it answered.
type driver struct {
	t    *testing.T
	base string
	http *http.Client
	ctl  *control.Client
	seen []exchange
	now  *movingClock
}

type movingClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *movingClock) Now(context.Context) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, nil
}

func (c *movingClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func drive(t *testing.T) *driver {
	t.Helper()
	clock := &movingClock{now: time.Date(2023, 11, 1, 12, 0, 0, 0, time.UTC)}
	twin, err := stripesim.New(stripesim.Config{Clock: clock, SearchLag: -1, TickEvery: time.Hour})
	require.NoError(t, err)
	server := httptest.NewServer(twin.Handler())
	t.Cleanup(func() {
		require.NoError(t, twin.Close())
		server.Close()
	})
	return &driver{t: t, base: server.URL, http: server.Client(), ctl: control.NewClient(server.URL, server.Client()), now: clock}
}

func (d *driver) send(method, path, form, key string) map[string]any {
	d.t.Helper()
	address, content := d.base+path, io.Reader(strings.NewReader(form))
	if method == http.MethodGet {
		address, content = address+"?"+form, nil
	}
	request, err := http.NewRequestWithContext(d.t.Context(), method, address, content)
	require.NoError(d.t, err)
	request.Header.Set("Authorization", "Bearer "+secretKey)
	request.Header.Set("Idempotency-Key", key)
	if content != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := d.http.Do(request)
	require.NoError(d.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(d.t, err)
	d.seen = append(d.seen, exchange{method, path, response.StatusCode, body})
	var value map[string]any
	require.NoError(d.t, json.Unmarshal(body, &value), "%s", body)
	return value
}

func (d *driver) post(path, form string) map[string]any {
	d.t.Helper()
	return d.send(http.MethodPost, path, form, "")
}

func (d *driver) get(path, query string) map[string]any {
	d.t.Helper()
	return d.send(http.MethodGet, path, query, "")
}

// create makes an intent and returns its path.
func (d *driver) create(form string) string {
	d.t.Helper()
	value := d.post(intents, "amount=2000&currency=usd&"+form)
	id, ok := value["id"].(string)
	require.True(d.t, ok, "%v", value)
	return intents + "/" + id
}

// everything makes the twin answer with every object that it has, in every state.
func (d *driver) everything() {
	d.money()
	d.challenges()
	d.debits()
	d.holders()
	d.refunds()
	d.disputes()
	d.payouts()
	d.accounts()
	d.refusals()
	d.lists()
}

func (d *driver) money() {
	id := d.create("metadata[order]=7&description=Order&receipt_email=a%40shop.example&statement_descriptor_suffix=SHOP&setup_future_usage=off_session" +
		"&transfer_data[destination]=acct_other&transfer_data[amount]=100&transfer_group=g&on_behalf_of=acct_other")
	d.post(id, "metadata[order]=8&amount=2100")
	d.post(id+"/confirm", "payment_method=pm_card_chargeDeclinedInsufficientFunds")
	d.post(id+"/confirm", "payment_method=pm_card_visa&expand[]=latest_charge.balance_transaction&expand[]=payment_method")
	charge := d.get(id, "")["latest_charge"].(string)
	d.post("/v1/charges/"+charge, "description=Changed")
	d.get("/v1/charges/"+charge, "expand[]=payment_intent")
	held := d.create("capture_method=manual&confirm=true&payment_method=pm_card_mastercard")
	d.post(held+"/capture", "amount_to_capture=1500")
	d.post(d.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")+"/cancel", "cancellation_reason=requested_by_customer")
	d.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")
	d.post(d.create("payment_method=pm_card_visa")+"/cancel", "")
	d.post(intents, "amount=500&currency=jpy&payment_method_types[]=card")
	d.post(intents, "amount=500&currency=gbp&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never")
}

func (d *driver) challenges() {
	asks := "confirm=true&payment_method=pm_card_authenticationRequired"
	d.create(asks)
	d.create(asks + "&return_url=https%3A%2F%2Fshop.example%2Fback")
	failed := d.create(asks)
	_, err := d.ctl.Fail(d.t.Context(), strings.TrimPrefix(failed, intents+"/"), control.Fail{})
	require.NoError(d.t, err)
	d.get(failed, "")
	d.post(d.create("")+"/confirm", "off_session=true&payment_method=pm_card_authenticationRequired")
}

func (d *driver) debits() {
	d.create("confirm=true&payment_method=pm_usBankAccount_success")
	bounced := d.create("confirm=true&payment_method=pm_usBankAccount_accountClosed")
	d.post(intents, "amount=2000&currency=eur&confirm=true&payment_method=pm_success_de&expand[]=latest_charge&expand[]=payment_method")
	d.post(intents, "amount=2000&currency=aud&confirm=true&payment_method=pm_auBecsDebit_success&expand[]=latest_charge&expand[]=payment_method")
	d.now.advance(5 * 24 * time.Hour)
	d.get(bounced, "expand[]=latest_charge")
	d.now.advance(3 * 24 * time.Hour) // the open authorisation expires
	d.get(bounced, "")
}

func (d *driver) holders() {
	made := d.post(customers, "email=a%40shop.example&name=A&description=d&phone=1&metadata[k]=v")
	path := customers + "/" + made["id"].(string)
	d.post(path, "name=B&metadata[k]=")
	d.create("customer=" + made["id"].(string) + "&confirm=true&payment_method=pm_card_amex")
	d.get(path, "")
	d.post(customers, "")
	d.get(customers, "limit=1")
	d.send(http.MethodDelete, path, "", "")
	d.get(path, "")
}

func (d *driver) refunds() {
	paid := strings.TrimPrefix(d.create("confirm=true&payment_method=pm_card_visa&receipt_email=a%40shop.example"), intents+"/")
	for _, plan := range []control.RefundPlan{
		{Status: "succeeded"}, {Status: "pending"}, {Status: "pending", Unfunded: true}, {Status: "requires_action"}, {Status: "failed"},
		{Status: "succeeded", AfterS: 1, Then: "failed"},
	} {
		_, err := d.ctl.PlanRefund(d.t.Context(), paid, plan)
		require.NoError(d.t, err)
		made := d.post("/v1/refunds", "amount=100&payment_intent="+paid+"&reason=duplicate&metadata[k]=v")
		d.post("/v1/refunds/"+made["id"].(string), "metadata[k]=w")
		d.post("/v1/refunds/"+made["id"].(string)+"/cancel", "")
		d.now.advance(time.Second)
		d.get("/v1/refunds/"+made["id"].(string), "expand[]=balance_transaction&expand[]=failure_balance_transaction&expand[]=charge&expand[]=payment_intent")
	}
	d.post("/v1/refunds", "amount=10000&payment_intent="+paid)
	d.post("/v1/refunds", "payment_intent="+paid)
	d.post("/v1/refunds", "payment_intent="+paid)
	debit := strings.TrimPrefix(d.create("confirm=true&payment_method=pm_usBankAccount_success"), intents+"/")
	d.now.advance(4 * 24 * time.Hour)
	d.post("/v1/refunds", "payment_intent="+debit)
	held := d.create("capture_method=manual&confirm=true&payment_method=pm_card_visa&payment_method_options[card][request_multicapture]=if_available")
	for _, form := range []string{"amount_to_capture=100&final_capture=false", "amount_to_capture=100&final_capture=false", "amount_to_capture=0"} {
		d.post(held+"/capture", form+"&expand[]=latest_charge.balance_transaction")
	}
}

func (d *driver) disputes() {
	account := control.Account{ID: "acct_contract", SettlementCurrency: "eur", RateNumerator: 9, RateDenominator: 10, BalanceLagS: 1,
		ReleasesAsRefunds: true}
	_, err := d.ctl.SetAccount(d.t.Context(), account)
	require.NoError(d.t, err)
	d.post(d.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")+"/capture", "amount_to_capture=100")
	d.post(d.create("capture_method=manual&confirm=true&payment_method=pm_card_visa")+"/cancel", "")
	for _, status := range []string{"won", "lost", "warning_closed"} {
		paid := strings.TrimPrefix(d.create("confirm=true&payment_method=pm_card_visa"), intents+"/")
		how := control.OpenDispute{}
		if status == "warning_closed" {
			how.Status = "warning_needs_response"
		}
		opened, err := d.ctl.OpenDispute(d.t.Context(), paid, how)
		require.NoError(d.t, err)
		_, err = d.ctl.UpdateDispute(d.t.Context(), opened.ID, control.UpdateDispute{Evidence: true})
		require.NoError(d.t, err)
		_, err = d.ctl.CloseDispute(d.t.Context(), opened.ID, control.CloseDispute{Status: status})
		require.NoError(d.t, err)
		d.now.advance(time.Second)
		d.get("/v1/disputes/"+opened.ID, "expand[]=charge&expand[]=payment_intent")
		d.post("/v1/refunds", "payment_intent="+paid)
	}
}

func (d *driver) payouts() {
	d.create("confirm=true&payment_method=pm_card_bypassPending")
	d.now.advance(7 * 24 * time.Hour)
	d.post("/v1/payouts", "amount=1000000&currency=usd")
	for _, status := range []string{"in_transit", "paid", "failed"} {
		made := d.post("/v1/payouts", "amount=100&currency=usd&description=d&metadata[k]=v")
		_, err := d.ctl.SettlePayout(d.t.Context(), made["id"].(string), control.SettlePayout{Status: status})
		require.NoError(d.t, err)
		d.get("/v1/payouts/"+made["id"].(string), "expand[]=balance_transaction&expand[]=failure_balance_transaction")
	}
	d.post("/v1/payouts/"+d.post("/v1/payouts", "amount=100&currency=usd")["id"].(string)+"/cancel", "")
	d.get("/v1/payouts", "limit=2")
	d.get("/v1/balance", "")
}

func (d *driver) accounts() {
	made := d.post("/v1/accounts", "type=express&country=DE&default_currency=eur&email=a%40shop.example&metadata[k]=v")
	d.get("/v1/accounts/"+made["id"].(string), "")
	d.post("/v1/accounts", "type=standard&country=AQ")
	d.get("/v1/accounts", "limit=2")
}

func (d *driver) refusals() {
	d.send(http.MethodPost, intents, "amount=2000&currency=usd", "k")
	d.send(http.MethodPost, intents, "amount=2001&currency=usd", "k")
	for _, form := range []string{"", "amount=x&currency=usd", "amount=1&currency=usd", "amount=999999999&currency=usd", "amount=500&currency=zzz",
		"amount=500&currency=usd&colour=red", "amount=500&currency=usd&customer=cus_nobody", "amount=500&currency=usd&payment_method=pm_nobody"} {
		d.post(intents, form)
	}
	paid := d.create("confirm=true&payment_method=pm_card_visa")
	for _, what := range []string{"/confirm", "/cancel", "/capture"} {
		d.post(paid+what, "")
	}
	d.get(intents+"/pi_nobody", "")
	for _, fault := range []string{control.FaultRateLimited, control.FaultLockTimeout, control.FaultErrorBefore, control.FaultUnauthorized, control.FaultKeyMismatch, control.FaultErrorAfter} {
		_, err := d.ctl.AddFault(d.t.Context(), control.Rule{Fault: fault, Times: 1, Match: control.Match{Method: http.MethodPost}})
		require.NoError(d.t, err)
		d.post(intents, "amount=2000&currency=usd")
	}
}

func (d *driver) lists() {
	d.get(intents, "limit=100&expand[]=data.latest_charge")
	d.get(intents+"/search", "limit=1&query="+url.QueryEscape("status:'succeeded'"))
	d.get("/v1/charges", "limit=100")
	transactions := d.get("/v1/balance_transactions", "limit=100")["data"].([]any)
	d.get("/v1/balance_transactions/"+transactions[0].(map[string]any)["id"].(string), "")
	d.get("/v1/refunds", "limit=100&expand[]=data.charge")
	d.get("/v1/disputes", "limit=100&expand[]=data.charge")
	d.get("/v1/balance_transactions", "limit=100&expand[]=data.source.payment_intent")
	after := ""
	for more := true; more; {
		page := d.get("/v1/events", "limit=100"+after)
		rows := page["data"].([]any)
		d.get("/v1/events/"+rows[0].(map[string]any)["id"].(string), "")
		after = "&starting_after=" + rows[len(rows)-1].(map[string]any)["id"].(string)
		more = page["has_more"].(bool)
	}
}

func TestTwinsAnswersAreAsStripeDescribesThem(t *testing.T) {
	stripe := describe(t)
	d := drive(t)
	d.everything()
	listed := listedDifferences(t)
	found := map[difference]bool{}
	for _, one := range d.seen {
		var value any
		require.NoError(t, json.Unmarshal(one.body, &value))
		schema, where := stripe.answer(t, one.method, one.path, one.status)
		for _, differs := range stripe.compare(schema, value, where) {
			found[differs] = true
			require.Contains(t, listed, differs, "%s %s: not in the table of README.md\n%s", one.method, one.path, one.body)
		}
	}
	for differs := range listed {
		require.Contains(t, found, differs, "the table of README.md names a difference that is not there")
	}
}

// listedDifferences reads the table of README.md.
func listedDifferences(t *testing.T) map[difference]string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(readme), "| where | what | why |\n| --- | --- | --- |\n")
	require.True(t, found)
	listed := map[difference]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		if len(cells) != 3 {
			break
		}
		why := strings.TrimSpace(cells[2])
		require.NotEmpty(t, why, line)
		listed[difference{strings.TrimSpace(cells[0]), cells[1]}] = why
	}
	require.NotEmpty(t, listed)
	return listed
}

func TestAComparisonFindsEachKindOfDifference(t *testing.T) {
	stripe := describe(t)
	for _, one := range []struct {
		schema, value string
		want          []difference
	}{
		{"deleted_customer", `{"id":"cus_1","object":"customer","deleted":true}`, nil},
		{"deleted_customer", `{"id":1,"object":"customer","deleted":true}`, []difference{{"deleted_customer.id", "float64, not string"}}},
		{"deleted_customer", `{"id":null,"object":"customer","deleted":true}`, []difference{{"deleted_customer.id", "null"}}},
		{"deleted_customer", `{"id":"cus_1","object":"card","deleted":true}`, []difference{{"deleted_customer.object", "value card"}}},
		{"deleted_customer", `{"object":"customer","deleted":true}`, []difference{{"deleted_customer.id", "missing"}}},
		{"deleted_customer", `{"id":"cus_1","object":"customer","deleted":true,"x":1}`, []difference{{"deleted_customer.x", "not described"}}},
		{"fee", `{"amount":1.5,"application":null,"currency":"usd","description":null,"type":"stripe_fee"}`,
			[]difference{{"fee.amount", "float64, not integer"}}},
		{"payment_intent_next_action", `{"type":[],"redirect_to_url":{"url":null,"return_url":3}}`, []difference{
			{"payment_intent_next_action.type", "[]interface {}, not string"}, {"payment_intent_next_action_redirect_to_url.return_url", "float64, not string"},
		}},
	} {
		var value any
		require.NoError(t, json.Unmarshal([]byte(one.value), &value))
		require.ElementsMatch(t, one.want, stripe.compare(&spec.Schema{Ref: "#/components/schemas/" + one.schema}, value, ""), one.value)
	}
}
