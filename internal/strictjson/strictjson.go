// Package strictjson decodes a JSON object into a typed struct and refuses everything that two readers could understand
// differently: duplicate or case-variant members, unknown members, numbers that are not plain integers, characters that
// Postgres cannot store, trailing data.
//
// It imports only the standard library. It must not know what the fields mean: limits and formats of a field stand beside
// the command that has it.
package strictjson

import "fmt"

// MaxInteger is the largest integer taken, and -MaxInteger the smallest: beyond it a reader that keeps numbers as IEEE
// doubles would read another one (RFC 8259, section 6).
const MaxInteger int64 = 1<<53 - 1

// MaxDepth is how deep objects and arrays may be nested; the outermost object is depth 1.
const MaxDepth = 16

// FieldError says which member was refused and why. Its text is fit to be shown to the caller: it holds no value.
type FieldError struct {
	Field  string // the path of the member, for instance "metadata.order"; empty when the document as a whole is refused
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Decode reads data, one JSON object of at most maxBytes, into the struct that into points to. Members are named by the
// `json` tags. A field may be a string, int64, bool, []string, map[string]string, a struct of such fields, a list of such structs, or a pointer
// to one of them; null means absent and leaves the field as it is, also inside a map. Every refusal is a *FieldError; any other type
// of field is a programming error and panics.
func Decode(data []byte, into any, maxBytes int) error {
	if len(data) > maxBytes {
		return &FieldError{Reason: fmt.Sprintf("must not exceed %d bytes", maxBytes)}
	}
	root, err := parse(data)
	if err != nil {
		return err
	}
	return bind(root, into)
}
