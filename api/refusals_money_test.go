package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
)

// further posts the body of a command on a payment.
func (d *door) further(suffix, body string) answer {
	d.t.Helper()
	return d.send(http.MethodPost, "/v1/payments/"+uuid.Max.String()+suffix, body, with("Idempotency-Key", "k1"))
}

// tags is a refund with n metadata names.
func tags(n int) string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`"n%d":"v"`, i))
	}
	return `{"metadata":{` + strings.Join(pairs, ",") + `}}`
}

func TestCapturesAndRefundsThatAreRefusedBurnNoKey(t *testing.T) {
	d := newDoor(t)
	type refused struct{ body, code, field string }
	both := map[string]refused{
		"no JSON":                {`amount=300`, "body_invalid", ""},
		"trailing data":          {`{}{}`, "body_invalid", ""},
		"unknown member":         {`{"amout":300}`, "field_invalid", "amout"},
		"duplicate member":       {`{"amount":300,"amount":300}`, "field_invalid", "amount"},
		"case variant":           {`{"Amount":300}`, "field_invalid", "Amount"},
		"fraction":               {`{"amount":300.0}`, "field_invalid", "amount"},
		"amount as text":         {`{"amount":"300"}`, "field_invalid", "amount"},
		"amount is 0":            {`{"amount":0}`, "field_invalid", "amount"},
		"amount is negative":     {`{"amount":-300}`, "field_invalid", "amount"},
		"amount has no float":    {`{"amount":9007199254740993}`, "field_invalid", "amount"},
		"reference is empty":     {`{"reference":""}`, "field_invalid", "reference"},
		"reference with blank":   {`{"reference":" item-1"}`, "field_invalid", "reference"},
		"reference too long":     {`{"reference":"` + strings.Repeat("é", 256) + `"}`, "field_invalid", "reference"},
		"card as reference":      {`{"reference":"4242424242424242"}`, "card_data_refused", "reference"},
		"currency is not theirs": {`{"amount":300,"currency":"usd"}`, "field_invalid", "currency"},
	}
	ofOne := map[string]map[string]refused{
		"/capture": {
			"final as text": {`{"final":"false"}`, "field_invalid", "final"},
			"reason":        {`{"reason":"duplicate"}`, "field_invalid", "reason"},
			"metadata":      {tags(1), "field_invalid", "metadata"},
		},
		"/refunds": {
			"final":             {`{"final":true}`, "field_invalid", "final"},
			"reason":            {`{"reason":"expired_uncaptured_charge"}`, "field_invalid", "reason"},
			"card as reason":    {`{"reason":"4242424242424242"}`, "card_data_refused", "reason"},
			"48 names":          {tags(48), "field_invalid", "metadata"},
			"reserved name":     {`{"metadata":{"payonce_refund":"v"}}`, "field_invalid", "metadata.payonce_refund"},
			"value is a number": {`{"metadata":{"n":1}}`, "field_invalid", "metadata.n"},
			"card in metadata":  {`{"metadata":{"n":"378282246310005"}}`, "card_data_refused", "metadata.n"},
		},
	}
	for suffix, own := range ofOne {
		for _, bodies := range []map[string]refused{both, own} {
			for name, c := range bodies {
				got := d.further(suffix, c.body)
				require.Equal(t, http.StatusBadRequest, got.status, "%s of %s: %s", name, suffix, got.body)
				problem := got.problem(t)
				require.Equal(t, c.code, problem.Code, "%s of %s", name, suffix)
				require.Equal(t, c.field, problem.Field, "%s of %s", name, suffix)
			}
		}
	}
	require.Zero(t, d.commands.count(), "no claim")
}

// Bodies at their bounds are taken. No body and null members are as good as an empty object; what is said is another command than what is not.
func TestCapturesAndRefundsAreReadAsTheyWereMeant(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	asked := func(suffix, body string) claimed {
		got := d.further(suffix, body)
		require.Equal(t, "key_reused", got.problem(t).Code, "%s: %s", body, got.body)
		return d.commands.claims[d.commands.count()-1]
	}
	for suffix, none := range map[string]any{
		"/capture": payments.CaptureCommand{Payment: payments.PaymentID{UUID: uuid.Max}},
		"/refunds": payments.RefundCommand{Payment: payments.PaymentID{UUID: uuid.Max}},
	} {
		empty := asked(suffix, `{}`)
		require.Equal(t, none, empty.command)
		for _, same := range []string{``, ` { } `, `{"amount":null,"reference":null}`} {
			require.Equal(t, empty.normalised.Hash, asked(suffix, same).normalised.Hash, "%s %q", suffix, same)
		}
		hashes := map[boundaries.RequestHash]bool{empty.normalised.Hash: true}
		for _, other := range []string{`{"amount":300}`, `{"amount":301}`, `{"reference":"1"}`, `{"amount":300,"reference":"1"}`} {
			hashes[asked(suffix, other).normalised.Hash] = true
		}
		require.Len(t, hashes, 5, suffix)
	}
	final, part := false, int64(1)
	require.Equal(t, payments.CaptureCommand{Payment: payments.PaymentID{UUID: uuid.Max}, Amount: &part, Final: &final},
		asked("/capture", `{"amount":1,"final":false}`).command)
	for _, reason := range []string{"duplicate", "fraudulent", "requested_by_customer"} {
		require.Equal(t, reason, *asked("/refunds", `{"reason":"`+reason+`"}`).command.(payments.RefundCommand).Reason)
	}
	require.Len(t, asked("/refunds", tags(47)).command.(payments.RefundCommand).Metadata, 47)
}

func TestARefundIsShownToItsTenantAlone(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	at := &scene{t: t, system: s}
	refund := at.refund()
	one, list := "/v1/refunds/"+refund.ID.String(), "/v1/payments/"+refund.Payment.String()+"/refunds"
	for _, path := range []string{one, list} {
		got := s.Get(path)
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Contains(t, string(got.Body), refund.Refund)
	}
	_, stranger := s.NewTenant("other")
	writer, err := tenants.CreateAPIKey(t.Context(), s.App.System, s.Tenant, tenants.ScopeWrite)
	require.NoError(t, err)
	for path, code := range map[string]string{one: "refund_not_found", list: "payment_not_found"} {
		at := &scene{t: t, system: s, method: http.MethodGet, path: path, headers: map[string]string{"Authorization": "Bearer " + stranger}}
		absent := at.ask()
		require.Equal(t, http.StatusNotFound, absent.status, path)
		require.Equal(t, code, absent.problem(t).Code)
		at.headers["Authorization"] = "Bearer " + writer
		require.Equal(t, "forbidden_scope", at.ask().problem(t).Code)
	}
	for _, id := range []string{uuid.NewString(), "item-1", "urn:uuid:" + refund.ID.String()} {
		require.Equal(t, http.StatusNotFound, s.Get("/v1/refunds/"+id).Status, id)
	}
}

// A payment without refunds has an empty list, not none.
func TestAListOfNoRefundsIsAList(t *testing.T) {
	d := newDoor(t)
	got := d.send(http.MethodGet, "/v1/payments/"+d.newPayment(d.tenant).String()+"/refunds", "")
	require.JSONEq(t, `{"object":"list","data":[]}`, got.body)
}
