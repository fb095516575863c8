package stripesim

import "net/http"

// routes is the whole surface: Stripe's API and the control API.
func (tw *Twin) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, op := range map[string]operation{
		"POST /v1/payment_intents":              prepareCreate,
		"GET /v1/payment_intents":               prepareListIntents,
		"GET /v1/payment_intents/search":        prepareSearch,
		"GET /v1/payment_intents/{id}":          prepareGetIntent,
		"POST /v1/payment_intents/{id}":         prepareUpdate,
		"POST /v1/payment_intents/{id}/confirm": prepareConfirm,
		"POST /v1/payment_intents/{id}/cancel":  prepareCancel,
		"POST /v1/payment_intents/{id}/capture": prepareCapture,
		"GET /v1/charges":                       prepareListCharges,
		"GET /v1/charges/{id}":                  prepareGetCharge,
		"POST /v1/charges/{id}":                 prepareUpdateCharge,
		"GET /v1/balance_transactions":          prepareListTransactions,
		"GET /v1/balance_transactions/{id}":     prepareGetTransaction,
		"POST /v1/customers":                    prepareCreateCustomer,
		"GET /v1/customers":                     prepareListCustomers,
		"GET /v1/customers/{id}":                prepareGetCustomer,
		"POST /v1/customers/{id}":               prepareUpdateCustomer,
		"DELETE /v1/customers/{id}":             prepareDeleteCustomer,
		"POST /v1/accounts":                     prepareCreateConnectedAccount,
		"GET /v1/accounts":                      prepareListConnectedAccounts,
		"GET /v1/accounts/{id}":                 prepareGetConnectedAccount,
		"POST /v1/refunds":                      prepareCreateRefund,
		"GET /v1/refunds":                       prepareListRefunds,
		"GET /v1/refunds/{id}":                  prepareGetRefund,
		"POST /v1/refunds/{id}":                 prepareUpdateRefund,
		"POST /v1/refunds/{id}/cancel":          prepareCancelRefund,
		"GET /v1/disputes":                      prepareListDisputes,
		"GET /v1/disputes/{id}":                 prepareGetDispute,
		"POST /v1/payouts":                      prepareCreatePayout,
		"GET /v1/payouts":                       prepareListPayouts,
		"GET /v1/payouts/{id}":                  prepareGetPayout,
		"POST /v1/payouts/{id}/cancel":          prepareCancelPayout,
		"GET /v1/balance":                       prepareGetBalance,
		"GET /v1/events":                        tw.prepareListEvents,
		"GET /v1/events/{id}":                   tw.prepareGetEvent,
		"/":                                     prepareUnknown,
	} {
		mux.Handle(pattern, tw.api(op))
	}
	mux.HandleFunc("GET /challenge/{intent}/{challenge}", tw.page(tw.showChallenge))
	mux.HandleFunc("POST /challenge/{intent}/{challenge}", tw.page(tw.endChallenge))
	tw.controlRoutes(mux)
	return mux
}

// prepareUnknown refuses a URL that the twin does not know, before execution.
func prepareUnknown(c *call, p *params) effect {
	for i := range p.pairs {
		p.pairs[i].used = true
	}
	e := invalidRequest("", "Unrecognized request URL ("+c.request.Method+": "+c.request.URL.Path+
		"). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.", "")
	e.status = http.StatusNotFound
	p.fail(e)
	return nil
}
