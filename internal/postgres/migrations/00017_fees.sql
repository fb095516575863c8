-- +goose Up
SET LOCAL ROLE payonce_owner;

-- How far the balance transactions of an account were gone through for their fees. Of those behind the place nothing is left to do; those above it
-- are listed again, and their posting keys tell which are booked.
CREATE TABLE payonce.fee_cursors (
    account       text NOT NULL,
    livemode      boolean NOT NULL,
    read_from     timestamptz NOT NULL,  -- nothing created before is looked at
    place         text,                  -- txn_…; null: from the first on
    next_round_at timestamptz NOT NULL,
    foreign_seen  bigint NOT NULL DEFAULT 0 CHECK (foreign_seen >= 0),  -- behind the place: nobody's here, another system's or the account's own
    unclear_seen  bigint NOT NULL DEFAULT 0 CHECK (unclear_seen >= 0),  -- behind the place, and not booked: a person has to look; the log names each
    PRIMARY KEY (account, livemode)
);

GRANT SELECT, INSERT, UPDATE ON payonce.fee_cursors TO payonce_system;

RESET ROLE;
