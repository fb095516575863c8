package notifications_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/notifications"
)

// What a name has turned out to mean when it is dialled is judged as what was registered is: one table of addresses, one answer that tells
// nothing of them.
func TestDialledAddressesAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	addresses, err := notifications.NewAddresses([]string{"127.0.0.1:8081"}, names{})
	require.NoError(t, err)
	for _, address := range []string{
		"169.254.169.254:443", "[::ffff:169.254.169.254]:443", "127.0.0.1:443", "127.0.0.2:8081", "127.0.0.1:8082", "[::1]:8081", "[::1]:443",
		"0.0.0.0:443", "[::]:443", "10.0.0.1:443", "172.16.0.1:443", "192.168.1.1:443", "100.64.0.1:443", "[fd00::1]:443", "[fe80::1%eth0]:443",
		"[64:ff9b::a9fe:a9fe]:443", "[2002:a9fe:a9fe::]:443", "224.0.0.1:443", "255.255.255.255:443",
		"8.8.4.4:5432", "8.8.4.4:80", "[2606:4700::1111]:5432", "name.shop.example:443", "8.8.4.4", "",
	} {
		require.ErrorIs(t, addresses.CheckDial(address), notifications.ErrAddressRefused, address)
		require.Equal(t, notifications.ErrAddressRefused.Error(), addresses.CheckDial(address).Error(), "no word about %s", address)
	}
	for _, address := range []string{"8.8.4.4:443", "[::ffff:8.8.4.4]:443", "[2606:4700::1111]:443", "127.0.0.1:8081"} {
		require.NoError(t, addresses.CheckDial(address), address)
	}
}
