package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

func TestATimelineIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	step := func(kind string, detail any) map[string]any {
		return map[string]any{"at": at, "kind": kind, kind: detail}
	}
	s := newServer(t,
		answers(200, nil, map[string]any{
			"object": "timeline", "data": []any{step("stage", map[string]string{"stage": "submitted"})}, "has_more": true, "next_cursor": "c 1",
		}),
		loses,
		answers(200, nil, map[string]any{"object": "timeline", "data": []any{map[string]any{"at": at}}}),
		answers(200, nil, map[string]any{
			"object": "timeline", "suppressed": client.Suppressed{Commands: 2, Deliveries: 1}, "data": []any{step("later kind", 7)}, "has_more": false,
		}))
	got, err := s.client.Timeline(t.Context(), paymentID())
	require.NoError(t, err)
	require.Equal(t, client.Timeline{
		Suppressed: client.Suppressed{Commands: 2, Deliveries: 1},
		Steps: []client.Step{
			{At: at, Kind: "stage", Detail: []byte(`{"stage":"submitted"}`)}, {At: at, Kind: "later kind", Detail: []byte(`7`)},
		},
	}, got)
	require.Equal(t, "/v1/payments/"+paymentID().String()+"/timeline?cursor=c+1", s.requests()[1].path)
}

func TestATimelineEndsWithARefusal(t *testing.T) {
	t.Parallel()
	s := newServer(t, refuses(404, client.CodePaymentNotFound, nil))
	_, err := s.client.Timeline(t.Context(), paymentID())
	require.Equal(t, client.CodePaymentNotFound, client.CodeOf(err))
}
