package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"payonce/internal/paymentstore"
	"payonce/payments"
)

func describeGetPayout(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "get_payout", Method: http.MethodGet, Path: pathPayouts + "/{id}", Summary: "Read a payout as it is now",
		Parameters: []*huma.Param{idParameter()},
		Responses: problemAnswers(schemas, map[string]*huma.Response{"200": payoutAnswer(schemas, "The payout", nil)},
			codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codePayoutNotFound, codeUnavailable),
	}
}

// getPayout shows a payout of the tenant; another tenant's is as absent as one that never was.
func (a *api) getPayout(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil || len(r.PathValue("id")) != len(uuid.Nil.String()) {
		return refusal{Code: codePayoutNotFound}
	}
	payout, err := a.readPayout(r.Context(), from.tenant, `WHERE p.id = $1`, id)
	if err != nil {
		return err
	}
	return a.showPayout(w, payout, http.StatusOK)
}

// payoutList is a page of payouts.
type payoutList struct {
	Object     string                `json:"object" doc:"Always list"`
	Data       []payments.PayoutView `json:"data" doc:"The newest first; those made elsewhere too"`
	HasMore    bool                  `json:"has_more"`
	NextCursor string                `json:"next_cursor,omitempty" doc:"The cursor of the next page, when there is one"`
}

func describeListPayouts(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "list_payouts", Method: http.MethodGet, Path: pathPayouts, Summary: "List payouts, the newest first",
		Description: "Pages are stable: a payout that is made meanwhile moves none of those already there. Any other parameter is refused.",
		Parameters: []*huma.Param{
			queryParameter("limit", "At most so many; 20 when absent", &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Maximum: new(float64(maxPage))}),
			queryParameter("cursor", "The next_cursor of the page before", &huma.Schema{Type: huma.TypeString}),
		},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "A page",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[payoutList](), true, "PayoutList")}},
			},
		}, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codeUnavailable),
	}
}

// listPayouts shows a page of the tenant's payouts.
func (a *api) listPayouts(w http.ResponseWriter, r *http.Request, from caller) error {
	given, err := parameters(r, "limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := pageLimit(given["limit"], defaultPage)
	if err != nil {
		return err
	}
	var after *paymentstore.PayoutPosition
	if text, paged := given["cursor"]; paged {
		if after, err = readPayoutCursor(text); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	found, err := paymentstore.ListPayouts(ctx, a.Pool, from.tenant, after, limit+1) // one more tells whether there are more
	if err != nil {
		return err
	}
	list := payoutList{Object: "list", Data: make([]payments.PayoutView, 0, len(found)), HasMore: len(found) > limit}
	if list.HasMore {
		found = found[:limit]
		list.NextCursor = payoutCursor(found[limit-1])
	}
	for _, payout := range found {
		list.Data = append(list.Data, payout.View())
	}
	return show(w, list)
}
