-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One row a payment: the business attempt `reference#attempt` of a tenant. Inserted by the create command's claim, changed
-- only by activities/apply.go.
CREATE TABLE payonce.payments (
    id                           uuid PRIMARY KEY,   -- UUIDv5 over the command identity: a restored database derives it again
    tenant                       uuid NOT NULL REFERENCES payonce.tenants,
    reference                    text NOT NULL CHECK (length(reference) BETWEEN 1 AND 255),
    attempt                      integer NOT NULL CHECK (attempt > 0),
    replaces                     uuid,
    provider                     text NOT NULL DEFAULT 'stripe',
    account                      text NOT NULL,      -- pinned at creation with its mode
    livemode                     boolean NOT NULL,
    amount                       bigint NOT NULL CHECK (amount > 0),   -- minor units
    currency                     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    capture_method               text NOT NULL CHECK (capture_method IN ('automatic', 'manual')),
    description                  text,
    metadata                     jsonb NOT NULL DEFAULT '{}',
    receipt_email                bytea,              -- sealed
    status                       text NOT NULL CHECK (status IN ('submitted', 'requires_payment_method', 'requires_action',
                                     'processing', 'requires_capture', 'succeeded', 'failed', 'canceled', 'expired')),
    stage                        text NOT NULL CHECK (stage IN ('submitted', 'external_resource_created', 'processing',
                                     'terminal', 'ledger_applied')),
    submitted_at                 timestamptz NOT NULL,
    external_resource_created_at timestamptz,
    processing_at                timestamptz,
    terminal_at                  timestamptz,
    ledger_applied_at            timestamptz,
    intent_id                    text,               -- Stripe's PaymentIntent, bound once
    client_secret                bytea,              -- sealed
    latest_charge                text,
    amount_capturable            bigint NOT NULL DEFAULT 0 CHECK (amount_capturable >= 0),
    amount_captured              bigint NOT NULL DEFAULT 0 CHECK (amount_captured >= 0),
    amount_refunded              bigint NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    last_error                   jsonb,              -- {code, decline_code, message} of the last refused attempt
    failure                      jsonb,              -- why a payment is to end, or ended, as failed or expired: {code, message}
    read_begun_at                timestamptz,        -- when the newest applied read of the intent began
    last_command                 integer NOT NULL,   -- number of the newest command
    last_message                 integer NOT NULL DEFAULT 0,
    next_poll_at                 timestamptz,        -- null: nothing to poll for
    polls                        integer NOT NULL DEFAULT 0,
    review_reason                text,               -- the review mark: beside the status, never a status
    review_since                 timestamptz,
    review_evidence              jsonb,
    suppressed_postings          integer NOT NULL DEFAULT 0,
    suppressed_messages          integer NOT NULL DEFAULT 0,
    created_at                   timestamptz NOT NULL,
    updated_at                   timestamptz NOT NULL,
    CONSTRAINT payments_reference_attempt UNIQUE (tenant, reference, attempt),
    CHECK ((review_reason IS NULL) = (review_since IS NULL))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX payments_intent ON payonce.payments (provider, account, livemode, intent_id) WHERE intent_id IS NOT NULL;
CREATE INDEX payments_due_poll ON payonce.payments (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX payments_in_review ON payonce.payments (review_since) WHERE review_reason IS NOT NULL;

-- What was learnt about a payment and which source brought it first: append-only.
CREATE TABLE payonce.payment_facts (
    payment    uuid NOT NULL REFERENCES payonce.payments,
    fact       text NOT NULL,      -- for instance intent_created, declined/<charge>, succeeded, canceled
    source     text NOT NULL CHECK (source IN ('answer', 'event', 'poll', 'read', 'backfill', 'engine', 'operator')),
    effective_at timestamptz NOT NULL,
    applied_at timestamptz NOT NULL,
    detail     jsonb,
    PRIMARY KEY (payment, fact)
);
CREATE TRIGGER payment_facts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payonce.payment_facts
    FOR EACH STATEMENT EXECUTE FUNCTION payonce.refuse_change();

GRANT SELECT, INSERT, UPDATE ON payonce.payments TO payonce_tenant, payonce_system;
GRANT SELECT ON payonce.payment_facts TO payonce_tenant;
GRANT SELECT, INSERT ON payonce.payment_facts TO payonce_system;

RESET ROLE;
