-- +goose Up
-- What callers read: lists of payments and the steps of one.
SET LOCAL ROLE payonce_owner;

-- A list by time, newest first; the id breaks ties. A list by reference uses payments_reference_attempt.
CREATE INDEX payments_list ON payonce.payments (tenant, created_at, id);
-- By status. Of the successes payments_list finds a page soon, since they are most; without them this index stays small.
CREATE INDEX payments_list_status ON payonce.payments (tenant, status, created_at, id) WHERE status <> 'succeeded';

-- The messages of a payment; it also serves the dispatcher's look for an earlier one.
CREATE INDEX notifications_payment ON payonce.notifications (payment, endpoint, sequence);
DROP INDEX payonce.notifications_open;

-- Everything of an event but its body.
GRANT SELECT (id, account, livemode, event_id, type, api_version, object_kind, object_id, intent_id, created, source, status, reason, tenant,
    payment, deliveries, tries, next_try_at, received_at, settled_at) ON payonce.provider_events TO payonce_tenant;

RESET ROLE;
