package stripesim_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"payonce/stripesim/control"
)

const refunds = "/v1/refunds"

// payment makes a paid intent of 20.00 usd and returns its id.
func (b *bench) payment(form string) string {
	b.t.Helper()
	return b.create("confirm=true&payment_method=pm_card_visa&" + form)
}

// refund refunds an intent and returns the answer, which has to be good.
func (b *bench) refund(id, form string) reply {
	b.t.Helper()
	answer := b.post(refunds, "payment_intent="+id+"&"+form, "")
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	return answer
}

// charge reads the latest charge of an intent.
func (b *bench) charge(id string) reply {
	b.t.Helper()
	return b.get("/v1/charges/" + b.get(intents+"/"+id).json("latest_charge").(string))
}

// happened decodes what the i-th event of an intent, of a type, is about; the newest has i = 0.
func (b *bench) happened(id, kind string, i int) map[string]any {
	b.t.Helper()
	events, err := b.ctl.Events(b.t.Context(), control.EventsQuery{PaymentIntent: id, Type: kind})
	require.NoError(b.t, err)
	require.Greater(b.t, len(events), i, kind)
	var object map[string]any
	require.NoError(b.t, json.Unmarshal(events[len(events)-1-i].Object, &object))
	return object
}

func TestStripeGoDecodesARefund(t *testing.T) {
	b := start(t)
	id := b.payment("metadata[order]=7")
	params := &stripe.RefundParams{PaymentIntent: stripe.String(id), Amount: stripe.Int64(700), Reason: stripe.String("requested_by_customer"),
		Metadata: map[string]string{"refund": "r1"}}
	params.AddExpand("charge")
	params.AddExpand("payment_intent")
	params.AddExpand("balance_transaction")
	params.SetIdempotencyKey("k")
	made, err := b.stripe(testKey).Refunds.New(params)
	require.NoError(t, err)
	require.Equal(t, stripe.RefundStatusSucceeded, made.Status)
	require.EqualValues(t, 700, made.Amount)
	require.Equal(t, stripe.CurrencyUSD, made.Currency)
	require.Equal(t, "r1", made.Metadata["refund"])
	require.Equal(t, stripe.RefundReasonRequestedByCustomer, made.Reason)
	require.Equal(t, id, made.PaymentIntent.ID)
	require.EqualValues(t, 700, made.Charge.AmountRefunded)
	require.False(t, made.Charge.Refunded)
	require.EqualValues(t, -700, made.BalanceTransaction.Amount)
	require.Zero(t, made.BalanceTransaction.Fee)
	require.Equal(t, stripe.BalanceTransactionTypeRefund, made.BalanceTransaction.Type)
	require.Equal(t, b.clock.now.Unix(), made.Created)

	again, err := b.stripe(testKey).Refunds.New(params)
	require.NoError(t, err)
	require.Equal(t, made.ID, again.ID, "the key replays")
	read, err := b.stripe(testKey).Refunds.Get(made.ID, nil)
	require.NoError(t, err)
	require.Equal(t, made.Amount, read.Amount)
	book := b.book(id)
	require.EqualValues(t, 700, book.Refunded)
	require.Equal(t, []control.Refund{{ID: made.ID, PaymentIntent: id, Charge: made.Charge.ID, Amount: 700, Currency: "usd", Status: "succeeded",
		Reason: "requested_by_customer", BalanceTransaction: made.BalanceTransaction.ID, Metadata: map[string]string{"refund": "r1"},
		Created: b.clock.now}}, book.Refunds)
}

func TestRefundsAddUpToTheChargeAndNotBeyond(t *testing.T) {
	b := start(t)
	id := b.payment("")
	b.refund(id, "amount=500")
	beyond := b.post(refunds, "payment_intent="+id+"&amount=1501", "k")
	require.Equal(t, http.StatusBadRequest, beyond.status)
	require.Equal(t, "invalid_request_error", beyond.json("error.type"))
	require.Equal(t, "amount_too_large", beyond.json("error.code"))
	require.Contains(t, beyond.json("error.message"), "Refund amount (15.01 usd) is greater than unrefunded amount on charge (15.00 usd)")
	require.Equal(t, "true", b.post(refunds, "payment_intent="+id+"&amount=1501", "k").header.Get("Idempotent-Replayed"), "a refusal is stored")
	rest := b.refund(id, "")
	require.EqualValues(t, 1500, rest.json("amount"), "all that is left where no amount is named")
	require.Equal(t, true, b.charge(id).json("refunded"))
	require.EqualValues(t, 2000, b.charge(id).json("amount_refunded"))
	again := b.post(refunds, "payment_intent="+id, "")
	require.Equal(t, "charge_already_refunded", again.json("error.code"))
	require.EqualValues(t, 2000, b.book(id).Refunded)
	require.Equal(t, "succeeded", b.get(intents+"/"+id).json("status"), "a refund does not change the intent")
}

