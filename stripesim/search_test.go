package stripesim_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim"
)

func (b *bench) search(query string) reply {
	b.t.Helper()
	return b.get(intents + "/search?query=" + url.QueryEscape(query))
}

// atOnce is a twin whose search does not lag.
func atOnce(c *stripesim.Config) { c.SearchLag = -1 }

func TestSearchLagsBehindByAMinuteOfTheTwinsClock(t *testing.T) {
	b := start(t)
	id := b.create("metadata[order]=7")
	mine := "metadata['order']:'7'"
	require.Empty(t, ids(t, b.search(mine)), "not yet, though it is there")
	require.Equal(t, []string{id}, ids(t, b.get(intents)), "a list reads what was written")
	b.clock.advance(59 * time.Second)
	require.Empty(t, ids(t, b.search(mine)))
	b.clock.advance(time.Second)
	require.Equal(t, []string{id}, ids(t, b.search(mine)))
}

func TestSearchShowsAChangedIntentAsItWas(t *testing.T) {
	b := start(t)
	id := b.create("metadata[order]=7")
	b.clock.advance(time.Hour)
	b.confirm(id, "payment_method=pm_card_visa")
	b.clock.advance(30 * time.Second)
	b.post(intents+"/"+id, "metadata[order]=8", "")

	old := b.search("metadata['order']:'7'")
	require.Equal(t, []string{id}, ids(t, old))
	require.Equal(t, "requires_payment_method", old.json("data.0.status"))
	require.Empty(t, ids(t, b.search("status:'succeeded'")))

	b.clock.advance(30 * time.Second)
	paid := b.search("status:'succeeded' metadata['order']:'7'")
	require.Equal(t, []string{id}, ids(t, paid), "paid, and still the old metadata")
	require.NotEmpty(t, paid.json("data.0.latest_charge"))
	b.clock.advance(30 * time.Second)
	require.Empty(t, ids(t, b.search("metadata['order']:'7'")))
	require.Equal(t, []string{id}, ids(t, b.search("metadata['order']:'8'")))
}

func TestSearchShowsWhatTheClockDidLate(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_usBankAccount_success")
	b.clock.advance(4 * 24 * time.Hour)
	require.Equal(t, "processing", b.search("customer:null").json("data.0.status"))
	require.Equal(t, "succeeded", b.get(intents+"/"+id).json("status"))
	b.clock.advance(time.Minute)
	require.Equal(t, "succeeded", b.search("customer:null").json("data.0.status"))
}

func TestSearchOutageHidesNewThingsForAnHourAndKeepsTheOld(t *testing.T) {
	b := start(t)
	lag, err := b.ctl.SearchLag(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Minute, lag)
	old := b.create("")
	b.clock.advance(time.Minute)
	require.NoError(t, b.ctl.SetSearchLag(t.Context(), time.Hour))
	young := b.create("")
	b.clock.advance(59 * time.Minute)
	require.Equal(t, []string{old}, ids(t, b.search("amount>1")))
	require.NoError(t, b.ctl.SetSearchLag(t.Context(), time.Minute))
	require.Equal(t, []string{young, old}, ids(t, b.search("amount>1")), "the outage is over")
	require.NoError(t, b.ctl.Reset(t.Context()))
	require.Empty(t, ids(t, b.search("amount>1")))
}

func TestSearchForgetsNothingWhenTheTwinStartsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twin.db")
	b := start(t, func(c *stripesim.Config) { c.StateFile = file })
	old := b.create("")
	b.clock.advance(time.Minute)
	young := b.create("")
	c := b.again(file)
	require.Equal(t, []string{old}, ids(t, c.search("amount>1")))
	c.clock.advance(time.Minute)
	require.Equal(t, []string{young, old}, ids(t, c.search("amount>1")))
}

