package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"payonce/boundaries"
	"payonce/payments"
)

// provisioningText is what is said of a kind in the document.
type provisioningText struct {
	name, summary, description string
	body                       reflect.Type
}

func provisioningTextOf(kind payments.ProvisionKind) provisioningText {
	const forEver = " It is linked for ever: the same content under whatever key is answered with what there is, and other content is `owner_conflict`. " +
		"What Stripe refuses (402) may be asked for anew with a fresh key, with other content too."
	switch kind {
	case payments.ProvisionCustomer:
		return provisioningText{
			name: "CreateCustomer", summary: "Link a customer at Stripe to an owner", body: reflect.TypeFor[customerBody](),
			description: "An owner has one customer. E-mail and name go to Stripe and are not shown again." + forEver,
		}
	case payments.ProvisionConnectedAccount:
		return provisioningText{
			name: "CreateConnectedAccount", summary: "Link a connected account at Stripe to an owner", body: reflect.TypeFor[connectedAccountBody](),
			description: "An owner has one connected account a currency, of Stripe's type express. payonce makes it, and moves none of its money." + forEver,
		}
	default:
		return provisioningText{
			name: "CreateWallet", summary: "Link a wallet to an owner", body: reflect.TypeFor[walletBody](),
			description: "An owner has one wallet a currency and network, for ever: an account of our ledger, which holds what is owed to the owner. " +
				"Stripe is not asked.",
		}
	}
}

func describeCreateProvision(schemas huma.Registry, kind payments.ProvisionKind) huma.Operation {
	text := provisioningTextOf(kind)
	replayed := map[string]*huma.Param{headerReplayed: textHeader("true: the stored answer of an earlier request")}
	answers := map[string]*huma.Response{
		"200": provisionAnswer(schemas, "The replay window is over: as it is now", replayed),
		"201": provisionAnswer(schemas, "The outcome, stored: it is linked", map[string]*huma.Param{
			"Location": textHeader("Where it is read"), headerReplayed: replayed[headerReplayed],
		}),
	}
	codes := commandCodes()
	if !kind.AtStripe() { // its claim is the whole of it, and its owner the whole of its content
		codes = slices.DeleteFunc(codes, func(c code) bool { return c == codeInProgress })
	} else {
		codes = append(codes, codeOwnerConflict, codeProviderRefused)
		answers["202"] = provisionAnswer(schemas, "No outcome yet; never stored. As it is now", map[string]*huma.Param{
			"Location": textHeader("Where it is read"), "Retry-After": textHeader("Seconds after which to look again"),
		})
	}
	return huma.Operation{
		OperationID: string(kind.Operation()), Method: http.MethodPost, Path: kind.Path(), Summary: text.summary, Description: text.description,
		Parameters: commandParameters(),
		RequestBody: &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(text.body, true, text.name)}},
		},
		Responses: problemAnswers(schemas, answers, codes...),
	}
}

func provisionAnswer(schemas huma.Registry, description string, headers map[string]*huma.Param) *huma.Response {
	return &huma.Response{
		Description: description, Headers: headers,
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payments.ProvisionView](), true, "Provision")}},
	}
}

// createProvision makes the function that claims a provision of the kind and answers with its outcome.
func (a *api) createProvision(kind payments.ProvisionKind, parse func([]byte) (payments.ProvisionCommand, error)) serve {
	return func(w http.ResponseWriter, r *http.Request, from caller) error {
		request, err := a.readCommand(w, r)
		if err != nil {
			return err
		}
		command, err := parse(request.body)
		if err != nil {
			return err
		}
		normalised, err := boundaries.Normalise(kind.Operation(), kind.Path(), command)
		if err != nil {
			return err
		}
		return a.serveCommand(w, r, request, func(ctx context.Context) (boundaries.Claim, error) {
			return a.Commands.ClaimProvision(ctx, a.asking(from, request, normalised), command)
		})
	}
}
