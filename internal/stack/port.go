package stack

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// FreePort returns a TCP port on 127.0.0.1 that nobody listens on. It comes from
// 20000–31999, below the range from which the kernel takes the ports of outgoing
// connections, so that it is still free when a child listens a moment later.
func FreePort() (int, error) {
	for range 200 {
		if port := 20000 + rand.IntN(12000); isFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port between 20000 and 31999 on 127.0.0.1")
}

func isFree(port int) bool {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// keptPort returns the port in the file if it is still free, else a new one that
// it writes there: addresses stay the same between runs where they can.
func keptPort(file string) (int, error) {
	if text, err := os.ReadFile(file); err == nil {
		if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && isFree(port) {
			return port, nil
		}
	}
	port, err := FreePort()
	if err != nil {
		return 0, err
	}
	return port, os.WriteFile(file, []byte(strconv.Itoa(port)+"\n"), 0o644)
}
