package activities

import (
	"errors"
	"net/http"
	"time"

	"go.temporal.io/sdk/temporal"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
)

// cause is what came back from a call to Stripe that brought no object.
type cause string

// The causes.
const (
	causeDeclined        cause = "declined"          // 402 card_error: a result
	causeRefused         cause = "refused"           // another definite 4xx: a result
	causeUnexpectedState cause = "unexpected_state"  // the intent is elsewhere than the command thought: read it
	causeNotSent         cause = "not_sent"          // certainly nothing left
	causeKeyInUse        cause = "key_in_use"        // 409: an earlier send still runs
	causeLockTimeout     cause = "lock_timeout"      // 429: the object was locked
	causeRateLimited     cause = "rate_limited"      // 429: too many requests
	causeServerError     cause = "server_error"      // 5xx: the outcome is not known
	causeCachedError     cause = "cached_error"      // 5xx from Stripe's memory of the key: asking again gives the same
	causeFinalError      cause = "final_error"       // 5xx of which Stripe says that asking again is useless: the outcome is not known
	causeKeyReused       cause = "key_reused"        // 400 idempotency_error: the key holds other bytes
	causeAccountStopped  cause = "account_stopped"   // 401, 403: no call of this account can succeed
	causeOutcomeUnknown  cause = "outcome_not_known" // a time-out, a reset: the outcome is not known
)

// reaction is what is done about a cause.
type reaction struct {
	retry bool          // the same frozen request, after pause or the policy's back-off
	pause time.Duration // at least; Stripe's Retry-After wins when longer
	look  bool          // read at Stripe before anything else is sent
}

// reactions is the one table of cause → retry, look, or neither (a result).
var reactions = map[cause]reaction{ //nolint:gochecknoglobals // a table, never written
	causeDeclined:        {},
	causeRefused:         {},
	causeUnexpectedState: {look: true},
	causeNotSent:         {retry: true},
	causeKeyInUse:        {retry: true},
	causeLockTimeout:     {retry: true},
	causeRateLimited:     {retry: true, pause: time.Second},
	causeServerError:     {retry: true},
	causeCachedError:     {look: true},
	causeFinalError:      {look: true},
	causeKeyReused:       {look: true},
	causeAccountStopped:  {retry: true, pause: 30 * time.Second},
	causeOutcomeUnknown:  {retry: true},
}

// causeOf classifies what Send returned. Stripe's advice on sending again decides only between retry and look, where the outcome is not known: a result
// is one whatever it says.
func causeOf(err error) cause {
	var notSent *stripeapi.NotSentError
	if errors.As(err, &notSent) {
		return causeNotSent
	}
	var refusal *stripeapi.Error
	if !errors.As(err, &refusal) {
		return causeOutcomeUnknown
	}
	switch {
	case refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden:
		return causeAccountStopped
	case refusal.Status == http.StatusConflict:
		return causeKeyInUse
	case refusal.Status == http.StatusTooManyRequests && refusal.Code == stripeapi.CodeLockTimeout:
		return causeLockTimeout
	case refusal.Status == http.StatusTooManyRequests:
		return causeRateLimited
	case refusal.Status >= http.StatusInternalServerError && refusal.Replayed && refusal.Advice != stripeapi.RetryAdvised:
		return causeCachedError
	case refusal.Status >= http.StatusInternalServerError && refusal.Advice == stripeapi.RetryUseless:
		return causeFinalError
	case refusal.Status >= http.StatusInternalServerError:
		return causeServerError
	case refusal.Type == stripeapi.ErrorTypeIdempotency:
		return causeKeyReused
	case refusal.Type == stripeapi.ErrorTypeCard:
		return causeDeclined
	case refusal.Code == stripeapi.CodeUnexpectedState:
		return causeUnexpectedState
	default:
		return causeRefused
	}
}

// Error types that cross into Temporal.
const (
	typeNotYet = "not_yet" // no definite answer yet: the same act again
	typeNever  = "never"   // no retry mends it
)

// notYet asks for the same act again, after pause when it is positive, else by the policy's back-off. It is benign: waiting is expected.
func notYet(reason string, pause time.Duration, err error) error {
	return temporal.NewApplicationErrorWithOptions(reason, typeNotYet, temporal.ApplicationErrorOptions{
		Cause: err, NextRetryDelay: pause, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

func neverRetry(reason string, err error) error {
	return temporal.NewNonRetryableApplicationError(reason, typeNever, err)
}

// notBegun translates why a call was not begun.
func (a *Activities) notBegun(err error) error {
	if errors.Is(err, boundaries.ErrLeased) {
		return notYet("the record is leased to another owner", a.Timing.RetryMaximum, err)
	}
	return err
}
