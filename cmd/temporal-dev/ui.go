package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	ui "github.com/temporalio/ui-server/v2/server"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

// uiWithin bounds the start of the web UI, which does nothing but listen.
const uiWithin = 30 * time.Second

// startUI serves Temporal's web UI, whose pages are inside its module, and returns
// its URL once it answers. It makes no call but to the frontend.
//
// The address is tried first, because the UI's library ends the whole process when
// it cannot listen.
func startUI(ctx context.Context, set settings, frontend string) (url string, stop func(), err error) {
	address, err := uiAddress(set.ui)
	if err != nil {
		return "", nil, err
	}
	server := ui.NewServer(server_options.WithConfigProvider(&config.Config{
		TemporalGRPCAddress: frontend,
		Host:                address.IP.String(),
		Port:                address.Port,
		EnableUI:            true,
		DefaultNamespace:    set.namespace,
		DisableNewsFetch:    true,
		HideLogs:            true,
		CORS:                config.CORS{CookieInsecure: true}, // there is no TLS on loopback
	}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Start() // nil, always
	}()
	stop = func() { server.Stop(); <-ended }
	url = "http://" + address.String()
	if err := awaitUI(ctx, url); err != nil {
		stop()
		return "", nil, fmt.Errorf("web UI: %w", err)
	}
	return url, stop, nil
}

// uiAddress is a free address on loopback: the UI has no authentication, and
// whoever reaches it may end workflows. Port 0 chooses one.
func uiAddress(listen string) (*net.TCPAddr, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("--ui-listen: %w", err)
	}
	ip := net.ParseIP(host)
	if host == "localhost" {
		ip = net.IPv4(127, 0, 0, 1)
	}
	if ip.To4() == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("--ui-listen %s: the web UI has no authentication, so give an IPv4 loopback address such as 127.0.0.1", listen)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("--ui-listen: port %q is not a number", port)
	}
	if number == 0 {
		if number, err = freePort(ip, nil); err != nil {
			return nil, err
		}
	}
	address := &net.TCPAddr{IP: ip, Port: number}
	free, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--ui-listen: %w", err)
	}
	return address, free.Close()
}

// awaitUI asks for the first page until it is there.
func awaitUI(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uiWithin, errors.New("it does not answer"))
	defer cancel()
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
		if err != nil {
			return err
		}
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
