-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The clock and the epoch are asked for by almost every statement and change almost never. So what clock_offset and restore_epoch say is written into
-- the functions that tell them, by a trigger and in the same commit: a statement then holds the value in its plan, which Postgres makes again after a
-- change, where it called a function that became another role and read a table. The tables stay what is set and looked at.
-- +goose StatementBegin
CREATE FUNCTION payonce.write_clock() RETURNS trigger
    LANGUAGE plpgsql SET search_path = ''
AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION payonce.clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN clock_timestamp() + interval %L',
        NEW.offset_interval);
    RETURN NULL;
END
$$;
CREATE FUNCTION payonce.write_epoch() RETURNS trigger
    LANGUAGE plpgsql SET search_path = ''
AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION payonce.epoch() RETURNS integer LANGUAGE sql STABLE RETURN %s', NEW.epoch);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER clock_offset_written AFTER INSERT OR UPDATE ON payonce.clock_offset FOR EACH ROW EXECUTE FUNCTION payonce.write_clock();
CREATE TRIGGER restore_epoch_written AFTER INSERT OR UPDATE ON payonce.restore_epoch FOR EACH ROW EXECUTE FUNCTION payonce.write_epoch();
UPDATE payonce.clock_offset SET offset_interval = offset_interval;
UPDATE payonce.restore_epoch SET epoch = epoch;

-- The same query as before, with the journal looked up once a group, and without a search_path of its own: setting one costs as much as a look-up, and
-- nobody but the owner may create anything that a name here could mean instead.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payonce.refuse_unbalanced() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    found record;
BEGIN
    SELECT pg_catalog.bool_or(i.sum <> 0) AS unbalanced, pg_catalog.bool_or(i.strange) AS strange,
           pg_catalog.bool_or((SELECT j.xid FROM payonce.ledger_journals j WHERE j.id = i.journal)
               IS DISTINCT FROM pg_catalog.pg_current_xact_id()) AS late INTO found
    FROM (
        SELECT n.journal, pg_catalog.sum(n.amount) AS sum,
               pg_catalog.bool_or((SELECT a.currency FROM payonce.ledger_accounts a WHERE a.id = n.account) IS DISTINCT FROM n.currency) AS strange
        FROM inserted n GROUP BY n.journal, n.currency) i;
    IF found.unbalanced THEN
        RAISE EXCEPTION 'a journal does not sum to zero per currency'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_sum_zero';
    END IF;
    IF found.strange THEN
        RAISE EXCEPTION 'an entry has no account, or differs in currency from it'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_account_currency';
    END IF;
    IF found.late THEN
        RAISE EXCEPTION 'an entry has no journal, or one that is committed and takes no more entries'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_one_transaction';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
ALTER FUNCTION payonce.refuse_unbalanced() RESET search_path;

-- Postgres reads each CHECK anew in every statement that writes: one a table. An entry's currency is its account's, which is checked there.
ALTER TABLE payonce.ledger_journals
    DROP CONSTRAINT ledger_journals_posting_key_check, DROP CONSTRAINT ledger_journals_content_hash_check, DROP CONSTRAINT ledger_journals_phase_check,
    ADD CONSTRAINT ledger_journals_check CHECK (
        length(posting_key) BETWEEN 1 AND 500 AND length(content_hash) = 32 AND phase IN ('posted', 'pending', 'void'));
ALTER TABLE payonce.ledger_entries
    DROP CONSTRAINT ledger_entries_currency_check, DROP CONSTRAINT ledger_entries_amount_check, DROP CONSTRAINT ledger_entries_line_check,
    ADD CONSTRAINT ledger_entries_check CHECK (amount <> 0 AND line > 0);

RESET ROLE;
