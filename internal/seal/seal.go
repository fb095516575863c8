// Package seal encrypts the columns that hold secrets and people's data: client secrets, e-mails, frozen bodies, stored answers.
//
// It may import only libraries. Ciphertexts carry their key's id (Tink's prefix), so keys rotate without a re-write.
package seal

import (
	"bytes"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer seals and opens column values. The column's name is authenticated with the value, so a value moved to another column does not open.
type Sealer struct {
	aead tink.AEAD
}

// NewKeyset makes a fresh AES-256-GCM keyset as JSON: a secret to be kept where the configuration's secrets are kept.
func NewKeyset() ([]byte, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}
	var buffer bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&buffer)); err != nil {
		return nil, fmt.Errorf("write keyset: %w", err)
	}
	return buffer.Bytes(), nil
}

// New reads a JSON keyset as NewKeyset makes it.
func New(keysetJSON []byte) (*Sealer, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(keysetJSON)))
	if err != nil {
		return nil, fmt.Errorf("read sealing keyset: %w", err)
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use sealing keyset: %w", err)
	}
	return &Sealer{aead: primitive}, nil
}

// Seal encrypts plain for the named column; nil stays nil.
func (s *Sealer) Seal(column string, plain []byte) ([]byte, error) {
	if plain == nil {
		return nil, nil
	}
	sealed, err := s.aead.Encrypt(plain, []byte(column))
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", column, err)
	}
	return sealed, nil
}

// Open decrypts what Seal made for the same column; nil stays nil.
func (s *Sealer) Open(column string, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	plain, err := s.aead.Decrypt(sealed, []byte(column))
	if err != nil {
		return nil, fmt.Errorf("open %s: wrong key or altered value: %w", column, err)
	}
	return plain, nil
}
