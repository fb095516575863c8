package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/paymentstore"
	"payonce/internal/tenants"
	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// steps is a page of a timeline as a caller reads it.
type steps struct {
	Object     string                  `json:"object"`
	Payment    payments.PaymentID      `json:"payment"`
	Suppressed paymentstore.Suppressed `json:"suppressed"`
	Data       []paymentstore.Step     `json:"data"`
	HasMore    bool                    `json:"has_more"`
	NextCursor string                  `json:"next_cursor"`
}

func readSteps(t *testing.T, status int, body []byte) steps {
	t.Helper()
	require.Equal(t, http.StatusOK, status, "%s", body)
	var read steps
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&read), "%s", body)
	return read
}

func (s steps) kinds(kind string) []paymentstore.Step {
	return slices.DeleteFunc(slices.Clone(s.Data), func(step paymentstore.Step) bool { return step.Kind != kind })
}

// A decline, a second method, repeats and doubled deliveries: the timeline tells each step once, in order, with what was suppressed.
func TestTheTimelineTellsEveryStepOfTheFourBoundaries(t *testing.T) {
	t.Parallel()
	s := system.Start(t, system.Unhurried)
	body := system.With(system.Order("order-1", 1000), "receipt_email", "payer@example.com")
	first := s.Create("K1", body)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	id := first.Payment(t).ID
	require.True(t, s.Create("K1", body).Replayed())
	require.True(t, s.Create("K2", body).Replayed())
	s.Settle()
	events, err := s.Twin.AllEvents(t.Context())
	require.NoError(t, err)
	_, err = s.Twin.Deliver(t.Context(), events[0].ID, control.Deliver{})
	require.NoError(t, err)
	s.Settle()

	answer := s.Get("/v1/payments/" + id.String() + "/timeline")
	read := readSteps(t, answer.Status, answer.Body)
	require.Equal(t, "timeline", read.Object)
	require.Equal(t, id, read.Payment)
	require.False(t, read.HasMore)
	require.True(t, slices.IsSortedFunc(read.Data, func(a, b paymentstore.Step) int { return a.At.Compare(b.At) }))
	for _, secret := range []string{"payer@example.com", "pm_card_visa", "client_secret", "_secret_"} {
		require.NotContains(t, string(answer.Body), secret)
	}

	create := read.Data[0].Command
	require.NotNil(t, create, "first of all somebody asked")
	require.Equal(t, []any{"create_payment", "order-1#1", "caller", "K1", "completed", 1, 201},
		[]any{create.Operation, create.OwnerKey, create.AskedBy, create.CallerKey, create.Status, create.Number, create.ResponseCode})
	require.Equal(t, "succeeded", create.Outcome.Status)
	s.Eventually("the repeats are counted", func() bool {
		answer := s.Get("/v1/payments/" + id.String() + "/timeline")
		read = readSteps(t, answer.Status, answer.Body)
		return read.Suppressed.Commands == 2
	})
	require.Equal(t, 2, read.Data[0].Command.Suppressed)
	require.Equal(t, 1, read.Suppressed.Deliveries)
	require.Equal(t, s.Count(`SELECT suppressed_postings FROM payonce.payments`), read.Suppressed.Postings)

	calls := read.kinds("call")
	require.Len(t, calls, 2)
	require.Equal(t, "/v1/payment_intents", calls[0].Call.Path)
	require.Equal(t, create.ID, calls[0].Call.Command)
	for _, call := range calls {
		require.Equal(t, []any{"answered", 1, 200}, []any{call.Call.Status, call.Call.Sends, call.Call.HTTPStatus})
		require.Len(t, call.Call.RequestIDs, 1)
	}
	told := map[string]int{}
	for _, event := range read.kinds("event") {
		told[event.Event.ID] = event.Event.Deliveries
		require.Equal(t, event.Event.Deliveries-1, event.Event.Suppressed)
		require.NotNil(t, event.Event.SettledAt)
	}
	require.Len(t, told, len(events))
	require.Equal(t, 2, told[events[0].ID])
	journals := read.kinds("journal")
	require.Len(t, journals, 1)
	require.Equal(t, []paymentstore.EntryStep{
		{Account: "stripe:receivable", Amount: 1000, Currency: "usd"}, {Account: "merchant:balance", Amount: -1000, Currency: "usd"},
	}, journals[0].Journal.Entries)
	messages := read.kinds("message")
	require.Len(t, messages, 1)
	require.Equal(t, []any{"payment.succeeded", "delivered", 1}, []any{messages[0].Message.Kind, messages[0].Message.Status, messages[0].Message.Tries})
	require.NotNil(t, messages[0].Message.DeliveredAt)
	require.Nil(t, messages[0].Message.ParkedAt)
	var reached []string
	for _, stage := range read.kinds("stage") {
		reached = append(reached, stage.Stage.Stage)
	}
	require.Equal(t, []string{"submitted", "external_resource_created", "processing", "terminal", "ledger_applied"}, reached)
	require.Len(t, read.kinds("fact"), s.Count(`SELECT count(*) FROM payonce.payment_facts`))

	requireSamePaged(t, s, id, read)
}

// requireSamePaged reads the timeline step by step.
func requireSamePaged(t *testing.T, s *system.System, id payments.PaymentID, whole steps) {
	t.Helper()
	var paged []paymentstore.Step
	path := "/v1/payments/" + id.String() + "/timeline?limit=1"
	for cursor := ""; ; {
		answer := s.Get(path + cursor)
		page := readSteps(t, answer.Status, answer.Body)
		require.Len(t, page.Data, 1)
		require.Equal(t, whole.Suppressed, page.Suppressed)
		paged = append(paged, page.Data...)
		if !page.HasMore {
			break
		}
		cursor = "&cursor=" + page.NextCursor
	}
	require.Equal(t, whole.Data, paged)
}

