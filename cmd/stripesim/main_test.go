package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/stripesim/control"
)

// asProgram makes the test binary run as the program itself, so that it can be killed.
const asProgram = "STRIPESIM_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type process struct {
	cmd  *exec.Cmd
	base string
	ctl  *control.Client
}

// launch starts the program and waits for its first line.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	base, found := strings.CutPrefix(strings.TrimSpace(line), "stripesim: listening on ")
	require.True(t, found, line)
	require.True(t, strings.HasPrefix(base, "http://127.0.0.1:"), base)
	return &process{cmd: cmd, base: base, ctl: control.NewClient(base, nil)}
}

func (p *process) pay(t *testing.T, key string) (status int, body string, replayed bool) {
	t.Helper()
	status, body, replayed, err := p.try(t.Context(), key)
	require.NoError(t, err)
	return status, body, replayed
}

func (p *process) try(ctx context.Context, key string) (status int, body string, replayed bool, err error) {
	form := url.Values{"amount": {"2000"}, "currency": {"usd"}, "confirm": {"true"}, "payment_method": {"pm_card_visa"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/v1/payment_intents", strings.NewReader(form.Encode()))
	if err != nil {
		return 0, "", false, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer sk_test_shop")
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", false, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), response.Header.Get("Idempotent-Replayed") == "true", err
}

func TestBooksKeysAndLogSurviveSIGKILL(t *testing.T) {
	state := filepath.Join(t.TempDir(), "twin.db")
	first := launch(t, "--state", state)
	_, body, _ := first.pay(t, "k")
	for i := range 20 {
		first.pay(t, string(rune('a'+i)))
	}
	books, err := first.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGKILL))
	_ = first.cmd.Wait()

	second := launch(t, "--state", state)
	kept, err := second.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.Equal(t, books, kept)
	rows, err := second.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 21)
	_, again, replayed := second.pay(t, "k")
	require.True(t, replayed)
	require.Equal(t, body, again)
}

func TestWhatWasAnsweredSurvivesSIGKILLInTheMiddle(t *testing.T) {
	state := filepath.Join(t.TempDir(), "twin.db")
	first := launch(t, "--state", state)
	var mu sync.Mutex
	answered := map[string]string{}
	var payers sync.WaitGroup
	enough := make(chan struct{})
	for payer := range 8 {
		payers.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("%d-%d", payer, n)
				_, body, _, err := first.try(t.Context(), key)
				if err != nil {
					return
				}
				mu.Lock()
				answered[key] = body
				if len(answered) == 50 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGKILL))
	payers.Wait()
	_ = first.cmd.Wait()

	second := launch(t, "--state", state)
	for key, body := range answered {
		_, again, replayed := second.pay(t, key)
		require.True(t, replayed, key)
		require.Equal(t, body, again, key)
	}
	rows, err := second.ctl.AllRequests(t.Context())
	require.NoError(t, err)
	executed := 0
	for _, row := range rows {
		if row.Executed {
			executed++
		}
	}
	books, err := second.ctl.AllBooks(t.Context())
	require.NoError(t, err)
	require.Len(t, books, executed, "log and books are written as one")
	events, err := second.ctl.AllEvents(t.Context())
	require.NoError(t, err)
	require.Len(t, events, 3*executed)
}

func TestSIGTERMAndSIGINTEndItCleanly(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := launch(t)
		status, _, _ := p.pay(t, "k")
		require.Equal(t, http.StatusOK, status)
		require.NoError(t, p.cmd.Process.Signal(signal))
		require.NoError(t, p.cmd.Wait())
	}
}

func TestEndpointsOfTheCommandLineAreRegistered(t *testing.T) {
	p := launch(t, "--endpoint", "http://127.0.0.1:1/a?b=c=whsec_one", "--endpoint", "http://127.0.0.1:1/b=whsec_two")
	endpoints, err := p.ctl.Endpoints(t.Context())
	require.NoError(t, err)
	require.Len(t, endpoints, 2)
	require.Equal(t, "http://127.0.0.1:1/a?b=c", endpoints[0].URL)
	require.Equal(t, "whsec_one", endpoints[0].Secret)
}

func TestBadFlagsAreErrors(t *testing.T) {
	for _, args := range [][]string{{"--colour"}, {"--endpoint", "nonsense"}, {"--clock-url", "nonsense://x"}, {"--listen", "nowhere"}, {"--state", "/nonexistent/x/y"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		require.Error(t, run(ctx, args, io.Discard, io.Discard), args)
		cancel()
	}
}
