package app

import (
	"errors"
	"fmt"
	"os"

	"payonce/internal/postgres"
	"payonce/internal/timing"
)

// Config is everything that differs between places where payonce runs.
type Config struct {
	DatabaseURL       string // of the owner role, or of any role where the database trusts local roles
	TenantDatabaseURL string // empty: DatabaseURL with the user payonce_tenant
	SystemDatabaseURL string // empty: DatabaseURL with the user payonce_system
	TemporalAddress   string // host:port
	TemporalNamespace string
	TaskQueue         string
	StripeURL         string   // https://api.stripe.com in production
	Keyset            []byte   // Tink keyset that seals columns
	Listen            string   // host:port of the API
	AllowedLoopback   []string // host:port of receivers on this machine, named one by one; none in production
	Timing            timing.Timing
	MaxConns          int32 // of each pool
}

// Validate refuses a configuration that cannot run, naming what is missing.
func (c Config) Validate() error {
	missing := []error{}
	for name, value := range map[string]string{
		"database url": c.DatabaseURL, "Temporal address": c.TemporalAddress, "Temporal namespace": c.TemporalNamespace,
		"task queue": c.TaskQueue, "Stripe url": c.StripeURL,
	} {
		if value == "" {
			missing = append(missing, fmt.Errorf("%s is missing", name))
		}
	}
	if len(c.Keyset) == 0 {
		missing = append(missing, errors.New("the sealing keyset is missing: make one with `payonce keyset`"))
	}
	if c.MaxConns < 2 {
		missing = append(missing, errors.New("a pool needs at least 2 connections"))
	}
	return errors.Join(append(missing, c.Timing.Validate())...)
}

func (c Config) roleURL(given, role string) (string, error) {
	if given != "" {
		return given, nil
	}
	return postgres.WithRole(c.DatabaseURL, role)
}

// ReadKeyset reads the sealing keyset from a file.
func ReadKeyset(path string) ([]byte, error) {
	keyset, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealing keyset: %w", err)
	}
	return keyset, nil
}
