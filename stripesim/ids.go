package stripesim

import (
	"crypto/rand"
	"strings"
)

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID returns prefix_3 and 23 random letters, as long as Stripe's ids are.
func newID(prefix string) string { return prefix + "_3" + randomLetters(23) }

func randomLetters(n int) string { return randomOf(idAlphabet, n) }

func randomDigits(n int) string { return randomOf(idAlphabet[:10], n) }

func randomOf(alphabet string, n int) string {
	random := make([]byte, n)
	if _, err := rand.Read(random); err != nil {
		panic("stripesim: no randomness: " + err.Error()) // never happens: crypto/rand.Read does not fail
	}
	var b strings.Builder
	for _, r := range random {
		b.WriteByte(alphabet[int(r)%len(alphabet)])
	}
	return b.String()
}
