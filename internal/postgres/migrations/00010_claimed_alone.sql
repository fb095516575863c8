-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The claim of a create as one statement of its own: a key that was inserted for a record which somebody else inserted meanwhile must not stay, so
-- the statement ends in this error and the claim is made again in a transaction, where it can be compared first.
-- +goose StatementBegin
CREATE FUNCTION payonce.claimed_alone(key_inserted boolean, record_inserted boolean) RETURNS boolean
    LANGUAGE plpgsql SET search_path = ''
AS $$
BEGIN
    IF key_inserted AND NOT record_inserted THEN
        RAISE EXCEPTION 'the record is there already' USING ERRCODE = 'PO001';
    END IF;
    RETURN key_inserted;
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION payonce.claimed_alone(boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION payonce.claimed_alone(boolean, boolean) TO payonce_tenant, payonce_system;

RESET ROLE;
