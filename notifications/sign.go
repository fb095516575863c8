package notifications

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The headers of Standard Webhooks.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// secretPrefix marks a symmetric signing secret; the rest is base64 of 24 to 64 bytes.
const secretPrefix = "whsec_"

// newSecret makes a signing secret of 32 random bytes.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// sign sets the headers of one try: the id is the message's for ever, the time is the wall time of the try, since receivers refuse what is
// minutes old, and the signature is v1, HMAC-SHA256 over `id.timestamp.body`.
func sign(header http.Header, secret string, id uuid.UUID, at time.Time, body []byte) error {
	encoded, marked := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !marked || err != nil || len(key) < 24 {
		return errors.New("signing secret is malformed")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	_, _ = mac.Write(body)
	header.Set(HeaderID, id.String())
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}
