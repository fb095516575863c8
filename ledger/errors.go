package ledger

import (
	"errors"
	"fmt"
	"math/big"

	"payonce/payments"
)

// Refusals of a posting before anything reaches the database, so the caller's transaction stays usable.
var (
	// ErrUnbalanced says that the entries of a posting do not sum to zero in each currency.
	ErrUnbalanced = errors.New("entries do not sum to zero")
	// ErrUnknownAccount says that the chart has no such account.
	ErrUnknownAccount = errors.New("no such account in the chart")
	// ErrInvalidPosting says that a posting lacks what every posting needs.
	ErrInvalidPosting = errors.New("invalid posting")
	// ErrInsufficient says that a decision would take more than is available; see InsufficientError for how much is.
	ErrInsufficient = errors.New("insufficient balance")
)

// Refusals of the database's state.
var (
	// ErrNothingToResolve says that the journal that a posting resolves is not posted. Postings beside it may be: roll back.
	ErrNothingToResolve = errors.New("the journal to resolve is not posted")
	// ErrNotReversible says that a journal cannot be reversed, or not by so much; nothing is posted.
	ErrNotReversible = errors.New("not reversible")
)

// InsufficientError refuses a decision, with the amounts in minor units. It is ErrInsufficient.
type InsufficientError struct {
	Account   AccountName
	Currency  payments.Currency
	Available *big.Int
	Needed    *big.Int
}

func (e *InsufficientError) Error() string {
	return fmt.Sprintf("%s holds %s %s, %s needed", e.Account, e.Available, e.Currency, e.Needed)
}

// Is makes errors.Is(err, ErrInsufficient) true.
func (e *InsufficientError) Is(target error) bool { return target == ErrInsufficient }
