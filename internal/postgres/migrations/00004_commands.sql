-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The command boundary's memory, for ever: one row a business attempt (tenant, operation, owner key).
CREATE TABLE payonce.idempotency_records (
    id                   uuid PRIMARY KEY,           -- UUIDv5 over (tenant, operation, owner key)
    tenant               uuid NOT NULL REFERENCES payonce.tenants,
    operation            text NOT NULL,
    owner_key            text NOT NULL CHECK (length(owner_key) BETWEEN 1 AND 600),
    idempotency_key      uuid NOT NULL,              -- the key sent to Stripe in generation 0
    request_hash         bytea NOT NULL CHECK (length(request_hash) = 32),
    request_hash_version smallint NOT NULL,
    command              bytea NOT NULL,             -- sealed: the normalised command
    status               text NOT NULL CHECK (status IN ('in_progress', 'completed', 'failed', 'unknown')),
    fence                bigint NOT NULL DEFAULT 0,
    lease_until          timestamptz,
    lease_owner          text,
    resource_kind        text NOT NULL,
    resource_id          uuid NOT NULL,
    external_resource_id text,
    response_summary     jsonb,                      -- sanitised, for ever: ids, status, amount, decline code
    response_code        smallint,
    payment              uuid REFERENCES payonce.payments,
    number               integer CHECK (number > 0), -- the order of commands within their payment
    answered_by          uuid,                       -- the record whose outcome answers this one: a create with a method is answered by its confirm
    not_after            timestamptz,
    attended_until       timestamptz,                -- a caller is waiting for the outcome
    asked_by             text NOT NULL CHECK (asked_by IN ('caller', 'engine', 'operator')),
    next_wake_at         timestamptz,                -- when the relay wakes the workflow again; null once settled
    wakes                integer NOT NULL DEFAULT 0,
    suppressed           integer NOT NULL DEFAULT 0, -- repeats that met this record
    created_at           timestamptz NOT NULL,
    completed_at         timestamptz,
    CONSTRAINT idempotency_records_identity UNIQUE (tenant, operation, owner_key),
    CONSTRAINT idempotency_records_number UNIQUE (payment, number),
    CHECK ((payment IS NULL) = (number IS NULL)),
    CHECK ((status IN ('completed', 'failed')) = (completed_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX idempotency_records_due_wake ON payonce.idempotency_records (next_wake_at) WHERE next_wake_at IS NOT NULL;
CREATE INDEX idempotency_records_unknown ON payonce.idempotency_records (created_at) WHERE status = 'unknown';

-- The caller's keys, for the replay window: each an alias of a record, with the stored answer.
CREATE TABLE payonce.idempotency_keys (
    tenant               uuid NOT NULL,
    operation            text NOT NULL,
    caller_key           text NOT NULL CHECK (length(caller_key) BETWEEN 1 AND 255),
    request_hash         bytea NOT NULL CHECK (length(request_hash) = 32),
    request_hash_version smallint NOT NULL,
    record               uuid NOT NULL REFERENCES payonce.idempotency_records DEFERRABLE INITIALLY DEFERRED,
    response_code        smallint,
    response_headers     jsonb,
    response_body        bytea,                      -- sealed
    created_at           timestamptz NOT NULL,
    expires_at           timestamptz NOT NULL,
    PRIMARY KEY (tenant, operation, caller_key)
) WITH (fillfactor = 80);
CREATE INDEX idempotency_keys_record ON payonce.idempotency_keys (record);
CREATE INDEX idempotency_keys_expiry ON payonce.idempotency_keys (expires_at); -- 'infinity' once stripped: swept rows leave the range

-- One row a call to Stripe that can change something; the row is what is sent, also after a deploy.
CREATE TABLE payonce.provider_calls (
    idempotency_key uuid PRIMARY KEY,                -- UUIDv5 over (tenant, resource kind, resource id, operation, attempt, generation)
    tenant          uuid NOT NULL,
    record          uuid REFERENCES payonce.idempotency_records,
    payment         uuid REFERENCES payonce.payments,
    resource_kind   text NOT NULL,
    resource_id     uuid NOT NULL,
    operation       text NOT NULL,
    attempt         integer NOT NULL CHECK (attempt > 0),
    generation      integer NOT NULL CHECK (generation >= 0),
    method          text NOT NULL CHECK (method = 'POST'),
    path            text NOT NULL,
    body            bytea NOT NULL,                  -- sealed: the frozen bytes
    body_sha256     bytea NOT NULL CHECK (length(body_sha256) = 32),
    api_version     text NOT NULL,
    account         text NOT NULL,
    livemode        boolean NOT NULL,
    status          text NOT NULL CHECK (status IN ('sent', 'answered', 'absent', 'unknown')),
    sends           integer NOT NULL DEFAULT 1,
    first_sent_at   timestamptz NOT NULL,
    last_sent_at    timestamptz NOT NULL,
    ended_at        timestamptz,                     -- when the newest send ended with an answer
    http_status     smallint,
    request_ids     text[] NOT NULL DEFAULT '{}',
    answer          jsonb,                           -- sanitised: ids, status, codes
    CONSTRAINT provider_calls_identity UNIQUE (tenant, resource_kind, resource_id, operation, attempt, generation)
) WITH (fillfactor = 80);
CREATE INDEX provider_calls_payment ON payonce.provider_calls (payment);
CREATE INDEX provider_calls_record ON payonce.provider_calls (record);

GRANT SELECT, INSERT, UPDATE ON payonce.idempotency_records, payonce.idempotency_keys TO payonce_tenant, payonce_system;
GRANT DELETE ON payonce.idempotency_keys TO payonce_system;
GRANT SELECT ON payonce.provider_calls TO payonce_tenant;
GRANT SELECT, INSERT, UPDATE ON payonce.provider_calls TO payonce_system;

RESET ROLE;
