-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One row a payout. Inserted under the lock of the tenant's currency by the command's claim, whose reservation it is until its money is posted, or by
-- the first fact of one that was made elsewhere; changed only by activities/apply_payout.go. Amounts are minor units. No payment has it.
CREATE TABLE payonce.payouts (
    id                           uuid PRIMARY KEY,   -- UUIDv5 over the command identity, or over Stripe's id when it was made elsewhere
    tenant                       uuid NOT NULL REFERENCES payonce.tenants,
    record                       uuid REFERENCES payonce.idempotency_records DEFERRABLE INITIALLY DEFERRED, -- null: made elsewhere
    reference                    text,
    amount                       bigint NOT NULL CHECK (amount > 0),
    currency                     text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    description                  text,
    metadata                     jsonb NOT NULL DEFAULT '{}',
    status                       text NOT NULL CHECK (status IN ('submitted', 'pending', 'in_transit', 'paid', 'failed', 'canceled')),
    stage                        text NOT NULL CHECK (stage IN ('submitted', 'external_resource_created', 'processing', 'terminal', 'ledger_applied')),
    submitted_at                 timestamptz NOT NULL,
    external_resource_created_at timestamptz,
    processing_at                timestamptz,
    terminal_at                  timestamptz,
    ledger_applied_at            timestamptz,
    account                      text NOT NULL,      -- the tenant's when it was asked for, with its mode
    livemode                     boolean NOT NULL,
    payout_id                    text,               -- Stripe's, bound once
    automatic                    boolean NOT NULL DEFAULT false,
    arrival_date                 timestamptz,
    failure_reason               text,
    last_error                   jsonb,
    moved                        boolean NOT NULL DEFAULT false, -- the money has left: payout/<id>/out is posted
    returned                     boolean NOT NULL DEFAULT false, -- and came back: payout/<id>/back is posted
    review_reason                text,
    review_since                 timestamptz,
    review_evidence              jsonb,
    read_begun_at                timestamptz,
    next_poll_at                 timestamptz,
    polls                        integer NOT NULL DEFAULT 0,
    created_at                   timestamptz NOT NULL,
    updated_at                   timestamptz NOT NULL,
    CHECK (moved OR NOT returned)
) WITH (fillfactor = 80);
CREATE INDEX payouts_tenant ON payonce.payouts (tenant, created_at DESC, id DESC);
CREATE UNIQUE INDEX payouts_record ON payonce.payouts (record) WHERE record IS NOT NULL;
CREATE UNIQUE INDEX payouts_payout_id ON payonce.payouts (account, livemode, payout_id) WHERE payout_id IS NOT NULL;
CREATE INDEX payouts_due_poll ON payonce.payouts (next_poll_at) WHERE next_poll_at IS NOT NULL;
-- What payouts under way reserve, beside what is posted.
CREATE INDEX payouts_reserved ON payonce.payouts (tenant, currency) WHERE NOT moved AND status NOT IN ('failed', 'canceled');
CREATE INDEX payouts_review ON payonce.payouts (review_since) WHERE review_reason IS NOT NULL;

GRANT SELECT, INSERT ON payonce.payouts TO payonce_tenant;
GRANT SELECT, INSERT, UPDATE ON payonce.payouts TO payonce_system;

RESET ROLE;
