package stripesim

import (
	"encoding/json"
	"strings"
)

// Types of Stripe's errors.
const (
	typeAPI            = "api_error"
	typeCard           = "card_error"
	typeIdempotency    = "idempotency_error"
	typeInvalidRequest = "invalid_request_error"
)

// apiError is a refusal of the API: what is under "error" in the body, with its HTTP status.
type apiError struct {
	Charge        string          `json:"charge,omitempty"`
	Code          string          `json:"code,omitempty"`
	DeclineCode   string          `json:"decline_code,omitempty"`
	DocURL        string          `json:"doc_url,omitempty"`
	Message       string          `json:"message,omitempty"`
	Param         string          `json:"param,omitempty"`
	PaymentIntent json.RawMessage `json:"payment_intent,omitempty"`
	PaymentMethod json.RawMessage `json:"payment_method,omitempty"`
	RequestLogURL string          `json:"request_log_url,omitempty"`
	Type          string          `json:"type"`

	status      int
	unstored    bool   // never kept under a key: it comes before execution
	shouldRetry string // Stripe-Should-Retry: "true", "false" or none
	retryAfterS int
}

func newError(status int, kind, code, message, param string) *apiError {
	e := &apiError{status: status, Type: kind, Code: code, Message: message, Param: param}
	if code != "" {
		e.DocURL = "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(code, "_", "-")
	}
	if status < 500 && status != 409 && status != 429 {
		e.shouldRetry = "false"
	}
	return e
}

// invalidRequest is a 400 about parameters: it comes before execution and is not stored.
func invalidRequest(code, message, param string) *apiError {
	e := newError(400, typeInvalidRequest, code, message, param)
	e.unstored = true
	return e
}

// refusal is a 400 of execution: it is stored under the key.
func refusal(code, message, param string) *apiError {
	return newError(400, typeInvalidRequest, code, message, param)
}

func missingParam(name string) *apiError {
	return invalidRequest("parameter_missing", "Missing required param: "+name+".", name)
}

func resourceMissing(status int, noun, id, param string) *apiError {
	return newError(status, typeInvalidRequest, "resource_missing", "No such "+noun+": '"+id+"'", param)
}

func serverError(status int) *apiError {
	return newError(status, typeAPI, "", "An unknown error occurred", "")
}

func unauthorized(message string) *apiError {
	e := newError(401, typeInvalidRequest, "", message, "")
	e.unstored = true
	return e
}

func rateLimited(retryAfterS int) *apiError {
	e := newError(429, typeInvalidRequest, "rate_limit",
		"Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.", "")
	e.unstored, e.retryAfterS = true, retryAfterS
	return e
}

func lockTimeout(retryAfterS int) *apiError {
	e := newError(429, typeInvalidRequest, "lock_timeout",
		"This object cannot be accessed right now because another API request or Stripe process is currently accessing it. "+
			"If you see this error intermittently, retry the request.", "")
	e.unstored, e.retryAfterS, e.shouldRetry = true, retryAfterS, "true"
	return e
}

func keyInUse(key string) *apiError {
	e := newError(409, typeInvalidRequest, "idempotency_key_in_use",
		"There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, "+
			"and the other request is still going through): "+key+". Please try again later.", "")
	e.unstored, e.shouldRetry = true, "true"
	return e
}

func keyMismatch(key string) *apiError {
	e := newError(400, typeIdempotency, "",
		"Keys for idempotent requests can only be used with the same parameters they were first used with. "+
			"Try using a key other than '"+key+"' if you meant to execute a different request.", "")
	e.unstored = true
	return e
}