func TestSearchQueryLanguage(t *testing.T) {
	b := start(t, atOnce)
	customer := b.customer("")
	a := b.create(`metadata[order]=it%27s+1&metadata[shop]=North&customer=` + customer)
	b.clock.advance(time.Hour)
	at := strconv.FormatInt(b.clock.now.Unix(), 10)
	paid := b.create("confirm=true&payment_method=pm_card_visa&metadata[shop]=south")
	euro := b.post(intents, "amount=500&currency=eur", "").json("id").(string)
	for query, want := range map[string][]string{
		`metadata['order']:'it\'s 1'`:             {a},
		`metadata["order"]:"it's 1"`:              {a},
		`metadata['shop']:'north'`:                {a}, // without regard to case
		`metadata['shop']:'nor'`:                  {},
		`-metadata['shop']:'north'`:               {euro, paid},
		`metadata['shop']:null`:                   {euro},
		`-metadata['shop']:null`:                  {paid, a},
		`status:'succeeded'`:                      {paid},
		`status:"succeeded" AND currency:"eur"`:   {},
		`status:'succeeded' or currency:'eur'`:    {euro, paid},
		`currency:'usd' metadata['shop']:'south'`: {paid},
		`currency:'usd' and -status:'succeeded'`:  {a},
		`customer:'` + customer + `'`:             {a},
		`amount:500`:                              {euro},
		`amount=500`:                              {euro},
		`amount>500`:                              {paid, a},
		`amount>="500"`:                           {euro, paid, a},
		`amount<500`:                              {},
		`amount<=500`:                             {euro},
		`created>=` + at:                          {euro, paid},
		`created<` + at:                           {a},
		`created>` + at + ` OR status:'requires_payment_method'`: {euro, a},
		`  currency:'eur'  `: {euro},
		`metadata['or']:'x' OR metadata['and']:'y' OR amount : 500`: nil, // a blank before the operator
	} {
		answer := b.search(query)
		if want == nil {
			require.Equal(t, http.StatusBadRequest, answer.status, query)
			continue
		}
		require.Equal(t, want, ids(t, answer), query)
	}
}

func TestSearchQueryIsChecked(t *testing.T) {
	b := start(t)
	for _, query := range []string{"", " ", "status", "status:", "status:succeeded", "status:'x", "colour:'red'", "amount:'x'", "amount:null",
		"status>'a'", "status~'succ'", "amount~5", "status='x'", "metadata:'x'", "metadata[order]:'x'", "metadata['order':'x'", "-", "AND status:'x'",
		"status:'x' AND", "status:'a' AND status:'b' OR status:'c'", "status:'a' status:'b' OR status:'c'", "amount>1.5"} {
		answer := b.search(query)
		require.Equal(t, http.StatusBadRequest, answer.status, query)
		require.Equal(t, "query", answer.json("error.param"), query)
	}
	for _, rest := range []string{"", "query=amount%3E1&limit=101", "query=amount%3E1&page=x", "query=amount%3E1&starting_after=pi_x"} {
		require.Equal(t, http.StatusBadRequest, b.get(intents+"/search?"+rest).status, rest)
	}
}

func TestSearchPagesNewestFirst(t *testing.T) {
	b := start(t, atOnce)
	made := b.five()
	first := b.get(intents + "/search?limit=2&query=amount%3E1")
	require.Equal(t, []string{made[4], made[3]}, ids(t, first))
	require.Equal(t, "search_result", first.json("object"))
	require.Equal(t, true, first.json("has_more"))
	rest := b.get(intents + "/search?limit=3&query=amount%3E1&page=" + first.json("next_page").(string))
	require.Equal(t, []string{made[2], made[1], made[0]}, ids(t, rest))
	require.Equal(t, false, rest.json("has_more"))
	require.Nil(t, rest.json("next_page"))

	params := &stripe.PaymentIntentSearchParams{SearchParams: stripe.SearchParams{Query: "currency:'usd'", Limit: stripe.Int64(2)}}
	found := b.stripe(testKey).PaymentIntents.Search(params)
	var all []string
	for found.Next() {
		all = append(all, found.PaymentIntent().ID)
	}
	require.NoError(t, found.Err())
	require.Equal(t, []string{made[4], made[3], made[2], made[1], made[0]}, all)
}

func TestSearchSeesOnlyItsAccountAndMode(t *testing.T) {
	b := start(t, atOnce)
	b.create("")
	for _, auth := range []string{"Bearer sk_live_shop", "Bearer sk_test_other"} {
		require.Empty(t, ids(t, b.do(request{method: http.MethodGet, path: intents + "/search?query=amount%3E1", auth: auth})))
	}
}
