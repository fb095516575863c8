// Command mutants breaks each protection of payonce in turn and requires that a test notices.
//
// It reads testdata/mutants/*.patch, compiles each into the tests it names with go's -overlay, so that no file of the tree is
// touched and no switch stands in product code, and fails unless every one is caught. Arguments are the names of the mutants to
// run; without any, all of them. It runs inside the test stack: `make test/mutants`.
//
// It imports the mutant package and internal/clock; it must not know what it breaks.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"payonce/internal/mutants/mutant"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run runs the named mutants, or all, from the root of the module, and returns an error unless every one of them was caught.
func run(ctx context.Context, names []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	mutants, err := mutant.Load(filepath.Join(root, mutant.Dir), names)
	if err != nil {
		return err
	}
	runner := mutant.Runner{Root: root, AtOnce: 2 * runtime.NumCPU(), Progress: os.Stdout}
	results, err := runner.Run(ctx, mutants)
	if err != nil {
		return err
	}
	return mutant.Report(os.Stdout, results)
}

// moduleRoot is the nearest folder above that holds a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in this folder or above it")
		}
		dir = parent
	}
}