func TestRefundsOfAPartialCaptureEndAtWhatWasCaptured(t *testing.T) {
	b := start(t)
	id := b.create(heldForm)
	b.capture(id, "amount_to_capture=1500")
	require.Equal(t, "amount_too_large", b.post(refunds, "payment_intent="+id+"&amount=1501", "").json("error.code"))
	b.refund(id, "")
	require.EqualValues(t, 1500, b.book(id).Refunded)
	require.EqualValues(t, 2000, b.charge(id).json("amount_refunded"), "with what was released")
}

func TestRefundIsRefusedWhereThereIsNothingToRefund(t *testing.T) {
	b := start(t)
	held, open, declined := b.create(heldForm), b.create(""), b.create("")
	b.confirm(declined, "payment_method=pm_card_chargeDeclined")
	for _, form := range []string{"payment_intent=" + held, "charge=" + b.charge(held).json("id").(string)} {
		answer := b.post(refunds, form, "")
		require.Equal(t, http.StatusBadRequest, answer.status)
		require.Equal(t, "payment_intent_unexpected_state", answer.json("error.code"))
		require.Equal(t, "requires_capture", answer.json("error.payment_intent.status"))
	}
	for _, id := range []string{open, declined} {
		answer := b.post(refunds, "payment_intent="+id, "")
		require.Equal(t, http.StatusBadRequest, answer.status)
		require.Contains(t, answer.json("error.message"), "does not have a successful charge to refund")
	}
	require.Equal(t, http.StatusBadRequest, b.post(refunds, "charge="+b.charge(declined).json("id").(string), "").status)
	paid, other := b.payment(""), b.payment("")
	for form, code := range map[string]any{
		"": "parameter_missing", "payment_intent=pi_nobody": "resource_missing", "charge=ch_nobody": "resource_missing",
		"payment_intent=" + paid + "&amount=0": "parameter_invalid_integer", "payment_intent=" + paid + "&reason=tired": nil,
		"payment_intent=" + paid + "&colour=red": "parameter_unknown", "payment_intent=" + paid + "&charge=" + b.charge(other).json("id").(string): nil,
	} {
		answer := b.post(refunds, form, "")
		require.Equal(t, http.StatusBadRequest, answer.status, form)
		require.Equal(t, code, answer.json("error.code"), form)
	}
	require.Empty(t, ids(t, b.get(refunds)))
}

func TestRefundOfAnIntentIsOfItsSuccessfulCharge(t *testing.T) {
	b := start(t)
	id := b.create("")
	b.confirm(id, "payment_method=pm_card_chargeDeclined")
	b.confirm(id, "payment_method=pm_card_visa")
	require.Equal(t, b.charge(id).json("id"), b.refund(id, "amount=100").json("charge"))
}

func TestRefundsFollowTheirCurrency(t *testing.T) {
	b := start(t)
	pay := func(form string) string {
		return b.post(intents, "confirm=true&payment_method=pm_card_visa&"+form, "").json("id").(string)
	}
	kwd, yen := pay("amount=18600&currency=kwd"), pay("amount=80&currency=jpy")
	require.Equal(t, "parameter_invalid_integer", b.post(refunds, "payment_intent="+kwd+"&amount=15", "").json("error.code"))
	require.EqualValues(t, 10, b.refund(kwd, "amount=10").json("amount"))
	require.EqualValues(t, 30, b.refund(yen, "amount=30").json("amount"))
	require.EqualValues(t, 30, b.book(yen).Refunded)
}

