package api

import (
	"net/http"
	"strings"

	"payonce/boundaries"
)

// headerKey names the header that carries the caller's key.
const headerKey = "Idempotency-Key"

// maxKey is the longest caller key, in characters.
const maxKey = 255

// callerKey reads the key that every POST must carry: 1 to 255 printable ASCII characters, bare or as a quoted string
// (draft-ietf-httpapi-idempotency-key-header); `k1` and `"k1"` are the same key. Blanks around the value are HTTP's and not
// part of it (RFC 9110, section 5.5); inner ones are. A key is kept as it is read, so it holds no card number either.
func callerKey(header http.Header) (boundaries.CallerKey, error) {
	values := header.Values(headerKey)
	if len(values) == 0 {
		return "", refusal{Code: codeKeyMissing, Field: headerKey}
	}
	if len(values) > 1 {
		return "", keyInvalid("is given more than once")
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		quoted, ok := unquote(key)
		if !ok {
			return "", keyInvalid("is not a well-formed quoted string")
		}
		key = quoted
	}
	if key == "" {
		return "", keyInvalid("is empty")
	}
	if len(key) > maxKey {
		return "", keyInvalid("is longer than 255 characters")
	}
	for _, b := range []byte(key) {
		if b < ' ' || b > '~' {
			return "", keyInvalid("holds a character that is not printable ASCII")
		}
	}
	if holdsCardNumber(key) {
		return "", refusal{Code: codeCardDataRefused, Field: headerKey}
	}
	return boundaries.CallerKey(key), nil
}

func keyInvalid(reason string) refusal {
	return refusal{Code: codeKeyInvalid, Field: headerKey, Detail: headerKey + " " + reason + "."}
}

// unquote reads a string of structured fields (RFC 9651, section 3.3.3) that takes the whole value.
func unquote(value string) (string, bool) {
	var text strings.Builder
	for at := 1; at < len(value); at++ {
		switch value[at] {
		case '"':
			return text.String(), at == len(value)-1
		case '\\':
			at++
			if at == len(value) || (value[at] != '"' && value[at] != '\\') {
				return "", false
			}
		}
		text.WriteByte(value[at])
	}
	return "", false
}
