-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Stored events may be applied again by hand. When that was last asked for is kept: how long an event waits counts from there.
ALTER TABLE payonce.provider_events ADD COLUMN replayed_at timestamptz;

-- Those of a time are found by it: rows lie in the order in which they came, so a summary of each range of pages is enough.
CREATE INDEX provider_events_received ON payonce.provider_events USING brin (received_at);

-- What waits for a person.
CREATE INDEX provider_events_quarantined ON payonce.provider_events (received_at) WHERE status = 'quarantined';

RESET ROLE;
