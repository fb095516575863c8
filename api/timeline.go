package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"payonce/internal/paymentstore"
	"payonce/payments"
)

// timeline is a page of what became of a payment.
type timeline struct {
	Object     string                  `json:"object" doc:"Always timeline"`
	Payment    payments.PaymentID      `json:"payment"`
	Suppressed paymentstore.Suppressed `json:"suppressed" doc:"Repeats that did nothing, over the whole payment"`
	Data       []paymentstore.Step     `json:"data" doc:"The oldest first"`
	HasMore    bool                    `json:"has_more"`
	NextCursor string                  `json:"next_cursor,omitempty" doc:"The cursor of the next page, when there is one"`
}

func describeTimeline(schemas huma.Registry) huma.Operation {
	return huma.Operation{
		OperationID: "payment_timeline", Method: http.MethodGet, Path: "/v1/payments/{id}/timeline", Summary: "Read what became of a payment, step by step",
		Description: "Every step at the four boundaries (commands and the calls to Stripe that they made; Stripe's events and what they made known; " +
			"journals; messages) and the stages reached, with tries and suppressed repeats. Ids, codes, times and amounts alone. " +
			"A step's place never changes; its tries and its end do.",
		Parameters: []*huma.Param{
			idParameter(),
			queryParameter("limit", "At most so many; 100 when absent", &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Maximum: new(float64(maxPage))}),
			queryParameter("cursor", "The next_cursor of the page before", &huma.Schema{Type: huma.TypeString}),
		},
		Responses: problemAnswers(schemas, map[string]*huma.Response{
			"200": {
				Description: "A page",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[timeline](), true, "Timeline")}},
			},
		}, codeParameterInvalid, codeUnauthorized, codeForbiddenScope, codePaymentNotFound, codeUnavailable),
	}
}

// showTimeline shows a page of the timeline of the tenant's payment.
func (a *api) showTimeline(w http.ResponseWriter, r *http.Request, from caller) error {
	id, err := pathPayment(r)
	if err != nil {
		return err
	}
	given, err := parameters(r, "limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := pageLimit(given["limit"], maxPage)
	if err != nil {
		return err
	}
	var after *paymentstore.StepPosition
	if text, paged := given["cursor"]; paged {
		if after, err = readStepCursor(text); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.Timing.Statement)
	defer cancel()
	found, err := paymentstore.ReadTimeline(ctx, a.Pool, from.tenant, id, after, limit+1) // one more tells whether there are more
	if err != nil {
		return err
	}
	page := timeline{Object: "timeline", Payment: id, Suppressed: found.Suppressed, Data: found.Steps, HasMore: len(found.Steps) > limit}
	if page.HasMore {
		page.Data = found.Steps[:limit]
		page.NextCursor = stepCursor(page.Data[limit-1].Position)
	}
	return show(w, page)
}
