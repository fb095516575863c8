package main

import (
	"net"
	"testing"
	"time"
)

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	t.Setenv("TEMPORAL_DEV_POSTGRES_URL", "postgres://u@127.0.0.1:1/postgres")
	t.Setenv("TEMPORAL_DEV_PREFIX", "from_environment_")

	set, err := parse([]string{"--prefix", "from_flag_", "--retention", "48h"})

	want := settings{
		postgresURL: "postgres://u@127.0.0.1:1/postgres", prefix: "from_flag_", listen: "127.0.0.1:7233",
		namespace: "payonce", retention: 48 * time.Hour, logLevel: "fatal",
	}
	if err != nil || set != want {
		t.Fatalf("got %+v, %v; want %+v", set, err, want)
	}
}

func TestWhatCannotWorkIsRefused(t *testing.T) {
	t.Setenv("TEMPORAL_DEV_POSTGRES_URL", "")
	const url = "postgres://u@127.0.0.1:1/postgres"
	for _, args := range [][]string{
		{},
		{"--postgres-url", url, "--prefix", "Not-Plain"},
		{"--postgres-url", url, "--retention", "1m"},
		{"--postgres-url", url, "stray"},
	} {
		if _, err := parse(args); err == nil {
			t.Errorf("parse(%q) was accepted", args)
		}
	}
}

func TestBothDatabasesFollowFromTheClustersURL(t *testing.T) {
	main, visibility, err := databases(settings{postgresURL: "postgres://u:p@127.0.0.1:5/postgres?sslmode=disable", prefix: "x_"})
	if err != nil {
		t.Fatal(err)
	}
	if main.url != "postgres://u:p@127.0.0.1:5/x_temporal?sslmode=disable" || main.sql.ConnectAddr != "127.0.0.1:5" {
		t.Errorf("main: %s at %s", main.url, main.sql.ConnectAddr)
	}
	if visibility.sql.DatabaseName != "x_temporal_visibility" || visibility.sql.TLS != nil {
		t.Errorf("visibility: %s, TLS %v", visibility.sql.DatabaseName, visibility.sql.TLS)
	}
	if _, _, err := databases(settings{postgresURL: "host=/tmp user=u"}); err == nil {
		t.Error("a URL without a TCP host was accepted")
	}
}

func TestEveryServiceGetsAPortOfItsOwnAndTheFrontendTheAskedOne(t *testing.T) {
	chosen, err := chooseAddresses("127.0.0.1", "7233")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for _, address := range chosen.byService() {
		ports[address.Port] = true
	}
	if len(ports) != 4 || chosen.frontend.Port != 7233 {
		t.Errorf("got %+v", chosen)
	}
	anywhere := addresses{frontend: &net.TCPAddr{IP: net.IPv4zero, Port: 1}}
	if got := anywhere.dialable().String(); got != "127.0.0.1:1" {
		t.Errorf("the inner clients would dial %s", got)
	}
}

func TestTheWebUIListensOnLoopbackAlone(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:8233", ":8233", "192.0.2.1:8233", "example.test:8233", "[::]:8233", "127.0.0.1", "127.0.0.1:http-alt"} {
		if _, err := uiAddress(listen); err == nil {
			t.Errorf("uiAddress(%q) was accepted", listen)
		}
	}
	taken, err := uiAddress("localhost:0")
	if err != nil || !taken.IP.IsLoopback() || taken.Port == 0 {
		t.Fatalf("got %v, %v", taken, err)
	}
	listener, err := net.ListenTCP("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := uiAddress(taken.String()); err == nil {
		t.Error("an address that is taken was accepted: the UI's library would end the process")
	}
}
