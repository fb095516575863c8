package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// overlay applies the patch to copies of the files it changes, under dir, and returns the path of the JSON that lets the go
// command read the copies in place of the files of root. Embedded files can be changed like Go files.
func (m Mutant) overlay(ctx context.Context, root, dir string) (string, error) {
	tree := filepath.Join(dir, "tree")
	replace := map[string]string{}
	for _, file := range m.Files {
		original := filepath.Join(root, filepath.FromSlash(file))
		mutated := filepath.Join(tree, filepath.FromSlash(file))
		if err := copyFile(original, mutated); err != nil {
			return "", err
		}
		replace[original] = mutated
	}
	if err := m.apply(ctx, tree); err != nil {
		return "", err
	}
	for original, mutated := range replace {
		same, err := equalFiles(original, mutated)
		if err != nil {
			return "", err
		}
		if same {
			return "", fmt.Errorf("the patch leaves %s as it is", original)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// apply patches the files under tree. The counts in the heads of the hunks are taken from their lines, so that a patch may be
// edited by hand; lines may have moved, but their contents must still be there.
func (m Mutant) apply(ctx context.Context, tree string) error {
	git := exec.CommandContext(ctx, "git", "apply", "--recount", "--whitespace=nowarn", "-")
	git.Dir = tree
	// Without the ceiling git would take the repository around the temporary folder, if there is one, and skip every file.
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(tree))
	git.Stdin = bytes.NewReader(m.patch)
	if output, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("the patch does not apply: %s (%w)", strings.TrimSpace(string(output)), err)
	}
	return nil
}

// copyFile copies a file into a folder that may not exist yet.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// equalFiles tells whether two files hold the same bytes.
func equalFiles(one, other string) (bool, error) {
	a, err := os.ReadFile(one)
	if err != nil {
		return false, err
	}
	b, err := os.ReadFile(other)
	if err != nil {
		return false, err
	}
	return bytes.Equal(a, b), nil
}
