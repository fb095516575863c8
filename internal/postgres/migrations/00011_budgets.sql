-- +goose Up
SET LOCAL ROLE payonce_owner;

-- How many calls a second may go to Stripe for the account, in all and to one endpoint.
ALTER TABLE payonce.provider_accounts
    ADD COLUMN calls_per_second double precision NOT NULL DEFAULT 20
        CHECK (calls_per_second > 0 AND calls_per_second <= 10000),
    ADD COLUMN calls_per_second_per_endpoint double precision NOT NULL DEFAULT 20
        CHECK (calls_per_second_per_endpoint > 0 AND calls_per_second_per_endpoint <= 10000);
UPDATE payonce.provider_accounts SET calls_per_second = 80 WHERE livemode;

-- What may go now, shared by all processes. Unlogged: taking costs no flush, and after a crash a bucket is full, as a new one is.
CREATE UNLOGGED TABLE payonce.call_buckets (
    account     text NOT NULL,
    livemode    boolean NOT NULL,
    endpoint    text NOT NULL,                       -- empty: the calls to all endpoints of the account
    tokens      double precision NOT NULL,           -- calls that might go at refilled_at
    refilled_at timestamptz NOT NULL,
    PRIMARY KEY (account, livemode, endpoint)
) WITH (fillfactor = 50);

-- Takes up to lease_seconds' worth of calls, at least one, out of the endpoint's bucket and the account's: all or, when either has less than one
-- beyond the reserve (a share of its capacity), nothing; then wait_seconds says when there will be one. A bucket holds burst_seconds' worth, at least
-- one call. rate is what both let through, in calls a second.
-- +goose StatementBegin
CREATE FUNCTION payonce.take_calls(
    of_account text, of_livemode boolean, of_endpoint text, reserve double precision, burst_seconds double precision, lease_seconds double precision,
    OUT granted integer, OUT wait_seconds double precision, OUT rate double precision)
    LANGUAGE plpgsql SET search_path = ''
AS $$
DECLARE
    total      double precision; -- calls a second of the account
    single     double precision; -- and of the endpoint
    capacity_t double precision;
    capacity_s double precision;
    tokens_t   double precision;
    tokens_s   double precision;
    locked     integer;
    now        timestamptz;
BEGIN
    SELECT a.calls_per_second, a.calls_per_second_per_endpoint INTO STRICT total, single
        FROM payonce.provider_accounts a WHERE a.provider = 'stripe' AND a.account = of_account AND a.livemode = of_livemode;
    rate := least(total, single);
    capacity_t := greatest(1, total * burst_seconds);
    capacity_s := greatest(1, single * burst_seconds);
    LOOP -- the account's row first, so that two that take never wait for each other
        PERFORM FROM payonce.call_buckets b
            WHERE b.account = of_account AND b.livemode = of_livemode AND b.endpoint IN ('', of_endpoint) ORDER BY b.endpoint FOR UPDATE;
        GET DIAGNOSTICS locked = ROW_COUNT;
        EXIT WHEN locked = 2;
        INSERT INTO payonce.call_buckets (account, livemode, endpoint, tokens, refilled_at)
            VALUES (of_account, of_livemode, '', 'Infinity', payonce.clock()), (of_account, of_livemode, of_endpoint, 'Infinity', payonce.clock())
            ON CONFLICT DO NOTHING;
    END LOOP;
    now := payonce.clock();
    SELECT least(capacity_t, b.tokens + greatest(0, extract(epoch FROM now - b.refilled_at)) * total) INTO STRICT tokens_t
        FROM payonce.call_buckets b WHERE b.account = of_account AND b.livemode = of_livemode AND b.endpoint = '';
    SELECT least(capacity_s, b.tokens + greatest(0, extract(epoch FROM now - b.refilled_at)) * single) INTO STRICT tokens_s
        FROM payonce.call_buckets b WHERE b.account = of_account AND b.livemode = of_livemode AND b.endpoint = of_endpoint;

    granted := floor(least(greatest(1, floor(rate * lease_seconds)),
        tokens_t - reserve * (capacity_t - 1) + 1e-6, tokens_s - reserve * (capacity_s - 1) + 1e-6));
    IF granted < 1 THEN
        granted := 0;
        wait_seconds := greatest((1 + reserve * (capacity_t - 1) - tokens_t) / total, (1 + reserve * (capacity_s - 1) - tokens_s) / single);
        RETURN;
    END IF;
    wait_seconds := 0;
    UPDATE payonce.call_buckets b SET refilled_at = now, tokens = CASE b.endpoint WHEN '' THEN tokens_t ELSE tokens_s END - granted
        WHERE b.account = of_account AND b.livemode = of_livemode AND b.endpoint IN ('', of_endpoint);
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION payonce.take_calls(text, boolean, text, double precision, double precision, double precision) FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE ON payonce.call_buckets TO payonce_system;
GRANT EXECUTE ON FUNCTION payonce.take_calls(text, boolean, text, double precision, double precision, double precision) TO payonce_system;

RESET ROLE;
