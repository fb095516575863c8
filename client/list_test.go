package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/payments"
)

type page struct {
	Object     string           `json:"object"`
	Data       []client.Payment `json:"data"`
	HasMore    bool             `json:"has_more"`
	NextCursor string           `json:"next_cursor,omitempty"`
}

func TestAPageIsReadWithItsFilter(t *testing.T) {
	t.Parallel()
	listed := []client.Payment{succeeded()}
	s := newServer(t, answers(200, nil, page{"list", listed, true, "c1"}), answers(200, nil, page{"list", nil, false, ""}))
	at := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.FixedZone("east", 7200))
	got, err := s.client.Payments(t.Context(), client.Filter{
		Reference: "order 1&2", Status: payments.StatusSucceeded, CreatedAfter: at, CreatedBefore: at.Add(time.Hour), Limit: 1, Cursor: "c0",
	})
	require.NoError(t, err)
	require.Equal(t, client.Page{Payments: listed, Next: "c1"}, got)
	got, err = s.client.Payments(t.Context(), client.Filter{})
	require.NoError(t, err)
	require.Equal(t, client.Page{}, got)
	requests := s.requests()
	require.Equal(t, "/v1/payments?created_after=2030-01-02T01%3A04%3A05.000006Z&created_before=2030-01-02T02%3A04%3A05.000006Z"+
		"&cursor=c0&limit=1&reference=order+1%262&status=succeeded", requests[0].path)
	require.Equal(t, "/v1/payments", requests[1].path)
}

func TestAllPagesAreGoneThrough(t *testing.T) {
	t.Parallel()
	two := []client.Payment{succeeded(), payment(payments.StatusFailed, payments.StageLedgerApplied)}
	s := newServer(t, answers(200, nil, page{"list", two, true, "c1"}), loses, answers(200, nil, page{"list", two[:1], false, ""}))
	var got []client.Payment
	for payment, err := range s.client.AllPayments(t.Context(), client.Filter{Limit: 2}) {
		require.NoError(t, err)
		got = append(got, payment)
	}
	require.Len(t, got, 3)
	requests := s.requests()
	require.Equal(t, "/v1/payments?limit=2", requests[0].path)
	require.Equal(t, "/v1/payments?cursor=c1&limit=2", requests[2].path)
}

func TestAListEndsWithItsErrorAndWhenItIsLeft(t *testing.T) {
	t.Parallel()
	s := newServer(t, answers(200, nil, page{"list", []client.Payment{succeeded()}, true, "c1"}), refuses(400, client.CodeParameterInvalid, nil))
	var failed error
	count := 0
	for _, err := range s.client.AllPayments(t.Context(), client.Filter{}) {
		count, failed = count+1, err
	}
	require.Equal(t, 2, count)
	require.Equal(t, client.CodeParameterInvalid, client.CodeOf(failed))

	s = newServer(t, answers(200, nil, page{"list", []client.Payment{succeeded()}, true, "c1"}))
	for _, err := range s.client.AllPayments(t.Context(), client.Filter{}) {
		require.NoError(t, err)
		break
	}
	require.Len(t, s.requests(), 1)
}

// Half of a list must not look like all of it.
func TestAListThatSaysHalfIsReadAgain(t *testing.T) {
	t.Parallel()
	whole := page{"list", []client.Payment{succeeded()}, false, ""}
	s := newServer(t, answers(200, nil, page{"list", nil, true, ""}), answers(200, nil, map[string]any{}), cuts(200, "application/json"),
		answers(http.StatusOK, nil, whole))
	got, err := s.client.Payments(t.Context(), client.Filter{})
	require.NoError(t, err)
	require.Equal(t, whole.Data, got.Payments)
}
