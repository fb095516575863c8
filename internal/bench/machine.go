package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"

	"payonce/internal/bench/result"
)

// describeMachine says what the run runs on. What cannot be learnt stays empty.
func describeMachine(ctx context.Context, db *pgx.Conn) (result.Machine, error) {
	m := result.Machine{
		CPU: lineAfter("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Go: runtime.Version(),
		MemoryGB: number(strings.TrimSuffix(lineAfter("/proc/meminfo", "MemTotal"), " kB")) * 1024 / 1e9,
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = number(strings.Fields(string(load))[0])
	}
	return m, db.QueryRow(ctx, `SELECT current_setting('server_version')`).Scan(&m.Postgres)
}

// lineAfter is what stands behind the colon of the first line of a file that begins with the name.
func lineAfter(file, name string) string {
	text, _ := os.ReadFile(file) // not there: empty
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit is the checked-out commit, with a mark when the tree is not as committed.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	named := strings.TrimSpace(string(head))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(changed) > 0 {
		named += "+"
	}
	return named
}
