package webhooks_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/webhooks"
)

func TestAnEventIsStoredAsItCame(t *testing.T) {
	e := newEndpoint(t)
	body := succeeded("evt_1")

	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))

	text := func(s string) *string { return &s }
	require.Equal(t, row{
		Account: shop, Type: "payment_intent.succeeded", APIVersion: text("2023-10-16"), Kind: text("payment_intent"),
		Object: text("pi_1"), Intent: text("pi_1"), Status: "stored", Deliveries: 1, Body: body,
	}, e.only())
	require.Len(t, e.nudges, 1, "the applier is woken")

	var due, received, created time.Time
	require.NoError(t, e.pool.QueryRow(t.Context(), `SELECT next_try_at, received_at, created FROM payonce.provider_events`).
		Scan(&due, &received, &created))
	require.Equal(t, received, due)
	require.Equal(t, time.Unix(1700000000, 0).UTC(), created.UTC())
}

func TestAnEventDeliveredManyTimesIsOneRow(t *testing.T) {
	e := newEndpoint(t)
	const deliveries = 22
	for range deliveries {
		require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", succeeded("evt_1")))
	}

	require.Equal(t, deliveries, e.only().Deliveries)
	require.Len(t, e.nudges, deliveries, "a repeat wakes too: what was seen may not be applied")
}

func TestConcurrentDeliveriesBySeveralEndpointsAreOneRow(t *testing.T) {
	e := newEndpoint(t)
	const deliveries = 10
	var (
		all   sync.WaitGroup
		start = make(chan struct{})
	)
	statuses := make([]int, deliveries)
	for i := range deliveries {
		secret := []string{"whsec_shop_new", "whsec_shop_old"}[i%2]
		all.Go(func() {
			<-start
			statuses[i] = e.deliver(secret, succeeded("evt_1"))
		})
	}
	close(start)
	all.Wait()

	for _, status := range statuses {
		require.Equal(t, http.StatusOK, status)
	}
	require.Equal(t, deliveries, e.only().Deliveries)
}

func TestTheFirstBodyIsKept(t *testing.T) {
	e := newEndpoint(t)
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", succeeded("evt_1")))
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", padded(succeeded("evt_1"), 10)))

	require.Equal(t, succeeded("evt_1"), e.only().Body)
}

func TestARepeatDoesNotTakeASettledEventBack(t *testing.T) {
	e := newEndpoint(t)
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", succeeded("evt_1")))
	_, err := e.pool.Exec(t.Context(), `UPDATE payonce.provider_events SET status = 'applied', next_try_at = NULL, settled_at = payonce.clock()`)
	require.NoError(t, err)

	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", succeeded("evt_1")))

	require.Equal(t, "applied", e.only().Status)
	require.Equal(t, 2, e.only().Deliveries)
}

func TestSampleEventsThatShareAnIDAreTwoRows(t *testing.T) {
	e := newEndpoint(t)
	paid := succeeded("evt_00000000000000")
	refunded := strings.ReplaceAll(paid, "payment_intent.succeeded", "charge.refunded")

	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", paid))
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", refunded))

	require.Len(t, e.rows(), 2)
}

func TestAnEventOfAModeThatIsNotServedIsIgnoredVisibly(t *testing.T) {
	e := newEndpoint(t)
	live := strings.Replace(succeeded("evt_live"), `"livemode":false`, `"livemode":true`, 1)

	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", live), "a live event at a test endpoint")
	require.Equal(t, http.StatusOK, e.deliver("whsec_market", succeeded("evt_test")), "a test event at a live endpoint")

	rows := e.rows()
	require.Len(t, rows, 2)
	for _, r := range rows {
		require.Equal(t, "ignored", r.Status)
		require.Equal(t, webhooks.IgnoredMode, *r.Reason)
	}
}

func TestAnEventKnowsItsAccount(t *testing.T) {
	e := newEndpoint(t)
	connected := payments.Account{ID: "acct_connected", Livemode: true}
	require.NoError(t, tenants.ConnectAccount(t.Context(), e.pool, e.sealer, connected, market.ID, nil))
	require.NoError(t, e.handler.Refresh(t.Context()))
	live := strings.Replace(succeeded("evt_1"), `"livemode":false`, `"livemode":true`, 1)
	of := func(account string) string { return strings.Replace(live, `{`, `{"account":"`+account+`",`, 1) }

	require.Equal(t, http.StatusOK, e.deliver("whsec_market", live))
	require.Equal(t, http.StatusOK, e.deliver("whsec_market", of("acct_connected")))
	require.Equal(t, http.StatusOK, e.deliver("whsec_market", of("acct_stranger")))

	rows := e.rows()
	require.Len(t, rows, 3, "one id in three accounts is three facts")
	require.Equal(t, market, rows[0].Account)
	require.Equal(t, "stored", rows[0].Status)
	require.Equal(t, connected, rows[1].Account)
	require.Equal(t, "stored", rows[1].Status)
	require.Equal(t, "acct_stranger", rows[2].Account.ID)
	require.Equal(t, "ignored", rows[2].Status)
	require.Equal(t, webhooks.IgnoredAccount, *rows[2].Reason)
}

