package boundaries_test

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/boundaries"
	"payonce/payments"
)

// decoded is a create as the API reads it from JSON: typed, and the currency in lower case.
func decoded(t require.TestingT, body string) payments.CreateCommand {
	var command payments.CreateCommand
	require.NoError(t, json.Unmarshal([]byte(body), &command))
	currency, err := payments.ParseCurrency(string(command.Currency))
	require.NoError(t, err)
	command.Currency = currency
	return command
}

func hashOf(t require.TestingT, command payments.CreateCommand) boundaries.RequestHash {
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
	require.NoError(t, err)
	return normalised.Hash
}

func TestSpellingsOfOneCommandAreOneCommand(t *testing.T) {
	t.Parallel()
	want := hashOf(t, decoded(t, `{"reference":"order-1","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"}}`))
	for name, body := range map[string]string{
		"members permuted":     `{"metadata":{"b":"2","a":"1"},"currency":"usd","amount":1000,"reference":"order-1"}`,
		"other white space":    "{ \"reference\" : \"order-1\",\n\t\"amount\":1000, \"currency\":\"usd\", \"metadata\":{\"a\":\"1\",\"b\":\"2\"} }",
		"null for absent":      `{"reference":"order-1","amount":1000,"currency":"usd","description":null,"replaces":null,"metadata":{"a":"1","b":"2"}}`,
		"currency in capitals": `{"reference":"order-1","amount":1000,"currency":"USD","metadata":{"a":"1","b":"2"}}`,
		"escaped characters":   `{"reference":"\u006frder-1","amount":1000,"currency":"usd","metadata":{"a":"1","b":"2"}}`,
	} {
		require.Equal(t, want, hashOf(t, decoded(t, body)), name)
	}
}

func TestCommandsThatDifferAreTold(t *testing.T) {
	t.Parallel()
	seen := map[boundaries.RequestHash]string{}
	for _, body := range []string{
		`{"reference":"order-1","amount":1000,"currency":"usd"}`,
		`{"reference":"order-2","amount":1000,"currency":"usd"}`,
		`{"reference":"order-1","amount":1001,"currency":"usd"}`,
		`{"reference":"order-1","amount":1000,"currency":"eur"}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","description":""}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","off_session":false}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","off_session":true}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","capture_method":"automatic"}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","metadata":{"a":"1"}}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","metadata":{"a":""}}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_1"}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","destinations":[{"account":"a","amount":600},{"account":"b","amount":400}]}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","destinations":[{"account":"b","amount":400},{"account":"a","amount":600}]}`,
		`{"reference":"order-1","amount":1000,"currency":"usd","destinations":[{"account":"a","amount":1000}]}`,
	} {
		hash := hashOf(t, decoded(t, body))
		require.Empty(t, seen[hash], "%s is taken for another command", body)
		seen[hash] = body
	}
	command := decoded(t, `{"reference":"order-1","amount":1000,"currency":"usd"}`)
	for _, scope := range []struct {
		operation payments.Operation
		path      string
	}{{payments.OperationCreate, "/v1/other"}, {payments.OperationConfirm, "/v1/payments"}} {
		normalised, err := boundaries.Normalise(scope.operation, scope.path, command)
		require.NoError(t, err)
		require.Empty(t, seen[normalised.Hash], "operation and path are part of the command")
	}
}