func TestRefundOfACardIsToldOfFourTimesWithinASecond(t *testing.T) {
	b := start(t)
	id := b.payment("")
	answer := b.post(refunds, "payment_intent="+id+"&amount=300", "k")
	require.Equal(t, []string{"refund.created", "charge.refunded", "refund.updated", "charge.refund.updated"}, b.types(id)[3:])
	require.EqualValues(t, 300, b.happened(id, "charge.refunded", 0)["amount_refunded"])
	for _, kind := range []string{"refund.created", "refund.updated", "charge.refund.updated"} {
		require.Equal(t, answer.json("id"), b.happened(id, kind, 0)["id"])
		require.Equal(t, id, b.happened(id, kind, 0)["payment_intent"])
	}
	event := b.get("/v1/events?type=charge.refund.updated")
	require.Equal(t, "k", event.json("data.0.request.idempotency_key"))
	require.Equal(t, "pending", event.json("data.0.data.previous_attributes.destination_details.card.reference_status"))
	require.Equal(t, "available", answer.json("destination_details.card.reference_status"))
	b.refund(id, "amount=300")
	require.EqualValues(t, 600, b.happened(id, "charge.refunded", 0)["amount_refunded"], "the total, not the part")
}

func TestEndpointHearsOfRefundsByItsFeed(t *testing.T) {
	b := start(t)
	legacy := b.listen(control.Endpoint{RefundFeed: control.FeedLegacy, EnabledEvents: []string{"charge.refund*", "charge.refund.*", "refund.*"}}, nil)
	newer := b.listen(control.Endpoint{RefundFeed: control.FeedRefund, EnabledEvents: []string{"charge.refund*", "charge.refund.*", "refund.*"}}, nil)
	both := b.listen(control.Endpoint{EnabledEvents: []string{"charge.refund*", "charge.refund.*", "refund.*"}}, nil)
	id := b.payment("")
	made := b.refund(id, "")
	_, err := b.ctl.SettleRefund(t.Context(), made.json("id").(string), control.SettleRefund{Status: "failed"})
	require.NoError(t, err)
	b.flush()
	require.ElementsMatch(t, []string{"charge.refunded", "charge.refund.updated", "charge.refund.updated"}, legacy.kinds())
	require.ElementsMatch(t, []string{"refund.created", "charge.refunded", "refund.updated", "refund.updated", "refund.failed"}, newer.kinds())
	require.Len(t, both.kinds(), 7)
	_, err = b.ctl.AddEndpoint(t.Context(), control.Endpoint{URL: "http://127.0.0.1:1/hook", RefundFeed: "some"})
	require.Error(t, err)
}

func TestRefundCanFailDaysAfterItSucceeded(t *testing.T) {
	b := start(t)
	id := b.payment("")
	made := b.refund(id, "amount=1000").json("id").(string)
	b.clock.advance(3 * 24 * time.Hour)
	settled, err := b.ctl.SettleRefund(t.Context(), made, control.SettleRefund{Status: "failed", FailureReason: "expired_or_canceled_card"})
	require.NoError(t, err)
	require.Equal(t, "failed", settled.Status)
	read := b.get(refunds + "/" + made + "?expand[]=failure_balance_transaction")
	require.Equal(t, "expired_or_canceled_card", read.json("failure_reason"))
	require.EqualValues(t, 1000, read.json("failure_balance_transaction.amount"))
	require.Equal(t, "refund_failure", read.json("failure_balance_transaction.type"))
	require.EqualValues(t, 0, b.charge(id).json("amount_refunded"), "it can be refunded again")
	require.Zero(t, b.book(id).Refunded)
	event := b.get("/v1/events?type=charge.refund.updated")
	require.Nil(t, event.json("data.0.request.id"), "nobody asked for it")
	require.Equal(t, "succeeded", event.json("data.0.data.previous_attributes.status"))
	require.Equal(t, "failed", b.happened(id, "refund.failed", 0)["status"])
	require.Len(t, ids(t, b.get("/v1/balance_transactions?source="+made)), 2)

	b.refund(id, "amount=2000")
	require.EqualValues(t, 2000, b.book(id).Refunded)
	_, err = b.ctl.SettleRefund(t.Context(), made, control.SettleRefund{Status: "succeeded"})
	require.Error(t, err, "failed is final")
}

