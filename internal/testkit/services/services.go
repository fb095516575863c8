// Package services says where the Postgres cluster and the Temporal server for
// tests are.
//
// The environment decides; where it is silent, the file that `teststack up`
// writes while it runs. A test that needs a missing service fails with a message
// that says what to run; it is never skipped.
//
// It imports nothing of payonce and knows nothing of what tests do with them.
package services

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Names of the environment variables, and of the lines in File.
const (
	// PostgresVariable holds the URL of the cluster's superuser.
	PostgresVariable = "PAYONCE_TEST_POSTGRES_URL"
	// TemporalVariable holds host:port of the Temporal frontend.
	TemporalVariable = "PAYONCE_TEST_TEMPORAL"
	// Namespace is the one that the tests' Temporal server has from the start.
	Namespace = "payonce"
	// File, below the module's root, is written by `teststack up`.
	File = ".payonce/test.env"
)

// command is what a developer types.
const command = "go run ./internal/testkit/teststack"

// Where are the addresses of both services.
type Where struct {
	PostgresURL string // of the superuser
	Temporal    string // host:port
}

// Postgres is the superuser's URL of the cluster for tests.
func Postgres() (string, error) { return find(PostgresVariable) }

// Temporal is host:port of the Temporal server for tests.
func Temporal() (string, error) { return find(TemporalVariable) }

func find(variable string) (string, error) {
	if value := os.Getenv(variable); value != "" {
		return value, nil
	}
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if value := lookUp(text, variable); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("%s is not set and %s does not name it: run `%s up` in another terminal, or the tests as `%s -- go test ./...`",
		variable, File, command, command)
}

func lookUp(text []byte, variable string) string {
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		if name, value, _ := strings.Cut(scanner.Text(), "="); name == variable {
			return value
		}
	}
	return ""
}

// Environ is the services as environment variables, NAME=value.
func (w Where) Environ() []string {
	return []string{PostgresVariable + "=" + w.PostgresURL, TemporalVariable + "=" + w.Temporal}
}

// Write writes File below the module's root.
func (w Where) Write(root string) error {
	path := filepath.Join(root, File)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(w.Environ(), "\n")+"\n"), 0o644)
}

// ModuleRoot is the directory of go.mod, from the working directory upwards.
func ModuleRoot() (string, error) {
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
			return "", errors.New("no go.mod from the working directory upwards")
		}
		dir = parent
	}
}
