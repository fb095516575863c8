package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/postgres"
	"payonce/internal/strictjson"
	"payonce/payments"
)

// pathPayouts is the path that a payout is hashed with.
const pathPayouts = "/v1/payouts"

// payoutBody is the JSON of a payout. A member that is null is absent; an empty string is not.
type payoutBody struct {
	Amount      *int64            `json:"amount" required:"true" nullable:"false" minimum:"1" doc:"In the currency's minor units; huf and twd are paid out in whole units"`
	Currency    *string           `json:"currency" required:"true" nullable:"false" pattern:"^[A-Za-z]{3}$" doc:"ISO 4217; letter case does not matter"`
	Reference   *string           `json:"reference" required:"true" nullable:"false" minLength:"1" maxLength:"255" doc:"Names this payout within the account and the currency, for ever: two equal payouts have two references. Printable characters."`
	Description *string           `json:"description,omitempty" maxLength:"1000"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 48 names of up to 40 characters, none beginning with payonce_, with values of up to 500 characters"`
}

// reservedPayoutMetadata are the names that we add to a payout.
const reservedPayoutMetadata = 2

func describeCreatePayout(schemas huma.Registry) huma.Operation {
	answers := map[string]*huma.Response{
		"200": payoutAnswer(schemas, "The replay window is over: the payout as it is now", map[string]*huma.Param{
			headerReplayed: textHeader("true: the stored answer of an earlier request"),
		}),
		"201": payoutAnswer(schemas, "The outcome, stored: Stripe has taken the payout; the bank has it days later", map[string]*huma.Param{
			"Location": textHeader("The payout"), headerReplayed: textHeader("true: the stored answer of an earlier request"),
		}),
		"202": payoutAnswer(schemas, "No outcome yet; never stored. The payout as it is now", map[string]*huma.Param{
			"Location": textHeader("The payout"), "Retry-After": textHeader("Seconds after which to look again"),
		}),
	}
	return huma.Operation{
		OperationID: string(payments.OperationPayout), Method: http.MethodPost, Path: pathPayouts, Summary: "Pay out to the bank",
		Description: "Sends money that Stripe holds to the tenant's bank. The amount is reserved before Stripe is asked: concurrent payouts never take " +
			"more than there is by our ledger. Stripe may still refuse, for instance money that it does not release yet (402).",
		Parameters: commandParameters(),
		RequestBody: &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payoutBody](), true, "CreatePayout")}},
		},
		Responses: problemAnswers(schemas, answers, append(commandCodes(), codeProviderRefused, codeReferenceConflict, codeAmountTooLarge)...),
	}
}

func payoutAnswer(schemas huma.Registry, description string, headers map[string]*huma.Param) *huma.Response {
	return &huma.Response{
		Description: description, Headers: headers,
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payments.PayoutView](), true, "Payout")}},
	}
}

// createPayout claims a payout and answers with its outcome.
func (a *api) createPayout(w http.ResponseWriter, r *http.Request, from caller) error {
	request, err := a.readCommand(w, r)
	if err != nil {
		return err
	}
	command, err := parsePayout(request.body)
	if err != nil {
		return err
	}
	normalised, err := boundaries.Normalise(payments.OperationPayout, pathPayouts, command)
	if err != nil {
		return err
	}
	return a.serveCommand(w, r, request, func(ctx context.Context) (boundaries.Claim, error) {
		return a.Commands.ClaimPayout(ctx, a.asking(from, request, normalised), command)
	})
}

// parsePayout reads the body of a payout into the typed, normalised command.
func parsePayout(body []byte) (payments.PayoutCommand, error) {
	var sent payoutBody
	if err := strictjson.Decode(body, &sent, MaxBody); err != nil {
		return payments.PayoutCommand{}, err
	}
	if err := sent.refuseCardData(); err != nil {
		return payments.PayoutCommand{}, err
	}
	command := payments.PayoutCommand{Description: sent.Description, Metadata: sent.Metadata}
	if sent.Reference == nil {
		return command, invalid("reference", "is required")
	}
	if reason := refuseReference(*sent.Reference); reason != "" {
		return command, invalid("reference", reason)
	}
	command.Reference = *sent.Reference
	if sent.Description != nil && utf8.RuneCountInString(*sent.Description) > maxDescription {
		return command, invalid("description", "must not exceed 1000 characters")
	}
	if err := refuseMetadata(sent.Metadata, reservedPayoutMetadata); err != nil {
		return command, err
	}
	err := sent.money(&command)
	return command, err
}

func (b payoutBody) money(command *payments.PayoutCommand) error {
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
	if err := money.ValidatePayout(); err != nil {
		return refusal{Code: codeFieldInvalid, Field: "amount", Detail: err.Error() + "."}
	}
	command.Amount, command.Currency = money.Amount, money.Currency
	return nil
}

// refuseCardData refuses a card number in any text.
func (b payoutBody) refuseCardData() error {
	if err := refuseCardNumbers(map[string]*string{"reference": b.Reference, "currency": b.Currency, "description": b.Description}); err != nil {
		return err
	}
	for name, value := range b.Metadata {
		if holdsCardNumber(name) {
			return refusal{Code: codeCardDataRefused, Field: "metadata"}
		}
		if holdsCardNumber(value) {
			return refusal{Code: codeCardDataRefused, Field: "metadata." + name}
		}
	}
	return nil
}

// showClaimedPayout writes the payout that a command made as it is now.
func (a *api) showClaimedPayout(w http.ResponseWriter, r *http.Request, claim boundaries.Claim, status int) error {
	payout, err := a.readPayout(r.Context(), claim.Tenant, `WHERE p.record = $1`, claim.Record.UUID)
	if err != nil {
		return err
	}
	return a.showPayout(w, payout, status)
}

func (a *api) showPayout(w http.ResponseWriter, payout payments.Payout, status int) error {
	body, err := json.Marshal(payout.View())
	if err != nil {
		return fmt.Errorf("encode payout: %w", err)
	}
	if status != http.StatusOK {
		w.Header().Set("Location", pathPayouts+"/"+payout.ID.String())
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, status, "application/json", body)
	return nil
}

func (a *api) readPayout(ctx context.Context, tenant payments.TenantID, where string, id uuid.UUID) (payout payments.Payout, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timing.Statement)
	defer cancel()
	err = postgres.ForTenant(ctx, a.Pool, tenant.UUID, func(batch *pgx.Batch) {
		batch.Queue(paymentstore.SelectPayouts+where+` AND p.tenant = $2`, id, tenant.UUID).QueryRow(func(row pgx.Row) (err error) {
			payout, err = paymentstore.ScanPayout(row)
			return err
		})
	})
	return payout, err
}
