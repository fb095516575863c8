package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/boundaries"
	"payonce/internal/tenants"
	"payonce/internal/timing"
	"payonce/payments"
)

func newPool(config *pgxpool.Config) (*pgxpool.Pool, error) {
	return pgxpool.NewWithConfig(context.Background(), config)
}

// withMetadata is a body with n metadata names.
func withMetadata(n int) string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`"n%d":"v"`, i))
	}
	return member(`"metadata":{` + strings.Join(pairs, ",") + `}`)
}

// member is the order with one more member.
func member(text string) string { return strings.TrimSuffix(order, "}") + "," + text + "}" }

// among is the order with destinations.
func among(destinations string) string { return member(`"destinations":[` + destinations + `]`) }

// replaced is the order with a member changed.
func replaced(old, text string) string {
	if !strings.Contains(order, old) {
		panic(old)
	}
	return strings.Replace(order, old, text, 1)
}

func TestBodiesThatAreRefusedBurnNoKey(t *testing.T) {
	d := newDoor(t)
	for name, c := range map[string]struct{ body, code, field string }{
		"no JSON":                   {`amount=1000`, "body_invalid", ""},
		"empty":                     {``, "body_invalid", ""},
		"trailing data":             {order + `{}`, "body_invalid", ""},
		"unknown member":            {member(`"amout":1`), "field_invalid", "amout"},
		"a card's number as a name": {member(`"4242 4242 4242 4242":1`), "card_data_refused", ""},
		"the same within metadata":  {member(`"metadata":{"4242424242424242":1}`), "card_data_refused", ""},
		"the same, given twice":     {member(`"metadata":{"4242424242424242":"a","4242424242424242":"b"}`), "card_data_refused", ""},
		"a name with a line break":  {member(`"a\nb":1`), "field_invalid", ""},
		"duplicate member":          {member(`"amount":1000`), "field_invalid", "amount"},
		"case variant":              {member(`"Amount":1000`), "field_invalid", "Amount"},
		"fraction":                  {replaced(`1000`, `1000.0`), "field_invalid", "amount"},
		"exponent":                  {replaced(`1000`, `1e3`), "field_invalid", "amount"},
		"decimal price":             {replaced(`1000`, `19.99`), "field_invalid", "amount"},
		"amount as text":            {replaced(`1000`, `"1000"`), "field_invalid", "amount"},
		"amount is null":            {replaced(`1000`, `null`), "field_invalid", "amount"},
		"amount is 0":               {replaced(`1000`, `0`), "field_invalid", "amount"},
		"amount is negative":        {replaced(`1000`, `-5`), "field_invalid", "amount"},
		"below the minimum":         {replaced(`1000`, `49`), "field_invalid", "amount"},
		"above the maximum":         {replaced(`1000`, `100000000`), "field_invalid", "amount"},
		"one yen":                   {`{"reference":"o","amount":1,"currency":"jpy"}`, "field_invalid", "amount"},
		"three decimals":            {`{"reference":"o","amount":1001,"currency":"kwd"}`, "field_invalid", "amount"},
		"kronur in hundredths":      {`{"reference":"o","amount":550,"currency":"isk"}`, "field_invalid", "amount"},
		"bank account in euro":      {replaced(`"usd"`, `"eur","payment_method_types":["us_bank_account"]`), "field_invalid", "currency"},
		"direct debit in dollar":    {member(`"payment_method_types":["card","sepa_debit"]`), "field_invalid", "currency"},
		"becs in dollar":            {member(`"payment_method_types":["au_becs_debit"]`), "field_invalid", "currency"},
		"method type not served":    {member(`"payment_method_types":["giropay"]`), "field_invalid", "payment_method_types"},
		"no reference":              {`{"amount":1000,"currency":"usd"}`, "field_invalid", "reference"},
		"reference is empty":        {replaced(`order-1`, ``), "field_invalid", "reference"},
		"reference too long":        {replaced(`order-1`, strings.Repeat("é", 256)), "field_invalid", "reference"},
		"reference with newline":    {replaced(`order-1`, `a\nb`), "field_invalid", "reference"},
		"reference with blank":      {replaced(`order-1`, ` order-1`), "field_invalid", "reference"},
		"reference, blank last":     {replaced(`order-1`, "order-1\u2003"), "field_invalid", "reference"},
		"reference with NUL":        {replaced(`order-1`, `a\u0000b`), "field_invalid", "reference"},
		"no currency":               {`{"reference":"o","amount":1000}`, "field_invalid", "currency"},
		"currency not served":       {replaced(`usd`, `xxx`), "field_invalid", "currency"},
		"currency by symbol":        {replaced(`usd`, `$`), "field_invalid", "currency"},
		"kelvin sign":               {replaced(`usd`, `\u212awd`), "field_invalid", "currency"},
		"method of another kind":    {replaced(`pm_card_visa`, `tok_visa`), "field_invalid", "payment_method"},
		"method too long":           {replaced(`pm_card_visa`, "pm_"+strings.Repeat("a", 253)), "field_invalid", "payment_method"},
		"customer of Stripe's":      {member(`"customer":"cus_123"`), "field_invalid", "customer"},
		"no destination":            {member(`"destinations":[]`), "field_invalid", "destinations"},
		"too many destinations":     {member(`"destinations":[` + strings.Repeat(`{},`, 20) + `{}]`), "field_invalid", "destinations"},
		"destination as text":       {among(`"merchant:balance"`), "field_invalid", "destinations[0]"},
		"destination, no name":      {among(`{"amount":1000}`), "field_invalid", "destinations[0].account"},
		"destination, no amount":    {among(`{"account":"merchant:balance"}`), "field_invalid", "destinations[0].amount"},
		"destination of 0":          {among(`{"account":"merchant:balance","amount":0}`), "field_invalid", "destinations[0].amount"},
		"destination of less":       {among(`{"account":"wallet:a:b","amount":1001},{"account":"merchant:balance","amount":-1}`), "field_invalid", "destinations[0].amount"},
		"destination below 0":       {among(`{"account":"wallet:a:b","amount":-1},{"account":"merchant:balance","amount":1001}`), "field_invalid", "destinations[0].amount"},
		"destination twice":         {among(`{"account":"wallet:a:b","amount":1},{"account":"wallet:a:b","amount":999}`), "field_invalid", "destinations[1].account"},
		"destination of ours":       {among(`{"account":"stripe:receivable","amount":1000}`), "field_invalid", "destinations[0].account"},
		"destination misspelt":      {among(`{"account":"wallet:a:B","amount":1000}`), "field_invalid", "destinations[0].account"},
		"destination with share":    {among(`{"account":"wallet:a:b","weight":1}`), "field_invalid", "destinations[0].weight"},
		"destinations too small":    {among(`{"account":"wallet:a:b","amount":1},{"account":"merchant:balance","amount":998}`), "field_invalid", "destinations"},
		"destinations too large":    {among(`{"account":"wallet:a:b","amount":1},{"account":"merchant:balance","amount":1000}`), "field_invalid", "destinations[1].amount"},
		"card as destination":       {among(`{"account":"wallet:4242424242424242:b","amount":1000}`), "card_data_refused", "destinations[0].account"},
		"capture method":            {member(`"capture_method":"later"`), "field_invalid", "capture_method"},
		"description too long":      {member(`"description":"` + strings.Repeat("a", 1001) + `"`), "field_invalid", "description"},
		"e-mail":                    {member(`"receipt_email":"nobody"`), "field_invalid", "receipt_email"},
		"e-mail with a name":        {member(`"receipt_email":"A <a@example.com>"`), "field_invalid", "receipt_email"},
		"return url":                {member(`"return_url":"http://shop.example"`), "field_invalid", "return_url"},
		"return url, no host":       {member(`"return_url":"https:///x"`), "field_invalid", "return_url"},
		"return url, user":          {member(`"return_url":"https://a:b@shop.example"`), "field_invalid", "return_url"},
		"off session":               {member(`"off_session":"one_off"`), "field_invalid", "off_session"},
		"replaces no id":            {member(`"replaces":"order-0"`), "field_invalid", "replaces"},
		"replaces a urn":            {member(`"replaces":"urn:uuid:` + uuid.NewString() + `"`), "field_invalid", "replaces"},
		"49 names":                  {withMetadata(49), "field_invalid", "metadata"},
		"50 names":                  {withMetadata(50), "field_invalid", "metadata"},
		"name of 41":                {member(`"metadata":{"` + strings.Repeat("é", 41) + `":"v"}`), "field_invalid", "metadata"},
		"empty name":                {member(`"metadata":{"":"v"}`), "field_invalid", "metadata"},
		"name with brackets":        {member(`"metadata":{"a[b]":"v"}`), "field_invalid", "metadata"},
		"value of 501":              {member(`"metadata":{"n":"` + strings.Repeat("é", 501) + `"}`), "field_invalid", "metadata.n"},
		"value is a number":         {member(`"metadata":{"n":1}`), "field_invalid", "metadata.n"},
		"value with NUL":            {member(`"metadata":{"n":"a\u0000b"}`), "field_invalid", "metadata.n"},
		"value half a pair":         {member(`"metadata":{"n":"\ud800"}`), "field_invalid", "metadata.n"},
		"reserved name":             {member(`"metadata":{"payonce_payment":"v"}`), "field_invalid", "metadata.payonce_payment"},
		"reserved name, capital":    {member(`"metadata":{"PayOnce_x":"v"}`), "field_invalid", "metadata.PayOnce_x"},
		"card as reference":         {replaced(`order-1`, `4242424242424242`), "card_data_refused", "reference"},
		"card as method":            {replaced(`pm_card_visa`, `4242 4242 4242 4242`), "card_data_refused", "payment_method"},
		"card in a description":     {member(`"description":"card 4000-0566-5566-5556, thanks"`), "card_data_refused", "description"},
		"card with hard blanks":     {member("\"description\":\"card 4000\u00a00566\u202f5566\u20115556, thanks\""), "card_data_refused", "description"},
		"card in wide digits":       {member(`"description":"４２４２４２４２４２４２４２４２"`), "card_data_refused", "description"},
		"card in metadata":          {member(`"metadata":{"n":"378282246310005"}`), "card_data_refused", "metadata.n"},
		"card as a name":            {member(`"metadata":{"4242424242424242":"v"}`), "card_data_refused", "metadata"},
		"card as an e-mail":         {member(`"receipt_email":"4242424242424242@example.com"`), "card_data_refused", "receipt_email"},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.create(c.body)

			require.Equal(t, http.StatusBadRequest, got.status)
			problem := got.problem(t)
			require.Equal(t, c.code, problem.Code)
			require.Equal(t, c.field, problem.Field)
			require.NotContains(t, got.body, "4242")
		})
	}
	require.Zero(t, d.commands.count(), "no claim")
}

