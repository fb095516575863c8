-- +goose Up
SET LOCAL ROLE payonce_owner;

-- What is linked to an owner, for ever: a customer or a connected account at Stripe, or a wallet, which is an account of our ledger. One row each; the id
-- and the identity say the same. Inserted by the command's claim under a lock of the identity; changed by activities/apply_provision.go and, once Stripe
-- has refused it, by the next claim.
CREATE TABLE payonce.provisions (
    id              uuid PRIMARY KEY,                -- UUIDv5 over the identity of its first command
    tenant          uuid NOT NULL REFERENCES payonce.tenants,
    kind            text NOT NULL CHECK (kind IN ('customer', 'connected_account', 'wallet')),
    owner           text NOT NULL CHECK (owner ~ '^[A-Za-z0-9._-]{1,128}$'),
    currency        text NOT NULL CHECK (currency ~ '^([a-z]{3})?$'),       -- empty: it has none
    network         text NOT NULL CHECK (network ~ '^[a-z0-9_-]{0,32}$'),   -- empty: it has none
    country         text NOT NULL CHECK (country ~ '^([A-Z]{2})?$'),        -- empty: it has none
    account         text NOT NULL,                   -- the tenant's when it was asked for, with its mode
    livemode        boolean NOT NULL,
    record          uuid NOT NULL REFERENCES payonce.idempotency_records DEFERRABLE INITIALLY DEFERRED, -- of the newest attempt
    attempt         integer NOT NULL CHECK (attempt > 0), -- one more than Stripe refused
    status          text NOT NULL CHECK (status IN ('submitted', 'linked', 'refused')),
    provider_id     text,                            -- Stripe's, linked once
    last_error      jsonb,
    review_reason   text,
    review_since    timestamptz,
    review_evidence jsonb,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT provisions_identity UNIQUE (tenant, kind, owner, currency, network),
    CHECK ((currency = '') = (kind = 'customer')),
    CHECK ((network = '') = (kind <> 'wallet')),
    CHECK ((country = '') = (kind <> 'connected_account')),
    CHECK ((provider_id IS NOT NULL) = (status = 'linked' AND kind <> 'wallet'))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX provisions_record ON payonce.provisions (record);
CREATE UNIQUE INDEX provisions_provider_id ON payonce.provisions (account, livemode, kind, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX provisions_review ON payonce.provisions (review_since) WHERE review_reason IS NOT NULL;

GRANT SELECT, INSERT ON payonce.provisions TO payonce_tenant;
GRANT UPDATE (country, account, livemode, record, attempt, status, last_error, updated_at) ON payonce.provisions TO payonce_tenant;
GRANT SELECT, UPDATE ON payonce.provisions TO payonce_system;
-- A wallet's claim makes its account, which holds nothing until something is posted to it.
GRANT INSERT ON payonce.ledger_accounts TO payonce_tenant;

RESET ROLE;
