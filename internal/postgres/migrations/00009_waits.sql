-- +goose Up
SET LOCAL ROLE payonce_owner;

-- A payment that waits for its payer is given up at abandon_at; null while it waits for nobody, or while a command is open.
ALTER TABLE payonce.payments
    ADD COLUMN abandon_at  timestamptz,
    ADD COLUMN next_action bytea;                    -- sealed: what the payer is asked to do, in requires_action
UPDATE payonce.payments SET abandon_at = payonce.clock() + interval '24 hours'
    WHERE status IN ('requires_payment_method', 'requires_action') AND failure IS NULL;
CREATE INDEX payments_due_abandon ON payonce.payments (abandon_at) WHERE abandon_at IS NOT NULL;

RESET ROLE;
