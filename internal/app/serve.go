package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/api"
	"payonce/boundaries"
	"payonce/internal/paymentstore"
	"payonce/internal/stripeapi"
	"payonce/payments"
	"payonce/webhooks"
	"payonce/workflows"
)

const (
	wakeWithin   = 2 * time.Second // bounds the wake-up within a request
	repeatsEvery = 500 * time.Millisecond
)

// apiWaker wakes on behalf of a request: bounded, since the relay wakes too.
type apiWaker struct{ app *App }

// wakeAgain is how long no request wakes after a wake-up failed: with Temporal away nobody waits for it, and the relay wakes later.
const wakeAgain = time.Second

// errNotWoken says that a wake-up just failed and none is tried for a while.
var errNotWoken = errors.New("no wake-up: Temporal did not answer a moment ago")

// wake wakes unless a wake-up failed a moment ago.
func (w apiWaker) wake(waking func() error) error {
	if w.app.unwoken.Load() {
		return errNotWoken
	}
	err := waking()
	if err != nil && !errors.Is(err, workflows.ErrOver) && w.app.unwoken.CompareAndSwap(false, true) {
		time.AfterFunc(wakeAgain, func() { w.app.unwoken.Store(false) })
	}
	return err
}

// Wake starts the workflow of a payment that may have none, and signals another's. The command of a payment that is over is decided at once.
func (w apiWaker) Wake(ctx context.Context, claim boundaries.Claim) error {
	waking, cancel := context.WithTimeout(ctx, wakeWithin)
	defer cancel()
	if refund, err := w.refund(waking, claim); refund != nil || err != nil {
		return errors.Join(err, w.wakeRefund(waking, refund))
	}
	if claim.Operation == payments.OperationPayout {
		return w.wakePayout(waking, claim)
	}
	if _, provisions := payments.ProvisionKindOf(claim.Operation); provisions {
		return w.wakeProvision(waking, claim)
	}
	woken := workflows.ErrOver
	switch {
	case claim.Operation == payments.OperationCreate:
		woken = w.wake(func() error { return w.app.waker.Start(waking, claim.Payment) })
	case !claim.Over:
		woken = w.wake(func() error { return w.app.waker.Wake(waking, claim.Payment) })
	}
	if !errors.Is(woken, workflows.ErrOver) {
		return woken
	}
	_, err := w.app.Activities.Decide(waking, claim.Payment)
	return err
}

// refund is the refund that was claimed; nil when something else was: what is only held is given back by a cancel.
func (w apiWaker) refund(ctx context.Context, claim boundaries.Claim) (*payments.Refund, error) {
	if claim.Operation != payments.OperationRefund {
		return nil, nil
	}
	refund, err := paymentstore.RefundOf(ctx, w.app.Tenant, claim.Record)
	if errors.Is(err, paymentstore.ErrNoRefund) {
		return nil, nil
	}
	return &refund, err
}

func (w apiWaker) wakeRefund(ctx context.Context, refund *payments.Refund) error {
	if refund == nil {
		return nil
	}
	err := w.wake(func() error { return w.app.waker.WakeRefund(ctx, refund.Payment, refund.ID) })
	if errors.Is(err, workflows.ErrOver) {
		return nil // it has its outcome
	}
	return err
}

func (w apiWaker) wakePayout(ctx context.Context, claim boundaries.Claim) error {
	payout, err := paymentstore.PayoutOf(ctx, w.app.Tenant, claim.Record)
	if err != nil {
		return err
	}
	err = w.wake(func() error { return w.app.waker.WakePayout(ctx, payout.ID) })
	if errors.Is(err, workflows.ErrOver) {
		return nil // it has its outcome
	}
	return err
}

// wakeProvision wakes what asks Stripe. A wallet asks nobody: its claim was the whole of it.
func (w apiWaker) wakeProvision(ctx context.Context, claim boundaries.Claim) error {
	provision, err := paymentstore.ProvisionOf(ctx, w.app.Tenant, claim.Record)
	if err != nil || !provision.Kind.AtStripe() {
		return err
	}
	err = w.wake(func() error { return w.app.waker.WakeProvision(ctx, provision.ID, claim.Record) })
	if errors.Is(err, workflows.ErrOver) {
		return nil // it has its outcome
	}
	return err
}

// Handler is the whole HTTP surface: API and webhooks. background must run beside it until the context ends.
func (a *App) Handler(ctx context.Context) (handler http.Handler, background func(context.Context) error, err error) {
	hooks, err := webhooks.New(ctx, webhooks.Config{
		APIVersion: stripeapi.APIVersion, Pool: a.System, Sealer: a.Sealer, Log: a.Log, Nudge: a.stored.Send,
		StoreWithin: a.Config.Timing.StoreEvent, BodyWithin: a.Config.Timing.Body, RefreshEvery: a.Config.Timing.RefreshSecrets,
	})
	if err != nil {
		return nil, nil, err
	}
	handler, err = api.New(api.Config{
		Pool: a.Tenant, Sealer: a.Sealer, Commands: a.Commands, Waker: apiWaker{a}, Ready: a.Ready,
		Timing: a.Config.Timing, BodyWithin: a.Config.Timing.Body, Log: a.Log, Webhook: hooks,
	})
	if err != nil {
		return nil, nil, err
	}
	background = func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { hooks.Run(ctx); return nil })
		group.Go(func() error { return a.repeats.Run(ctx, a.System, repeatsEvery, a.Log) })
		return group.Wait()
	}
	return handler, background, nil
}

// Serve answers HTTP on the listener until ctx ends, then drains: requests under way get their answers, new ones are refused.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	handler, background, err := a.Handler(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := api.NewServer(handler, a.Config.Timing, a.Log)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return background(running) })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		// Whoever came last may wait as long as anybody: only then does the grace for its answer begin.
		grace := a.Config.Timing.MaximumWait + a.Config.Timing.ShutdownGrace
		draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		return server.Shutdown(draining)
	})
	return group.Wait()
}
