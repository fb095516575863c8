package api

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"payonce/internal/strictjson"
	"payonce/payments"
)

// createBody is the JSON of a create. A member that is null is absent; an empty string is not.
type createBody struct {
	Reference     *string           `json:"reference" required:"true" nullable:"false" minLength:"1" maxLength:"255" doc:"The order: names the business attempt within the tenant, for ever. Printable characters."`
	Replaces      *string           `json:"replaces,omitempty" format:"uuid" doc:"The ended payment of the same reference that this attempt follows"`
	Amount        *int64            `json:"amount" required:"true" nullable:"false" minimum:"1" maximum:"999999999999" doc:"In the currency's minor units of ISO 4217 (isk and ugx in hundredths that are 00, mga in whole ariary), written as a plain integer; each currency has its own bounds, eight digits for most"`
	Currency      *string           `json:"currency" required:"true" nullable:"false" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217; letter case does not matter"`
	PaymentMethod *string           `json:"payment_method,omitempty" maxLength:"255" pattern:"^pm_[A-Za-z0-9_]+$" doc:"With a method the payment is confirmed at once; its outcome answers the create"`
	MethodTypes   []string          `json:"payment_method_types,omitempty" nullable:"false" minItems:"1" maxItems:"4" enum:"card,us_bank_account,sepa_debit,au_becs_debit" doc:"What the payer may pay with; card when absent. A debit runs in its own currency: usd, eur, aud"`
	CaptureMethod *string           `json:"capture_method,omitempty" enum:"automatic,manual"`
	Multicapture  *bool             `json:"multicapture,omitempty" doc:"With a manual capture: the hold may be captured in several parts, where the card's network allows it"`
	HoldExpiry    *string           `json:"hold_expiry,omitempty" enum:"capture,void" doc:"With a manual capture: what becomes of a hold that is about to run out; void when absent"`
	Customer      *string           `json:"customer,omitempty" format:"uuid" doc:"Who pays: the id of a customer that was linked by POST /v1/customers"`
	Destinations  []destinationBody `json:"destinations,omitempty" nullable:"false" minItems:"1" maxItems:"20" doc:"Where the money goes; the amounts sum to the payment's. All of it to the merchant when absent. Captures and refunds are divided in proportion"`
	Description   *string           `json:"description,omitempty" maxLength:"1000"`
	ReceiptEmail  *string           `json:"receipt_email,omitempty" format:"email" maxLength:"254"`
	ReturnURL     *string           `json:"return_url,omitempty" format:"uri" maxLength:"2048" doc:"https"`
	OffSession    *bool             `json:"off_session,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty" doc:"At most 48 names of up to 40 characters, none beginning with payonce_, with values of up to 500 characters"`
}

// Bounds of the fields, in characters. Those of metadata are Stripe's (https://docs.stripe.com/api/metadata): 50 names less
// the ones that we add.
const (
	maxReference     = 255
	maxPaymentMethod = 255
	maxDescription   = 1000
	maxEmail         = 254
	maxURL           = 2048
	maxMetadata      = 50
	maxMetadataName  = 40
	maxMetadataValue = 500
	reservedMetadata = 2
)

var (
	paymentMethodShape = regexp.MustCompile(`^pm_[A-Za-z0-9_]+$`)
	currencyShape      = regexp.MustCompile(`^[A-Za-z]{3}$`)
)

// parseCreate reads the body of a create into the typed, normalised command: what the caller sent and no defaults.
func parseCreate(body []byte) (payments.CreateCommand, error) {
	var sent createBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.CreateCommand{}, err
	}
	if err := sent.refuseCardData(); err != nil {
		return payments.CreateCommand{}, err
	}
	command := payments.CreateCommand{
		PaymentMethod: sent.PaymentMethod, Description: sent.Description, ReceiptEmail: sent.ReceiptEmail,
		ReturnURL: sent.ReturnURL, OffSession: sent.OffSession, Metadata: sent.Metadata,
	}
	for _, step := range []func(*payments.CreateCommand) error{
		sent.identity, sent.customer, sent.money, sent.destinations, sent.method, sent.capture, sent.texts, sent.metadata,
	} {
		if err := step(&command); err != nil {
			return payments.CreateCommand{}, err
		}
	}
	return command, nil
}