func TestTypesThatAreNotConsumedAreIgnoredVisibly(t *testing.T) {
	e := newEndpoint(t)
	for eventType, status := range map[string]string{
		"payment_intent.created": "stored", "charge.failed": "stored", "charge.dispute.created": "stored", "charge.refund.updated": "stored",
		"refund.failed": "stored", "payout.paid": "stored",
		"customer.created": "ignored", "payment_method.attached": "ignored", "chargeback": "ignored",
	} {
		body := strings.Replace(succeeded("evt_"+eventType), "payment_intent.succeeded", eventType, 1)
		require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))
		require.Equal(t, status, e.last().Status, eventType)
	}
}

func TestTheBodyIsVerifiedAndKeptByteForByte(t *testing.T) {
	e := newEndpoint(t)
	for name, body := range map[string]string{
		"odd spacing":           strings.ReplaceAll(succeeded("evt_1"), ",", " ,\t\n "),
		"escapes":               strings.ReplaceAll(succeeded("evt_1"), "req_1", `\u0072eq\/1\ud83d\ude00`),
		"trailing newline":      succeeded("evt_1") + "\n",
		"carriage returns":      strings.ReplaceAll(succeeded("evt_1"), ",", ",\r\n") + "\r\n",
		"characters beyond one": strings.ReplaceAll(succeeded("evt_1"), "req_1", "ü€😀"),
	} {
		t.Run(name, func(t *testing.T) {
			known := len(e.rows())
			body := strings.Replace(body, "evt_1", "evt_"+name, 1)
			altered := strings.Replace(body, "1000", "1001", 1)
			header := signedNow("whsec_shop_new", body)

			require.Equal(t, http.StatusBadRequest, e.post(header, strings.NewReader(altered)))
			require.Equal(t, http.StatusBadRequest, e.post(header, strings.NewReader(strings.TrimRight(body, "\r\n")+" ")))
			require.Len(t, e.rows(), known, "nothing is stored of what is refused")

			require.Equal(t, http.StatusOK, e.post(header, strings.NewReader(body)))
			require.Equal(t, http.StatusOK, e.post(header, io.MultiReader(strings.NewReader(body))), "chunked")
			require.Len(t, e.rows(), known+1)
			require.Equal(t, body, e.last().Body)
		})
	}
}

func TestAnyHeldSecretMatchesAnySignature(t *testing.T) {
	e := newEndpoint(t)
	now := clock.Wall()
	body := succeeded("evt_1")
	v1 := func(secrets ...string) string {
		header := fmt.Sprintf("t=%d", now.Unix())
		for _, secret := range secrets {
			header += ",v1=" + sign(secret, now, body)
		}
		return header + ",v0=" + strings.Repeat("0", 64)
	}
	for name, header := range map[string]string{
		"the sender rolls, we hold the new": v1("whsec_gone", "whsec_shop_new"),
		"the sender rolls, we hold the old": v1("whsec_shop_old", "whsec_coming"),
		"both of ours":                      v1("whsec_shop_old", "whsec_shop_new"),
		"ours alone":                        v1("whsec_shop_old"),
	} {
		require.Equal(t, http.StatusOK, e.post(header, strings.NewReader(body)), name)
	}
	require.Equal(t, http.StatusBadRequest, e.post(v1("whsec_gone", "whsec_coming"), strings.NewReader(body)))
	require.Equal(t, http.StatusBadRequest, e.post(v1(""), strings.NewReader(body)), "an empty secret")
}

func TestARolledSecretCountsOnceItIsRefreshed(t *testing.T) {
	e := newEndpoint(t)
	require.NoError(t, tenants.ReplaceAccountSecrets(t.Context(), e.pool, e.sealer, shop, "sk_test_shop", []string{"whsec_rolled"}))
	require.Equal(t, http.StatusBadRequest, e.deliver("whsec_rolled", succeeded("evt_1")))

	require.NoError(t, e.handler.Refresh(t.Context()))

	require.Equal(t, http.StatusOK, e.deliver("whsec_rolled", succeeded("evt_1")))
	require.Equal(t, http.StatusBadRequest, e.deliver("whsec_shop_new", succeeded("evt_1")))
}

