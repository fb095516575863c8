package devstack

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"payonce/internal/stack"
)

// State is the directory that keeps what outlives a run: the cluster, the twin's books, the secrets and the ports.
type State struct {
	dir   string
	asked string
}

// OpenState makes the directory when it is missing, or takes another in its place where the user that runs Postgres cannot reach it; Moved tells.
// It stays readable to others, since Postgres may run as another user; the secrets in it are not.
func OpenState(asked string) (State, error) {
	asked, err := filepath.Abs(asked)
	if err != nil {
		return State{}, err
	}
	dir, err := stack.Reachable(asked)
	if err != nil {
		return State{}, fmt.Errorf("state directory: %w", err)
	}
	return State{dir: dir, asked: asked}, nil
}

// Moved says where everything is kept when that is not the directory that was asked for, and why; empty when it is.
func (s State) Moved() string {
	if s.dir == s.asked {
		return ""
	}
	return fmt.Sprintf("%s cannot be reached by the user that runs Postgres: everything is kept in %s", s.asked, s.dir)
}

// Path is a file of the state directory.
func (s State) Path(name string) string { return filepath.Join(s.dir, name) }

// Secret reads the secret of the name, or makes it once and keeps it in a file that only its owner can read.
func (s State) Secret(name string, fresh func() (string, error)) (string, error) {
	kept, err := s.read(name)
	if err != nil || kept != "" {
		return kept, err
	}
	made, err := fresh()
	if err != nil {
		return "", err
	}
	return made, s.keep(name, made)
}

// Next counts up from 1, one a call, also over runs.
func (s State) Next(name string) (int, error) {
	kept, err := s.read(name)
	if err != nil {
		return 0, err
	}
	last := 0
	if kept != "" {
		if last, err = strconv.Atoi(kept); err != nil {
			return 0, fmt.Errorf("%s does not hold a number: %w", s.Path(name), err)
		}
	}
	return last + 1, s.keep(name, strconv.Itoa(last+1))
}

// Listen listens on 127.0.0.1, on the port that the name had in earlier runs if it is free and else on a new one, which is kept.
func (s State) Listen(name string) (net.Listener, error) {
	port, err := s.port(name)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", name, err)
	}
	return listener, nil
}

// Address is a free address on 127.0.0.1: the one that the name had in earlier runs if it is free and else a new one, which is kept.
func (s State) Address(name string) (string, error) {
	port, err := s.port(name)
	return loopback(port), err
}

func (s State) port(name string) (int, error) {
	file := name + ".port"
	kept, err := s.read(file)
	if err != nil {
		return 0, err
	}
	if port, err := strconv.Atoi(kept); err == nil && isFree(port) {
		return port, nil
	}
	port, err := stack.FreePort()
	if err != nil {
		return 0, err
	}
	return port, s.keep(file, strconv.Itoa(port))
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func isFree(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	return err == nil && listener.Close() == nil
}

// read is empty when there is no such file.
func (s State) read(name string) (string, error) {
	text, err := os.ReadFile(s.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// keep writes beside the final place and renames, so that a file is whole or not there.
func (s State) keep(name, text string) error {
	fresh := s.Path(name) + ".new"
	if err := os.WriteFile(fresh, []byte(text+"\n"), 0o600); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := os.Rename(fresh, s.Path(name)); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}
