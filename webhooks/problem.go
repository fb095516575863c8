package webhooks

import (
	"encoding/json"
	"net/http"
)

// problem is a refusal in the form of RFC 9457, as the API's are. Code is stable; Title and Detail are for the person who reads Stripe's list of
// deliveries, and hold nothing internal.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// The refusals: the one table of them.
func refusals() map[string]problem {
	return map[string]problem{
		"method_not_allowed": {Status: http.StatusMethodNotAllowed, Title: "Events are delivered by POST"},
		"body_unreadable":    {Status: http.StatusBadRequest, Title: "The body was cut off or is not well-formed HTTP"},
		"body_too_slow":      {Status: http.StatusRequestTimeout, Title: "The body did not arrive in time"},
		"body_too_large":     {Status: http.StatusRequestEntityTooLarge, Title: "The body is larger than any event"},
		"signature_invalid": {
			Status: http.StatusBadRequest, Title: "The signature is missing or not valid",
			Detail: "Is the signing secret of this endpoint stored (payonce accounts replace), does the body arrive as it was sent, and is the clock right?",
		},
		"event_invalid": {Status: http.StatusBadRequest, Title: "The body is no event", Detail: "It is signed, but lacks an id, a type or a mode."},
		"internal":      {Status: http.StatusInternalServerError, Title: "The event was not stored", Detail: "Deliver it again."},
		"unavailable": {
			Status: http.StatusServiceUnavailable, Title: "The database is down or slow", Detail: "Nothing was stored: deliver the event again.",
		},
	}
}

// refuse answers with the problem of the code.
func refuse(w http.ResponseWriter, code string) {
	refused := refusals()[code]
	refused.Type, refused.Code = "urn:payonce:problem:"+code, code
	body, err := json.Marshal(refused)
	if err != nil {
		panic(err) // a struct of strings
	}
	answer(w, refused.Status, "application/problem+json", body)
}