// The hash of a stored key must be found again by every later version of the code.
func TestTheHashIsPinned(t *testing.T) {
	t.Parallel()
	const canonical = `{"command":{"amount":1000,"capture_method":"manual","currency":"usd","description":"Blue shoes",` +
		`"metadata":{"a":"1","b":"2"},"off_session":true,"payment_method":"pm_card_visa","receipt_email":"payer@example.com",` +
		`"reference":"order-1","replaces":"018f0000-0000-7000-8000-000000000001","return_url":"https://shop.example/back"},` +
		`"operation":"create_payment","path":"/v1/payments"}`
	command := decoded(t, `{"reference":"order-1","amount":1000,"currency":"usd","payment_method":"pm_card_visa","capture_method":"manual",
		"description":"Blue shoes","receipt_email":"payer@example.com","return_url":"https://shop.example/back","off_session":true,
		"replaces":"018f0000-0000-7000-8000-000000000001","metadata":{"b":"2","a":"1"}}`)
	normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
	require.NoError(t, err)
	require.Equal(t, canonical, string(normalised.JSON)) //nolint:testifylint // the bytes are hashed: their order matters
	require.Equal(t, int16(1), normalised.Hash.Version)
	require.Equal(t, "088fd48de3bc5ce1a2bd78a8ce579399f9ecd83cafb29cb229ebe5acff115e9b", hex.EncodeToString(normalised.Hash.Sum[:]))
}

// What canonicalisers are known to differ in: escapes, the order of names beyond the basic plane (by UTF-16), the largest integer, bytes that are no
// UTF-8. The hashes were made by another library than the one in use.
func TestTheHashOfHardTextsIsPinned(t *testing.T) {
	t.Parallel()
	hard := "\b\f\n\r\t\x1f\x7f\"\\/é€𐍈"
	for want, command := range map[string]payments.CreateCommand{
		"f141108b4e040693e424bea19310a85e291ebbff08c2156e349210f221ff6037": {
			Reference: "</script>&\u2028\u2029", Amount: 1, Currency: "usd", Description: &hard,
		},
		"eb059e27dd85098763dcc29545f4446cb42a9c8f6374ebd71ac946c9361695f9": {
			Reference: "order", Amount: 99_999_999, Currency: "jpy", Metadata: map[string]string{
				"\ufb33": "1", "𐍈": "2", "é": "3", "a": "4", "A": "5", "": "6", "\r": "7", "1": "8", "aa": "9",
			},
		},
		"527a21e484e31621958f6e0e926754b5f238d9cbac6183ad7193b2c977b93bd7": {
			Reference: "bad\xffutf8", Amount: 1 << 53, Currency: "eur", MethodTypes: []string{"card", "sepa_debit"}, Metadata: map[string]string{},
		},
		"21e0dec44f148789c15e5a616150ba5664466f5d7e877dafa3da296c013c71bb": {
			Reference: "order-1", Amount: 1000, Currency: "usd",
			Destinations: []payments.Destination{{Account: "wallet:seller-1:stripe", Amount: 600}, {Account: "merchant:balance", Amount: 400}},
		},
		"9d4190c5dd65bf916cc253a4c65334ab3d522ca40857d68387fc07c8b3d4dbe0": {
			Reference: "order-1", Amount: 1000, Currency: "usd", Customer: &payments.ProvisionID{UUID: uuid.Max},
		},
	} {
		hash := hashOf(t, command)
		require.Equal(t, want, hex.EncodeToString(hash.Sum[:]))
	}
}

func TestAStoredCommandIsReadAsItWasSent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé€𐍈\"\\\u2028<&/ ")), 1, 8, -1)
		command := payments.CreateCommand{
			Reference: text.Draw(t, "reference"), Amount: rapid.Int64Range(1, payments.MaxAmount).Draw(t, "amount"), Currency: "usd",
		}
		if names := rapid.MapOfN(text, text, 0, 3).Draw(t, "metadata"); len(names) > 0 {
			command.Metadata = names
		}
		if rapid.Bool().Draw(t, "described") {
			description := text.Draw(t, "description")
			command.Description = &description
		}
		normalised, err := boundaries.Normalise(payments.OperationCreate, "/v1/payments", command)
		require.NoError(t, err)
		stored, err := boundaries.CommandOf[payments.CreateCommand](normalised.JSON)
		require.NoError(t, err)
		require.Equal(t, command, stored)
		again := command
		again.Metadata = maps.Clone(command.Metadata)
		require.Equal(t, normalised.Hash, hashOf(t, again))
		again.Amount++
		require.NotEqual(t, normalised.Hash, hashOf(t, again))
	})
}
