-- +goose Up
SET LOCAL ROLE payonce_owner;

-- What an operator has frozen: its commands are taken, and their calls wait. A lifted freeze stays, with who lifted it.
CREATE TABLE payonce.freezes (
    id        uuid PRIMARY KEY,
    tenant    uuid REFERENCES payonce.tenants,       -- null: every tenant
    account   text,                                  -- null: every account
    livemode  boolean,                               -- of the account
    operation text,                                  -- null: every operation
    reason    text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
    frozen_by text NOT NULL CHECK (length(frozen_by) BETWEEN 1 AND 200),
    frozen_at timestamptz NOT NULL,
    lifted_by text CHECK (length(lifted_by) BETWEEN 1 AND 200),
    lifted_at timestamptz,
    CHECK ((account IS NULL) = (livemode IS NULL)),
    CHECK ((lifted_by IS NULL) = (lifted_at IS NULL))
);
CREATE INDEX freezes_open ON payonce.freezes (frozen_at) WHERE lifted_at IS NULL;

GRANT SELECT, INSERT ON payonce.freezes TO payonce_system;
GRANT UPDATE (lifted_by, lifted_at) ON payonce.freezes TO payonce_system;

RESET ROLE;
