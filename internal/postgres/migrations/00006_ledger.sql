-- +goose Up
-- Double entry, append-only. Amounts are int64 minor units: a debit is positive, a credit negative; the entries of a journal
-- sum to zero per currency.
SET LOCAL ROLE payonce_owner;

CREATE TABLE payonce.ledger_accounts (
    id         uuid PRIMARY KEY,                     -- UUIDv5 over (tenant, name, currency)
    tenant     uuid NOT NULL REFERENCES payonce.tenants,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    currency   text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    kind       text NOT NULL CHECK (kind IN ('free', 'guarded')),
    created_at timestamptz NOT NULL,
    CONSTRAINT ledger_accounts_identity UNIQUE (tenant, name, currency)
);

CREATE TABLE payonce.ledger_journals (
    id           uuid PRIMARY KEY,                   -- UUIDv7
    tenant       uuid NOT NULL,
    posting_key  text NOT NULL CHECK (length(posting_key) BETWEEN 1 AND 500),
    rule         text NOT NULL,
    content_hash bytea NOT NULL CHECK (length(content_hash) = 32), -- rule, accounts, amounts, currency
    phase        text NOT NULL CHECK (phase IN ('posted', 'pending', 'void')),
    resolves     uuid REFERENCES payonce.ledger_journals, -- the pending journal that this one posts or voids, or the journal it reverses
    payment      uuid,
    source       text NOT NULL,
    memo         text,
    effective_at timestamptz NOT NULL,               -- when it happened at the provider
    booked_at    timestamptz NOT NULL,               -- when we learnt it
    epoch        integer NOT NULL DEFAULT payonce.epoch(),
    xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
    CONSTRAINT ledger_journals_posting_key UNIQUE (tenant, posting_key)
);
CREATE INDEX ledger_journals_payment ON payonce.ledger_journals (payment) WHERE payment IS NOT NULL;

CREATE TABLE payonce.ledger_entries (
    journal  uuid NOT NULL REFERENCES payonce.ledger_journals,
    line     smallint NOT NULL CHECK (line > 0),
    account  uuid NOT NULL REFERENCES payonce.ledger_accounts,
    amount   bigint NOT NULL CHECK (amount <> 0),
    currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    epoch    integer NOT NULL DEFAULT payonce.epoch(),
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (journal, line)
);
CREATE INDEX ledger_entries_account ON payonce.ledger_entries (account, epoch, xid);

-- Balance = newest roll-up + the entries after its mark, in one statement.
CREATE TABLE payonce.ledger_rollups (
    account uuid PRIMARY KEY REFERENCES payonce.ledger_accounts,
    balance numeric(40, 0) NOT NULL,
    epoch   integer NOT NULL,
    xid     xid8 NOT NULL,                           -- every entry with (epoch, xid) below this mark is in the balance
    rolled_at timestamptz NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION payonce.refuse_unbalanced() RETURNS trigger
    LANGUAGE plpgsql SET search_path = ''
AS $$
DECLARE
    unbalanced record;
BEGIN
    SELECT e.journal, e.currency, sum(e.amount) AS sum INTO unbalanced
    FROM payonce.ledger_entries e
    WHERE e.journal IN (SELECT DISTINCT journal FROM inserted)
    GROUP BY e.journal, e.currency
    HAVING sum(e.amount) <> 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % does not sum to zero in %: %', unbalanced.journal, unbalanced.currency, unbalanced.sum
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_sum_zero';
    END IF;
    IF EXISTS (SELECT FROM inserted i JOIN payonce.ledger_accounts a ON a.id = i.account WHERE a.currency <> i.currency) THEN
        RAISE EXCEPTION 'an entry differs in currency from its account'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_account_currency';
    END IF;
    IF EXISTS (SELECT FROM inserted i JOIN payonce.ledger_journals j ON j.id = i.journal WHERE j.xid <> pg_current_xact_id()) THEN
        RAISE EXCEPTION 'a committed journal takes no more entries'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_one_transaction';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON payonce.ledger_entries
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION payonce.refuse_unbalanced();
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payonce.ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION payonce.refuse_change();
CREATE TRIGGER ledger_journals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payonce.ledger_journals
    FOR EACH STATEMENT EXECUTE FUNCTION payonce.refuse_change();

GRANT SELECT ON payonce.ledger_accounts, payonce.ledger_journals, payonce.ledger_entries, payonce.ledger_rollups TO payonce_tenant;
GRANT SELECT, INSERT ON payonce.ledger_accounts, payonce.ledger_journals, payonce.ledger_entries TO payonce_system;
GRANT SELECT, INSERT, UPDATE ON payonce.ledger_rollups TO payonce_system;

RESET ROLE;
