package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"payonce/internal/paymentstore"
	"payonce/payments"
)

// paymentList is a page of payments.
type paymentList struct {
	Object     string          `json:"object" doc:"Always list"`
	Data       []payments.View `json:"data" doc:"The newest first, each without client_secret"`
	HasMore    bool            `json:"has_more"`
	NextCursor string          `json:"next_cursor,omitempty" doc:"The cursor of the next page, when there is one"`
}

// listParameters are the parameters that a list takes.
func listParameters() []string {
	return []string{"reference", "status", "created_after", "created_before", "limit", "cursor"}
}

func describeListPayments(schemas huma.Registry) huma.Operation {
	statuses := make([]any, 0, len(payments.Statuses()))
	for _, status := range payments.Statuses() {
		statuses = append(statuses, string(status))
	}
	instant := &huma.Schema{Type: huma.TypeString, Format: "date-time"}
	return huma.Operation{
		OperationID: "list_payments", Method: http.MethodGet, Path: pathPayments, Summary: "List payments, the newest first",
		Description: "Pages are stable: a payment that is created meanwhile moves none of those already there. Any other parameter is refused.",
		Parameters: []*huma.Param{
			queryParameter("reference", "The attempts of this order", &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxReference)}),
			queryParameter("status", "Those that have it now", &huma.Schema{Type: huma.TypeString, Enum: statuses}),
			queryParameter("created_after", "Created then or later; what is finer than a microsecond is cut off", instant),
			queryParameter("created_before", "Created earlier; what is finer than a microsecond is cut off", instant),
			queryParameter("limit", "At most so many; 20 when absent", &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Maximum: new(float64(maxPage))}),
			queryParameter("cursor", "The next_cursor of the page before, with the same filters", &huma.Schema{Type: huma.TypeString}),
		},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "A page",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[paymentList](), true, "PaymentList")}},
			},
		}, codeParameterInvalid, codeCardDataRefused, codeUnauthorized, codeForbiddenScope, codeUnavailable),
	}
}

// listPayments shows a page of the tenant's payments.
func (a *api) listPayments(w http.ResponseWriter, r *http.Request, from caller) error {
	filter, limit, err := readList(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	found, err := paymentstore.List(ctx, a.Pool, from.tenant, filter, limit+1) // one more tells whether there are more
	if err != nil {
		return err
	}
	list := paymentList{Object: "list", Data: make([]payments.View, 0, len(found)), HasMore: len(found) > limit}
	if list.HasMore {
		found = found[:limit]
		list.NextCursor = paymentCursor(found[limit-1])
	}
	for _, payment := range found {
		list.Data = append(list.Data, payment.View())
	}
	return show(w, list)
}

// show writes the present state of something, which no cache may keep.
func show(w http.ResponseWriter, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, http.StatusOK, "application/json", body)
	return nil
}

// readList reads the parameters of a list.
func readList(r *http.Request) (filter paymentstore.Filter, limit int, err error) {
	given, err := parameters(r, listParameters()...)
	if err != nil {
		return filter, 0, err
	}
	for _, step := range []func() error{
		func() (err error) { limit, err = pageLimit(given["limit"], defaultPage); return err },
		func() (err error) { filter.Reference, err = referenceOf(given["reference"]); return err },
		func() (err error) { filter.Status, err = statusOf(given["status"]); return err },
		func() (err error) { filter.CreatedAfter, err = instantOf("created_after", given); return err },
		func() (err error) { filter.CreatedBefore, err = instantOf("created_before", given); return err },
		func() (err error) {
			if text, paged := given["cursor"]; paged {
				filter.After, err = readPaymentCursor(text)
			}
			return err
		},
	} {
		if err := step(); err != nil {
			return filter, 0, err
		}
	}
	if filter.CreatedAfter != nil && filter.CreatedBefore != nil && filter.CreatedBefore.Before(*filter.CreatedAfter) {
		return filter, 0, parameterInvalid("created_before", "must not be before created_after")
	}
	return filter, limit, nil
}

// referenceOf refuses what no payment can have, so that a mistake is not taken for an order without payments.
func referenceOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if holdsCardNumber(text) {
		return "", refusal{Code: codeCardDataRefused, Field: "reference"}
	}
	if !utf8.ValidString(text) {
		return "", parameterInvalid("reference", "must be UTF-8")
	}
	if reason := refuseReference(text); reason != "" {
		return "", parameterInvalid("reference", reason)
	}
	return text, nil
}

func statusOf(text string) (payments.Status, error) {
	if text != "" && !slices.Contains(payments.Statuses(), payments.Status(text)) {
		return "", parameterInvalid("status", "is not a status")
	}
	return payments.Status(text), nil
}

// instantOf reads a time to the microsecond, as payments keep theirs; so of two windows that meet, each payment is in one.
func instantOf(name string, given map[string]string) (*time.Time, error) {
	text, asked := given[name]
	if !asked {
		return nil, nil
	}
	var instant time.Time
	if err := instant.UnmarshalText([]byte(text)); err != nil {
		reason := "must be a time as in RFC 3339, for example 2026-01-31T12:00:00Z"
		if strings.Contains(text, " ") {
			reason += "; the + of an offset is written %2B"
		}
		return nil, parameterInvalid(name, reason)
	}
	instant = instant.Truncate(time.Microsecond)
	return &instant, nil
}