func TestRunRefreshesUntilItsContextEnds(t *testing.T) {
	e := newEndpoint(t, func(c *webhooks.Config) { c.RefreshEvery = time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.handler.Run(ctx)
	}()
	require.NoError(t, tenants.ReplaceAccountSecrets(t.Context(), e.pool, e.sealer, shop, "sk_test_shop", []string{"whsec_rolled"}))

	require.Eventually(t, func() bool { return e.deliver("whsec_rolled", succeeded("evt_1")) == http.StatusOK }, 10*time.Second, time.Millisecond)
	cancel()
	<-ended
}

func TestSignatureHeadersThatAreMalformedAreRefused(t *testing.T) {
	e := newEndpoint(t)
	body := succeeded("evt_1")
	now := clock.Wall()
	good := sign("whsec_shop_new", now, body)
	at := func(t time.Time) string { return fmt.Sprintf("t=%d,v1=%s", t.Unix(), sign("whsec_shop_new", t, body)) }
	seconds := fmt.Sprint(now.Unix())
	for name, header := range map[string]string{
		"none":                   "",
		"time alone":             "t=" + seconds,
		"no time":                "v1=" + good,
		"time is no number":      "t=x,v1=" + good,
		"v0 alone":               "t=" + seconds + ",v0=" + good,
		"bad hexadecimal":        "t=" + seconds + ",v1=zz",
		"cut":                    "t=" + seconds + ",v1=" + good[:62],
		"blank after the comma":  "t=" + seconds + ", v1=" + good,
		"two times":              "t=" + seconds + ",t=" + seconds + ",v1=" + good,
		"a part without a value": "t=" + seconds + ",v1=" + good + ",v0",
		"a part with two":        "t=" + seconds + ",v1=" + good + "=",
		"empty part":             "t=" + seconds + ",,v1=" + good,
		"plus sign":              "t=+" + seconds + ",v1=" + good,
		"leading zero":           "t=0" + seconds + ",v1=" + good,
		"another time":           "t=" + fmt.Sprint(now.Unix()-1) + ",v1=" + good,
		"too old":                at(now.Add(-webhooks.Tolerance - 10*time.Second)),
		"too far ahead":          at(now.Add(webhooks.Tolerance + 10*time.Second)),
		"too many":               "t=" + seconds + strings.Repeat(",v1="+strings.Repeat("0", 64), 17) + ",v1=" + good,
	} {
		require.Equal(t, http.StatusBadRequest, e.post(header, strings.NewReader(body)), name)
	}
	require.Empty(t, e.rows())
	require.Empty(t, e.nudges)

	require.Equal(t, http.StatusOK, e.post(at(now.Add(-webhooks.Tolerance+10*time.Second)), strings.NewReader(body)))
	require.Equal(t, http.StatusOK, e.post(at(now.Add(webhooks.Tolerance-10*time.Second)), strings.NewReader(body)))
}

func TestSeveralSignatureHeadersAreRefused(t *testing.T) {
	e := newEndpoint(t)
	body := succeeded("evt_1")
	connection, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	header := "Stripe-Signature: " + signedNow("whsec_shop_new", body) + "\r\n"
	_, err = fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n%s%s\r\n%s", len(body), header, header, body)
	require.NoError(t, err)

	answer, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.Contains(t, string(answer), "HTTP/1.1 400")
	require.Empty(t, e.rows())
}

func TestEveryAPIVersionIsStored(t *testing.T) {
	e := newEndpoint(t)
	versions := []string{"2023-10-16", "2022-11-15", "2024-04-10", "2025-04-30.basil"}
	for _, version := range versions {
		body := strings.Replace(succeeded("evt_"+version), "2023-10-16", version, 1)
		require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))
	}

	rows := e.rows()
	require.Len(t, rows, len(versions))
	for i, r := range rows {
		require.Equal(t, versions[i], *r.APIVersion)
		require.Equal(t, "stored", r.Status)
	}
}

func TestAnotherAPIVersionIsSaidOnce(t *testing.T) {
	var said bytes.Buffer
	e := newEndpoint(t, func(c *webhooks.Config) { c.Log = slog.New(slog.NewTextHandler(&said, nil)) })
	for i, version := range []string{"2023-10-16", "2024-04-10", "2025-04-30.basil", "2024-04-10"} {
		body := strings.Replace(succeeded(fmt.Sprint("evt_", i)), "2023-10-16", version, 1)
		require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))
	}
	require.Equal(t, 2, strings.Count(said.String(), "another API version"), said.String())
	require.Contains(t, said.String(), "api_version=2025-04-30.basil")
}

