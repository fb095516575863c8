-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Until when Stripe's own list of an account's events was gone through: what was created before and never delivered is stored all the same.
CREATE TABLE payonce.event_cursors (
    account    text NOT NULL,
    livemode   boolean NOT NULL,
    seen_until timestamptz NOT NULL,                                   -- by the events' own time
    moved_at   timestamptz NOT NULL,
    found      bigint NOT NULL DEFAULT 0 CHECK (found >= 0),           -- events that no delivery had brought
    PRIMARY KEY (account, livemode)
);

GRANT SELECT, INSERT, UPDATE ON payonce.event_cursors TO payonce_system;

RESET ROLE;
