package client_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/client"
)

var update = flag.Bool("update", false, "write the golden file: it may only grow")

// A checkout that is deployed anew must derive the keys that it sent before: a changed line is a doubled charge.
func TestDerivedKeysAreWireFormat(t *testing.T) {
	derived := map[string]string{
		"intent":          client.IntentKey("checkout-1").String(),
		"cancel":          client.KeyFor("order-1", client.ActionCancel).String(),
		"capture":         client.KeyFor("order-1", client.ActionCapture).String(),
		"confirm 1":       client.ConfirmKey("order-1", 1).String(),
		"confirm 2":       client.ConfirmKey("order-1", 2).String(),
		"partial capture": client.PartialCaptureKey("order-1", "parcel-1").String(),
		"refund":          client.RefundKey("order-1", "return-1").String(),
		"payout":          client.PayoutKey("usd", "week-1").String(),
		"customer":        client.KeyFor("owner-1", client.ActionCreateCustomer).String(),
		"account":         client.KeyFor("owner-1/usd", client.ActionCreateConnectedAccount).String(),
		"wallet":          client.KeyFor("owner-1/usd/main", client.ActionCreateWallet).String(),
		"not ASCII":       client.IntentKey("commande-é").String(),
	}
	path := filepath.Join("testdata", "keys.golden.json")
	if *update {
		encoded, err := json.MarshalIndent(derived, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(encoded, '\n'), 0o600))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	var want map[string]string
	require.NoError(t, json.Unmarshal(golden, &want))
	require.Equal(t, want, derived)
}

// Two different intents never meet in one key, wherever their ids are cut.
func TestKeysMeetOnlyWhenTheirIntentsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 12, -1)
		type intent struct{ kind, business, reference string }
		draw := func(name string) intent {
			return intent{
				kind: rapid.SampledFrom([]string{"refund", "part"}).Draw(t, name), business: id.Draw(t, name), reference: id.Draw(t, name),
			}
		}
		key := func(i intent) string {
			if i.kind == "refund" {
				return client.RefundKey(i.business, i.reference).String()
			}
			return client.PartialCaptureKey(i.business, i.reference).String()
		}
		one, other := draw("one"), draw("other")
		require.Equal(t, one == other, key(one) == key(other))
	})
	require.NotEqual(t, client.RefundKey("a", "bc").String(), client.RefundKey("ab", "c").String())
	require.NotEqual(t, client.KeyFor("a", client.ActionCancel).String(), client.KeyFor("a", client.ActionCapture).String())
}

// A key that the API would read otherwise than it was written is none.
func TestAStoredKeyIsTakenAsTheAPITakesIt(t *testing.T) {
	for _, text := range []string{"", " k", "k ", `"k"`, "k\n", "clé", strings.Repeat("k", 256)} {
		_, err := client.ParseKey(text)
		require.ErrorIs(t, err, client.ErrNoKey, "%q", text)
	}
	for _, text := range []string{"k", "order 1/cancel", strings.Repeat("k", 255)} {
		key, err := client.ParseKey(text)
		require.NoError(t, err)
		require.Equal(t, text, key.String())
	}
}
