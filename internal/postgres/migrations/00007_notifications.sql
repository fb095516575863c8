-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Where a tenant's messages go.
CREATE TABLE payonce.notification_endpoints (
    id          uuid PRIMARY KEY,
    tenant      uuid NOT NULL REFERENCES payonce.tenants,
    url         text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    secret      bytea NOT NULL,                      -- sealed: Standard Webhooks signing secret
    created_at  timestamptz NOT NULL,
    disabled_at timestamptz
);
CREATE INDEX notification_endpoints_tenant ON payonce.notification_endpoints (tenant) WHERE disabled_at IS NULL;

-- One row a customer message. Its id is the webhook-id, for ever.
CREATE TABLE payonce.notifications (
    id            uuid PRIMARY KEY,                  -- UUIDv5 over (tenant, subject, kind, endpoint)
    tenant        uuid NOT NULL,
    subject       text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
    kind          text NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    endpoint      uuid NOT NULL REFERENCES payonce.notification_endpoints,
    payment       uuid NOT NULL REFERENCES payonce.payments,
    sequence      integer NOT NULL CHECK (sequence > 0), -- order within the payment
    body          bytea NOT NULL,                    -- sealed: the frozen bytes
    status        text NOT NULL CHECK (status IN ('queued', 'delivered', 'parked')),
    tries         integer NOT NULL DEFAULT 0,
    next_try_at   timestamptz,
    lease_owner   uuid,                              -- the dispatcher that holds it until next_try_at
    first_sent_at timestamptz,
    last_status   smallint,
    last_error    text,
    created_at    timestamptz NOT NULL,
    settled_at    timestamptz,
    CONSTRAINT notifications_identity UNIQUE (tenant, subject, kind, endpoint),
    CHECK ((status = 'queued') = (next_try_at IS NOT NULL)),
    CHECK ((status = 'queued') = (settled_at IS NULL))
) WITH (fillfactor = 80);
-- The dispatcher looks per endpoint, so that a dead receiver's backlog is not walked for the others.
CREATE INDEX notifications_due_endpoint ON payonce.notifications (endpoint, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX notifications_open ON payonce.notifications (payment, endpoint, sequence) WHERE status = 'queued';

GRANT SELECT, INSERT, UPDATE ON payonce.notification_endpoints, payonce.notifications TO payonce_system;
GRANT SELECT ON payonce.notifications TO payonce_tenant;

RESET ROLE;
