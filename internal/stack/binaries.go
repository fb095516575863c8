package stack

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// ErrNoPostgres says that no usable Postgres is installed.
var ErrNoPostgres = errors.New("no Postgres binaries found (initdb and postgres, in PATH or /usr/lib/postgresql/*/bin): run `make setup`, which installs them")

// Postgres is an installed version of Postgres.
type Postgres struct {
	Dir   string // holds initdb and postgres
	Major int    // for example 15
}

// FindPostgres returns the version in PATH, else the newest one under
// /usr/lib/postgresql. A major other than 0 asks for exactly that version,
// because a data directory is only readable by the one that made it.
func FindPostgres(major int) (Postgres, error) {
	found := append(inPath(), installed("/usr/lib/postgresql/*/bin")...)
	if len(found) == 0 {
		return Postgres{}, ErrNoPostgres
	}
	for _, p := range found {
		if major == 0 || p.Major == major {
			return p, nil
		}
	}
	return Postgres{}, fmt.Errorf("the data directory was made by Postgres %d, and only Postgres %d was found in %s: install %d, or move the state directory away",
		major, found[0].Major, found[0].Dir, major)
}

func inPath() []Postgres {
	path, err := exec.LookPath("postgres")
	if err != nil {
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return usable(filepath.Dir(path))
}

// installed lists the usable directories that match, newest version first.
func installed(pattern string) []Postgres {
	dirs, _ := filepath.Glob(pattern) // the only error is a malformed pattern
	found := usable(dirs...)
	slices.SortStableFunc(found, func(a, b Postgres) int { return cmp.Compare(b.Major, a.Major) })
	return found
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// usable keeps the directories that hold both programs and say their version.
func usable(dirs ...string) []Postgres {
	var found []Postgres
	for _, dir := range dirs {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		said, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
		if err != nil {
			continue
		}
		if version := versionLine.FindSubmatch(said); version != nil {
			major, _ := strconv.Atoi(string(version[1])) // \d+
			found = append(found, Postgres{Dir: dir, Major: major})
		}
	}
	return found
}
