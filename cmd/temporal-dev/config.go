package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
)

// historyShards cannot be changed once a database has been started with it.
// Four are right for one machine; 64 measured no gain.
const historyShards = 4

// addresses are where the four services listen; only the frontend's is public.
type addresses struct {
	frontend, history, matching, worker *net.TCPAddr
}

func (a addresses) byService() map[string]*net.TCPAddr {
	return map[string]*net.TCPAddr{
		"frontend": a.frontend, "history": a.history, "matching": a.matching, "worker": a.worker,
	}
}

// chooseAddresses keeps the frontend's port as asked, or chooses one for port
// "0", and chooses ports on loopback for the inner services.
func chooseAddresses(host, port string) (addresses, error) {
	ip, err := net.ResolveIPAddr("ip", host)
	if err != nil {
		return addresses{}, fmt.Errorf("--listen: %w", err)
	}
	loopback := net.IPv4(127, 0, 0, 1)
	taken := map[int]bool{}
	var a addresses
	for _, service := range []struct {
		target **net.TCPAddr
		ip     net.IP
	}{{&a.frontend, ip.IP}, {&a.history, loopback}, {&a.matching, loopback}, {&a.worker, loopback}} {
		if service.target == &a.frontend && port != "0" {
			number, err := strconv.Atoi(port)
			if err != nil {
				return addresses{}, fmt.Errorf("--listen: port %q is not a number", port)
			}
			a.frontend = &net.TCPAddr{IP: ip.IP, Port: number}
			taken[number] = true
			continue
		}
		number, err := freePort(service.ip, taken)
		if err != nil {
			return addresses{}, err
		}
		*service.target = &net.TCPAddr{IP: service.ip, Port: number}
		taken[number] = true
	}
	return a, nil
}

// freePort finds a port below the range from which the kernel takes the ports
// of outgoing connections, so that nobody is handed it before we listen.
func freePort(ip net.IP, taken map[int]bool) (int, error) {
	for range 200 {
		port := 20000 + rand.IntN(12000)
		if taken[port] {
			continue
		}
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip, Port: port})
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port between 20000 and 31999 on %s", ip)
}

// serverConfig is the static configuration of a cluster of one.
func serverConfig(a addresses, main, visibility database) *config.Config {
	services := map[string]config.Service{}
	for name, address := range a.byService() {
		services[name] = config.Service{RPC: config.RPC{GRPCPort: address.Port, BindOnIP: address.IP.String()}}
	}
	return &config.Config{
		Services: services,
		Persistence: config.Persistence{
			DefaultStore:     "main",
			VisibilityStore:  "visibility",
			NumHistoryShards: historyShards,
			DataStores: map[string]config.DataStore{
				"main":       {SQL: &main.sql},
				"visibility": {SQL: &visibility.sql},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        "active",
			CurrentClusterName:       "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: a.dialable().String()},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: a.dialable().String()},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
}

// dialable is the frontend's address for the server's own inner clients.
func (a addresses) dialable() *net.TCPAddr {
	if a.frontend.IP.IsUnspecified() {
		return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: a.frontend.Port}
	}
	return a.frontend
}

// dynamicConfig are the differences to the server's defaults, which are meant
// for clusters.
func dynamicConfig() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// One partition: with the default of four, a poll and a task that land on
		// different partitions wait for forwarding (measured p95 1.58 s against 0.6 s).
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		// Sized for one machine's memory.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 8096,
		// Lists for people and the doctor, not for the payment path.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
		// A burst of short test workflows must not meet a limit meant for tenants.
		dynamicconfig.FrontendRPS.Key():                        20000,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(): 20000,
		// No call to the outside, ever.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// Long polls end soon enough for a quick stop of server and workers.
		dynamicconfig.MatchingLongPollExpirationInterval.Key(): 20 * time.Second,
	}
}
