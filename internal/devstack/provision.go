package devstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"payonce/internal/tenants"
	"payonce/notifications"
	"payonce/payments"
	"payonce/stripesim/control"
)

// callsPerSecond is what the twin is sent at most; unlike Stripe it limits nobody.
const callsPerSecond = 1000

// Files of the state directory that hold secrets.
const (
	fileAPIKey         = "api_key"
	fileWebhookSecret  = "webhook_secret"
	fileReceiverSecret = "receiver_secret"
)

// provision brings account, tenant, API key, the twin's webhook endpoint and the receiver to what the configuration says. It changes nothing
// that is right already.
func (s *Stack) provision(ctx context.Context) error {
	webhookSecret, err := s.config.State.Secret(fileWebhookSecret, func() (string, error) { return "whsec_" + rand.Text(), nil })
	if err != nil {
		return err
	}
	if err := s.provisionTenant(ctx, webhookSecret); err != nil {
		return err
	}
	if err := s.provisionKey(ctx); err != nil {
		return err
	}
	if err := s.provisionWebhook(ctx, webhookSecret); err != nil {
		return err
	}
	return s.provisionReceiver(ctx)
}

func (s *Stack) provisionTenant(ctx context.Context, webhookSecret string) error {
	account := payments.Account{ID: accountID}
	err := tenants.CreateAccount(ctx, s.system, s.Sealer, account, secretKey, []string{webhookSecret})
	if errors.Is(err, tenants.ErrExists) {
		err = tenants.ReplaceAccountSecrets(ctx, s.system, s.Sealer, account, secretKey, []string{webhookSecret})
	}
	if err == nil {
		rate := float64(callsPerSecond)
		err = tenants.LimitCalls(ctx, s.system, account, &rate, &rate)
	}
	if err != nil {
		return fmt.Errorf("provision account: %w", err)
	}
	s.Tenant, err = tenants.CreateTenant(ctx, s.system, tenantName, account)
	if errors.Is(err, tenants.ErrExists) {
		var known tenants.Tenant
		known, err = tenants.ByName(ctx, s.system, tenantName)
		s.Tenant = known.ID
	}
	if err != nil {
		return fmt.Errorf("provision tenant: %w", err)
	}
	return nil
}

// provisionKey keeps the API key in a file. A key that the database does not know is replaced: only its hash is stored, so none can be shown again.
func (s *Stack) provisionKey(ctx context.Context) error {
	s.APIKeyFile = s.config.State.Path(fileAPIKey)
	fresh := func() (string, error) {
		return tenants.CreateAPIKey(ctx, s.system, s.Tenant, tenants.ScopeRead, tenants.ScopeWrite)
	}
	key, err := s.config.State.Secret(fileAPIKey, fresh)
	if err != nil {
		return fmt.Errorf("provision API key: %w", err)
	}
	known, err := tenants.FindAPIKey(ctx, s.system, key)
	if errors.Is(err, tenants.ErrNotFound) || err == nil && known.Tenant != s.Tenant {
		if key, err = fresh(); err == nil {
			err = s.config.State.keep(fileAPIKey, key)
		}
	}
	if err != nil {
		return fmt.Errorf("provision API key: %w", err)
	}
	s.APIKey = key
	return nil
}

// provisionWebhook lets the twin deliver to the API's address, which outlives the API's process, and to no address of an earlier run.
func (s *Stack) provisionWebhook(ctx context.Context, secret string) error {
	if s.config.Listen == "" {
		address, err := s.config.State.Address(API)
		if err != nil {
			return err
		}
		s.config.Listen = address
	}
	s.APIURL = "http://" + s.config.Listen
	url := s.APIURL + "/webhooks/stripe"
	known, err := s.Twin.Endpoints(ctx)
	if err != nil {
		return fmt.Errorf("provision webhook: %w", err)
	}
	for _, endpoint := range known {
		if endpoint.URL != url {
			if err := s.Twin.DeleteEndpoint(ctx, endpoint.ID); err != nil {
				return fmt.Errorf("provision webhook: %w", err)
			}
		}
	}
	if _, err := s.Twin.AddEndpoint(ctx, control.Endpoint{URL: url, Secret: secret, Account: accountID}); err != nil {
		return fmt.Errorf("provision webhook: %w", err)
	}
	return nil
}

// provisionReceiver registers the receiver; one at another address, or whose secret is lost, is disabled.
func (s *Stack) provisionReceiver(ctx context.Context) error {
	url := "http://" + s.config.Receiver + "/messages"
	endpoints, err := notifications.List(ctx, s.system, s.Tenant)
	if err != nil {
		return err
	}
	kept, err := s.config.State.read(fileReceiverSecret)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		switch {
		case endpoint.DisabledAt != nil:
		case endpoint.URL == url && kept != "":
			s.ReceiverSecret = kept
			return nil
		default:
			if err := notifications.Disable(ctx, s.system, s.Tenant, endpoint.ID); err != nil {
				return fmt.Errorf("provision receiver: %w", err)
			}
		}
	}
	addresses, err := notifications.NewAddresses([]string{s.config.Receiver}, nil)
	if err != nil {
		return err
	}
	if _, s.ReceiverSecret, err = notifications.Create(ctx, s.system, s.Sealer, addresses, s.Tenant, url); err != nil {
		return fmt.Errorf("provision receiver: %w", err)
	}
	return s.config.State.keep(fileReceiverSecret, s.ReceiverSecret)
}
