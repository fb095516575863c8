-- The least that Postgres can be asked for: what the ledger and the webhook door are compared with.
CREATE SCHEMA raw;

-- An accepted event: one row.
CREATE TABLE raw.events (
    id   text PRIMARY KEY,
    body bytea NOT NULL
);

-- A journal with two entries: two tables, a unique key, no trigger.
CREATE TABLE raw.journals (
    id           uuid PRIMARY KEY,
    posting_key  text NOT NULL UNIQUE,
    effective_at timestamptz NOT NULL
);
CREATE TABLE raw.entries (
    journal  uuid NOT NULL,
    line     smallint NOT NULL,
    account  uuid NOT NULL,
    amount   bigint NOT NULL,
    currency text NOT NULL,
    PRIMARY KEY (journal, line)
);
CREATE INDEX entries_account ON raw.entries (account);

GRANT USAGE ON SCHEMA raw TO payonce_system;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA raw TO payonce_system;
