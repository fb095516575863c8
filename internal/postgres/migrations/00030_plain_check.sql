-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The check of a posting, made cheap for what nearly every one is: the entries of one journal in one currency, which resolves none. That it is right is told by
-- one plain aggregate; whatever else is looked at as before, and only that says what is wrong.

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payonce.refuse_unbalanced() RETURNS trigger
    LANGUAGE plpgsql
AS $$
DECLARE
    fine  boolean;
    fault text;
BEGIN
    SELECT pg_catalog.sum(n.amount) = 0 AND pg_catalog.bool_and(
            n.amount <> 0 AND n.line > 0 AND n.journal = f.journal AND n.currency = f.currency
            AND (SELECT a.currency FROM payonce.ledger_accounts a WHERE a.id = n.account) IS NOT DISTINCT FROM n.currency)
        AND EXISTS (
            SELECT FROM payonce.ledger_journals j
            WHERE j.id = (SELECT o.journal FROM inserted o LIMIT 1) AND j.xid = pg_catalog.pg_current_xact_id()
                AND pg_catalog.length(j.posting_key) BETWEEN 1 AND 500 AND pg_catalog.length(j.content_hash) = 32
                AND j.phase IN ('posted', 'pending', 'void') AND j.resolves IS NULL)
    INTO fine
    FROM inserted n, (SELECT o.journal, o.currency FROM inserted o LIMIT 1) f;
    IF fine THEN
        RETURN NULL;
    END IF;
    SELECT CASE
        WHEN pg_catalog.bool_or(i.sum <> 0) THEN 'unbalanced'
        WHEN pg_catalog.bool_or(i.strange) THEN 'strange'
        WHEN pg_catalog.bool_or(i.empty) THEN 'empty'
        ELSE pg_catalog.max(coalesce((
            SELECT CASE
                WHEN j.xid <> pg_catalog.pg_current_xact_id() THEN 'late'
                WHEN pg_catalog.length(j.posting_key) BETWEEN 1 AND 500 AND pg_catalog.length(j.content_hash) = 32
                    AND j.phase IN ('posted', 'pending', 'void')
                    AND (j.resolves IS NULL OR EXISTS (SELECT FROM payonce.ledger_journals r WHERE r.id = j.resolves)) THEN ''
                ELSE 'malformed' END
            FROM payonce.ledger_journals j WHERE j.id = i.journal), 'late')) END INTO fault
    FROM (
        SELECT n.journal, pg_catalog.sum(n.amount) AS sum, pg_catalog.bool_or(n.amount = 0 OR n.line < 1) AS empty,
               pg_catalog.bool_or((SELECT a.currency FROM payonce.ledger_accounts a WHERE a.id = n.account) IS DISTINCT FROM n.currency) AS strange
        FROM inserted n GROUP BY n.journal, n.currency) i;
    IF fault IS NULL OR fault = '' THEN -- no entry, or none with a fault
        RETURN NULL;
    END IF;
    CASE fault
        WHEN 'unbalanced' THEN
            RAISE EXCEPTION 'a journal does not sum to zero per currency'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_sum_zero';
        WHEN 'strange' THEN
            RAISE EXCEPTION 'an entry has no account, or differs in currency from it'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_account_currency';
        WHEN 'late' THEN
            RAISE EXCEPTION 'an entry has no journal, or one that is committed and takes no more entries'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_one_transaction';
        WHEN 'empty' THEN
            RAISE EXCEPTION 'an entry has no amount, or no line of its own'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_check';
        WHEN 'malformed' THEN
            RAISE EXCEPTION 'a journal has no key of 1 to 500 characters, no hash of 32 bytes, no known phase, or resolves none that there is'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_journals_check';
    END CASE;
END
$$;
-- +goose StatementEnd

RESET ROLE;
