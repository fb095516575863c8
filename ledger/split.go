package ledger

import (
	"fmt"
	"slices"

	"payonce/payments"
)

// Share is a destination of money and its weight among the others, for instance in basis points.
type Share struct {
	Account AccountName `json:"account"`
	Weight  int64       `json:"weight"`
}

// Leg is what a destination gets, or gives back, in minor units.
type Leg struct {
	Account AccountName `json:"account"`
	Amount  int64       `json:"amount"` // positive
}

// Shares divide money among destinations. The zero value gives all to the merchant.
//
// Each unit goes to the destination that is owed most by then, the first of equals. So the parts sum to the whole; a larger whole lowers nobody's
// part, which rounding each whole by itself does (a refund of a unit could else take two from one and give one to another); and a whole that the
// weights divide is divided exactly. Nobody is ever more than a unit above the exact share.
type Shares struct {
	accounts []AccountName
	weights  []int64 // without a common divisor
	sum      int64
}

// Bounds of a split.
const (
	maxShares  = 20
	maxWeights = 10_000 // in all: basis points
)

// NewShares checks the shares: 1 to 20 guarded accounts, each once, with positive weights of at most 10,000 in all. The order is part of what is
// agreed. No shares at all give everything to the merchant. Errors: ErrInvalidShares.
func NewShares(shares ...Share) (Shares, error) {
	var s Shares
	if len(shares) > maxShares {
		return s, fmt.Errorf("%w: %d destinations, at most %d", ErrInvalidShares, len(shares), maxShares)
	}
	divisor := int64(0)
	for _, share := range shares {
		kind, err := KindOf(share.Account)
		switch {
		case err != nil || kind != Guarded:
			return Shares{}, fmt.Errorf("%w: %q is no destination", ErrInvalidShares, share.Account)
		case slices.Contains(s.accounts, share.Account):
			return Shares{}, fmt.Errorf("%w: %q is named twice", ErrInvalidShares, share.Account)
		case share.Weight < 1 || share.Weight > maxWeights-s.sum:
			return Shares{}, fmt.Errorf("%w: weights must be positive and at most %d in all", ErrInvalidShares, maxWeights)
		}
		s.accounts, s.weights = append(s.accounts, share.Account), append(s.weights, share.Weight)
		s.sum += share.Weight
		divisor = commonDivisor(divisor, share.Weight)
	}
	for i := range s.weights {
		s.weights[i] /= divisor
	}
	if divisor > 0 {
		s.sum /= divisor
	}
	return s, nil
}

func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Between is what each destination gets when the whole rises from before to after (0 or more, in minor units): its part of after less its part of
// before. Who gets nothing is left out.
func (s Shares) Between(before, after int64) []Leg {
	if s.sum == 0 {
		return legs([]AccountName{MerchantBalance}, []int64{after - before})
	}
	parts := s.parts(after)
	for i, had := range s.parts(before) {
		parts[i] -= had
	}
	return legs(s.accounts, parts)
}

// TakeBack is what each destination gives back of an amount, when the whole was divided and the legs taken were given back before. Nobody gives back
// more than it got; and what was given back in all is divided as a whole of that size, as near as what was taken before allows, so that the last
// refund leaves nothing, whichever came between. The result is fixed with the refund and never computed anew. Errors: ErrInvalidShares, when more
// would be taken back than there is.
func (s Shares) TakeBack(whole int64, taken []Leg, amount int64) ([]Leg, error) {
	if s.sum == 0 {
		s = Shares{accounts: []AccountName{MerchantBalance}, weights: []int64{1}, sum: 1}
	}
	had, before, got := make([]int64, len(s.accounts)), int64(0), s.parts(whole)
	for _, leg := range taken {
		at := slices.Index(s.accounts, leg.Account)
		if at < 0 || leg.Amount < 0 || leg.Amount > got[at]-had[at] {
			return nil, fmt.Errorf("%w: %d was taken back from %q", ErrInvalidShares, leg.Amount, leg.Account)
		}
		had[at] += leg.Amount
		before += leg.Amount
	}
	if amount < 0 || amount > whole-before {
		return nil, fmt.Errorf("%w: %d of %d is to be taken back after %d", ErrInvalidShares, amount, whole, before)
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
	return legs(s.accounts, parts), nil
}

// parts divides a whole. As many units as the weights sum to are divided exactly, so only the rest is gone through.
func (s Shares) parts(whole int64) []int64 {
	parts, owed := make([]int64, len(s.weights)), make([]int64, len(s.weights))
	for i, weight := range s.weights {
		parts[i] = whole / s.sum * weight
	}
	for range whole % s.sum {
		most := 0
		for i, weight := range s.weights {
			owed[i] += weight
			if owed[i] > owed[most] {
				most = i
			}
		}
		owed[most] -= s.sum
		parts[most]++
	}
	return parts
}

// legs leaves out who gets nothing.
func legs(accounts []AccountName, amounts []int64) []Leg {
	var legs []Leg
	for i, amount := range amounts {
		if amount != 0 {
			legs = append(legs, Leg{Account: accounts[i], Amount: amount})
		}
	}
	return legs
}

// entries are the legs as entries of one sign: 1 debits, -1 credits.
func entries(legs []Leg, sign int64, currency payments.Currency) []Entry {
	entries := make([]Entry, len(legs))
	for i, leg := range legs {
		entries[i] = Entry{Account: leg.Account, Amount: sign * leg.Amount, Currency: currency}
	}
	return entries
}
