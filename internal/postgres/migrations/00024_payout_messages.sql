-- +goose Up
SET LOCAL ROLE payonce_owner;

-- A payout belongs to no payment, so its messages are numbered within the payout. No foreign key: it would queue a trigger for every message of a payment;
-- the row is inserted under the payout's lock, and payouts are never removed.
ALTER TABLE payonce.notifications
    ALTER COLUMN payment DROP NOT NULL,
    ADD COLUMN payout uuid,
    ADD CONSTRAINT notifications_about_one CHECK ((payment IS NULL) <> (payout IS NULL));
CREATE INDEX notifications_payout ON payonce.notifications (payout, endpoint, sequence) WHERE payout IS NOT NULL;

-- Null: it was here before its messages were, and what had become of it by then is not told.
ALTER TABLE payonce.payouts ADD COLUMN last_message integer;
ALTER TABLE payonce.payouts ALTER COLUMN last_message SET DEFAULT 0;
-- What people said of it, for ever: [{as, reason, by, at, shown, review}]. A payment's are among its facts.
ALTER TABLE payonce.payouts ADD COLUMN resolutions jsonb NOT NULL DEFAULT '[]';

RESET ROLE;