func (b createBody) identity(command *payments.CreateCommand) error {
	if b.Reference == nil {
		return invalid("reference", "is required")
	}
	if reason := refuseReference(*b.Reference); reason != "" {
		return invalid("reference", reason)
	}
	command.Reference = *b.Reference
	if b.Replaces == nil {
		return nil
	}
	id, canonical := canonicalID(*b.Replaces)
	if !canonical {
		return invalid("replaces", "must be the id of a payment")
	}
	command.Replaces = &payments.PaymentID{UUID: id}
	return nil
}

// customer reads who pays. Whether the customer is there is known only to the claim.
func (b createBody) customer(command *payments.CreateCommand) error {
	if b.Customer == nil {
		return nil
	}
	id, canonical := canonicalID(*b.Customer)
	if !canonical {
		return invalid("customer", "must be the id of a customer")
	}
	command.Customer = &payments.ProvisionID{UUID: id}
	return nil
}

// canonicalID is the id that a text is; false for one in another spelling.
func canonicalID(text string) (uuid.UUID, bool) {
	id, err := uuid.Parse(text)
	return id, err == nil && len(text) == len(uuid.Nil.String())
}

// refuseReference is why a text cannot be a reference; empty when it can.
func refuseReference(text string) string {
	switch {
	case text == "":
		return "must not be empty"
	case utf8.RuneCountInString(text) > maxReference:
		return "must not exceed 255 characters"
	case !printable(text):
		return "must hold printable characters only"
	case strings.TrimSpace(text) != text:
		return "must not begin or end with a blank: it would name another order"
	default:
		return ""
	}
}

func (b createBody) money(command *payments.CreateCommand) error {
	switch {
	case b.Amount == nil:
		return invalid("amount", "is required")
	case b.Currency == nil:
		return invalid("currency", "is required")
	case !currencyShape.MatchString(*b.Currency):
		return invalid("currency", "must be an ISO 4217 code of three letters")
	}
	currency, err := payments.ParseCurrency(*b.Currency)
	if err != nil {
		return invalid("currency", "is not served")
	}
	money := payments.Money{Amount: *b.Amount, Currency: currency}
	if err := money.Validate(); err != nil {
		return refusal{Code: codeFieldInvalid, Field: "amount", Detail: err.Error() + "."}
	}
	command.Amount, command.Currency = money.Amount, money.Currency
	return nil
}

func (b createBody) method(command *payments.CreateCommand) error {
	if b.PaymentMethod != nil && !isPaymentMethod(*b.PaymentMethod) {
		return invalid("payment_method", "must be the id of a payment method, pm_…")
	}
	if b.MethodTypes != nil {
		if reason := refuseMethodTypes(b.MethodTypes); reason != "" {
			return invalid("payment_method_types", reason)
		}
		if err := command.Currency.CheckMethods(b.MethodTypes); err != nil {
			return refusal{Code: codeFieldInvalid, Field: "currency", Detail: err.Error() + "."}
		}
		command.MethodTypes = b.MethodTypes
	}
	return nil
}

func (b createBody) capture(command *payments.CreateCommand) error {
	manual := false
	if b.CaptureMethod != nil {
		method := payments.CaptureMethod(*b.CaptureMethod)
		if method != payments.CaptureAutomatic && method != payments.CaptureManual {
			return invalid("capture_method", "must be automatic or manual")
		}
		command.CaptureMethod, manual = &method, method == payments.CaptureManual
	}
	if b.Multicapture != nil && *b.Multicapture && !manual {
		return invalid("multicapture", "needs capture_method manual")
	}
	command.Multicapture = b.Multicapture
	if b.HoldExpiry == nil {
		return nil
	}
	policy := payments.HoldExpiry(*b.HoldExpiry)
	switch {
	case policy != payments.HoldCapture && policy != payments.HoldVoid:
		return invalid("hold_expiry", "must be capture or void")
	case !manual:
		return invalid("hold_expiry", "needs capture_method manual")
	}
	command.HoldExpiry = &policy
	return nil
}

