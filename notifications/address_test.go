package notifications_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/notifications"
)

// resolver knows where some names lead.
func resolver() names {
	return names{
		"hooks.shop.example":     {netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("2606:4700::1111")},
		"7f000001.nip.example":   {netip.MustParseAddr("127.0.0.1")},
		"8.525316":               {netip.MustParseAddr("8.8.4.4")}, // some resolvers read numbers so
		"0x8.0x80404":            {netip.MustParseAddr("8.8.4.4")},
		"mixed.shop.example":     {netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("10.0.0.7")},
		"mapped.shop.example":    {netip.MustParseAddr("::ffff:169.254.169.254")},
		"metadata.shop.internal": {netip.MustParseAddr("169.254.169.254")},
	}
}

// G-10, at registration.
func TestRegistrationRefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	addresses, err := notifications.NewAddresses([]string{"127.0.0.1:8081", "[::1]:8082"}, resolver())
	require.NoError(t, err)
	refused := []string{
		"http://169.254.169.254/", "https://169.254.169.254/latest/meta-data", "https://127.1/", "https://0x7f000001/", "https://0x7f.1/",
		"https://2130706433/", "https://8.525316/", "https://0x8.0x80404/", "https://0177.0.0.1/", "https://[::1]/", "https://[::ffff:169.254.169.254]/", "https://[::ffff:8.8.4.4]/",
		"https://[fd00::1]/", "https://[fe80::1%25eth0]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://[::]/",
		"https://7f000001.nip.example/", "https://mixed.shop.example/", "https://mapped.shop.example/", "https://metadata.shop.internal/",
		"https://localhost/", "https://metadata/", "https://unknown.shop.example/",
		"https://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.1.1/", "https://100.64.0.1/", "https://192.0.0.8/",
		"https://198.18.0.1/", "https://224.0.0.1/", "https://240.0.0.1/", "https://255.255.255.255/", "https://203.0.113.9/",
		"https://hooks.shop.example:5432/", "https://hooks.shop.example:80/", "https://8.8.4.4:5432/",
		"http://hooks.shop.example/", "ftp://hooks.shop.example/", "file:///etc/passwd", "//hooks.shop.example/", "hooks.shop.example", "",
		"https://user@hooks.shop.example/", "https://hooks.shop.example@127.0.0.1/", "https://hooks.shop.example/#fragment", "https:///path",
		"http://127.0.0.1:8083/", "http://127.0.0.2:8081/", "http://localhost:8081/", "http://127.1:8081/", "https://127.0.0.1/",
		"https://hooks.shop.example/" + strings.Repeat("x", 2048),
	}
	for _, url := range refused {
		err := addresses.CheckURL(context.Background(), url)
		require.Error(t, err, url)
		for _, secret := range []string{"127.0.0.1", "10.0.0.7", "169.254", "loopback", "private"} {
			require.NotContains(t, err.Error(), secret, url)
		}
	}
	for _, url := range []string{
		"https://hooks.shop.example/payonce", "https://hooks.shop.example:443/payonce?key=1", "https://8.8.4.4/", "https://[2606:4700::1111]/",
		"http://127.0.0.1:8081/hooks", "http://[::1]:8082/",
	} {
		require.NoError(t, addresses.CheckURL(context.Background(), url), url)
	}
}

// G-10, at the dial: the name or the row may say something else by then.
func TestDialRefusesWhatIsNotPublicByTheResolvedAddress(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	endpoint, _ := o.newEndpoint(r.URL)
	port := r.URL[strings.LastIndex(r.URL, ":")+1:]
	dispatcher := o.dispatcher(patient()) // names no loopback receiver
	for n, url := range []string{
		r.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"https://127.0.0.1", "http://localhost",
	} {
		o.exec("UPDATE payonce.notification_endpoints SET url = $1 WHERE id = $2", url, endpoint)
		o.enqueue(o.message(o.newPayment(uuid.NewString()), n+1))
		o.dispatch(dispatcher, 1)
	}
	require.Empty(t, r.deliveries())
	for _, row := range o.stored(endpoint) {
		require.Contains(t, []string{"receiver: its address is not allowed", "receiver: could not be reached"}, *row.LastError)
	}
	require.Equal(t, "receiver: its address is not allowed", *o.stored(endpoint)[0].LastError)
}

func TestLoopbackReceiversAreNamedOneByOne(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"127.0.0.1", "localhost:8081", "10.0.0.1:8081", "*:8081", "[::ffff:127.0.0.1]:8081", "0.0.0.0:8081", ""} {
		_, err := notifications.NewAddresses([]string{wrong}, resolver())
		require.Error(t, err, wrong)
	}
}
