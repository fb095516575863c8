-- +goose Up
SET LOCAL ROLE payonce_owner;

-- A connected account has no secret key of its own: its platform's acts for it, and the account is named with each call
-- (https://docs.stripe.com/connect/authentication). Whose it is never changes: Stripe knows its idempotency keys by both.
ALTER TABLE payonce.provider_accounts
    ALTER COLUMN secret_key DROP NOT NULL,
    ADD COLUMN platform text,                        -- the account that it is connected to; null: it is its own
    ADD CONSTRAINT provider_accounts_key CHECK ((platform IS NULL) = (secret_key IS NOT NULL) AND platform <> account),
    ADD CONSTRAINT provider_accounts_platform FOREIGN KEY (provider, platform, livemode) REFERENCES payonce.provider_accounts;

RESET ROLE;
