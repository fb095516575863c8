-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One row a refund. Inserted under the payment's lock by the command's claim, whose reservation it is, or by the first fact of one that was made
-- elsewhere; changed only by activities/apply_refund.go. Amounts are minor units.
CREATE TABLE payonce.refunds (
    id                           uuid PRIMARY KEY,   -- UUIDv5 over the command identity, or over Stripe's id when it was made elsewhere
    tenant                       uuid NOT NULL,
    payment                      uuid NOT NULL REFERENCES payonce.payments,
    record                       uuid REFERENCES payonce.idempotency_records DEFERRABLE INITIALLY DEFERRED, -- null: made elsewhere
    reference                    text,
    amount                       bigint NOT NULL CHECK (amount > 0),
    currency                     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    reason                       text,
    metadata                     jsonb NOT NULL DEFAULT '{}',
    status                       text NOT NULL CHECK (status IN ('submitted', 'pending', 'requires_action', 'succeeded', 'failed', 'canceled')),
    stage                        text NOT NULL CHECK (stage IN ('submitted', 'external_resource_created', 'processing', 'terminal', 'ledger_applied')),
    submitted_at                 timestamptz NOT NULL,
    external_resource_created_at timestamptz,
    processing_at                timestamptz,
    terminal_at                  timestamptz,
    ledger_applied_at            timestamptz,
    account                      text NOT NULL,      -- the payment's
    livemode                     boolean NOT NULL,
    refund_id                    text,               -- Stripe's, bound once
    charge                       text,
    failure_reason               text,
    last_error                   jsonb,
    moved                        boolean NOT NULL DEFAULT false, -- the money has left: refund/<id>/out is posted
    returned                     boolean NOT NULL DEFAULT false, -- and came back: refund/<id>/back is posted
    read_begun_at                timestamptz,
    next_poll_at                 timestamptz,
    polls                        integer NOT NULL DEFAULT 0,
    created_at                   timestamptz NOT NULL,
    updated_at                   timestamptz NOT NULL,
    CHECK (moved OR NOT returned)
) WITH (fillfactor = 80);
CREATE INDEX refunds_payment ON payonce.refunds (payment, created_at, id);
CREATE UNIQUE INDEX refunds_record ON payonce.refunds (record) WHERE record IS NOT NULL;
CREATE UNIQUE INDEX refunds_refund_id ON payonce.refunds (account, livemode, refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX refunds_due_poll ON payonce.refunds (next_poll_at) WHERE next_poll_at IS NOT NULL;

-- What Stripe withdrew for disputes and has not reinstated: it may not be given back a second time.
ALTER TABLE payonce.payments ADD COLUMN amount_disputed bigint NOT NULL DEFAULT 0 CHECK (amount_disputed >= 0);

GRANT SELECT, INSERT ON payonce.refunds TO payonce_tenant;
GRANT SELECT, INSERT, UPDATE ON payonce.refunds TO payonce_system;

RESET ROLE;
