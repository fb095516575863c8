package activities

import (
	"context"
	"net/url"
	"strconv"

	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/payments"
	"payonce/workflows"
)

// CreateIntent makes the payment's intent, unconfirmed: a doubled create moves no money. The intent carries the payment's and the tenant's id
// as metadata, by which it is found when its answer is lost.
func (a *Activities) CreateIntent(ctx context.Context, in workflows.Act) (workflows.Step, error) {
	return a.act(ctx, in, payments.OperationCreate, func(s situation, c *command) (workflows.Step, error) {
		create, err := openCommand[payments.CreateCommand](a, c)
		if err != nil {
			return workflows.Step{}, err
		}
		body := createBody(s.payment, create.MethodTypes)
		if create.Customer != nil {
			customer, err := paymentstore.ProvisionByID(ctx, a.Pool, *create.Customer)
			if err != nil {
				return workflows.Step{}, err
			}
			body.Set("customer", customer.ProviderID) // linked before the create was claimed, for ever
		}
		result, err := a.send(ctx, in, s, c, "/v1/payment_intents", body)
		switch {
		case err != nil:
			return workflows.Step{}, err
		case result.look:
			return a.findIntent(ctx, s, c, result.call)
		default:
			return a.applied(ctx, s, c, result.call, result.learnt(), a.confirmAhead(ctx, in, s, result))
		}
	})
}

// createBody is what is frozen: the payment's own values. The method comes with the confirm, so that the intent is created unconfirmed.
func createBody(p payments.Payment, methodTypes []string) url.Values {
	if len(methodTypes) == 0 {
		methodTypes = []string{payments.MethodTypeCard}
	}
	body := url.Values{
		"amount":                 {strconv.FormatInt(p.Money.Amount, 10)},
		"currency":               {string(p.Money.Currency)},
		"capture_method":         {string(p.CaptureMethod)},
		"payment_method_types[]": methodTypes,
	}
	if p.Multicapture { // several captures, where the card's network allows them (https://docs.stripe.com/payments/multicapture)
		body.Set("payment_method_options[card][request_multicapture]", "if_available")
	}
	for name, value := range p.Metadata {
		body.Set("metadata["+name+"]", value)
	}
	body.Set("metadata["+payments.MetadataPayment+"]", p.ID.String())
	body.Set("metadata["+payments.MetadataTenant+"]", p.Tenant.String())
	if p.Description != nil && *p.Description != "" { // Stripe takes an empty value for an attempt to unset one, and refuses it on a create
		body.Set("description", *p.Description)
	}
	if p.ReceiptEmail != nil {
		body.Set("receipt_email", *p.ReceiptEmail)
	}
	return body
}

// applied applies what a command's call brought and tells the workflow where that leaves the payment. What does not fit the payment leaves the
// command's outcome unknown: a person decides. A surplus intent is none of that: the payment has its own. The commit begins the call that comes next,
// unless next is nil.
func (a *Activities) applied(
	ctx context.Context, s situation, c *command, call boundaries.Call, learnt Learnt, next *confirmAhead,
) (workflows.Step, error) {
	results, err := a.applyAhead(ctx, s.payment.ID, next, learnt)
	if err != nil {
		return workflows.Step{}, err
	}
	result := results[0]
	switch {
	case result.Verdict != VerdictQuarantined:
		return result.Step, nil
	case c.operation == payments.OperationCreate && result.Surplus:
		return result.Step, a.CancelSurplus(ctx, s.payment, learnt.Intent.ID)
	default:
		return a.unknown(ctx, s, c, call)
	}
}
