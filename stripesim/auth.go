package stripesim

import (
	"net/http"
	"strings"
)

// authenticate reads whose request it is: sk_test_X and sk_live_X name the account acct_X and the mode, and
// Stripe-Account an account that the key's account acts for. Accounts need no setting up.
func authenticate(r *http.Request) (origin, *apiError) {
	secret, _, basic := r.BasicAuth()
	if !basic {
		secret = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if secret == r.Header.Get("Authorization") {
			secret = ""
		}
	}
	if secret == "" {
		return origin{}, unauthorized("You did not provide an API key. You need to provide your API key in the Authorization header, " +
			"using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').")
	}
	who := origin{}
	name, test := strings.CutPrefix(secret, "sk_test_")
	if !test {
		name, who.Livemode = strings.CutPrefix(secret, "sk_live_")
	}
	if !test && !who.Livemode || !wordy(name) {
		return origin{}, unauthorized("Invalid API Key provided: " + masked(secret))
	}
	who.Account = "acct_" + name
	if other := r.Header.Get("Stripe-Account"); other != "" && other != who.Account {
		if tail, ok := strings.CutPrefix(other, "acct_"); !ok || !wordy(tail) {
			e := newError(403, typeInvalidRequest, "account_invalid", "The provided key '"+masked(secret)+
				"' does not have access to account '"+other+"' (or that account does not exist). Application access may have been revoked.", "")
			e.unstored = true
			return origin{}, e
		}
		who.platform, who.Account = who.Account, other
	}
	return who, nil
}

func wordy(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune(idAlphabet+"_", r) {
			return false
		}
	}
	return s != ""
}

func masked(secret string) string {
	if len(secret) <= 12 {
		return strings.Repeat("*", len(secret))
	}
	return secret[:8] + strings.Repeat("*", len(secret)-12) + secret[len(secret)-4:]
}
