package stripesim

import (
	"bytes"
	"encoding/json"
)

// encode writes JSON as Stripe does: without escaping for HTML.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("stripesim: a value of our own does not encode: " + err.Error()) // a programming error
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
