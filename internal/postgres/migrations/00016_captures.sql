-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Manual captures. The hold stands on the pending side of the ledger; hold_due_at is when somebody has to see to it.
ALTER TABLE payonce.payments
    ADD COLUMN multicapture   boolean NOT NULL DEFAULT false,  -- the intent was asked to allow several captures
    ADD COLUMN hold_expiry    text NOT NULL DEFAULT 'void' CHECK (hold_expiry IN ('capture', 'void')),
    ADD COLUMN amount_held    bigint NOT NULL DEFAULT 0 CHECK (amount_held >= 0), -- what the pending journals hold
    ADD COLUMN capture_before timestamptz,                     -- when Stripe lets the hold go
    ADD COLUMN hold_due_at    timestamptz,                     -- when the hold is warned of, then captured or voided; null: it waits for nobody
    ADD COLUMN hold_warned    boolean NOT NULL DEFAULT false;
CREATE INDEX payments_due_hold ON payonce.payments (hold_due_at) WHERE hold_due_at IS NOT NULL;

-- What the payment had captured when a capture was accepted, and will have after it (null: all that is held): of an intent that allows several, the
-- total tells this capture from none.
ALTER TABLE payonce.idempotency_records
    ADD COLUMN captured_before bigint,
    ADD COLUMN captured_after  bigint;

RESET ROLE;
