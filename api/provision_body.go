package api

import (
	"regexp"
	"unicode/utf8"

	"payonce/internal/strictjson"
	"payonce/payments"
)

// customerBody is the JSON of a customer. A member that is null is absent; an empty string is not.
type customerBody struct {
	Owner *string `json:"owner" required:"true" nullable:"false" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$" doc:"Who, in your words: has one customer, for ever"`
	Email *string `json:"email,omitempty" format:"email" maxLength:"254"`
	Name  *string `json:"name,omitempty" minLength:"1" maxLength:"255"`
}

// connectedAccountBody is the JSON of a connected account.
type connectedAccountBody struct {
	Owner    *string `json:"owner" required:"true" nullable:"false" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$" doc:"Who, in your words: has one connected account a currency, for ever"`
	Currency *string `json:"currency" required:"true" nullable:"false" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217; letter case does not matter"`
	Country  *string `json:"country" required:"true" nullable:"false" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1, in capitals"`
	Email    *string `json:"email,omitempty" format:"email" maxLength:"254"`
}

// walletBody is the JSON of a wallet.
type walletBody struct {
	Owner    *string `json:"owner" required:"true" nullable:"false" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$" doc:"Who, in your words: has one wallet a currency and network, for ever"`
	Currency *string `json:"currency" required:"true" nullable:"false" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217; letter case does not matter"`
	Network  *string `json:"network" required:"true" nullable:"false" minLength:"1" maxLength:"32" pattern:"^[a-z0-9_-]+$" doc:"Through which the owner is reached, in your words"`
}

// maxName bounds a customer's name, in characters.
const maxName = 255

var countryShape = regexp.MustCompile(`^[A-Z]{2}$`)

// parseCustomer reads the body of a customer into the typed, normalised command.
func parseCustomer(body []byte) (payments.ProvisionCommand, error) {
	var sent customerBody
	command := payments.ProvisionCommand{Kind: payments.ProvisionCustomer}
	if err := decodeProvision(body, &sent, func() map[string]*string {
		return map[string]*string{"owner": sent.Owner, "email": sent.Email, "name": sent.Name}
	}); err != nil {
		return command, err
	}
	if sent.Name != nil && (*sent.Name == "" || utf8.RuneCountInString(*sent.Name) > maxName || !printable(*sent.Name)) {
		return command, invalid("name", "must hold 1 to 255 printable characters")
	}
	command.Name = sent.Name
	return command, ownerAndEmail(&command, sent.Owner, sent.Email)
}

// parseConnectedAccount reads the body of a connected account into the typed, normalised command.
func parseConnectedAccount(body []byte) (payments.ProvisionCommand, error) {
	var sent connectedAccountBody
	command := payments.ProvisionCommand{Kind: payments.ProvisionConnectedAccount}
	if err := decodeProvision(body, &sent, func() map[string]*string {
		return map[string]*string{"owner": sent.Owner, "currency": sent.Currency, "country": sent.Country, "email": sent.Email}
	}); err != nil {
		return command, err
	}
	switch {
	case sent.Country == nil:
		return command, invalid("country", "is required")
	case !countryShape.MatchString(*sent.Country):
		return command, invalid("country", "must be an ISO 3166-1 code of two capitals")
	}
	command.Country = *sent.Country
	if err := ownerAndEmail(&command, sent.Owner, sent.Email); err != nil {
		return command, err
	}
	return command, currencyOf(&command, sent.Currency)
}

// parseWallet reads the body of a wallet into the typed, normalised command.
func parseWallet(body []byte) (payments.ProvisionCommand, error) {
	var sent walletBody
	command := payments.ProvisionCommand{Kind: payments.ProvisionWallet}
	if err := decodeProvision(body, &sent, func() map[string]*string {
		return map[string]*string{"owner": sent.Owner, "currency": sent.Currency, "network": sent.Network}
	}); err != nil {
		return command, err
	}
	switch {
	case sent.Network == nil:
		return command, invalid("network", "is required")
	case !payments.IsNetworkName(*sent.Network):
		return command, invalid("network", "must hold 1 to 32 small letters, digits, dashes and underscores")
	}
	command.Network = *sent.Network
	if err := ownerAndEmail(&command, sent.Owner, nil); err != nil {
		return command, err
	}
	return command, currencyOf(&command, sent.Currency)
}

// decodeProvision decodes a body and refuses a card number in any of its texts.
func decodeProvision(body []byte, into any, texts func() map[string]*string) error {
	if err := strictjson.Decode(body, into, MaxBody); err != nil {
		return err
	}
	return refuseCardNumbers(texts())
}

func ownerAndEmail(command *payments.ProvisionCommand, owner, email *string) error {
	switch {
	case owner == nil:
		return invalid("owner", "is required")
	case !payments.IsOwnerName(*owner):
		return invalid("owner", "must hold 1 to 128 letters, digits, dots, dashes and underscores")
	case email != nil && !isEmail(*email):
		return invalid("email", "must be an e-mail address")
	}
	command.Owner, command.Email = *owner, email
	return nil
}

func currencyOf(command *payments.ProvisionCommand, currency *string) error {
	switch {
	case currency == nil:
		return invalid("currency", "is required")
	case !currencyShape.MatchString(*currency):
		return invalid("currency", "must be an ISO 4217 code of three letters")
	}
	parsed, err := payments.ParseCurrency(*currency)
	if err != nil {
		return invalid("currency", "is not served")
	}
	command.Currency = parsed
	return nil
}
