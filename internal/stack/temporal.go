package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// TemporalConfig says how to run cmd/temporal-dev. Every field but Prefix is
// required.
type TemporalConfig struct {
	Binary      string // from BuildTemporal, or an installed one
	PostgresURL string // of a role that may create databases
	Prefix      string // of its two databases
	Listen      string // host:port; port 0 chooses one
	Namespace   string // created when missing
}

// TemporalProgram is the Temporal server as a program named "temporal", whose
// address is that of its frontend.
func TemporalProgram(config TemporalConfig) Program {
	return Program{
		Name: "temporal",
		Command: []string{
			config.Binary,
			"--prefix", config.Prefix,
			"--listen", config.Listen,
			"--namespace", config.Namespace,
		},
		Env:   []string{"TEMPORAL_DEV_POSTGRES_URL=" + config.PostgresURL}, // not in the process list
		Ready: regexp.MustCompile(`^temporal: listening on (\S+)`),
		// Two seconds on a quiet machine, most of it the schema; a machine that
		// compiles beside it takes many times that.
		ReadyWithin: 3 * time.Minute,
	}
}

// BuildTemporal builds cmd/temporal-dev below moduleRoot into bin/temporal-dev
// and returns its path. It does nothing when that was built from the same
// sources; the very first build takes minutes, and says so to log.
func BuildTemporal(ctx context.Context, moduleRoot string, log io.Writer) (string, error) {
	source := filepath.Join(moduleRoot, "cmd", "temporal-dev")
	binary := filepath.Join(moduleRoot, "bin", "temporal-dev")
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(binary + ".lock") // two runs must not build at once
	if err != nil {
		return "", err
	}
	defer unlock()
	sum, err := sumOfSources(source)
	if err != nil {
		return "", err
	}
	built, _ := os.ReadFile(binary + ".sum")
	if _, err := os.Stat(binary); err == nil && string(built) == sum {
		return binary, nil
	}
	fmt.Fprintln(log, "temporal: building bin/temporal-dev (the first time takes some minutes)")
	fresh := binary + ".new"
	build := exec.CommandContext(ctx, "go", "build", "-o", fresh, ".")
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cmd/temporal-dev: %w\n%s", err, said)
	}
	if err := os.Rename(fresh, binary); err != nil {
		return "", err
	}
	return binary, os.WriteFile(binary+".sum", []byte(sum), 0o644)
}

// sumOfSources names the content of a module's directory.
func sumOfSources(dir string) (string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, entry := range entries {
		name := entry.Name()
		isSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if !isSource && name != "go.mod" && name != "go.sum" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// lockFile waits for an exclusive lock.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}
