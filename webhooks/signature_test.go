package webhooks

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
)

func TestToleranceIsExactInBothDirections(t *testing.T) {
	// HMAC-SHA256 of "1700000000.{}" with the key "whsec_x", computed with: printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_x
	const header = "t=1700000000,v1=be8cb8325f2202445260a855532f967e30ad2a9394ce28da66ee02880ddcb661"
	secrets := []tenants.WebhookSecret{{Secret: "whsec_other"}, {Secret: "whsec_x"}}
	signed := time.Unix(1700000000, 0)
	for offset, want := range map[time.Duration]error{
		0: nil, Tolerance: nil, -Tolerance: nil,
		Tolerance + time.Nanosecond: errOutOfTolerance, -Tolerance - time.Nanosecond: errOutOfTolerance,
	} {
		found, err := verify(header, []byte(`{}`), secrets, signed.Add(offset))
		require.ErrorIs(t, err, want, offset)
		if want == nil {
			require.Equal(t, secrets[1], found)
		}
	}
}

// FuzzParseSignature holds that a header is either refused or is one time and valid sums.
func FuzzParseSignature(f *testing.F) {
	for _, seed := range []string{
		"", "t=1", "t=1,v1=" + strings.Repeat("0", 64), "t=1, v1=00", "t=1,t=2,v1=00", "v1==", "t=-1,v1=" + strings.Repeat("a", 64),
		"t=9223372036854775808,v1=00", ",,,", "=,=", "t=1,v0=0,v1=" + strings.Repeat("F", 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		parsed, err := parseSignature(header)
		if err != nil {
			return
		}
		require.NotEmpty(t, parsed.time)
		require.Contains(t, ","+header+",", ",t="+parsed.time+",")
		require.NotEmpty(t, parsed.v1)
		require.LessOrEqual(t, len(parsed.v1), maxSignatures)
		for _, sum := range parsed.v1 {
			require.Len(t, sum, 32)
		}
	})
}