func TestBodiesAtTheirBoundsAreTaken(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	bodies := map[string]string{
		"least amount":        replaced(`1000`, `50`),
		"largest amount":      replaced(`1000`, `99999999`),
		"255 characters":      replaced(`order-1`, strings.Repeat("é", 255)),
		"48 names":            withMetadata(48),
		"name of 40":          member(`"metadata":{"` + strings.Repeat("é", 40) + `":""}`),
		"value of 500":        member(`"metadata":{"n":"` + strings.Repeat("😀", 500) + `"}`),
		"description of 1000": member(`"description":"` + strings.Repeat("é", 1000) + `"`),
		"every member": member(`"replaces":"` + uuid.NewString() + `","capture_method":"manual","description":"","receipt_email":"a@example.com",` +
			`"return_url":"https://shop.example/back?x=1","off_session":false,"metadata":{}`),
		"destinations":            among(`{"account":"wallet:A.b-c_9:eu-1","amount":1},{"account":"merchant:balance","amount":999}`),
		"a time as reference":     replaced(`order-1`, `1700000000009`),
		"a day and a counter":     replaced(`order-1`, `2026-11-30-00042`),
		"a number that fails":     replaced(`order-1`, `4242424242424241`),
		"a UUID as reference":     replaced(`order-1`, `42424242-4242-4242-8424-424242424242`),
		"an id that has a number": replaced(`pm_card_visa`, `pm_4242424242424242`),
	}
	for name, body := range bodies {
		got := d.create(body)
		require.Equal(t, "key_reused", got.problem(t).Code, "%s: %s", name, got.body)
	}
	require.Equal(t, len(bodies), d.commands.count())
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	d := newDoor(t)
	got := d.create(order + strings.Repeat(" ", api.MaxBody))

	require.Equal(t, "body_too_large", got.problem(t).Code)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
	require.Zero(t, d.commands.count())
}

