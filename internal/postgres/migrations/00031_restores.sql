-- +goose Up
SET LOCAL ROLE payonce_owner;

-- One row a time that the database may have lost what was committed last. What went out between restored_to and closed_at is known to Stripe and not here.
CREATE TABLE payonce.restores (
    freeze_id   uuid PRIMARY KEY REFERENCES payonce.freezes, -- which keeps it closed
    closed_at   timestamptz NOT NULL,
    restored_to timestamptz                                  -- null: nobody has said so yet
);
GRANT SELECT ON payonce.restores TO payonce_tenant, payonce_system;

-- Which database this is: its cluster, the timeline of the cluster's log, and its own number there. A restore to a point in time, a failover and a copy
-- each change one of them, and may have lost what was committed last.
CREATE TABLE payonce.database_identity (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    identity    text NOT NULL,
    accepted_at timestamptz NOT NULL
);
CREATE FUNCTION payonce.identity_of_database() RETURNS text
    LANGUAGE sql STABLE SET search_path = ''
AS $$
    SELECT s.system_identifier || '/' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) || '/' || d.oid
    FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
$$;
INSERT INTO payonce.database_identity (identity, accepted_at) VALUES (payonce.identity_of_database(), payonce.clock());

-- Every new connection calls this before anything else: the first that finds itself in another database than the one that was accepted freezes all calls.
-- +goose StatementBegin
CREATE FUNCTION payonce.notice_database() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = ''
AS $$
DECLARE
    found_identity text;
    closing uuid := pg_catalog.gen_random_uuid();
BEGIN
    IF pg_catalog.pg_is_in_recovery() THEN
        RETURN; -- a standby: nothing can be written here
    END IF;
    found_identity := payonce.identity_of_database();
    IF EXISTS (SELECT FROM payonce.database_identity WHERE identity = found_identity) THEN
        RETURN;
    END IF;
    UPDATE payonce.database_identity SET identity = found_identity, accepted_at = payonce.clock() WHERE identity <> found_identity;
    IF FOUND THEN
        INSERT INTO payonce.freezes (id, reason, frozen_by, frozen_at)
        VALUES (closing, 'this database was restored, copied or failed over: `payonce restored --to TIME` reads Stripe since then and opens it',
            'payonce', payonce.clock());
        INSERT INTO payonce.restores (freeze_id, closed_at) VALUES (closing, payonce.clock());
    END IF;
END
$$;
-- +goose StatementEnd

-- For the owner: a copy that is meant to run.
CREATE FUNCTION payonce.accept_database() RETURNS void
    LANGUAGE sql SET search_path = ''
AS $$ UPDATE payonce.database_identity SET identity = payonce.identity_of_database(), accepted_at = payonce.clock() $$;

-- A repeat takes up what the database had lost and Stripe brought back.
GRANT UPDATE (record, reference, reason, metadata) ON payonce.refunds TO payonce_tenant;
GRANT UPDATE (record, reference, description, metadata) ON payonce.payouts TO payonce_tenant;

RESET ROLE;
