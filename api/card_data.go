package api

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Lengths of card numbers (ISO/IEC 7812).
const (
	minCardDigits = 13
	maxCardDigits = 19
)

// holdsCardNumber tells whether the text as a whole, or a word of it, reads as a card number: 13 to 19 digits that pass the
// Luhn check, where blanks and dashes between them do not count, and that begin as the numbers of a card scheme do. The
// beginning spares dates, times and most counters, of which each tenth would pass by chance; a UUID is spared whole.
func holdsCardNumber(text string) bool {
	if tooFewDigits(text) || uuid.Validate(text) == nil {
		return false
	}
	text = strings.Map(plainDigit, text)
	if bare, ok := digitsOnly(text); ok && isCardNumber(bare) {
		return true
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !isDigit(r) && !isLetter(r) })
	for at, word := range words {
		if isCardNumber(word) || isCardNumber(grouped(words[at:])) {
			return true
		}
	}
	return false
}

// tooFewDigits tells whether the text is plain and holds fewer digits than a card number, as nearly all texts do.
func tooFewDigits(text string) bool {
	digits := 0
	for i := range len(text) {
		switch {
		case text[i] >= utf8.RuneSelf:
			return false
		case isDigit(rune(text[i])):
			digits++
		}
	}
	return digits < minCardDigits
}

// plainDigit turns a full-width digit, as East Asian keyboards write it, into the plain one.
func plainDigit(r rune) rune {
	if r >= '０' && r <= '９' {
		return r - '０' + '0'
	}
	return r
}

// digitsOnly drops blanks and dashes of every kind; it reports false when something else but digits remains.
func digitsOnly(text string) (string, bool) {
	bare := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Pd, r) {
			return -1
		}
		return r
	}, text)
	return bare, strings.IndexFunc(bare, func(r rune) bool { return !isDigit(r) }) < 0
}

// grouped joins the words that come first as a card number is printed: four digits, then groups of three to six digits. The
// longest such number counts.
func grouped(words []string) string {
	const printedGroup, minGroup, maxGroup = 4, 3, 6
	if len(words[0]) != printedGroup {
		return ""
	}
	var number string
	for _, word := range words {
		if len(word) < minGroup || len(word) > maxGroup || strings.IndexFunc(word, func(r rune) bool { return !isDigit(r) }) >= 0 {
			break
		}
		if len(number)+len(word) > maxCardDigits {
			break
		}
		number += word
		if isCardNumber(number) {
			return number
		}
	}
	return number
}

func isCardNumber(digits string) bool {
	if len(digits) < minCardDigits || len(digits) > maxCardDigits || !beginsAsCard(digits) {
		return false
	}
	sum := 0
	for i := range len(digits) {
		digit := rune(digits[len(digits)-1-i])
		if !isDigit(digit) {
			return false
		}
		weighed := int(digit - '0')
		if i%2 == 1 {
			weighed *= 2
		}
		sum += weighed/10 + weighed%10
	}
	return sum%10 == 0
}

// beginsAsCard tells whether the issuer's part is one of a card scheme: 3 to 6 (American Express, Diners, JCB, Visa,
// Mastercard, Maestro, Discover, UnionPay) or 2200 to 2720 (Mir, Mastercard).
func beginsAsCard(digits string) bool {
	if digits[0] == '2' {
		return digits[:4] >= "2200" && digits[:4] <= "2720"
	}
	return digits[0] >= '3' && digits[0] <= '6'
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) }