func TestABodyThatIsTooSlowIsTold(t *testing.T) {
	d := newDoor(t, func(c *api.Config) { c.BodyWithin = 20 * time.Millisecond })
	connection, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	_, err = fmt.Fprintf(connection, "POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", d.key)
	require.NoError(t, err)

	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	require.Equal(t, http.StatusRequestTimeout, answer.StatusCode)
	require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
	require.Zero(t, d.commands.count())
}

func TestIdempotencyKeys(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	for name, c := range map[string]struct {
		values []string
		key    boundaries.CallerKey
	}{
		"bare":           {[]string{"k1"}, "k1"},
		"quoted":         {[]string{`"k1"`}, "k1"},
		"blanks around":  {[]string{" k1 "}, "k1"},
		"blanks inside":  {[]string{"k 1"}, "k 1"},
		"quoted blanks":  {[]string{`" k1 "`}, " k1 "},
		"escapes":        {[]string{`"a\"b\\c"`}, `a"b\c`},
		"bare backslash": {[]string{`a\b`}, `a\b`},
		"longest":        {[]string{strings.Repeat("k", 255)}, boundaries.CallerKey(strings.Repeat("k", 255))},
	} {
		got := d.create(order, with("Idempotency-Key", c.values...))
		require.Equal(t, "key_reused", got.problem(t).Code, name)
		require.Equal(t, c.key, d.commands.claims[d.commands.count()-1].key, name)
	}
	claims := d.commands.count()
	for name, c := range map[string]struct {
		values []string
		code   string
	}{
		"missing":         {nil, "idempotency_key_missing"},
		"empty":           {[]string{""}, "idempotency_key_invalid"},
		"quoted empty":    {[]string{`""`}, "idempotency_key_invalid"},
		"too long":        {[]string{strings.Repeat("k", 256)}, "idempotency_key_invalid"},
		"a card":          {[]string{`"4242 4242 4242 4242"`}, "card_data_refused"},
		"twice":           {[]string{"k1", "k1"}, "idempotency_key_invalid"},
		"not ASCII":       {[]string{"ké"}, "idempotency_key_invalid"},
		"tab inside":      {[]string{"a\tb"}, "idempotency_key_invalid"},
		"unclosed":        {[]string{`"k1`}, "idempotency_key_invalid"},
		"after the quote": {[]string{`"k1";x`}, "idempotency_key_invalid"},
		"bad escape":      {[]string{`"k\1"`}, "idempotency_key_invalid"},
		"cut escape":      {[]string{`"k\`}, "idempotency_key_invalid"},
	} {
		got := d.create(order, with("Idempotency-Key", c.values...))
		require.Equal(t, http.StatusBadRequest, got.status, name)
		require.Equal(t, c.code, got.problem(t).Code, name)
		require.Equal(t, "Idempotency-Key", got.problem(t).Field, name)
	}
	require.Equal(t, claims, d.commands.count())
}

func TestPreferences(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	for seconds, values := range map[int][][]string{
		10: {nil, {"respond-async"}, {`foo="a"`}},
		0:  {{"wait=0"}, {"wait=00"}},
		30: {{"wait=30"}, {"Wait = 30"}, {`wait="30"`}, {"wait=30; x=1"}, {"respond-async", "wait=30"}, {"wait=30, wait=5"}},
	} {
		for _, value := range values {
			d.create(order, with("Prefer", value...))
			asked := d.commands.claims[d.commands.count()-1].attendedFor
			require.Equal(t, time.Duration(seconds)*time.Second+timing.Production().AttendMargin, asked, value)
		}
	}
	claims := d.commands.count()
	for _, value := range []string{"wait", "wait=", "wait=31", "wait=-1", "wait=1.5", "wait=1s", "wait=+1", "wait=99999999999999999999"} {
		got := d.create(order, with("Prefer", value))
		require.Equal(t, http.StatusBadRequest, got.status, value)
		require.Equal(t, "prefer_invalid", got.problem(t).Code)
	}
	require.Equal(t, claims, d.commands.count())
}

func TestACommandTakesNoQuery(t *testing.T) {
	d := newDoor(t)
	got := d.send(http.MethodPost, "/v1/payments?dry_run=1", order, with("Idempotency-Key", "k1"))

	require.Equal(t, "query_refused", got.problem(t).Code)
	require.Zero(t, d.commands.count())
}

func TestACommandIsJSON(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	for contentType, status := range map[string]int{
		"": 422, "application/json": 422, "Application/JSON; charset=utf-8": 422,
		"text/plain": 415, "application/x-www-form-urlencoded": 415, "application/json; ;": 415,
	} {
		require.Equal(t, status, d.create(order, with("Content-Type", contentType)).status, contentType)
	}
}

func TestOnlyKeysOfTheScopeAreServed(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	reader, writer := d.newKey(d.tenant, tenants.ScopeRead), d.newKey(d.tenant, tenants.ScopeWrite)
	path := "/v1/payments/" + d.newPayment(d.tenant).String()

	require.Equal(t, http.StatusOK, d.send(http.MethodGet, path, "", with("Authorization", "bearer "+reader)).status)
	require.Equal(t, http.StatusUnprocessableEntity, d.create(order, with("Authorization", "Bearer "+writer)).status)
	require.Equal(t, "forbidden_scope", d.create(order, with("Authorization", "Bearer "+reader)).problem(t).Code)
	require.Equal(t, http.StatusForbidden, d.send(http.MethodGet, path, "", with("Authorization", "Bearer "+writer)).status)
	require.Equal(t, 1, d.commands.count())

	for name, values := range map[string][]string{
		"none": nil, "empty": {""}, "scheme alone": {"Bearer"}, "another scheme": {"Basic " + d.key}, "bare": {d.key},
		"unknown": {"Bearer payonce_" + strings.Repeat("A", 43)}, "twice": {"Bearer " + d.key, "Bearer " + d.key},
	} {
		got := d.create(order, with("Authorization", values...))
		require.Equal(t, http.StatusUnauthorized, got.status, name)
		require.Equal(t, "unauthorized", got.problem(t).Code)
		require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
	}

	key, err := tenants.FindAPIKey(t.Context(), d.pool, d.key)
	require.NoError(t, err)
	require.NoError(t, tenants.RevokeAPIKey(t.Context(), d.system, key.ID))
	require.Equal(t, http.StatusUnauthorized, d.create(order).status, "a revocation holds at once")
}

func TestAPaymentIsShownToItsTenantAlone(t *testing.T) {
	d := newDoor(t)
	other, err := tenants.CreateTenant(t.Context(), d.system, "other", payments.Account{ID: "acct_shop"})
	require.NoError(t, err)
	id := d.newPayment(d.tenant)
	path := "/v1/payments/" + id.String()

	got := d.send(http.MethodGet, path, "")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	requireView(t, got, id)

	for name, absent := range map[string]answer{
		"of another tenant": d.send(http.MethodGet, path, "", with("Authorization", "Bearer "+d.newKey(other, tenants.ScopeRead))),
		"not there":         d.send(http.MethodGet, "/v1/payments/"+uuid.NewString(), ""),
		"no id":             d.send(http.MethodGet, "/v1/payments/order-1", ""),
	} {
		require.Equal(t, http.StatusNotFound, absent.status, name)
		require.Equal(t, "payment_not_found", absent.problem(t).Code, name)
	}
}

func TestHealthAndReadinessAreOpen(t *testing.T) {
	var notReady error
	d := newDoor(t, func(c *api.Config) { c.Ready = func(context.Context) error { return notReady } })
	anonymous := with("Authorization")

	require.Equal(t, http.StatusOK, d.send(http.MethodGet, "/healthz", "", anonymous).status)
	require.Equal(t, http.StatusOK, d.send(http.MethodGet, "/readyz", "", anonymous).status)

	notReady = fmt.Errorf("a migration is pending on db.internal")
	require.Equal(t, http.StatusOK, d.send(http.MethodGet, "/healthz", "", anonymous).status)
	got := d.send(http.MethodGet, "/readyz", "", anonymous)
	require.Equal(t, "unavailable", got.problem(t).Code)
	require.NotContains(t, got.body, "db.internal")
}

func TestRoutesThatDoNotExistAreProblems(t *testing.T) {
	d := newDoor(t)
	require.Equal(t, "route_not_found", d.send(http.MethodGet, "/v2/payments", "").problem(t).Code)
	require.Equal(t, "route_not_found", d.send(http.MethodPost, "/webhooks/stripe", "").problem(t).Code, "not mounted")
	got := d.send(http.MethodDelete, "/v1/payments", "")
	require.Equal(t, "method_not_allowed", got.problem(t).Code)
	require.Equal(t, "GET, POST", got.header.Get("Allow"))
}

func TestWebhooksAreMountedBesideTheAPI(t *testing.T) {
	d := newDoor(t, func(c *api.Config) {
		c.Webhook = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	})
	require.Equal(t, http.StatusTeapot, d.send(http.MethodPost, "/webhooks/stripe", "", with("Authorization")).status)
	require.Equal(t, http.StatusTeapot, d.send(http.MethodGet, "/webhooks/stripe", "", with("Authorization")).status, "it says itself what it does not do")
}

func TestTheLogHoldsNoSecretAndNoBody(t *testing.T) {
	d := newDoor(t)
	d.commands.answersWith(boundaries.Claim{Outcome: boundaries.Mismatch}, nil)
	got := d.create(replaced("order-1", "the-order"), with("Idempotency-Key", "the-key"))

	require.Eventually(t, func() bool { return strings.Contains(d.logged(), got.header.Get("Request-Id")) }, waitForLog, pollLog)
	for _, secret := range []string{d.key, "the-order", "the-key", "pm_card_visa"} {
		require.NotContains(t, d.logged(), secret)
	}
	require.Contains(t, d.logged(), `route="POST /v1/payments" status=422`)
}
