package boundaries

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"payonce/payments"
)

// RequestHashVersion is the version of what is hashed and how; a stored hash is compared only with one of its own version.
const RequestHashVersion = 1

// RequestHash is SHA-256 over RFC 8785 of a normalised command.
type RequestHash struct {
	Version int16
	Sum     [sha256.Size]byte
}

// Normalised is a command as it is hashed and stored.
type Normalised struct {
	Hash RequestHash
	JSON []byte // RFC 8785
}

// Normalise hashes operation, path and the typed command, which holds only what the caller sent. Of a later code version the same
// caller bytes must give the same hash: fields may be added with omitempty, never renamed.
func Normalise(operation payments.Operation, path string, command any) (Normalised, error) {
	raw, err := json.Marshal(struct {
		Operation payments.Operation `json:"operation"`
		Path      string             `json:"path"`
		Command   any                `json:"command"`
	}{operation, path, command})
	if err != nil {
		return Normalised{}, fmt.Errorf("encode command: %w", err)
	}
	canonical := jsontext.Value(raw)
	if err := canonical.Canonicalize(); err != nil {
		return Normalised{}, fmt.Errorf("canonicalise command: %w", err)
	}
	return Normalised{Hash: RequestHash{Version: RequestHashVersion, Sum: sha256.Sum256(canonical)}, JSON: canonical}, nil
}

// CommandOf decodes the command out of what Normalise stored.
func CommandOf[C any](normalised []byte) (C, error) {
	var envelope struct {
		Command C `json:"command"`
	}
	if err := json.Unmarshal(normalised, &envelope); err != nil {
		return envelope.Command, fmt.Errorf("decode stored command: %w", err)
	}
	return envelope.Command, nil
}
