package stack_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"payonce/internal/stack"
)

// The whole of it, as `payonce dev` uses it: it builds cmd/temporal-dev if need be.
func TestTemporalOnPostgresSurvivesBeingKilledAndIsAlone(t *testing.T) {
	binary, err := stack.BuildTemporal(t.Context(), "../..", os.Stderr)
	require.NoError(t, err)
	cluster := startCluster(t, stack.ClusterConfig{StateDir: t.TempDir(), Throwaway: true})
	var out safeBuffer
	supervisor := stack.NewSupervisor(&out)
	defer func() { require.NoError(t, supervisor.Stop()) }()
	temporal := stack.TemporalProgram(stack.TemporalConfig{
		Binary: binary, PostgresURL: cluster.SuperuserURL(), Prefix: "alone_", Listen: "127.0.0.1:0", Namespace: "payonce", UI: "127.0.0.1:0",
	})
	address, err := supervisor.Start(t.Context(), temporal)
	require.NoError(t, err)
	ui := webUI.FindStringSubmatch(out.String())
	require.NotNil(t, ui, "its URL is printed")
	require.Contains(t, get(t, ui[1]+"/", "text/html"), "<html")
	require.Regexp(t, `"name": *"payonce"`, get(t, ui[1]+"/api/v1/namespaces", "application/json"))
	require.Equal(t, "alone_temporal alone_temporal_visibility", ask(t, cluster,
		"SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname LIKE 'alone%'"))
	startWorkflow(t, address, "kept")

	second := temporal
	second.Name = "second"
	_, err = supervisor.Start(t.Context(), second)
	require.ErrorContains(t, err, "exit status 1")
	require.Contains(t, out.String(), "another temporal-dev serves this database")

	require.NoError(t, supervisor.Kill("temporal", syscall.SIGKILL))
	address, err = supervisor.StartAgain(t.Context(), "temporal")
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, address, "kept"))
}

func TestTemporalIsBuiltAgainOnlyWhenItsSourcesChange(t *testing.T) {
	root := t.TempDir()
	source := filepath.Join(root, "cmd", "temporal-dev")
	require.NoError(t, os.MkdirAll(source, 0o755))
	write(t, filepath.Join(source, "go.mod"), "module example.test/temporal\n")
	write(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { println(1) }\n")
	var log safeBuffer

	binary, err := stack.BuildTemporal(t.Context(), root, &log)
	require.NoError(t, err)
	require.FileExists(t, binary)
	require.Contains(t, log.String(), "building")

	log = safeBuffer{}
	write(t, filepath.Join(source, "main_test.go"), "package main\n")
	_, err = stack.BuildTemporal(t.Context(), root, &log)
	require.NoError(t, err)
	require.Empty(t, log.String())

	write(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { println(2) }\n")
	_, err = stack.BuildTemporal(t.Context(), root, &log)
	require.NoError(t, err)
	require.Contains(t, log.String(), "building")

	write(t, filepath.Join(source, "main.go"), "no Go")
	_, err = stack.BuildTemporal(t.Context(), root, &log)
	require.ErrorContains(t, err, "build cmd/temporal-dev")
}

// webUI is the line of temporal-dev that tells the address of its web UI.
var webUI = regexp.MustCompile(`temporal: web UI on (\S+)`)

// get returns the body of a page that answers 200 with the media type.
func get(t *testing.T, url, mediaType string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", body)
	require.Contains(t, answer.Header.Get("Content-Type"), mediaType)
	return string(body)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func startWorkflow(t *testing.T, address, id string) {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "nobody-polls"}, "any")
	require.NoError(t, err)
}

func statusOf(t *testing.T, address, id string) enums.WorkflowExecutionStatus {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	described, err := c.DescribeWorkflow(t.Context(), id, "")
	require.NoError(t, err)
	return described.Status
}

func dial(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: address, Namespace: "payonce"})
	require.NoError(t, err)
	return c
}
