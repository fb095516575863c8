package stripesim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"payonce/stripesim/control"
)

func (tw *Twin) listEvents(r *http.Request) (any, error) {
	after, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	kind, intent, account := r.FormValue("type"), r.FormValue("payment_intent"), r.FormValue("account")
	tw.books.mu.Lock()
	found := tw.books.events.after(after, limit, func(e *event) bool {
		return (kind == "" || matches(kind, e.Type)) && (intent == "" || e.Intent == intent) && (account == "" || e.Account == account)
	})
	tw.books.mu.Unlock()
	page := rows[control.Event]{Data: []control.Event{}}
	for _, e := range found {
		page.Data = append(page.Data, control.Event{Seq: e.Seq, ID: e.ID, Type: e.Type, Account: e.Account, Livemode: e.Livemode,
			Created: time.Unix(e.Created, 0).UTC(), PaymentIntent: e.Intent, RequestID: e.RequestID, IdempotencyKey: e.IdempotencyKey,
			Object: e.Object, Deliveries: tw.deliveries.of(e.ID)})
	}
	return page, nil
}

func (tw *Twin) deliverEvent(r *http.Request) (any, error) {
	var how control.Deliver
	if err := readJSON(r, &how); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	tw.books.mu.Lock()
	e := tw.books.events.byID[id]
	tw.books.mu.Unlock()
	if e == nil {
		return nil, notFound("event", id)
	}
	return control.Sent{Event: id, Answers: tw.deliveries.now(r.Context(), e, how, "", 0)}, nil
}

// emitEvent sends a hand-made event. Its first form is kept in the books; another event with the same id is sent as
// given, and the books keep the first.
func (tw *Twin) emitEvent(r *http.Request) (any, error) {
	var made control.Emit
	if err := readJSON(r, &made); err != nil {
		return nil, err
	}
	if made.Type == "" && made.Raw == "" {
		return nil, badRequest("type or raw is required")
	}
	now, err := tw.clock.Now(r.Context())
	if err != nil {
		return nil, err
	}
	e := handMade(made, now)
	if made.Raw == "" {
		tw.change(now, func(t *transition) *apiError {
			if t.books.events.byID[e.ID] == nil {
				t.books.events.add(e)
				t.touch(e)
			}
			return nil
		})
	}
	offset := time.Duration(made.SignatureOffsetS) * time.Second
	return control.Sent{Event: e.ID, Answers: tw.deliveries.now(r.Context(), e, control.Deliver{}, made.Secret, offset)}, nil
}

func handMade(made control.Emit, now time.Time) *event {
	e := &event{ID: made.ID, Account: made.Account, Platform: made.Platform, Livemode: made.Livemode, Created: made.Created, Type: made.Type,
		Version: orDefault(made.APIVersion, apiVersion), Object: made.Object, Previous: made.PreviousAttributes,
		IdempotencyKey: made.IdempotencyKey, Raw: made.Raw}
	if e.ID == "" {
		e.ID = newID("evt")
	}
	if e.Created == 0 {
		e.Created = now.Unix()
	}
	if len(e.Object) == 0 {
		e.Object = json.RawMessage(`{}`)
	}
	return e
}

func (tw *Twin) addEndpoint(r *http.Request) (any, error) {
	var e control.Endpoint
	if err := readJSON(r, &e); err != nil {
		return nil, err
	}
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, badRequest("url must be an absolute http or https URL")
	}
	if !slices.Contains([]string{"", control.FeedLegacy, control.FeedRefund, control.FeedBoth}, e.RefundFeed) {
		return nil, badRequest("refund_feed must be legacy, refund or both")
	}
	return tw.endpoints.add(e), nil
}

func (tw *Twin) listEndpoints(*http.Request) (any, error) {
	return rows[control.Endpoint]{tw.endpoints.list()}, nil
}

func (tw *Twin) deleteEndpoint(r *http.Request) (any, error) {
	if !tw.endpoints.remove(r.PathValue("id")) {
		return nil, notFound("endpoint", r.PathValue("id"))
	}
	return struct{}{}, nil
}
