package stripesim_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
)

func ids(t *testing.T, answer reply) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	found := []string{}
	for _, row := range answer.json("data").([]any) {
		found = append(found, row.(map[string]any)["id"].(string))
	}
	return found
}

// five makes five intents, one a minute, for two customers in turn.
func (b *bench) five() []string {
	var made []string
	customers := []string{b.customer("name=first"), b.customer("name=second")}
	for i := range 5 {
		made = append(made, b.create("customer="+customers[i%2]))
		b.clock.advance(time.Minute)
	}
	return made
}

func TestListIsNewestFirstAndPages(t *testing.T) {
	b := start(t)
	made := b.five()
	first := b.get(intents + "?limit=2")
	require.Equal(t, []string{made[4], made[3]}, ids(t, first))
	require.Equal(t, true, first.json("has_more"))
	require.Equal(t, "list", first.json("object"))
	require.Equal(t, intents, first.json("url"))
	rest := b.get(intents + "?limit=3&starting_after=" + made[3])
	require.Equal(t, []string{made[2], made[1], made[0]}, ids(t, rest))
	require.Equal(t, false, rest.json("has_more"))
	back := b.get(intents + "?limit=2&ending_before=" + made[0])
	require.Equal(t, []string{made[2], made[1]}, ids(t, back))
	require.Equal(t, true, back.json("has_more"))
}

func TestStripeGoIteratesOverAllPages(t *testing.T) {
	b := start(t)
	made := b.five()
	params := &stripe.PaymentIntentListParams{}
	params.Limit = stripe.Int64(2)
	list := b.stripe(testKey).PaymentIntents.List(params)
	var found []string
	for list.Next() {
		found = append(found, list.PaymentIntent().ID)
	}
	require.NoError(t, list.Err())
	require.Equal(t, []string{made[4], made[3], made[2], made[1], made[0]}, found)
}

func TestListFiltersByCreatedAndCustomer(t *testing.T) {
	b := start(t)
	at := b.clock.now
	made := b.five()
	minute := func(i int) string { return strconv.FormatInt(at.Add(time.Duration(i)*time.Minute).Unix(), 10) }
	require.Equal(t, []string{made[4], made[3]}, ids(t, b.get(intents+"?created[gte]="+minute(3))))
	require.Equal(t, []string{made[4]}, ids(t, b.get(intents+"?created[gt]="+minute(3))))
	require.Equal(t, []string{made[1], made[0]}, ids(t, b.get(intents+"?created[lte]="+minute(1))))
	require.Equal(t, []string{made[0]}, ids(t, b.get(intents+"?created[lt]="+minute(1))))
	require.Equal(t, []string{made[2]}, ids(t, b.get(intents+"?created="+minute(2))))
	second := b.get(intents + "/" + made[1]).json("customer").(string)
	require.Equal(t, []string{made[3], made[1]}, ids(t, b.get(intents+"?customer="+second)))
}

func TestListByCreatedIsWholeAfterTheClockWasSetBack(t *testing.T) {
	b := start(t)
	b.clock.advance(24 * time.Hour)
	late := b.create("")
	b.clock.advance(-24 * time.Hour)
	b.create("")
	bound := strconv.FormatInt(b.clock.now.Add(time.Hour).Unix(), 10)
	require.Equal(t, []string{late}, ids(t, b.get(intents+"?created[gte]="+bound)))
}

func TestListParametersAreChecked(t *testing.T) {
	b := start(t)
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "colour=red", "starting_after=pi_x", "created[gte]=x", "starting_after=a&ending_before=b"} {
		require.Equal(t, http.StatusBadRequest, b.get(intents+"?"+query).status, query)
	}
	require.Empty(t, ids(t, b.get(intents)))
}

func TestListExpandsItsData(t *testing.T) {
	b := start(t)
	b.create("confirm=true&payment_method=pm_card_visa")
	answer := b.get(intents + "?expand[]=data.latest_charge.balance_transaction")
	require.EqualValues(t, 2000, answer.json("data.0.latest_charge.balance_transaction.amount"))
}

func TestChargesOfAnIntent(t *testing.T) {
	b := start(t)
	id := b.create("")
	b.confirm(id, "payment_method=pm_card_chargeDeclined")
	b.confirm(id, "payment_method=pm_card_visa")
	b.create("confirm=true&payment_method=pm_card_visa")
	list := b.get("/v1/charges?payment_intent=" + id)
	require.Len(t, ids(t, list), 2)
	require.Equal(t, "succeeded", list.json("data.0.status"))
	require.Len(t, ids(t, b.get("/v1/charges")), 3)
	require.Empty(t, ids(t, b.get("/v1/charges?payment_intent=pi_other")))

	charge, err := b.stripe(testKey).Charges.Get(ids(t, list)[0], nil)
	require.NoError(t, err)
	require.Equal(t, id, charge.PaymentIntent.ID)
	require.Equal(t, stripe.ChargeStatusSucceeded, charge.Status)
	failed, err := b.stripe(testKey).Charges.Get(ids(t, list)[1], nil)
	require.NoError(t, err)
	require.Equal(t, "card_declined", failed.FailureCode)
	require.Empty(t, failed.BalanceTransaction)
}

func TestBalanceTransactionExistsAtOnce(t *testing.T) {
	b := start(t)
	id := b.create("confirm=true&payment_method=pm_card_visa&description=order")
	charge := b.get(intents + "/" + id).json("latest_charge").(string)
	list := b.get("/v1/balance_transactions?source=" + charge)
	require.Len(t, ids(t, list), 1)
	bt, err := b.stripe(testKey).BalanceTransactions.Get(ids(t, list)[0], nil)
	require.NoError(t, err)
	require.EqualValues(t, 2000, bt.Amount)
	require.EqualValues(t, 88, bt.Fee)
	require.Equal(t, bt.Amount-bt.Fee, bt.Net)
	require.Equal(t, stripe.CurrencyUSD, bt.Currency)
	require.Equal(t, charge, bt.Source.ID)
	require.Equal(t, bt.Fee, b.book(id).Fees)
	require.Empty(t, ids(t, b.get("/v1/balance_transactions?source=ch_other")))
	require.Len(t, ids(t, b.get("/v1/balance_transactions?type=charge&currency=usd")), 1)
}

func TestFeeIsRoundedHalfUp(t *testing.T) {
	b := start(t)
	for amount, fee := range map[string]int64{"50": 31, "100": 33, "1017": 59, "1050": 60, "99999999": 2900030} {
		answer := b.post(intents, "confirm=true&payment_method=pm_card_visa&currency=usd&amount="+amount, "")
		require.Equal(t, fee, b.book(answer.json("id").(string)).Fees, amount)
	}
}
