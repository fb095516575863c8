-- +goose Up
SET LOCAL ROLE payonce_owner;

-- A Stripe account in one mode, with its sealed secrets. Tenants may share one.
CREATE TABLE payonce.provider_accounts (
    provider        text NOT NULL DEFAULT 'stripe' CHECK (provider = 'stripe'),
    account         text NOT NULL CHECK (account ~ '^acct_[A-Za-z0-9_]{1,64}$'),
    livemode        boolean NOT NULL,
    secret_key      bytea NOT NULL,              -- sealed
    webhook_secrets bytea NOT NULL,              -- sealed JSON array of signing secrets, newest first
    stopped_reason  text,                        -- set by a 401, a 403 or an account error: no call goes out until an operator clears it
    stopped_at      timestamptz,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (provider, account, livemode)
);

CREATE TABLE payonce.tenants (
    id         uuid PRIMARY KEY,
    name       text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    provider   text NOT NULL DEFAULT 'stripe',
    account    text NOT NULL,
    livemode   boolean NOT NULL,
    created_at timestamptz NOT NULL,
    FOREIGN KEY (provider, account, livemode) REFERENCES payonce.provider_accounts
);

-- Bearer keys of the API; only their SHA-256 is stored (a key has 256 random bits, so a plain hash is enough).
CREATE TABLE payonce.api_keys (
    id         uuid PRIMARY KEY,
    tenant     uuid NOT NULL REFERENCES payonce.tenants,
    key_sha256 bytea NOT NULL UNIQUE CHECK (length(key_sha256) = 32),
    scopes     text[] NOT NULL CHECK (scopes <@ ARRAY['payments:read', 'payments:write'] AND cardinality(scopes) > 0),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);

GRANT SELECT ON payonce.tenants, payonce.api_keys TO payonce_tenant;
GRANT SELECT, INSERT, UPDATE ON payonce.provider_accounts, payonce.tenants, payonce.api_keys TO payonce_system;

RESET ROLE;
