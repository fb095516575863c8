package api

import (
	"fmt"
	"slices"

	"payonce/ledger"
	"payonce/payments"
)

// destinationBody is the JSON of one destination of a create.
type destinationBody struct {
	Account *string `json:"account" required:"true" nullable:"false" maxLength:"255" doc:"merchant:balance, or a wallet of the tenant in the payment's currency: wallet:<owner>:<network>. Each once"`
	Amount  *int64  `json:"amount" required:"true" nullable:"false" minimum:"1" maximum:"999999999999" doc:"In the currency's minor units"`
}

// destinations reads where the money goes. Whether a wallet is there is known only to the claim.
func (b createBody) destinations(command *payments.CreateCommand) error {
	if b.Destinations == nil {
		return nil
	}
	if len(b.Destinations) < 1 || len(b.Destinations) > payments.MaxDestinations {
		return invalid("destinations", fmt.Sprintf("must name 1 to %d accounts", payments.MaxDestinations))
	}
	sum := int64(0)
	for i, sent := range b.Destinations {
		account, amount := ofDestination(i, "account"), ofDestination(i, "amount")
		named := func(d payments.Destination) bool { return d.Account == *sent.Account }
		switch {
		case sent.Account == nil:
			return invalid(account, "is required")
		case !ledger.IsDestination(ledger.AccountName(*sent.Account)):
			return invalid(account, "must be merchant:balance or wallet:<owner>:<network>")
		case slices.ContainsFunc(command.Destinations, named):
			return invalid(account, "is named twice")
		case sent.Amount == nil:
			return invalid(amount, "is required")
		case *sent.Amount <= 0:
			return invalid(amount, "must be positive")
		case *sent.Amount > command.Amount-sum:
			return invalid(amount, "takes the sum beyond the payment's amount")
		}
		sum += *sent.Amount
		command.Destinations = append(command.Destinations, payments.Destination{Account: *sent.Account, Amount: *sent.Amount})
	}
	if sum != command.Amount {
		return invalid("destinations", fmt.Sprintf("must sum to the payment's amount: they sum to %d", sum))
	}
	return nil
}

// ofDestination names a member of the i-th destination, from 0.
func ofDestination(i int, member string) string { return fmt.Sprintf("destinations[%d].%s", i, member) }