// isPaymentMethod tells whether the text has the shape of a payment method's id.
func isPaymentMethod(text string) bool {
	return len(text) <= maxPaymentMethod && paymentMethodShape.MatchString(text)
}

// refuseMethodTypes is why a list of kinds of payment method cannot be; empty when it can. Each is named once.
func refuseMethodTypes(types []string) string {
	served := payments.MethodTypes()
	if len(types) == 0 {
		return "must not be empty"
	}
	for i, kind := range types {
		if !slices.Contains(served, kind) || slices.Contains(types[:i], kind) {
			return "must name each of " + strings.Join(served, ", ") + " at most once"
		}
	}
	return ""
}

func (b createBody) texts(*payments.CreateCommand) error {
	switch {
	case b.Description != nil && utf8.RuneCountInString(*b.Description) > maxDescription:
		return invalid("description", "must not exceed 1000 characters")
	case b.ReceiptEmail != nil && !isEmail(*b.ReceiptEmail):
		return invalid("receipt_email", "must be an e-mail address")
	case b.ReturnURL != nil && !isHTTPS(*b.ReturnURL):
		return invalid("return_url", "must be an https URL")
	default:
		return nil
	}
}

func (b createBody) metadata(*payments.CreateCommand) error {
	return refuseMetadata(b.Metadata, reservedMetadata)
}

// refuseMetadata refuses what Stripe would not take beside the names that we add, or would take for ours.
func refuseMetadata(metadata map[string]string, reserved int) error {
	if most := maxMetadata - reserved; len(metadata) > most {
		return invalid("metadata", "must not have more than "+strconv.Itoa(most)+" names")
	}
	for name, value := range metadata {
		switch {
		case name == "" || utf8.RuneCountInString(name) > maxMetadataName || !printable(name) || strings.ContainsAny(name, "[]"):
			return invalid("metadata", "takes names of 1 to 40 printable characters, without brackets")
		case strings.HasPrefix(strings.ToLower(name), payments.MetadataPrefix):
			return invalid("metadata."+name, "begins with "+payments.MetadataPrefix+", which is reserved")
		case utf8.RuneCountInString(value) > maxMetadataValue:
			return invalid("metadata."+name, "must not exceed 500 characters")
		}
	}
	return nil
}

// refuseCardData refuses a card number in any text: such data belongs at Stripe and nowhere else.
func (b createBody) refuseCardData() error {
	texts := map[string]*string{
		"reference": b.Reference, "replaces": b.Replaces, "currency": b.Currency, "payment_method": b.PaymentMethod,
		"capture_method": b.CaptureMethod, "hold_expiry": b.HoldExpiry, "description": b.Description, "receipt_email": b.ReceiptEmail, "return_url": b.ReturnURL,
	}
	for i, d := range b.Destinations {
		texts[ofDestination(i, "account")] = d.Account
	}
	if err := refuseCardNumbers(texts); err != nil {
		return err
	}
	if slices.ContainsFunc(b.MethodTypes, holdsCardNumber) {
		return refusal{Code: codeCardDataRefused, Field: "payment_method_types"}
	}
	return refuseCardsInMetadata(b.Metadata)
}

func refuseCardsInMetadata(metadata map[string]string) error {
	for name, value := range metadata {
		if holdsCardNumber(name) {
			return refusal{Code: codeCardDataRefused, Field: "metadata"}
		}
		if holdsCardNumber(value) {
			return refusal{Code: codeCardDataRefused, Field: "metadata." + name}
		}
	}
	return nil
}

// refuseCardNumbers refuses a card number in any of the fields.
func refuseCardNumbers(texts map[string]*string) error {
	for field, text := range texts {
		if text != nil && holdsCardNumber(*text) {
			return refusal{Code: codeCardDataRefused, Field: field}
		}
	}
	return nil
}

func invalid(field, reason string) refusal {
	return refusal{Code: codeFieldInvalid, Field: field, Detail: field + " " + reason + "."}
}

func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && len(text) <= maxEmail
}

func isHTTPS(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Scheme == "https" && parsed.Hostname() != "" && parsed.User == nil && len(text) <= maxURL
}
