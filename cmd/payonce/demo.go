package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"payonce/internal/demo"
)

type demoCommand struct {
	State string `env:"PAYONCE_DEMO_STATE" default:".payonce/demo" help:"Directory that keeps data, secrets and ports between runs."`
	Seed  int64  `default:"1" help:"Decides the mix of orders and the faults."`
	JSON  string `name:"json" placeholder:"FILE" help:"Write the result as JSON to this file too."`
}

// Run runs the demo; what failed is in its result, on stdout.
func (c *demoCommand) Run(ctx context.Context) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	err = demo.Run(ctx, demo.Options{State: c.State, Executable: executable, Seed: c.Seed, JSON: c.JSON, Out: os.Stdout})
	if errors.Is(err, demo.ErrFailed) {
		return exitError{1}
	}
	return err
}
