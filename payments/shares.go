package payments

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Destination is an account of the ledger that money goes to, and how much of it; or that gives it back.
type Destination struct {
	Account string `json:"account"` // merchant:balance, or wallet:<owner>:<network>
	Amount  int64  `json:"amount"`  // minor units; positive
}

// MerchantDestination is the destination that every tenant has in every currency.
const MerchantDestination = "merchant:balance"

// MaxDestinations bounds how many destinations a payment names.
const MaxDestinations = 20

// ErrInvalidShares says that money cannot be divided so.
var ErrInvalidShares = errors.New("invalid shares")

// Shares divide money among destinations in proportion to their amounts. The zero value names nobody, and divides nothing: all is the merchant's.
//
// Each unit goes to the destination whose amount, divided by twice its part and one, is greatest by then, the first of equals (the method of Webster
// and Sainte-Laguë). So the parts sum to the whole; a larger whole lowers nobody's part, which rounding each whole by itself does (a refund of a unit
// could else take two from one and give one to another); and a whole that the amounts divide is divided exactly. Among two or three destinations nobody
// is a unit or more away from the exact share; among n, nobody more than (n+1)/2.
type Shares struct {
	of  []Destination
	sum int64
}

// NewShares checks the destinations: 1 to 20, each account once, with positive amounts of at most MaxAmount in all. Their order is part of what is
// agreed. Which accounts there are is the ledger's to say. Errors: ErrInvalidShares.
func NewShares(destinations ...Destination) (Shares, error) {
	if len(destinations) < 1 || len(destinations) > MaxDestinations {
		return Shares{}, fmt.Errorf("%w: %d destinations, not 1 to %d", ErrInvalidShares, len(destinations), MaxDestinations)
	}
	sum := int64(0)
	for i, d := range destinations {
		switch {
		case d.Account == "":
			return Shares{}, fmt.Errorf("%w: a destination without a name", ErrInvalidShares)
		case indexOf(destinations[:i], d.Account) >= 0:
			return Shares{}, fmt.Errorf("%w: %q is named twice", ErrInvalidShares, d.Account)
		case d.Amount < 1 || d.Amount > MaxAmount-sum:
			return Shares{}, fmt.Errorf("%w: amounts must be positive and at most %d in all", ErrInvalidShares, MaxAmount)
		}
		sum += d.Amount
	}
	return sharesOf(destinations), nil
}

// sharesOf are the shares of destinations that were checked.
func sharesOf(destinations []Destination) Shares {
	s := Shares{of: destinations}
	for _, d := range destinations {
		s.sum += d.Amount
	}
	return s
}

func indexOf(destinations []Destination, account string) int {
	return slices.IndexFunc(destinations, func(d Destination) bool { return d.Account == account })
}

// Between is what each destination gets when the whole rises from before to after (0 or more, in minor units): its part of after less its part of
// before. Who gets nothing is left out; of nobody it is nothing.
func (s Shares) Between(before, after int64) []Destination {
	parts := s.parts(after)
	for i, had := range s.parts(before) {
		parts[i] -= had
	}
	return s.named(parts)
}

// TakeBack is what each destination gives back of an amount, when the destinations taken were given back before: what was given back in all is divided
// as a whole of that size, as near as what was taken before allows. So nobody gives back more than it got, and the last refund leaves nothing, whichever
// came between. The result is fixed with the refund and never computed anew. Of nobody it is nothing.
func (s Shares) TakeBack(taken []Destination, amount int64) []Destination {
	had, before := make([]int64, len(s.of)), int64(0)
	for _, d := range taken {
		before += d.Amount
		if at := indexOf(s.of, d.Account); at >= 0 {
			had[at] += d.Amount
		}
	}
	parts, over := s.parts(before+amount), -amount
	for i := range parts {
		parts[i] = max(parts[i]-had[i], 0)
		over += parts[i]
	}
	for i := len(parts) - 1; over > 0; i-- { // what somebody gave too much before, the last ones give less now
		less := min(over, parts[i])
		parts[i] -= less
		over -= less
	}
	return s.named(parts)
}

// named leaves out who gets nothing.
func (s Shares) named(parts []int64) []Destination {
	var named []Destination
	for i, part := range parts {
		if part != 0 {
			named = append(named, Destination{Account: s.of[i].Account, Amount: part})
		}
	}
	return named
}

// parts divides a whole, without going through its units: from the whole units of the exact shares, units are added and then moved from who got one last
// to who would get one first, until the order in which they are given says nothing else.
func (s Shares) parts(whole int64) []int64 {
	parts, left := make([]int64, len(s.of)), whole
	if s.sum == 0 || whole == 0 {
		return parts
	}
	for i, d := range s.of {
		parts[i] = scale(whole, d.Amount, s.sum)
		left -= parts[i]
	}
	for ; left > 0; left-- {
		parts[s.next(parts)]++
	}
	for {
		next, last := s.next(parts), s.last(parts)
		if !s.precedes(next, parts[next], last, parts[last]-1) {
			return parts
		}
		parts[next]++
		parts[last]--
	}
}

// next is who gets the unit after these parts.
func (s Shares) next(parts []int64) int {
	next := 0
	for i := range parts {
		if s.precedes(i, parts[i], next, parts[next]) {
			next = i
		}
	}
	return next
}

// last is who got the last unit of these parts, which are not all 0.
func (s Shares) last(parts []int64) int {
	last := -1
	for i, part := range parts {
		if part > 0 && (last < 0 || s.precedes(last, parts[last]-1, i, part-1)) {
			last = i
		}
	}
	return last
}

// precedes tells whether i, with m units, gets its next unit before j, with n: of equals the first does.
func (s Shares) precedes(i int, m int64, j int, n int64) bool {
	iHigh, iLow := bits.Mul64(uint64(s.of[i].Amount), 2*uint64(n)+1)
	jHigh, jLow := bits.Mul64(uint64(s.of[j].Amount), 2*uint64(m)+1)
	if iHigh == jHigh && iLow == jLow {
		return i < j
	}
	return iHigh > jHigh || iHigh == jHigh && iLow > jLow
}

// scale is whole·amount/sum, rounded down, for an amount of at most the sum.
func scale(whole, amount, sum int64) int64 {
	high, low := bits.Mul64(uint64(whole), uint64(amount))
	quotient, _ := bits.Div64(high, low, uint64(sum))
	return int64(quotient)
}
