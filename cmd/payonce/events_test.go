package main

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// What is not settled or was quarantined is listed, and can be asked for again; what is settled is not in the list.
func TestWaitingEventsAreListedAndReplayed(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	superuser, err := pgx.Connect(t.Context(), o.db.SuperuserURL)
	require.NoError(t, err)
	defer superuser.Close(context.WithoutCancel(t.Context()))
	for event, status := range map[string]string{"evt_1": "quarantined", "evt_2": "ignored", "evt_3": "parked"} {
		_, err := superuser.Exec(t.Context(), `
			INSERT INTO payonce.provider_events (id, account, livemode, event_id, type, created, body, source, status, reason, received_at, settled_at, next_try_at)
			VALUES ($1, $2, false, $3, 'payment_intent.succeeded', now(), '\x00', 'webhook', $4, 'why it waits',
				now() - CASE WHEN $4 = 'parked' THEN interval '1 hour' ELSE interval '0' END,
				CASE WHEN $4 <> 'parked' THEN now() END, CASE WHEN $4 = 'parked' THEN now() END)`, uuid.New(), shop.ID, event, status)
		require.NoError(t, err)
	}
	var listed []waitingEvent
	o.read(&listed, "events", "waiting")
	require.Len(t, listed, 2)
	require.Equal(t, "evt_3", listed[0].Event, "the oldest first")
	require.Equal(t, "quarantined", listed[1].Status)
	require.Equal(t, "why it waits", *listed[1].Reason)
	require.Contains(t, o.run("events", "waiting"), "evt_1")

	require.Contains(t, o.run("events", "replay", "--event", "evt_1", "--event", "evt_2"), "2 events")
	o.read(&listed, "events", "waiting")
	require.Len(t, listed, 3)
	require.Contains(t, o.run("events", "replay", "--event", "evt_unheard_of"), "no stored event")
	require.ErrorContains(t, o.refused("events", "replay"), "by their ids")
}
