-- +goose Up
SET LOCAL ROLE payonce_owner;

-- What people said of it, for ever: [{as, reason, by, at, shown, review}].
ALTER TABLE payonce.provisions ADD COLUMN resolutions jsonb NOT NULL DEFAULT '[]';

RESET ROLE;
