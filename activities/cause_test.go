package activities

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
)

// What Stripe says of sending again decides between sending and looking, where the outcome is not known, and makes a result of nothing, nor of a result
// anything else.
func TestStripesAdviceDecidesOnlyWhereTheOutcomeIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		refusal  stripeapi.Error
		by       map[stripeapi.RetryAdvice]cause
		isResult bool
	}{
		{"an error", stripeapi.Error{Status: http.StatusInternalServerError}, map[stripeapi.RetryAdvice]cause{
			stripeapi.RetryNoAdvice: causeServerError, stripeapi.RetryAdvised: causeServerError, stripeapi.RetryUseless: causeFinalError,
		}, false},
		{"a stored error", stripeapi.Error{Status: http.StatusInternalServerError, Replayed: true}, map[stripeapi.RetryAdvice]cause{
			stripeapi.RetryNoAdvice: causeCachedError, stripeapi.RetryAdvised: causeServerError, stripeapi.RetryUseless: causeCachedError,
		}, false},
		{"a decline", stripeapi.Error{Status: http.StatusPaymentRequired, Type: stripeapi.ErrorTypeCard}, map[stripeapi.RetryAdvice]cause{
			stripeapi.RetryNoAdvice: causeDeclined, stripeapi.RetryAdvised: causeDeclined, stripeapi.RetryUseless: causeDeclined,
		}, true},
		{"a refusal", stripeapi.Error{Status: http.StatusBadRequest, Type: stripeapi.ErrorTypeInvalidRequest}, map[stripeapi.RetryAdvice]cause{
			stripeapi.RetryNoAdvice: causeRefused, stripeapi.RetryAdvised: causeRefused, stripeapi.RetryUseless: causeRefused,
		}, true},
		{"a rate limit", stripeapi.Error{Status: http.StatusTooManyRequests}, map[stripeapi.RetryAdvice]cause{
			stripeapi.RetryNoAdvice: causeRateLimited, stripeapi.RetryAdvised: causeRateLimited, stripeapi.RetryUseless: causeRateLimited,
		}, false},
	} {
		for advice, want := range tc.by {
			tc.refusal.Advice = advice
			got := causeOf(&tc.refusal)
			require.Equal(t, want, got, "%s, advice %q", tc.name, advice)
			require.Equal(t, tc.isResult, !reactions[got].retry && !reactions[got].look, "%s, advice %q", tc.name, advice)
		}
	}
}
