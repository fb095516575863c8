package stripesim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// sign writes the Stripe-Signature header over the raw body: one v1 for each secret, which is HMAC-SHA256 of
// "<t>.<body>". In test mode Stripe adds a v0 that means nothing.
func sign(body []byte, secrets []string, at time.Time, livemode bool) string {
	t := strconv.FormatInt(at.Unix(), 10)
	header := "t=" + t
	for _, secret := range secrets {
		if secret != "" {
			header += ",v1=" + hexMAC(secret, t, body)
		}
	}
	if !livemode {
		header += ",v0=" + hexMAC("v0", t, body)
	}
	return header
}

func hexMAC(secret, t string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
