-- Run before the numbered migrations, each time, by a role that may create roles (or after an operator created them).
-- Four login roles: the owner of every object; the tenant role of the API; the system role of the worker, the webhooks
-- and the recovery loops; the twin's role, which may read the clock and nothing else.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['payonce_owner', 'payonce_tenant', 'payonce_system', 'payonce_twin'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I LOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database of this cluster is being migrated at the same moment
            END;
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'payonce') THEN
        CREATE SCHEMA payonce AUTHORIZATION payonce_owner;
    END IF;
END
$$;
