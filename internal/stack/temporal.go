package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// TemporalConfig says how to run cmd/temporal-dev. Every field but Prefix and UI
// is required.
type TemporalConfig struct {
	Binary      string // from BuildTemporal, or an installed one
	PostgresURL string // of a role that may create databases
	Prefix      string // of its two databases
	Listen      string // host:port; port 0 chooses one
	Namespace   string // created when missing
	UI          string // host:port of the web UI, on loopback; empty: none
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
			"--ui-listen", config.UI,
		},
		Env:   []string{"TEMPORAL_DEV_POSTGRES_URL=" + config.PostgresURL}, // not in the process list
		Ready: regexp.MustCompile(`^temporal: listening on (\S+)`),
		// Two seconds on a quiet machine, most of it the schema; a machine that
		// compiles beside it takes many times that.
		ReadyWithin: 3 * time.Minute,
	}
}

// BuildTemporal builds cmd/temporal-dev below moduleRoot into bin/temporal-dev
// and returns its path. It does nothing when that is newer than every source, as
// make would; the very first build takes minutes, and says so to log.
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
	stale, err := isStale(binary, source)
	if err != nil || !stale {
		return binary, err
	}
	fmt.Fprintln(log, "temporal: building bin/temporal-dev (the first time takes some minutes)")
	fresh := binary + ".new"
	build := exec.CommandContext(ctx, "go", "build", "-o", fresh, ".")
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cmd/temporal-dev: %w\n%s", err, said)
	}
	return binary, os.Rename(fresh, binary) // whole or not there, also while the old one runs
}

// isStale says whether the binary is missing or not newer than every source.
func isStale(binary, source string) (bool, error) {
	built, err := os.Stat(binary)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return false, err
		}
		if !built.ModTime().After(info.ModTime()) {
			return true, nil
		}
	}
	return false, nil
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
