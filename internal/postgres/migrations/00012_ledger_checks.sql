-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One query instead of three and of four foreign-key triggers an entry pair: what an insert brings is checked by itself. The entries of a journal that
-- come in one statement sum to zero, so all of them do; account and journal are looked up by their keys, row by row, so that no plan made while the
-- tables were small reads them whole. The foreign key to the accounts also locked the account's row, which on a busy account every posting shares.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payonce.refuse_unbalanced() RETURNS trigger
    LANGUAGE plpgsql SET search_path = ''
AS $$
DECLARE
    found record;
BEGIN
    SELECT bool_or(i.sum <> 0) AS unbalanced, bool_or(i.strange) AS strange, bool_or(i.late) AS late INTO found
    FROM (
        SELECT sum(n.amount) AS sum,
               bool_or((SELECT a.currency FROM payonce.ledger_accounts a WHERE a.id = n.account) IS DISTINCT FROM n.currency) AS strange,
               bool_or((SELECT j.xid FROM payonce.ledger_journals j WHERE j.id = n.journal) IS DISTINCT FROM pg_current_xact_id()) AS late
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
ALTER TABLE payonce.ledger_entries DROP CONSTRAINT ledger_entries_account_fkey, DROP CONSTRAINT ledger_entries_journal_fkey;
CREATE TRIGGER ledger_accounts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payonce.ledger_accounts
    FOR EACH STATEMENT EXECUTE FUNCTION payonce.refuse_change();

-- A posting reads the epoch once a statement, not once a row through a function.
GRANT SELECT ON payonce.restore_epoch TO payonce_system;

-- Sealed bytes do not compress: they are stored as they are.
ALTER TABLE payonce.provider_events ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE payonce.idempotency_keys ALTER COLUMN response_body SET STORAGE EXTERNAL;
ALTER TABLE payonce.idempotency_records ALTER COLUMN command SET STORAGE EXTERNAL;
ALTER TABLE payonce.provider_calls ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE payonce.notifications ALTER COLUMN body SET STORAGE EXTERNAL;

RESET ROLE;
