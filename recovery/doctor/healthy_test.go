package doctor_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/timing"
	"payonce/recovery/doctor"
)

func TestAHealthySystemPassesEveryCheckAndEachHasLookedAtSomething(t *testing.T) {
	p := newPatient(t)
	for _, settled := range []bool{true, false} {
		config := p.config(t, p.superuser, p.books, p.requests)
		config.Settled = settled

		report, err := doctor.Examine(t.Context(), config)

		require.NoError(t, err)
		require.Empty(t, violationsOf(report))
		for _, check := range report.Checks {
			if (check.Name != "totals" || settled) && check.Name != "commands" {
				require.Positive(t, check.Examined, check.Name)
			}
			require.Contains(t, []int{1, 2, 3, 4, 5, 6, 7}, check.Invariant)
		}
	}
}

func violationsOf(report doctor.Report) string {
	if report.Healthy() {
		return ""
	}
	return report.String()
}

func TestWithoutATwinAndAReceiverTheChecksSayThatTheyLookedAtNothing(t *testing.T) {
	p := newPatient(t)

	report, err := doctor.Examine(t.Context(), doctor.Config{Owner: p.superuser, Sealer: p.app.Sealer, Timing: timing.Quick()})

	require.NoError(t, err)
	require.True(t, report.Healthy(), report.String())
	skipped := map[string]bool{}
	for _, check := range report.Checks {
		if check.Skipped != "" {
			require.Zero(t, check.Examined)
			skipped[check.Name] = true
		}
	}
	for _, name := range []string{"positions", "totals", "intents", "executed", "statuses", "wire", "received"} {
		require.True(t, skipped[name], name)
	}
	var table bytes.Buffer
	doctor.WriteTable(&table, report)
	require.Contains(t, table.String(), "no twin was given")
	require.Contains(t, table.String(), "violations=0")
}

func TestADoctorWithoutADatabaseOrAKeysetRefuses(t *testing.T) {
	_, err := doctor.Examine(t.Context(), doctor.Config{})
	require.ErrorContains(t, err, "database")
	require.ErrorContains(t, err, "keyset")
}
