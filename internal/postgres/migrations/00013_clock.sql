-- +goose Up
SET LOCAL ROLE payonce_owner;

-- The same clock with a plan that is kept for the session: as an SQL function it was planned anew by every statement that asked for the time.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payonce.clock() RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = ''
AS $$
BEGIN
    RETURN clock_timestamp() + (SELECT offset_interval FROM payonce.clock_offset);
END
$$;
-- +goose StatementEnd

RESET ROLE;
