package stripesim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// controlError is a refusal of the control API.
type controlError struct {
	status  int
	message string
}

func (e *controlError) Error() string { return e.message }

func badRequest(message string) error { return &controlError{http.StatusBadRequest, message} }

func notFound(what, id string) error {
	return &controlError{http.StatusNotFound, "no such " + what + ": " + id}
}

// controlRoutes is the control API; README.md documents it.
func (tw *Twin) controlRoutes(mux *http.ServeMux) {
	for pattern, h := range map[string]func(*http.Request) (any, error){
		"POST /_twin/faults":                            tw.addFault,
		"GET /_twin/faults":                             tw.listFaults,
		"GET /_twin/faults/{id}":                        tw.getFault,
		"DELETE /_twin/faults":                          tw.deleteFault,
		"DELETE /_twin/faults/{id}":                     tw.deleteFault,
		"GET /_twin/requests":                           tw.listRequests,
		"GET /_twin/books":                              tw.listBooks,
		"GET /_twin/events":                             tw.listEvents,
		"POST /_twin/events/emit":                       tw.emitEvent,
		"POST /_twin/events/{id}/deliver":               tw.deliverEvent,
		"POST /_twin/endpoints":                         tw.addEndpoint,
		"GET /_twin/endpoints":                          tw.listEndpoints,
		"DELETE /_twin/endpoints/{id}":                  tw.deleteEndpoint,
		"POST /_twin/payment_intents/{id}/succeed":      tw.succeedIntent,
		"POST /_twin/payment_intents/{id}/fail":         tw.failIntent,
		"POST /_twin/payment_intents/{id}/authenticate": tw.authenticateIntent,
		"POST /_twin/payment_intents/{id}/pay":          tw.payIntent,
		"POST /_twin/payment_intents/{id}/capture":      tw.captureElsewhere,
		"POST /_twin/payment_intents/{id}/cancel":       tw.cancelElsewhere,
		"POST /_twin/payment_intents/{id}/refund":       tw.refundElsewhere,
		"POST /_twin/payment_intents/{id}/next_refund":  tw.planRefund,
		"POST /_twin/payment_intents/{id}/dispute":      tw.openDispute,
		"POST /_twin/refunds/{id}/settle":               tw.settleRefundNow,
		"POST /_twin/disputes/{id}/update":              tw.updateDispute,
		"POST /_twin/disputes/{id}/close":               tw.closeDispute,
		"GET /_twin/customers":                          listParties(tw, customersOf, customerParty),
		"GET /_twin/connected_accounts":                 listParties(tw, connectedAccountsOf, connectedParty),
		"GET /_twin/payouts":                            tw.listPayouts,
		"POST /_twin/payouts/{id}/settle":               tw.settlePayoutNow,
		"GET /_twin/accounts/{id}":                      tw.getAccount,
		"POST /_twin/accounts/{id}":                     tw.setAccount,
		"POST /_twin/deliveries/flush":                  tw.flushDeliveries,
		"POST /_twin/tick":                              tw.tickNow,
		"GET /_twin/search":                             tw.getSearch,
		"POST /_twin/search":                            tw.setSearch,
		"POST /_twin/hold":                              tw.addHold,
		"POST /_twin/release":                           tw.releaseHold,
		"GET /_twin/held":                               tw.listHeld,
		"POST /_twin/reset":                             tw.reset,
	} {
		mux.HandleFunc(pattern, tw.control(h))
	}
	mux.HandleFunc("/_twin/", tw.control(func(r *http.Request) (any, error) {
		return nil, notFound("control endpoint", r.Method+" "+r.URL.Path)
	}))
}

// control makes the handler of a control endpoint: JSON in, JSON out.
func (tw *Twin) control(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !tw.enter() {
			cut(w)
			return
		}
		defer tw.leave()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(tw.life, cancel)()
		value, err := h(r.WithContext(ctx))
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			refused := &controlError{http.StatusInternalServerError, err.Error()}
			errors.As(err, &refused)
			w.WriteHeader(refused.status)
			value = map[string]string{"error": refused.message}
		}
		_, _ = w.Write(encode(value))
	}
}

// readJSON decodes a body; an empty one leaves the value as it is.
func readJSON(r *http.Request, into any) error {
	decoder := json.NewDecoder(io.LimitReader(r.Body, largestBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return badRequest("bad JSON: " + err.Error())
	}
	return nil
}

type rows[T any] struct {
	Data []T `json:"data"`
}

const mostRows = 1000

// readPage reads after and limit.
func readPage(r *http.Request) (after int64, limit int, err error) {
	limit = 100
	if text := r.FormValue("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostRows {
			return 0, 0, badRequest("limit must be between 1 and 1000")
		}
	}
	if text := r.FormValue("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			return 0, 0, badRequest("after must be a seq")
		}
	}
	return after, limit, nil
}

func (tw *Twin) tickNow(*http.Request) (any, error) {
	tw.tick()
	return struct{}{}, nil
}

// flushTime bounds how long a flush or a look at the held waits.
const flushTime = 30 * time.Second

func (tw *Twin) flushDeliveries(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), flushTime)
	defer cancel()
	return tw.deliveries.flush(ctx, r.FormValue("retry_now") == "true"), nil
}

// reset forgets everything but the endpoints of the configuration.
func (tw *Twin) reset(*http.Request) (any, error) {
	tw.books.mu.Lock()
	defer tw.books.mu.Unlock()
	tw.books.shelves = newShelves()
	tw.books.search.lag = tw.config.SearchLag
	tw.deliveries.clear()
	tw.requests.clear()
	tw.faults.remove("")
	tw.endpoints.clear()
	if err := tw.store.clear(); err != nil {
		return nil, err
	}
	for _, e := range tw.config.Endpoints {
		tw.endpoints.add(e)
	}
	return struct{}{}, nil
}
