package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"payonce/internal/tenants"
)

// Tolerance is how far the time in a signature may be from ours, in both directions. Stripe's own library takes 300 s to the
// past and any future (https://docs.stripe.com/webhooks#replay-attacks); a signature of the future is no better than an old one.
const Tolerance = 300 * time.Second

// maxSignatures bounds the v1 signatures of one header: Stripe sends one for each active secret of the endpoint.
const maxSignatures = 16

// The refusals of a delivery's signature. Which one it was is logged and never told to the sender.
var (
	errUnsigned       = errors.New("no Stripe-Signature header")
	errMalformed      = errors.New("malformed Stripe-Signature header")
	errOutOfTolerance = errors.New("the time in the signature is not now")
	errNoMatch        = errors.New("no signature matches")
)

// signature is a parsed Stripe-Signature header: `t=<unix seconds>,v1=<hex>[,v1=<hex>…][,v0=…]`.
type signature struct {
	time string // the digits as they were signed
	at   time.Time
	v1   [][]byte
}

// parseSignature reads the header as strictly as Stripe's library does: each part has exactly one "=", blanks are not
// trimmed (so ", v1=" is another scheme), a v1 that is not hexadecimal is skipped and other schemes are ignored. Beyond it,
// a repeated t and a t that is not in plain decimal are refused.
func parseSignature(header string) (signature, error) {
	if header == "" {
		return signature{}, errUnsigned
	}
	var parsed signature
	for part := range strings.SplitSeq(header, ",") {
		scheme, text, found := strings.Cut(part, "=")
		if !found || strings.Contains(text, "=") {
			return signature{}, errMalformed
		}
		switch scheme {
		case "t":
			seconds, err := strconv.ParseInt(text, 10, 64)
			if err != nil || strconv.FormatInt(seconds, 10) != text || parsed.time != "" {
				return signature{}, errMalformed
			}
			parsed.time, parsed.at = text, time.Unix(seconds, 0)
		case "v1":
			sum, err := hex.DecodeString(text)
			if err != nil || len(sum) != sha256.Size {
				continue
			}
			if len(parsed.v1) == maxSignatures {
				return signature{}, errMalformed
			}
			parsed.v1 = append(parsed.v1, sum)
		}
	}
	if parsed.time == "" {
		return signature{}, errMalformed
	}
	if len(parsed.v1) == 0 {
		return signature{}, errNoMatch
	}
	return parsed, nil
}

// verify returns the secret that signed the raw body: HMAC-SHA256 over `<t>.<body>`
// (https://docs.stripe.com/webhooks#verify-manually). Any v1 may match any held secret, so a roll on either side passes.
func verify(header string, body []byte, secrets []tenants.WebhookSecret, now time.Time) (tenants.WebhookSecret, error) {
	signed, err := parseSignature(header)
	if err != nil {
		return tenants.WebhookSecret{}, err
	}
	if distance := now.Sub(signed.at); distance > Tolerance || distance < -Tolerance {
		return tenants.WebhookSecret{}, errOutOfTolerance
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret.Secret))
		mac.Write([]byte(signed.time + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, got := range signed.v1 {
			if hmac.Equal(want, got) {
				return secret, nil
			}
		}
	}
	return tenants.WebhookSecret{}, errNoMatch
}
