-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Nobody asks for it, and its predicate made the completion of every record write to all of the table's indexes.
DROP INDEX payonce.idempotency_records_unknown;

RESET ROLE;
