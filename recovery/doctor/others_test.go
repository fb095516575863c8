package doctor_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/recovery/doctor"
)

func TestAReceiverThatWasToldSomethingElseIsSeen(t *testing.T) {
	p := newPatient(t)
	for name, tc := range map[string]struct {
		sees     string
		received func([]doctor.Received) []doctor.Received
	}{
		"two bodies under one id": {"with two bodies", func(all []doctor.Received) []doctor.Received {
			return append(all, doctor.Received{ID: all[0].ID, Body: []byte(`{}`)})
		}},
		"other bytes than the frozen": {"other bytes than are frozen", func(all []doctor.Received) []doctor.Received {
			all[0].Body = []byte(`{}`)
			return all
		}},
		"a message that is not ours": {"is not one of ours", func(all []doctor.Received) []doctor.Received {
			return append(all, doctor.Received{ID: uuid.NewString()})
		}},
		"an id that is none": {"an id that is not ours", func(all []doctor.Received) []doctor.Received {
			return append(all, doctor.Received{ID: "msg_1"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := p.config(t, p.superuser, p.books, p.requests)
			config.Received = tc.received(slices.Clone(p.messages))

			report, err := doctor.Examine(t.Context(), config)

			require.NoError(t, err)
			require.Equal(t, []string{"received"}, failing(report), report.String())
			require.Contains(t, report.String(), tc.sees)
		})
	}
}

func TestMessagesThatArriveInAnotherOrderThanTheirNumbersAreSeen(t *testing.T) {
	p := newPatient(t)
	tx, err := p.superuser.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	second(`UPDATE payonce.notifications SET tries = tries WHERE payment = $1`)(t, p, tx)
	found, err := tx.Query(t.Context(), `SELECT id::text, body FROM payonce.notifications WHERE payment = $1 ORDER BY sequence`, p.paid.UUID)
	require.NoError(t, err)
	inOrder, err := pgx.CollectRows(found, pgx.RowToStructByPos[doctor.Received])
	require.NoError(t, err)
	for i := range inOrder {
		inOrder[i].Body, err = p.app.Sealer.Open("notifications.body", inOrder[i].Body)
		require.NoError(t, err)
	}
	require.Len(t, inOrder, 2)
	config := p.config(t, tx, p.books, p.requests)

	config.Received = append(slices.Clone(inOrder), inOrder[0]) // a redelivery is no disorder
	report, err := doctor.Examine(t.Context(), config)
	require.NoError(t, err)
	require.Empty(t, violationsOf(report))

	config.Received = []doctor.Received{inOrder[1], inOrder[0]}
	report, err = doctor.Examine(t.Context(), config)
	require.NoError(t, err)
	require.Equal(t, []string{"received"}, failing(report))
	require.Contains(t, report.String(), "came after number 2")
}

func TestASessionThatStaysIdleInATransactionIsSeen(t *testing.T) {
	p := newPatient(t)
	idle, err := p.superuser.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, idle.Rollback(t.Context())) }()
	config := p.config(t, p.superuser, p.books, p.requests)
	config.Settled, config.Timing.IdleTransaction = false, time.Nanosecond

	report, err := doctor.Examine(t.Context(), config)

	require.NoError(t, err)
	require.Equal(t, []string{"sessions"}, failing(report), report.String())
	require.Contains(t, report.String(), "is idle in a transaction")
}

func TestWithoutThePermissionToSeeSessionsTheDoctorSaysSo(t *testing.T) {
	p := newPatient(t)

	report, err := doctor.Examine(t.Context(), p.config(t, p.app.System, p.books, p.requests))

	require.NoError(t, err)
	require.Empty(t, violationsOf(report))
	sessions := report.Checks[slices.IndexFunc(report.Checks, func(c doctor.Check) bool { return c.Name == "sessions" })]
	require.Contains(t, sessions.Skipped, "GRANT pg_read_all_stats TO payonce_system")
	require.Equal(t, 1, report.Blind())
	require.Contains(t, report.String(), "1 could not look")
	var table bytes.Buffer
	doctor.WriteTable(&table, report)
	require.Contains(t, table.String(), "could not look: sessions: payonce_system may not see")
	require.Contains(t, table.String(), "could_not_look=1")
	require.Zero(t, sessions.Examined)
}

func TestAPaymentInReviewIsANoteAndNoViolation(t *testing.T) {
	p := newPatient(t)
	p.exec(t, p.superuser, `UPDATE payonce.payments SET review_reason = 'outcome_unknown', review_since = payonce.clock(),
		review_evidence = '{"intent": "pi_1"}' WHERE id = $1`, p.begun.UUID)

	report, err := doctor.Examine(t.Context(), p.config(t, p.superuser, p.books, p.requests))

	require.NoError(t, err)
	require.Empty(t, violationsOf(report))
	require.Equal(t, 1, report.NoteTotal)
	require.Contains(t, report.Notes[0].Text, "outcome_unknown")
	require.Contains(t, report.Notes[0].Text, "pi_1")
}

func TestAReportShowsABoundedNumberAndCountsAll(t *testing.T) {
	p := newPatient(t)
	config := p.config(t, p.superuser, p.books, p.requests)
	for range doctor.MaxShown + 5 {
		config.Received = append(config.Received, doctor.Received{ID: uuid.NewString()})
	}

	report, err := doctor.Examine(t.Context(), config)

	require.NoError(t, err)
	require.Equal(t, doctor.MaxShown+5, report.Violations())
	received := report.Checks[slices.IndexFunc(report.Checks, func(c doctor.Check) bool { return c.Name == "received" })]
	require.Len(t, received.Violations, doctor.MaxShown)
	require.Contains(t, report.String(), "and 5 more")
}
