package boundaries

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"payonce/internal/seal"
)

// ColumnEventBody is the sealed column of an event's raw bytes.
const ColumnEventBody = "provider_events.body"

// maxEventBody bounds what a stored body may grow to; the door takes less.
const maxEventBody = 4 << 20

// zstdMagic begins every compressed body (RFC 8878); the bytes of an event never do, since JSON cannot.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd} //nolint:gochecknoglobals // a constant

// The compressors are made once and used by all: each holds its tables, and nothing of what it compressed.
//
//nolint:gochecknoglobals // made once, never written
var (
	eventEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstd.MinWindowSize<<6), zstd.WithLowerEncoderMem(true))
	})
	eventDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxEventBody))
	})
)

// sealEventBody compresses and seals the bytes of an event: sealed bytes do not compress, and what stays small stays in its row.
func sealEventBody(sealer *seal.Sealer, body []byte) ([]byte, error) {
	encoder, err := eventEncoder()
	if err != nil {
		return nil, fmt.Errorf("compress event: %w", err)
	}
	return sealer.Seal(ColumnEventBody, encoder.EncodeAll(body, make([]byte, 0, len(body))))
}

// OpenEventBody is the raw bytes of a stored event, as they were verified.
func OpenEventBody(sealer *seal.Sealer, sealed []byte) ([]byte, error) {
	stored, err := sealer.Open(ColumnEventBody, sealed)
	if err != nil || !bytes.HasPrefix(stored, zstdMagic) {
		return stored, err
	}
	decoder, err := eventDecoder()
	if err != nil {
		return nil, fmt.Errorf("decompress event: %w", err)
	}
	body, err := decoder.DecodeAll(stored, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress event: %w", err)
	}
	return body, nil
}
