-- +goose Up
SET LOCAL ROLE payonce_owner;

-- Where a payment's money goes, as the create said: [{"account", "amount"}], amounts that sum to the payment's. Null: all of it to the merchant.
ALTER TABLE payonce.payments ADD COLUMN destinations jsonb;

-- Who gives a refund back, of a payment with destinations: fixed when the refund is reserved, or adopted. Null: the merchant all of it.
ALTER TABLE payonce.refunds ADD COLUMN taken_from jsonb;

RESET ROLE;
