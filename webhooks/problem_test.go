package webhooks_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARefusalSaysItsCode(t *testing.T) {
	e := newEndpoint(t)
	noEvent := `{"id":"evt_1"}`
	for name, c := range map[string]struct {
		method, header, body string
		status               int
		code, allow          string
	}{
		"unsigned":      {http.MethodPost, "", "{}", http.StatusBadRequest, "signature_invalid", ""},
		"no event":      {http.MethodPost, signedNow("whsec_shop_new", noEvent), noEvent, http.StatusBadRequest, "event_invalid", ""},
		"read":          {http.MethodGet, "", "", http.StatusMethodNotAllowed, "method_not_allowed", "POST"},
		"replaced":      {http.MethodPut, signedNow("whsec_shop_new", succeeded("evt_1")), succeeded("evt_1"), http.StatusMethodNotAllowed, "method_not_allowed", "POST"},
		"asked whether": {http.MethodOptions, "", "", http.StatusMethodNotAllowed, "method_not_allowed", "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, e.url, strings.NewReader(c.body))
			require.NoError(t, err)
			request.Header.Set("Stripe-Signature", c.header)
			answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
			require.NoError(t, err)
			said, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())

			require.Equal(t, c.status, answer.StatusCode)
			require.Equal(t, c.allow, answer.Header.Get("Allow"))
			told := problemOf(t, answer, said)
			require.Equal(t, c.code, told.Code)
			require.Equal(t, c.status, told.Status)
		})
	}
	require.Empty(t, e.rows())
}
