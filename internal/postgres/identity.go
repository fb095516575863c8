package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// noticeDatabase closes a database that is not the one which was accepted last, before the connection is used for anything else: it was restored, copied or
// failed over, and may have lost what was committed. A schema that has no such guard yet is let pass: it is migrated next.
func noticeDatabase(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT payonce.notice_database()`)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && (refusal.Code == "42883" || refusal.Code == "3F000") { // no such function, no such schema
		return nil
	}
	if err != nil {
		return fmt.Errorf("notice which database this is: %w", err)
	}
	return nil
}