func TestAnOldRenderingIsStored(t *testing.T) {
	e := newEndpoint(t)
	body := `{"id":"evt_1","object":"event","api_version":"2015-04-07","created":1700000000,"livemode":false,"type":"charge.succeeded",` +
		`"request":"req_1","data":{"object":{"id":"ch_1","object":"charge"}}}`

	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))

	require.Equal(t, "stored", e.only().Status)
	require.Equal(t, "ch_1", *e.only().Object)
	require.Nil(t, e.only().Intent)
}

func TestAnOddEnvelopeIsReadAsFarAsItGoes(t *testing.T) {
	e := newEndpoint(t)
	const head = `{"id":"evt_1","type":"charge.failed","livemode":false`
	for name, c := range map[string]struct {
		body   string
		intent string
	}{
		"no data":               {head + `}`, ""},
		"data is null":          {head + `,"data":null}`, ""},
		"data is a string":      {head + `,"data":"x"}`, ""},
		"object is a list":      {head + `,"data":{"object":[1]}}`, ""},
		"intent by id":          {head + `,"data":{"object":{"object":"charge","payment_intent":"pi_1"}}}`, "pi_1"},
		"intent expanded":       {head + `,"data":{"object":{"object":"charge","payment_intent":{"id":"pi_1","object":"payment_intent"}}}}`, "pi_1"},
		"intent is null":        {head + `,"data":{"object":{"object":"charge","payment_intent":null}}}`, ""},
		"intent has NUL":        {head + `,"data":{"object":{"object":"charge","payment_intent":"\u0000"}}}`, ""},
		"created is a fraction": {head + `,"created":1.5}`, ""},
		"created is no time":    {head + `,"created":9000000000000000000}`, ""},
		"created is a string":   {head + `,"created":"yesterday"}`, ""},
		"version is a number":   {head + `,"api_version":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", strings.Replace(c.body, "evt_1", "evt_"+name, 1)))
			got := e.last()
			if c.intent == "" {
				require.Nil(t, got.Intent)
			} else {
				require.Equal(t, c.intent, *got.Intent)
			}
		})
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	e := newEndpoint(t)
	for name, body := range map[string]string{
		"empty": ``, "no JSON": `x`, "list": `[]`, "null": `null`,
		"no id":         `{"type":"charge.failed","livemode":false}`,
		"no type":       `{"id":"evt_1","livemode":false}`,
		"no mode":       `{"id":"evt_1","type":"charge.failed"}`,
		"mode is text":  `{"id":"evt_1","type":"charge.failed","livemode":"false"}`,
		"id is number":  `{"id":1,"type":"charge.failed","livemode":false}`,
		"id has NUL":    `{"id":"evt_\u0000","type":"charge.failed","livemode":false}`,
		"id is endless": `{"id":"evt_` + strings.Repeat("1", 300) + `","type":"charge.failed","livemode":false}`,
	} {
		require.Equal(t, http.StatusBadRequest, e.deliver("whsec_shop_new", body), name)
	}
	require.Empty(t, e.rows())
}

func TestLargeEventsAreTakenAndEndlessOnesCut(t *testing.T) {
	e := newEndpoint(t)
	for _, kib := range []int{70, 250, 1000} {
		body := padded(succeeded(fmt.Sprint("evt_", kib)), kib<<10)
		require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", body))
	}
	require.Len(t, e.rows(), 3)

	require.Equal(t, http.StatusRequestEntityTooLarge, e.deliver("whsec_shop_new", padded(succeeded("evt_x"), webhooks.MaxBody)))
	endless := &endless{}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, endless)
	require.NoError(t, err)
	if answer, err := http.DefaultTransport.RoundTrip(request); err == nil { // else the connection was cut while we were still sending
		require.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	require.Less(t, endless.sent(), int64(1<<30), "the stream is cut long before its end")
	require.Len(t, e.rows(), 3)
}

// endless is an unsigned stream of 1 GiB.
type endless struct {
	mutex sync.Mutex
	count int64
}

func (s *endless) Read(into []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.count >= 1<<30 {
		return 0, io.EOF
	}
	s.count += int64(len(into))
	return len(into), nil
}

func (s *endless) sent() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.count
}

func TestABodyThatTricklesInIsCut(t *testing.T) {
	e := newEndpoint(t, func(c *webhooks.Config) { c.BodyWithin = 20 * time.Millisecond })
	connection, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	_, err = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)

	answer := make([]byte, len("HTTP/1.1 408"))
	_, err = io.ReadFull(connection, answer)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 408", string(answer))
}

func TestABodyThatIsCutIsNotAcknowledged(t *testing.T) {
	e := newEndpoint(t)
	connection, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	_, err = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n")
	require.NoError(t, err)

	answer := make([]byte, len("HTTP/1.1 400"))
	_, err = io.ReadFull(connection, answer)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 400", string(answer))
}

func TestWithoutADatabaseTheEventIsNotAcknowledged(t *testing.T) {
	e := newEndpoint(t)
	address := e.pool.Config().ConnConfig
	line := newLine(t, fmt.Sprintf("%s:%d", address.Host, address.Port))
	config := e.pool.Config().Copy()
	config.ConnConfig.Host, config.ConnConfig.Port = line.host()
	config.ConnConfig.TLSConfig, config.ConnConfig.Fallbacks = nil, nil
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	e.serve(webhooks.Config{Pool: pool, Sealer: e.sealer, StoreWithin: time.Minute, BodyWithin: time.Minute})

	line.cut()

	require.Equal(t, http.StatusServiceUnavailable, e.deliver("whsec_shop_new", succeeded("evt_1")))
	require.Empty(t, e.nudges)
}

func TestASenderThatHangsUpDoesNotCutTheStoring(t *testing.T) {
	e := newEndpoint(t)
	tx, err := e.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE payonce.provider_events`)
	require.NoError(t, err)
	requests, served := make(chan context.Context, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Context()
		defer close(served)
		e.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	body := succeeded("evt_1")
	ctx, hangUp := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Stripe-Signature", signedNow("whsec_shop_new", body))
	hungUp := make(chan error)
	go func() {
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		hungUp <- err
	}()

	require.Eventually(t, func() bool {
		var storing bool
		err := e.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database =
			(SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&storing)
		return err == nil && storing
	}, time.Minute, time.Millisecond)
	hangUp()
	require.ErrorIs(t, <-hungUp, context.Canceled)
	<-(<-requests).Done()
	require.NoError(t, tx.Rollback(t.Context()))

	<-served
	require.Equal(t, "stored", e.only().Status)
	require.Len(t, e.nudges, 1)
}

func TestADatabaseThatHangsIsAnsweredInTime(t *testing.T) {
	e := newEndpoint(t, func(c *webhooks.Config) { c.StoreWithin = 50 * time.Millisecond })
	tx, err := e.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE payonce.provider_events`)
	require.NoError(t, err)

	require.Equal(t, http.StatusServiceUnavailable, e.deliver("whsec_shop_new", succeeded("evt_1")))

	require.NoError(t, tx.Rollback(t.Context()))
	require.Empty(t, e.nudges)
	e.serve(webhooks.Config{Pool: e.pool, Sealer: e.sealer, StoreWithin: time.Minute, BodyWithin: time.Minute})
	require.Equal(t, http.StatusOK, e.deliver("whsec_shop_new", succeeded("evt_1")), "the redelivery")
	require.Equal(t, 1, e.only().Deliveries)
}

func TestAnEmptySecretIsNotServed(t *testing.T) {
	e := newEndpoint(t)
	sealed, err := e.sealer.Seal(tenants.ColumnWebhookSecrets, []byte(`["whsec_shop_new",""]`))
	require.NoError(t, err)
	_, err = e.pool.Exec(t.Context(), `UPDATE payonce.provider_accounts SET webhook_secrets = $1`, sealed)
	require.NoError(t, err)

	require.ErrorContains(t, e.handler.Refresh(t.Context()), "empty signing secret")
	_, err = webhooks.New(t.Context(), webhooks.Config{Pool: e.pool, Sealer: e.sealer})
	require.ErrorContains(t, err, "empty signing secret")
}

func TestTheOutcomeOfAStoredEventIsThatOfItsClaim(t *testing.T) {
	e := newEndpoint(t)
	event := boundaries.Event{Account: shop, ID: "evt_1", Type: "charge.failed", Body: []byte(`{}`), Source: boundaries.EventFromBackfill}

	first, id, err := boundaries.StoreEvent(t.Context(), e.pool, e.sealer, event)
	require.NoError(t, err)
	require.Equal(t, boundaries.Acquired, first)
	second, same, err := boundaries.StoreEvent(t.Context(), e.pool, e.sealer, event)
	require.NoError(t, err)
	require.Equal(t, boundaries.Replay, second)
	require.Equal(t, id, same)
}
