package stripesim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// sign writes the Stripe-Signature header over the raw body: v1 is HMAC-SHA256 of "<t>.<body>" with the endpoint's
// secret. In test mode Stripe adds a v0 that means nothing.
func sign(body []byte, secret string, at time.Time, livemode bool) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	header := "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
	if !livemode {
		header += ",v0=" + hex.EncodeToString(mac.Sum([]byte("v0"))[:32])
	}
	return header
}
