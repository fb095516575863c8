package doctor_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/payments"
	"payonce/recovery/doctor"
	"payonce/stripesim/control"
	"payonce/workflows"
)

func illnessesOfProvisions() []illness {
	const theCustomer = ` WHERE kind = 'customer'`
	return []illness{
		{name: "a customer under another owner", check: "provisions", sees: "does not derive from its owner", plant: plainly(
			`UPDATE payonce.provisions SET owner = 'another'` + theCustomer)},
		{name: "a customer of another command", check: "provisions", sees: "is not of its attempt 2", plant: plainly(
			`UPDATE payonce.provisions SET attempt = 2` + theCustomer)},
		{name: "a customer that is another than was answered", check: "provisions", sees: "was answered with cus_", also: []string{"linked"}, plant: plainly(
			`UPDATE payonce.provisions SET provider_id = 'cus_another'` + theCustomer)},
		{name: "a wallet ahead of its command", check: "provisions", sees: "its command is in_progress", also: []string{"outcomes", "commands"}, plant: plainly(
			`UPDATE payonce.idempotency_records SET status = 'in_progress', completed_at = NULL WHERE resource_kind = 'wallet'`)},
		{name: "a refusal without a reason", check: "provisions", sees: "refused without a reason", plant: plainly(
			`UPDATE payonce.provisions SET status = 'refused' WHERE kind = 'wallet'`)},
	}
}

// plainly plants by one statement.
func plainly(statement string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		p.exec(t, tx, statement)
	}
}

// provision links a customer, a connected account and a wallet.
func (p *patient) provision(t *testing.T) {
	t.Helper()
	for _, command := range []payments.ProvisionCommand{
		{Kind: payments.ProvisionCustomer, Owner: "owner-1"},
		{Kind: payments.ProvisionConnectedAccount, Owner: "owner-1", Currency: "usd", Country: "US"},
		{Kind: payments.ProvisionWallet, Owner: "owner-1", Currency: "usd", Network: "main"},
	} {
		normalised, err := boundaries.Normalise(command.Kind.Operation(), command.Kind.Path(), command)
		require.NoError(t, err)
		asking := boundaries.Asking{Tenant: p.tenant, Key: boundaries.CallerKey(command.Kind), Normalised: normalised}
		claim, err := p.app.Commands.ClaimProvision(t.Context(), asking, command)
		require.NoError(t, err)
		if !command.Kind.AtStripe() {
			continue
		}
		act := workflows.ProvisionAct{Version: 1, Provision: boundaries.ProvisionID(p.tenant, command), Owner: boundaries.ProvisionWorkflowID(claim.Record)}
		step, err := p.app.Activities.CreateProvision(t.Context(), act)
		require.NoError(t, err)
		require.Equal(t, payments.ProvisionLinked, step.Status)
	}
}

func TestCustomersThatStripeHasTooManyOrTooFewAreSeen(t *testing.T) {
	p := newPatient(t)
	for name, tc := range map[string]struct {
		sees string
		sick func([]control.Party) []control.Party
	}{
		"a second one for the owner": {"which is linked to cus_", func(all []control.Party) []control.Party {
			second := all[0]
			second.Seq, second.ID = all[len(all)-1].Seq+1, "cus_second"
			return append(all, second)
		}},
		"one for an owner who is not here": {"which is not here", func(all []control.Party) []control.Party {
			lost := all[0]
			lost.Seq, lost.ID = all[len(all)-1].Seq+1, "cus_lost"
			lost.Metadata = map[string]string{payments.MetadataTenant: p.tenant.String(), payments.ProvisionCustomer.Metadata(): p.tenant.String()}
			return append(all, lost)
		}},
		"none at all": {"which Stripe does not know", func([]control.Party) []control.Party { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			healthy := p.customers
			p.customers = tc.sick(slices.Clone(healthy))
			defer func() { p.customers = healthy }()

			report, err := doctor.Examine(t.Context(), p.config(t, p.superuser, p.books, p.requests))

			require.NoError(t, err)
			require.Equal(t, []string{"linked"}, failing(report), report.String())
			require.Contains(t, report.String(), tc.sees)
		})
	}
}
