-- +goose Up
-- One clock for every age, lease, deadline and effective time. The offset is zero in production (checked at boot); a test
-- moves a day by changing it, and the twin reads the same function.
SET LOCAL ROLE payonce_owner;

CREATE TABLE payonce.clock_offset (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    offset_interval interval NOT NULL DEFAULT interval '0'
);
INSERT INTO payonce.clock_offset DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION payonce.clock() RETURNS timestamptz
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = ''
AS $$ SELECT clock_timestamp() + offset_interval FROM payonce.clock_offset $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION payonce.clock() FROM PUBLIC;
GRANT USAGE ON SCHEMA payonce TO payonce_tenant, payonce_system, payonce_twin;
GRANT EXECUTE ON FUNCTION payonce.clock() TO payonce_tenant, payonce_system, payonce_twin;

-- The restore epoch: raised by one when a database is restored, so that the order (epoch, xid, id) survives reused xids.
CREATE TABLE payonce.restore_epoch (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    epoch     integer NOT NULL DEFAULT 1 CHECK (epoch > 0)
);
INSERT INTO payonce.restore_epoch DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION payonce.epoch() RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = ''
AS $$ SELECT epoch FROM payonce.restore_epoch $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION payonce.epoch() FROM PUBLIC;
GRANT SELECT ON payonce.clock_offset TO payonce_system;
GRANT EXECUTE ON FUNCTION payonce.epoch() TO payonce_tenant, payonce_system;

-- +goose StatementBegin
CREATE FUNCTION payonce.refuse_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = ''
AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd

RESET ROLE;
GRANT SELECT ON payonce.schema_version TO payonce_system;