// A decline is told with its codes, the call that brought it and the message that it caused.
func TestTheTimelineTellsADecline(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	answer := s.Create("K1", system.With(system.Order("order-1", 1000), "payment_method", "pm_card_chargeDeclinedInsufficientFunds"))
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	s.Settle()

	timeline := s.Get("/v1/payments/" + answer.Payment(t).ID.String() + "/timeline")
	read := readSteps(t, timeline.Status, timeline.Body)
	confirm := read.kinds("call")[1].Call
	require.Equal(t, []any{402, "card_declined", "insufficient_funds"}, []any{confirm.HTTPStatus, confirm.Code, confirm.DeclineCode})
	require.Equal(t, "insufficient_funds", read.kinds("command")[1].Command.Outcome.DeclineCode)
	require.Equal(t, "payment.declined", read.kinds("message")[0].Message.Kind)
	require.Empty(t, read.kinds("journal"))
	require.Equal(t, "external_resource_created", read.kinds("stage")[1].Stage.Stage)
}

// Steps of one microsecond have one order, and a stage stands behind the one before it whatever Stripe's times say.
func TestStepsOfOneMomentHaveOneOrder(t *testing.T) {
	d := newDoor(t)
	id := d.newPayment(d.tenant)
	_, err := d.system.Exec(t.Context(), `
		UPDATE payonce.payments SET external_resource_created_at = submitted_at, processing_at = submitted_at, stage = 'ledger_applied', status = 'succeeded',
			terminal_at = submitted_at - interval '3 seconds', ledger_applied_at = submitted_at WHERE id = $1`, id.UUID)
	require.NoError(t, err)
	for fact := range 40 {
		_, err := d.system.Exec(t.Context(), `INSERT INTO payonce.payment_facts (payment, fact, source, effective_at, applied_at)
			SELECT $1, $2, 'read', submitted_at, submitted_at FROM payonce.payments WHERE id = $1`, id.UUID, fmt.Sprintf("fact/%02d", fact))
		require.NoError(t, err)
	}

	var told []string
	cursor := ""
	for {
		got := d.send(http.MethodGet, "/v1/payments/"+id.String()+"/timeline?limit=3"+cursor, "")
		page := readSteps(t, got.status, []byte(got.body))
		for _, step := range page.Data {
			if step.Fact != nil {
				told = append(told, step.Fact.Fact)
			} else {
				told = append(told, step.Stage.Stage)
			}
		}
		if !page.HasMore {
			break
		}
		cursor = "&cursor=" + page.NextCursor
	}
	require.Len(t, told, 45)
	require.True(t, slices.IsSorted(told[:40]))
	require.Equal(t, []string{"submitted", "external_resource_created", "processing", "terminal", "ledger_applied"}, told[40:])
}

func TestATimelineIsItsTenantsAlone(t *testing.T) {
	d := newDoor(t)
	other, err := tenants.CreateTenant(t.Context(), d.system, "other", payments.Account{ID: "acct_shop"})
	require.NoError(t, err)
	path := "/v1/payments/" + d.newPayment(d.tenant).String() + "/timeline"

	got := d.send(http.MethodGet, path, "")
	require.Len(t, readSteps(t, got.status, []byte(got.body)).Data, 1)
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	for name, absent := range map[string]answer{
		"of another tenant": d.send(http.MethodGet, path, "", with("Authorization", "Bearer "+d.newKey(other, tenants.ScopeRead))),
		"not there":         d.send(http.MethodGet, "/v1/payments/"+uuid.NewString()+"/timeline", ""),
		"no id":             d.send(http.MethodGet, "/v1/payments/order-1/timeline", ""),
	} {
		require.Equal(t, http.StatusNotFound, absent.status, name)
		require.Equal(t, "payment_not_found", absent.problem(t).Code, name)
	}
	got = d.send(http.MethodGet, path, "", with("Authorization", "Bearer "+d.newKey(d.tenant, tenants.ScopeWrite)))
	require.Equal(t, http.StatusForbidden, got.status)
}

func TestATimelineNamesTheParameterThatItRefuses(t *testing.T) {
	d := newDoor(t)
	d.listed(d.tenant, "a", 1, payments.StatusFailed, time.UnixMicro(0).Format(time.RFC3339))
	d.listed(d.tenant, "b", 1, payments.StatusFailed, time.UnixMicro(0).Format(time.RFC3339))
	ofAList := d.list("limit=1").NextCursor
	path := "/v1/payments/" + d.newPayment(d.tenant).String() + "/timeline?"
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "cursor=x": "cursor", "cursor=" + ofAList: "cursor", "cursor=AgAAAAAAAAAA": "cursor",
		"cursor=AgAAAAAAAAAABQA": "cursor", "cursor=AgAAAAAAAAAABf8": "cursor", "cursor=An______________BWE": "cursor", "kind=call": "kind",
	} {
		got := d.send(http.MethodGet, path+query, "")
		require.Equal(t, http.StatusBadRequest, got.status, "%s %s", query, got.body)
		require.Equal(t, "parameter_invalid", got.problem(t).Code)
		require.Equal(t, field, got.problem(t).Field)
	}
	require.Equal(t, http.StatusOK, d.send(http.MethodGet, path+"cursor=AgAAAAAAAAAABWE", "").status)
}
