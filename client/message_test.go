package client_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"payonce/client"
	"payonce/notifications"
)

const (
	secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	body   = `{"type":"payment.succeeded","timestamp":"2030-01-02T12:00:00Z","data":{"subject":"payment/5f0d4f3e-6a0b-5d8e-9a39-0f5a3f1f6a11",` +
		`"payment":{"id":"5f0d4f3e-6a0b-5d8e-9a39-0f5a3f1f6a11","object":"payment","status":"succeeded"},"later":1}}`
)

// signed are the headers of a message as any library of Standard Webhooks makes them.
func signed(t testing.TB, with string, at time.Time, content string) http.Header {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(with)
	require.NoError(t, err)
	signature, err := signer.Sign("m-1", at, []byte(content))
	require.NoError(t, err)
	header := http.Header{}
	header.Set("webhook-id", "m-1")
	header.Set("webhook-timestamp", unixText(at))
	header.Set("webhook-signature", signature)
	return header
}

func unixText(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func TestAMessageIsVerifiedAndRead(t *testing.T) {
	t.Parallel()
	header := signed(t, secret, time.Now(), body)
	message, err := client.VerifyMessage(secret, header, []byte(body))
	require.NoError(t, err)
	require.Equal(t, "m-1", message.ID)
	require.Equal(t, client.PaymentSucceeded, message.Type)
	require.Equal(t, time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC), message.Timestamp)
	require.Equal(t, "payment/"+paymentID().String(), message.Subject)
	require.Equal(t, paymentID(), message.Payment.ID)

	header.Set("webhook-signature", "v1a,AAAA v1,not-base64 v1,AAAA "+header.Get("webhook-signature"))
	_, err = client.VerifyMessage(secret, header, []byte(body))
	require.NoError(t, err, "one of several signatures is enough")
}

func TestWhatIsNotFromPayonceIsNotVerified(t *testing.T) {
	t.Parallel()
	fresh := func() http.Header { return signed(t, secret, time.Now(), body) }
	without := func(name string) http.Header {
		header := fresh()
		header.Del(name)
		return header
	}
	with := func(name, value string) http.Header {
		header := fresh()
		header.Set(name, value)
		return header
	}
	other := "whsec_" + strings.Repeat("A", 44)
	for name, tc := range map[string]struct {
		header http.Header
		body   string
	}{
		"another body":      {fresh(), strings.Replace(body, "succeeded", "expired", 1)},
		"another secret":    {signed(t, other, time.Now(), body), body},
		"another id":        {with("webhook-id", "m-2"), body},
		"another time":      {with("webhook-timestamp", unixText(time.Now().Add(time.Second))), body},
		"a time in words":   {with("webhook-timestamp", "now"), body},
		"too old":           {signed(t, secret, time.Now().Add(-6*time.Minute), body), body},
		"too far ahead":     {signed(t, secret, time.Now().Add(6*time.Minute), body), body},
		"no id":             {without("webhook-id"), body},
		"no time":           {without("webhook-timestamp"), body},
		"no signature":      {without("webhook-signature"), body},
		"an unknown scheme": {with("webhook-signature", strings.Replace(fresh().Get("webhook-signature"), "v1,", "v2,", 1)), body},
		"nothing at all":    {http.Header{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.VerifyMessage(secret, tc.header, []byte(tc.body))
			require.ErrorIs(t, err, client.ErrSignature)
		})
	}
}

// A message of a refund or a dispute has it beside its payment; no other has one.
func TestAMessageHasWhatItTellsOf(t *testing.T) {
	t.Parallel()
	of := strings.NewReplacer("payment.succeeded", "refund.failed", `"payment":{`, `"refund":{"id":"`+refundID().String()+
		`","object":"refund","status":"failed","failure_reason":"lost_or_stolen_card"},"payment":{`).Replace(body)
	message, err := client.VerifyMessage(secret, signed(t, secret, time.Now(), of), []byte(of))
	require.NoError(t, err)
	require.Equal(t, client.RefundFailed, message.Type)
	require.Equal(t, refundID(), message.Refund.ID)
	require.Equal(t, "lost_or_stolen_card", message.Refund.FailureReason)
	require.Equal(t, paymentID(), message.Payment.ID)

	message, err = client.VerifyMessage(secret, signed(t, secret, time.Now(), body), []byte(body))
	require.NoError(t, err)
	require.Nil(t, message.Refund)
	require.Nil(t, message.Dispute)

	of = strings.NewReplacer("payment.succeeded", "dispute.lost", `"payment":{`, `"dispute":{"object":"dispute","status":"lost","withdrawn":1000},"payment":{`).
		Replace(body)
	message, err = client.VerifyMessage(secret, signed(t, secret, time.Now(), of), []byte(of))
	require.NoError(t, err)
	require.Equal(t, client.DisputeLost, message.Type)
	require.EqualValues(t, 1000, message.Dispute.Withdrawn)
	require.Nil(t, message.Refund)
}

// A receiver that is set up without a secret must not verify what anybody signs with none.
func TestAMalformedSecretVerifiesNothing(t *testing.T) {
	t.Parallel()
	for _, malformed := range []string{"", "whsec_", "whsec_c2hvcnQ=", "whsec_!", strings.TrimPrefix(secret, "whsec_")} {
		_, err := client.VerifyMessage(malformed, signed(t, secret, time.Now(), body), []byte(body))
		require.Error(t, err)
		require.NotErrorIs(t, err, client.ErrSignature, "the receiver is wrong, not the message")
	}
}

func TestAVerifiedMessageThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	_, err := client.VerifyMessage(secret, signed(t, secret, time.Now(), "{"), []byte("{"))
	var syntax *json.SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.NotErrorIs(t, err, client.ErrSignature)
}

func TestEveryKindOfMessageHasItsType(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, kind := range notifications.Kinds() {
		kinds = append(kinds, string(kind))
	}
	require.ElementsMatch(t, kinds, []string{
		string(client.PaymentSucceeded), string(client.PaymentDeclined), string(client.PaymentFailed), string(client.PaymentCanceled),
		string(client.PaymentExpired), string(client.PaymentAuthorized), string(client.PaymentHoldExpiring), string(client.PaymentPartiallyCaptured),
		string(client.RefundSucceeded), string(client.RefundFailed), string(client.RefundCanceled),
		string(client.DisputeOpened), string(client.DisputeWon), string(client.DisputeLost), string(client.DisputeClosed),
		string(client.PayoutPaid), string(client.PayoutFailed), string(client.PayoutCanceled),
	})
}