func TestRefundToABankAccountIsPendingForDays(t *testing.T) {
	b := start(t)
	id := b.debit("usd", "pm_usBankAccount_success")
	_, err := b.ctl.Succeed(t.Context(), id)
	require.NoError(t, err)
	made := b.refund(id, "amount=1000")
	require.Equal(t, "pending", made.json("status"))
	require.Regexp(t, `^pyr_`, made.json("id"))
	require.NotNil(t, made.json("balance_transaction"))
	require.EqualValues(t, 1000, b.book(id).Refunded, "the balance has paid it")
	require.EqualValues(t, 1000, b.charge(id).json("amount_refunded"))
	require.Equal(t, "amount_too_large", b.post(refunds, "payment_intent="+id+"&amount=1001", "").json("error.code"))
	b.clock.advance(4 * 24 * time.Hour)
	require.NoError(t, b.ctl.Tick(t.Context()))
	require.Equal(t, "succeeded", b.get(refunds+"/"+made.json("id").(string)).json("status"))
	require.Equal(t, "pending", b.get("/v1/events?type=refund.updated").json("data.0.data.previous_attributes.status"))
}

func TestStripesTestCardsForRefunds(t *testing.T) {
	for card, want := range map[string][2]string{"pm_card_pendingRefund": {"pending", "succeeded"}, "pm_card_refundFail": {"succeeded", "failed"}} {
		b := start(t)
		id := b.create("confirm=true&payment_method=" + card)
		made := b.refund(id, "")
		require.Equal(t, want[0], made.json("status"), card)
		b.clock.advance(3 * 24 * time.Hour)
		require.Equal(t, want[1], b.get(refunds+"/"+made.json("id").(string)).json("status"), card)
	}
}

func TestNextRefundBecomesWhatWasPlanned(t *testing.T) {
	b := start(t)
	id := b.payment("receipt_email=payer@shop.example")
	plan := func(plan control.RefundPlan) {
		_, err := b.ctl.PlanRefund(t.Context(), id, plan)
		require.NoError(t, err)
	}
	plan(control.RefundPlan{Status: "pending", Unfunded: true})
	unfunded := b.refund(id, "amount=100")
	require.Equal(t, "pending", unfunded.json("status"))
	require.Nil(t, unfunded.json("balance_transaction"))
	require.Zero(t, b.book(id).Refunded, "the balance has not paid it")
	require.EqualValues(t, 100, b.charge(id).json("amount_refunded"))

	plan(control.RefundPlan{Status: "requires_action"})
	waits := b.refund(id, "amount=200")
	require.Equal(t, "requires_action", waits.json("status"))
	require.Equal(t, "payer@shop.example", waits.json("next_action.display_details.email_sent.email_sent_to"))

	plan(control.RefundPlan{Status: "failed", FailureReason: "lost_or_stolen_card"})
	bad := b.refund(id, "amount=400")
	require.Equal(t, "failed", bad.json("status"))
	require.Equal(t, "lost_or_stolen_card", bad.json("failure_reason"))
	require.Nil(t, bad.json("balance_transaction"))

	plan(control.RefundPlan{Status: "pending", AfterS: 60, Then: "failed"})
	bounces := b.refund(id, "amount=800").json("id").(string)
	require.EqualValues(t, 1100, b.charge(id).json("amount_refunded"))
	b.clock.advance(time.Minute)
	require.Equal(t, "failed", b.get(refunds+"/"+bounces).json("status"))
	require.EqualValues(t, 300, b.charge(id).json("amount_refunded"))

	_, err := b.ctl.SettleRefund(t.Context(), unfunded.json("id").(string), control.SettleRefund{Status: "succeeded"})
	require.NoError(t, err)
	require.EqualValues(t, 100, b.book(id).Refunded)
	require.Equal(t, "succeeded", b.refund(id, "amount=1").json("status"), "a plan is for one refund")
	_, err = b.ctl.PlanRefund(t.Context(), id, control.RefundPlan{Status: "perhaps"})
	require.Error(t, err)
}

func TestNextRefundOfAnAccountBecomesWhatWasPlanned(t *testing.T) {
	b := start(t)
	_, err := b.ctl.SetAccount(t.Context(), control.Account{ID: "acct_shop", NextRefund: &control.RefundPlan{Status: "pending"}})
	require.NoError(t, err)
	id := b.payment("")
	require.Equal(t, "pending", b.refund(id, "amount=1").json("status"))
	require.Equal(t, "succeeded", b.refund(id, "amount=1").json("status"))
}

