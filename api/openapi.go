package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"payonce/internal/tenants"
	"payonce/payments"
)

// operation is one route: what the document says of it, the scope that it takes and the function that answers it.
type operation struct {
	describe huma.Operation
	scope    tenants.Scope // empty: no API key is needed
	serve    serve
}

// serve answers a request of an authenticated caller, or returns why not. It must return before it writes, or not at all.
type serve func(w http.ResponseWriter, r *http.Request, from caller) error

// mount registers the operations. huma routes them and writes the OpenAPI document; it neither reads nor checks requests,
// since a command's bytes must have one reading (see internal/strictjson) and every refusal a stable code.
func (a *api) mount(mux *http.ServeMux) {
	router := humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "payonce", Version: "1",
				Description: "Each business intent takes effect once. Every POST carries an Idempotency-Key and may be repeated at any time; " +
					"a repeat is sent the stored answer, byte for byte.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"key": {Type: "http", Scheme: "bearer", Description: "An API key of a tenant, with the scopes payments:read or payments:write."},
				},
			},
		},
		OpenAPIPath: "/openapi",
	})
	allowed := map[string][]string{}
	for _, op := range a.operations(router.OpenAPI().Components.Schemas) {
		allowed[op.describe.Path] = append(allowed[op.describe.Path], op.describe.Method)
		if op.scope != "" {
			op.describe.Security = []map[string][]string{{"key": {}}}
		}
		router.OpenAPI().AddOperation(&op.describe)
		router.Adapter().Handle(&op.describe, func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			a.answer(w, r, op)
		})
	}
	letAnswersGrow(router.OpenAPI().Components.Schemas)
	for path, methods := range allowed {
		slices.Sort(methods)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			a.refuse(w, refusal{Code: codeMethodNotAllowed})
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { a.refuse(w, refusal{Code: codeRouteNotFound}) })
}

// letAnswersGrow takes back that objects have no further members, which holds for commands alone.
func letAnswersGrow(schemas huma.Registry) {
	commands := []reflect.Type{reflect.TypeFor[createBody](), reflect.TypeFor[destinationBody](), reflect.TypeFor[confirmBody](),
		reflect.TypeFor[cancelBody](), reflect.TypeFor[captureBody](),
		reflect.TypeFor[refundBody](), reflect.TypeFor[payoutBody](),
		reflect.TypeFor[customerBody](), reflect.TypeFor[connectedAccountBody](), reflect.TypeFor[walletBody]()}
	for name, schema := range schemas.Map() {
		if !slices.Contains(commands, schemas.TypeFromRef("#/components/schemas/"+name)) {
			schema.AdditionalProperties = nil
		}
	}
}

// operations lists every route.
func (a *api) operations(schemas huma.Registry) []operation {
	return []operation{
		{describeCreatePayment(schemas), tenants.ScopeWrite, a.createPayment},
		{describeConfirmPayment(schemas), tenants.ScopeWrite, a.confirmPayment},
		{describeCapturePayment(schemas), tenants.ScopeWrite, a.capturePayment},
		{describeCancelPayment(schemas), tenants.ScopeWrite, a.cancelPayment},
		{describeCreateRefund(schemas), tenants.ScopeWrite, a.createRefund},
		{describeCreatePayout(schemas), tenants.ScopeWrite, a.createPayout},
		{describeCreateProvision(schemas, payments.ProvisionCustomer), tenants.ScopeWrite, a.createProvision(payments.ProvisionCustomer, parseCustomer)},
		{
			describeCreateProvision(schemas, payments.ProvisionConnectedAccount), tenants.ScopeWrite,
			a.createProvision(payments.ProvisionConnectedAccount, parseConnectedAccount),
		},
		{describeCreateProvision(schemas, payments.ProvisionWallet), tenants.ScopeWrite, a.createProvision(payments.ProvisionWallet, parseWallet)},
		{describeListPayments(schemas), tenants.ScopeRead, a.listPayments},
		{describeGetPayment(schemas), tenants.ScopeRead, a.getPayment},
		{describeTimeline(schemas), tenants.ScopeRead, a.showTimeline},
		{describeListRefunds(schemas), tenants.ScopeRead, a.listRefunds},
		{describeGetRefund(schemas), tenants.ScopeRead, a.getRefund},
		{describeListDisputes(schemas), tenants.ScopeRead, a.listDisputes},
		{describeGetDispute(schemas), tenants.ScopeRead, a.getDispute},
		{describeListPayouts(schemas), tenants.ScopeRead, a.listPayouts},
		{describeGetPayout(schemas), tenants.ScopeRead, a.getPayout},
		{describeGetProvision(schemas, payments.ProvisionCustomer), tenants.ScopeRead, a.getProvision(payments.ProvisionCustomer)},
		{describeGetProvision(schemas, payments.ProvisionConnectedAccount), tenants.ScopeRead, a.getProvision(payments.ProvisionConnectedAccount)},
		{describeGetProvision(schemas, payments.ProvisionWallet), tenants.ScopeRead, a.getProvision(payments.ProvisionWallet)},
		{describeHealth(), "", a.health},
		{describeReady(schemas), "", a.ready},
	}
}

// takesNoParameters tells whether the operation reads, and what it reads is named by its path alone. A command refuses a query by itself.
func (o operation) takesNoParameters() bool {
	return o.scope == tenants.ScopeRead && !slices.ContainsFunc(o.describe.Parameters, func(p *huma.Param) bool { return p.In == "query" })
}

// answer serves an operation and turns an error into a problem.
func (a *api) answer(w http.ResponseWriter, r *http.Request, op operation) {
	var from caller
	if op.scope != "" {
		var err error
		if from, err = a.authenticate(r, op); err != nil {
			a.fail(w, r, err)
			return
		}
	}
	if op.takesNoParameters() {
		if _, err := parameters(r); err != nil {
			a.fail(w, r, err)
			return
		}
	}
	if err := op.serve(w, r, from); err != nil {
		a.fail(w, r, err)
	}
}

// headers of answers, as the document describes them.
func textHeader(description string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{Type: huma.TypeString}}
}

func paymentAnswer(schemas huma.Registry, description string, headers map[string]*huma.Param) *huma.Response {
	return &huma.Response{
		Description: description, Headers: headers,
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payments.View](), true, "Payment")}},
	}
}

// problemAnswers adds an answer for each status of the codes, and of a fault of ours.
func problemAnswers(schemas huma.Registry, answers map[string]*huma.Response, codes ...code) map[string]*huma.Response {
	named := map[string][]string{}
	for _, c := range append(codes, codeInternal) {
		status := strconv.Itoa(c.status())
		named[status] = append(named[status], "`"+string(c)+"`")
	}
	for status, names := range named {
		answers[status] = &huma.Response{
			Description: strings.Join(names, ", "),
			Content:     map[string]*huma.MediaType{problemType: {Schema: schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")}},
		}
	}
	return answers
}
