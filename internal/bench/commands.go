package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/postgres"
	"payonce/internal/timing"
	"payonce/payments"
)

// commands calls the command boundary of the product in this process.
type commands struct {
	site     *site
	boundary *boundaries.Commands
	tenant   *pgxpool.Pool
	system   *pgxpool.Pool
}

// openCommands opens pools as the product has them; tracer may be nil.
func (s *site) openCommands(ctx context.Context, tracer *capture) (*commands, error) {
	c := &commands{site: s}
	for role, pool := range map[string]**pgxpool.Pool{postgres.RoleTenant: &c.tenant, postgres.RoleSystem: &c.system} {
		opened, err := s.openPool(ctx, role, microInFlight)
		if err != nil {
			return nil, err
		}
		if tracer != nil {
			config := opened.Config()
			config.ConnConfig.Tracer = tracer
			opened.Close()
			if opened, err = pgxpool.NewWithConfig(ctx, config); err != nil {
				return nil, err
			}
		}
		*pool = opened
	}
	c.boundary = boundaries.NewCommands(c.tenant, s.sealer, timing.Production(), boundaries.NewSettled(), boundaries.NewRepeats())
	return c, nil
}

func (c *commands) close() {
	c.tenant.Close()
	c.system.Close()
}

// claim claims the create of a new order, from the command on.
func (c *commands) claim(ctx context.Context, reference string) (boundaries.Claim, error) {
	method, description := "pm_card_visa", "An order of the benchmark"
	command := payments.CreateCommand{
		Reference: reference, Amount: 1999, Currency: "eur", PaymentMethod: &method, Description: &description, Metadata: map[string]string{"shop": "bench"},
	}
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
	if err != nil {
		return boundaries.Claim{}, err
	}
	claim, err := c.boundary.ClaimCreate(ctx, boundaries.Asking{
		Tenant: c.site.tenant, Key: boundaries.CallerKey(reference), Normalised: normalised, AttendedFor: timing.Production().DefaultWait,
	}, command)
	if err == nil && claim.Outcome != boundaries.Acquired {
		err = fmt.Errorf("claim of %s: %s", reference, claim.Outcome)
	}
	return claim, err
}

// complete stores the outcome of a claim.
func (c *commands) complete(ctx context.Context, claim boundaries.Claim) error {
	summary := map[string]any{"payment": claim.Payment, "status": "succeeded", "amount": 1999, "currency": "eur"}
	stored, err := boundaries.Complete(ctx, c.system, claim.Record, 0, "pi_bench", 201, summary)
	if err == nil && !stored {
		err = fmt.Errorf("the record of %s was not completed", claim.Payment)
	}
	return err
}

// newReference names an order that there was never before.
func newReference() string { return "order-" + uuid.NewString() }
