package doctor

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/payments"
	"payonce/stripesim/control"
)

// provisionIdentity is a provision as a statement has judged it, with what its ids derive from.
type provisionIdentity struct {
	ID       uuid.UUID
	Subject  string
	Faults   []string
	Tenant   uuid.UUID
	Kind     payments.ProvisionKind
	Owner    string
	Currency payments.Currency
	Network  string
	Attempt  int
	Record   uuid.UUID
}

// provisions: what is linked to an owner came from its newest command, both under ids that derive from the owner, and says what that was answered.
func (e *examiner) provisions(ctx context.Context) error {
	c := e.check("provisions", 7, "every customer, connected account and wallet came from one command of its owner, and is what that was answered")
	const next = "only the claim and apply write these: find what else wrote"
	err := page(ctx, e, provisionIdentities, nil,
		func(p provisionIdentity) uuid.UUID { return p.ID },
		func(provisions []provisionIdentity) error {
			for _, p := range provisions {
				c.Examined++
				for _, fault := range p.Faults {
					c.violate(p.Subject, next, "%s", fault)
				}
				tenant := payments.TenantID{UUID: p.Tenant}
				command := payments.ProvisionCommand{Kind: p.Kind, Owner: p.Owner, Currency: p.Currency, Network: p.Network}
				if derived := boundaries.ProvisionID(tenant, command); derived.UUID != p.ID {
					c.violate(p.Subject, next, "has an id that does not derive from its owner (%s)", derived)
				}
				owner := boundaries.ProvisioningOwnerKey(p.Owner, p.Currency, p.Network, p.Attempt)
				if derived := boundaries.RecordID(tenant, p.Kind.Operation(), owner); derived.UUID != p.Record {
					c.violate(p.Subject, next, "has a record that is not of its attempt %d (%s)", p.Attempt, derived)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

const provisionIdentities = `
	SELECT p.id, p.kind || ' ' || p.id || ' (' || p.status || ')', array_remove(ARRAY[
		CASE WHEN r.resource_kind <> p.kind OR r.resource_id <> p.id OR r.tenant <> p.tenant OR r.payment IS NOT NULL
			THEN format('names record %s, which is about something else', p.record) END,
		CASE WHEN (r.status = 'completed') <> (p.status <> 'submitted') THEN format('is %s, and its command is %s', p.status, r.status) END,
		CASE WHEN r.status = 'unknown' AND p.review_reason IS NULL THEN 'has an unknown outcome and is not marked for review' END,
		CASE WHEN r.external_resource_id IS DISTINCT FROM p.provider_id
			THEN format('is linked to %s, and its command was answered with %s', coalesce(p.provider_id, 'nothing'), coalesce(r.external_resource_id, 'nothing')) END,
		CASE WHEN (p.status = 'refused') <> (p.last_error IS NOT NULL) THEN 'is refused without a reason, or has a reason and is not' END], NULL),
		p.tenant, p.kind, p.owner, p.currency, p.network, p.attempt, p.record
	FROM payonce.provisions p JOIN payonce.idempotency_records r ON r.id = p.record
	WHERE p.id > $1 ORDER BY p.id LIMIT $2`

// linked: whom Stripe has for an owner of ours is linked to that owner, and nobody twice.
func (e *examiner) linked(ctx context.Context) error {
	c := e.check("linked", 2, "each customer and connected account of ours at Stripe is linked to its owner, and none was made twice")
	if e.Twin == nil {
		c.Skipped = "no twin was given"
		return nil
	}
	accounts, err := e.accounts(ctx)
	if err != nil {
		return err
	}
	for kind, all := range map[payments.ProvisionKind]func(context.Context, string) ([]control.Party, error){
		payments.ProvisionCustomer: e.Twin.AllCustomers, payments.ProvisionConnectedAccount: e.Twin.AllConnectedAccounts,
	} {
		for _, account := range accounts {
			parties, err := all(ctx, account.ID)
			if err == nil {
				err = e.parties(ctx, c, kind, account, parties)
			}
			if err != nil {
				return fmt.Errorf("check %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// linkedRow is what our side says of whom Stripe's names.
type linkedRow struct {
	ID       uuid.UUID
	Provider string
	Review   bool
}

// parties compares those of an account both ways.
func (e *examiner) parties(ctx context.Context, c *Check, kind payments.ProvisionKind, account payments.Account, parties []control.Party) error {
	there := map[string]bool{}
	var named, tenants []uuid.UUID
	for _, p := range parties {
		there[p.ID] = there[p.ID] || p.Livemode == account.Livemode
		named, tenants = append(named, idIn(p, kind.Metadata())), append(tenants, idIn(p, payments.MetadataTenant))
	}
	ours, err := e.tenants(ctx, tenants)
	if err != nil {
		return err
	}
	rows, err := collect[linkedRow](ctx, e, `SELECT id, coalesce(provider_id, ''), review_reason IS NOT NULL FROM payonce.provisions WHERE id = ANY($1)`, named)
	if err != nil {
		return fmt.Errorf("read provisions: %w", err)
	}
	byID := map[uuid.UUID]linkedRow{}
	for _, row := range rows {
		byID[row.ID] = row
	}
	for _, p := range parties {
		if p.Livemode != account.Livemode || !ours[idIn(p, payments.MetadataTenant)] {
			continue
		}
		c.Examined++
		subject, row := string(kind)+" "+p.ID, byID[idIn(p, kind.Metadata())]
		switch {
		case row.ID == uuid.Nil:
			c.violate(subject, "the database has lost an owner: restore it to a later point", "was made for %s, which is not here", p.Metadata[kind.Metadata()])
		case row.Provider != "" && row.Provider != p.ID:
			c.violate(subject, "find the call that made it; delete it at Stripe once nobody uses it", "was made for %s, which is linked to %s", row.ID, row.Provider)
		case row.Provider == "" && !row.Review && e.mustBeDone(p.Created):
			c.violate(subject, "is the worker running?", "was made for %s, which is not linked to it", row.ID)
		}
	}
	return page(ctx, e, `
		SELECT id, provider_id, false FROM payonce.provisions
		WHERE id > $1 AND kind = $3 AND account = $4 AND livemode = $5 AND provider_id IS NOT NULL AND updated_at < $6 ORDER BY id LIMIT $2`,
		[]any{kind, account.ID, account.Livemode, e.now}, func(row linkedRow) uuid.UUID { return row.ID }, func(rows []linkedRow) error {
			for _, row := range rows {
				if !there[row.Provider] {
					c.violate(string(kind)+" "+row.ID.String(), "is this the twin that the system speaks to? If so, it has lost its state",
						"is linked to %s, which Stripe does not know", row.Provider)
				}
			}
			return nil
		})
}

func idIn(p control.Party, name string) uuid.UUID {
	id, err := uuid.Parse(p.Metadata[name])
	if err != nil {
		return uuid.Nil
	}
	return id
}
