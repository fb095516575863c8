package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Violates tells whether err is the refusal by the named constraint.
func Violates(err error, constraint string) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.ConstraintName == constraint
}

// Retryable tells whether the transaction that failed with err may be run again unchanged: it lost a serialisation race,
// a deadlock or a lock wait, and nothing of it was committed.
func Retryable(err error) bool {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return false
	}
	switch refusal.Code {
	case "40001", "40P01", "55P03":
		return true
	default:
		return false
	}
}

// Unavailable tells whether err says that the database cannot be reached or has no room, so that a caller should come back.
func Unavailable(err error) bool {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		switch refusal.Code[:2] {
		case "08", "53", "57":
			return true
		}
		return refusal.Code == "25P03" // idle in transaction for too long: the session is gone
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.Timeout(err)
}
