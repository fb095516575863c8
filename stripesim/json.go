package stripesim

import (
	"bytes"
	"encoding/json"
)

// usualLength is as long as most of what is written, in bytes.
const usualLength = 2048

// encode writes JSON as Stripe does: without escaping for HTML.
func encode(value any) []byte {
	var b bytes.Buffer
	b.Grow(usualLength)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("stripesim: a value of our own does not encode: " + err.Error()) // a programming error
	}
	return bytes.Clone(bytes.TrimRight(b.Bytes(), "\n")) // what is kept is no longer than it has to be
}
