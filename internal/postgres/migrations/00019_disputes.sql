-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One row a dispute of a payment's money. Inserted under the payment's lock by the first fact that tells of it, and changed only by
-- activities/apply_dispute.go. Amounts are minor units of the disputed currency.
CREATE TABLE payonce.disputes (
    id                           uuid PRIMARY KEY,   -- UUIDv5 over Stripe's id
    tenant                       uuid NOT NULL,
    payment                      uuid NOT NULL REFERENCES payonce.payments,
    account                      text NOT NULL,      -- the payment's
    livemode                     boolean NOT NULL,
    dispute_id                   text NOT NULL,      -- Stripe's, dp_…
    charge                       text,
    amount                       bigint NOT NULL,
    currency                     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    reason                       text,
    status                       text NOT NULL CHECK (status IN ('warning_needs_response', 'warning_under_review', 'warning_closed',
                                     'needs_response', 'under_review', 'won', 'lost')),
    stage                        text NOT NULL CHECK (stage IN ('external_resource_created', 'processing', 'terminal', 'ledger_applied')),
    external_resource_created_at timestamptz,
    processing_at                timestamptz,
    terminal_at                  timestamptz,
    ledger_applied_at            timestamptz,
    due_by                       timestamptz,        -- null: no evidence is taken
    withdrawn                    bigint NOT NULL DEFAULT 0,
    reinstated                   bigint NOT NULL DEFAULT 0,
    transactions                 text[] NOT NULL DEFAULT '{}', -- txn_… that are in withdrawn and reinstated, and booked
    lost                         bigint NOT NULL DEFAULT 0,    -- dispute/<dp>/lost is posted with it
    read_begun_at                timestamptz,
    next_poll_at                 timestamptz,
    polls                        integer NOT NULL DEFAULT 0,
    created_at                   timestamptz NOT NULL,         -- at Stripe
    updated_at                   timestamptz NOT NULL,
    CONSTRAINT disputes_dispute_id UNIQUE (account, livemode, dispute_id)
) WITH (fillfactor = 80);
CREATE INDEX disputes_payment ON payonce.disputes (payment, created_at, id);
CREATE INDEX disputes_due_poll ON payonce.disputes (next_poll_at) WHERE next_poll_at IS NOT NULL;

GRANT SELECT ON payonce.disputes TO payonce_tenant;
GRANT SELECT, INSERT, UPDATE ON payonce.disputes TO payonce_system;

RESET ROLE;
