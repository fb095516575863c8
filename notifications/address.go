package notifications

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// ErrAddressRefused says that messages are not sent there. It says no more: which address a name has inside is nobody's business.
var ErrAddressRefused = errors.New("address is not allowed")

// ErrAddressUnresolved says that a receiver's name has no address now.
var ErrAddressUnresolved = errors.New("address cannot be resolved")

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Addresses decides where messages may go: to public addresses over https on port 443, and to loopback receivers that are named one by one
// for development. It is asked when an endpoint is registered and again, with the address really dialled, at every connection, since a name
// may point elsewhere by then.
type Addresses struct {
	loopback []netip.AddrPort
	resolver Resolver
}

// NewAddresses takes the loopback receivers as ip:port, for instance 127.0.0.1:8081; anything else is an error. There is no switch
// that allows all of them. A nil resolver is the machine's.
func NewAddresses(allowedLoopback []string, resolver Resolver) (*Addresses, error) {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addresses := &Addresses{resolver: resolver}
	for _, text := range allowedLoopback {
		receiver, err := netip.ParseAddrPort(text)
		if err != nil || !receiver.Addr().IsLoopback() || receiver.Addr().Is4In6() {
			return nil, fmt.Errorf("allowed loopback receiver %q is not a loopback ip:port", text)
		}
		addresses.loopback = append(addresses.loopback, receiver)
	}
	return addresses, nil
}

// CheckURL refuses an endpoint's URL: ErrAddressRefused, ErrAddressUnresolved, or an error that says what is malformed.
func (a *Addresses) CheckURL(ctx context.Context, raw string) error {
	target, err := url.Parse(raw)
	switch {
	case err != nil || target.Host == "" || target.Opaque != "" || len(raw) > 2048:
		return errors.New("url must be absolute and at most 2048 characters")
	case target.User != nil:
		return errors.New("url must not hold a user")
	case target.Fragment != "" || strings.HasSuffix(raw, "#"):
		return errors.New("url must not hold a fragment")
	case target.Scheme != "https" && target.Scheme != "http":
		return errors.New("url must use https")
	}
	if receiver, err := netip.ParseAddrPort(target.Host); err == nil && slices.Contains(a.loopback, receiver) {
		return nil
	}
	if target.Scheme != "https" {
		return errors.New("url must use https")
	}
	if port := target.Port(); port != "" && port != "443" {
		return ErrAddressRefused
	}
	return a.checkHost(ctx, target.Hostname())
}

// checkHost refuses literals that are not public, spellings of numbers that some resolvers read as addresses, names without a dot, and
// names with any address that is not public.
func (a *Addresses) checkHost(ctx context.Context, host string) error {
	if literal, err := netip.ParseAddr(host); err == nil {
		return refuseUnlessPublic(literal)
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || last == "" || isNumber(last) || strings.ContainsAny(host, ":%") {
		return ErrAddressRefused
	}
	found, err := a.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return ErrAddressUnresolved
	}
	for _, address := range found {
		if err := refuseUnlessPublic(address.Unmap()); err != nil {
			return err
		}
	}
	return nil
}

// isNumber tells whether the last label of a host makes it a number, as the URL standard has it ("ends in a number").
func isNumber(label string) bool {
	if hex, found := strings.CutPrefix(strings.ToLower(label), "0x"); found {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// control refuses a connection by the address that is really dialled. It is a net.Dialer's Control.
func (a *Addresses) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrAddressRefused
	}
	target = netip.AddrPortFrom(target.Addr().Unmap(), target.Port())
	if slices.Contains(a.loopback, target) {
		return nil
	}
	if target.Port() != 443 {
		return ErrAddressRefused
	}
	return refuseUnlessPublic(target.Addr())
}

// dialer dials only what control lets through.
func (a *Addresses) dialer() *net.Dialer { return &net.Dialer{Control: a.control} }

// refuseUnlessPublic answers ErrAddressRefused for every address that the IANA registries of special-purpose addresses do not give out to
// the public, and for those that carry another address inside (v4-mapped, 6to4, Teredo, NAT64).
func refuseUnlessPublic(address netip.Addr) error {
	if address.Zone() != "" || !address.IsGlobalUnicast() || address.IsPrivate() {
		return ErrAddressRefused
	}
	for _, special := range specialPrefixes() {
		if special.Contains(address) {
			return ErrAddressRefused
		}
	}
	if address.Is6() && !netip.MustParsePrefix("2000::/3").Contains(address) { // v4-mapped, NAT64 and all that is not given out
		return ErrAddressRefused
	}
	return nil
}

// specialPrefixes are the special-purpose ranges that netip's own predicates do not know
// (https://www.iana.org/assignments/iana-ipv4-special-registry, …-ipv6-special-registry).
func specialPrefixes() []netip.Prefix {
	texts := []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	prefixes := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		prefixes[i] = netip.MustParsePrefix(text)
	}
	return prefixes
}