func TestOnlyARefundThatWaitsForThePayerCanBeCanceled(t *testing.T) {
	b := start(t)
	id := b.payment("")
	done := b.refund(id, "amount=1").json("id").(string)
	require.Equal(t, http.StatusBadRequest, b.post(refunds+"/"+done+"/cancel", "", "").status)
	_, err := b.ctl.PlanRefund(t.Context(), id, control.RefundPlan{Status: "requires_action"})
	require.NoError(t, err)
	waits := b.refund(id, "amount=1999").json("id").(string)
	canceled := b.post(refunds+"/"+waits+"/cancel", "", "k")
	require.Equal(t, "canceled", canceled.json("status"))
	require.EqualValues(t, 1, b.charge(id).json("amount_refunded"))
	require.EqualValues(t, 1, b.book(id).Refunded)
	require.Equal(t, http.StatusNotFound, b.post(refunds+"/re_nobody/cancel", "", "").status)
}

func TestRefundsAreListedAndTheirMetadataChanges(t *testing.T) {
	b := start(t)
	id, other := b.payment(""), b.payment("")
	first := b.refund(id, "amount=1").json("id").(string)
	b.clock.advance(time.Minute)
	second := b.refund(id, "amount=2").json("id").(string)
	third := b.refund(other, "amount=3").json("id").(string)
	require.Equal(t, []string{third, second, first}, ids(t, b.get(refunds)))
	require.Equal(t, []string{second, first}, ids(t, b.get(refunds+"?payment_intent="+id)))
	require.Equal(t, []string{third}, ids(t, b.get(refunds+"?charge="+b.charge(other).json("id").(string))))
	require.Empty(t, ids(t, b.get(refunds+"?payment_intent=pi_nobody")))
	require.Equal(t, []string{second}, ids(t, b.get(refunds+"?limit=1&payment_intent="+id)))
	require.Equal(t, []string{first}, ids(t, b.get(refunds+"?starting_after="+second+"&payment_intent="+id)))
	require.Len(t, ids(t, b.get(refunds+"?created[gt]="+strconv.FormatInt(b.clock.now.Add(-time.Second).Unix(), 10))), 2)

	changed := b.post(refunds+"/"+first, "metadata[a]=1", "")
	require.Equal(t, "1", changed.json("metadata.a"))
	require.Equal(t, map[string]any{"a": nil}, b.get("/v1/events?type=refund.updated").json("data.0.data.previous_attributes.metadata"))
	require.Empty(t, b.post(refunds+"/"+first, "metadata=", "").json("metadata"))
	require.Equal(t, http.StatusBadRequest, b.post(refunds+"/"+first, "amount=3", "").status)
	require.Equal(t, http.StatusNotFound, b.do(request{method: http.MethodGet, path: refunds + "/" + first, auth: "Bearer sk_live_shop"}).status)
	require.Equal(t, http.StatusBadRequest, b.do(request{path: refunds, form: "payment_intent=" + id, auth: "Bearer sk_test_other"}).status)
}

func TestRefundElsewhereHasNoKeyAndNoMetadataOfOurs(t *testing.T) {
	b := start(t)
	id := b.payment("metadata[order]=7")
	made, err := b.ctl.RefundElsewhere(t.Context(), id, control.RefundElsewhere{Amount: 300, Reason: "duplicate"})
	require.NoError(t, err)
	require.Empty(t, made.Metadata)
	require.Equal(t, "duplicate", b.get(refunds+"/"+made.ID).json("reason"))
	event := b.get("/v1/events?type=charge.refunded")
	require.NotNil(t, event.json("data.0.request.id"))
	require.Nil(t, event.json("data.0.request.idempotency_key"))
	_, err = b.ctl.RefundElsewhere(t.Context(), id, control.RefundElsewhere{Amount: 1701})
	require.Error(t, err)
	rest, err := b.ctl.RefundElsewhere(t.Context(), id, control.RefundElsewhere{})
	require.NoError(t, err)
	require.EqualValues(t, 1700, rest.Amount)
	require.EqualValues(t, 2000, b.book(id).Refunded)
}

func TestFaultsMeetRefundsByTheirMetadata(t *testing.T) {
	b := start(t)
	id := b.payment("")
	b.fault(control.Rule{Fault: control.FaultErrorAfter, Times: 1, Match: control.Match{Path: refunds, Metadata: map[string]string{"r": "1"}}})
	answer := b.post(refunds, "payment_intent="+id+"&amount=100&metadata[r]=1", "k")
	require.Equal(t, http.StatusInternalServerError, answer.status)
	require.Equal(t, http.StatusInternalServerError, b.post(refunds, "payment_intent="+id+"&amount=100&metadata[r]=1", "k").status, "stored")
	require.Len(t, b.book(id).Refunds, 1, "the money moved all the same")
}
