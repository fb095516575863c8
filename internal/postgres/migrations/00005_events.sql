-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The event boundary: one row a provider fact. The first body is kept; a redelivery only counts. A row has no tenant until
-- it is matched to a payment.
CREATE TABLE payonce.provider_events (
    id          uuid PRIMARY KEY,                    -- UUIDv7
    provider    text NOT NULL DEFAULT 'stripe',
    account     text NOT NULL,                       -- the account whose endpoint secret verified it, or the connected account it names
    livemode    boolean NOT NULL,
    event_id    text NOT NULL CHECK (length(event_id) BETWEEN 1 AND 255),
    type        text NOT NULL CHECK (length(type) BETWEEN 1 AND 255),
    api_version text,
    object_kind text,                                -- data.object.object
    object_id   text,                                -- data.object.id
    intent_id   text,                                -- the PaymentIntent that the object is or names
    created     timestamptz NOT NULL,
    body        bytea NOT NULL,                      -- sealed: the raw bytes
    source      text NOT NULL CHECK (source IN ('webhook', 'backfill')),
    status      text NOT NULL CHECK (status IN ('stored', 'parked', 'applied', 'stale', 'ignored', 'foreign', 'quarantined')),
    reason      text,
    tenant      uuid,
    payment     uuid REFERENCES payonce.payments,
    deliveries  integer NOT NULL DEFAULT 1,
    tries       integer NOT NULL DEFAULT 0,
    next_try_at timestamptz,                         -- null once settled
    received_at timestamptz NOT NULL,
    settled_at  timestamptz,
    CONSTRAINT provider_events_identity UNIQUE (provider, account, livemode, event_id, type),
    CHECK ((status IN ('stored', 'parked')) = (next_try_at IS NOT NULL)),
    CHECK ((status IN ('stored', 'parked')) = (settled_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX provider_events_due ON payonce.provider_events (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX provider_events_payment ON payonce.provider_events (payment) WHERE payment IS NOT NULL;
CREATE INDEX provider_events_parked_intent ON payonce.provider_events (intent_id) WHERE status = 'parked';

GRANT SELECT, INSERT, UPDATE ON payonce.provider_events TO payonce_system;

RESET ROLE;
