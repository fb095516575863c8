package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/payments"
)

// page is a page of a list as a caller reads it.
type page struct {
	Object     string          `json:"object"`
	Data       []payments.View `json:"data"`
	HasMore    bool            `json:"has_more"`
	NextCursor string          `json:"next_cursor"`
}

func (p page) references() []string {
	references := []string{}
	for _, payment := range p.Data {
		references = append(references, payment.Reference)
	}
	return references
}

// list reads a page; query is parameters as name=value.
func (d *door) list(query ...string) page {
	d.t.Helper()
	got := d.send(http.MethodGet, "/v1/payments?"+queryOf(query), "")
	require.Equal(d.t, http.StatusOK, got.status, got.body)
	require.Equal(d.t, "no-store", got.header.Get("Cache-Control"))
	require.NotContains(d.t, got.body, "client_secret")
	var read page
	require.NoError(d.t, json.Unmarshal([]byte(got.body), &read))
	require.Equal(d.t, "list", read.Object)
	require.Equal(d.t, read.HasMore, read.NextCursor != "")
	return read
}

func queryOf(parameters []string) string {
	query := url.Values{}
	for _, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		query.Add(name, value)
	}
	return query.Encode()
}

// listed inserts a payment with a secret that nobody can open, so that a list which reads it fails.
func (d *door) listed(tenant payments.TenantID, reference string, attempt int, status payments.Status, createdAt string) payments.PaymentID {
	d.t.Helper()
	id := payments.PaymentID{UUID: uuid.New()}
	_, err := d.pool.Exec(d.t.Context(), `INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency,
			capture_method, status, stage, submitted_at, client_secret, receipt_email, last_command, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'acct_shop', false, 1000, 'usd', 'automatic', $5, $6, $7, '\x00', '\x00', 1, $7, $7)`,
		id.UUID, tenant.UUID, reference, attempt, status, status.StageOf(), createdAt)
	require.NoError(d.t, err)
	return id
}

func TestAListIsTheTenantsNewestFirst(t *testing.T) {
	d := newDoor(t)
	other, err := tenants.CreateTenant(t.Context(), d.system, "other", payments.Account{ID: "acct_shop"})
	require.NoError(t, err)
	require.Equal(t, []string{}, d.list().references(), "an empty list is an array")

	d.listed(d.tenant, "first", 1, payments.StatusRequiresAction, "2026-01-01T00:00:00Z")
	d.listed(d.tenant, "second", 1, payments.StatusSucceeded, "2026-01-02T00:00:00Z")
	d.listed(other, "theirs", 1, payments.StatusSucceeded, "2026-01-03T00:00:00Z")

	require.Equal(t, []string{"second", "first"}, d.list().references())
	first := d.list().Data[1]
	require.EqualValues(t, 1000, first.Amount)
	require.Equal(t, payments.StatusRequiresAction, first.Status)
}

func TestAListIsFiltered(t *testing.T) {
	d := newDoor(t)
	d.listed(d.tenant, "a", 1, payments.StatusFailed, "2026-01-01T00:00:00.000001Z")
	d.listed(d.tenant, "a", 2, payments.StatusSucceeded, "2026-01-02T00:00:00Z")
	d.listed(d.tenant, "b", 1, payments.StatusSucceeded, "2026-01-03T00:00:00Z")
	d.listed(d.tenant, "c+d e", 1, payments.StatusFailed, "2026-01-04T00:00:00Z")

	for name, c := range map[string]struct{ query, want []string }{
		"reference":                {[]string{"reference=a"}, []string{"a", "a"}},
		"reference with signs":     {[]string{"reference=c+d e"}, []string{"c+d e"}},
		"no such reference":        {[]string{"reference=A"}, []string{}},
		"succeeded":                {[]string{"status=succeeded"}, []string{"b", "a"}},
		"failed":                   {[]string{"status=failed"}, []string{"c+d e", "a"}},
		"no such status":           {[]string{"status=processing"}, []string{}},
		"after includes":           {[]string{"created_after=2026-01-03T00:00:00Z"}, []string{"c+d e", "b"}},
		"before excludes":          {[]string{"created_before=2026-01-03T00:00:00Z"}, []string{"a", "a"}},
		"an offset":                {[]string{"created_after=2026-01-03T02:00:00+02:00"}, []string{"c+d e", "b"}},
		"a microsecond":            {[]string{"created_before=2026-01-01T00:00:00.000001Z"}, []string{}},
		"cut to the microsecond":   {[]string{"created_after=2026-01-01T00:00:00.000001999Z", "reference=a"}, []string{"a", "a"}},
		"before, cut the same way": {[]string{"created_before=2026-01-01T00:00:00.000001999Z"}, []string{}},
		"an empty window":          {[]string{"created_after=2026-01-02T00:00:00Z", "created_before=2026-01-02T00:00:00Z"}, []string{}},
		"the beginning of time":    {[]string{"created_before=0001-01-01T00:00:00Z"}, []string{}},
		"the end of time":          {[]string{"created_after=9999-12-31T23:59:59-23:59"}, []string{}},
		"all at once": {
			[]string{"reference=a", "status=failed", "created_after=2026-01-01T00:00:00Z", "created_before=2026-01-02T00:00:00Z", "limit=100"}, []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, d.list(c.query...).references()) })
	}
}

// A caller who turns pages while orders come in sees each payment that was there once, and none twice.
func TestPagesAreStableUnderInserts(t *testing.T) {
	d := newDoor(t)
	want := map[payments.PaymentID]bool{}
	for range 7 { // some of them in one microsecond
		want[d.listed(d.tenant, uuid.NewString(), 1, payments.StatusFailed, "2026-01-01T00:00:00.5Z")] = true
	}
	for range 4 {
		want[d.listed(d.tenant, uuid.NewString(), 1, payments.StatusFailed, "2026-01-01T00:00:00.499999Z")] = true
	}
	for _, filter := range []string{"limit=3", "status=failed"} {
		seen := map[payments.PaymentID]bool{}
		query := slices.Compact([]string{filter, "limit=3"})
		got := d.list(query...)
		for pages := 1; ; pages++ {
			for _, payment := range got.Data {
				require.False(t, seen[payment.ID], "twice")
				seen[payment.ID] = true
			}
			if !got.HasMore {
				require.Len(t, got.Data, 2)
				require.Equal(t, 4, pages)
				break
			}
			require.Len(t, got.Data, 3)
			d.listed(d.tenant, uuid.NewString(), 1, payments.StatusFailed, "2026-01-01T00:00:01Z")
			got = d.list(append(query, "cursor="+got.NextCursor)...)
		}
		require.Equal(t, want, seen)
		_, err := d.system.Exec(t.Context(), `UPDATE payonce.payments SET status = 'canceled', created_at = '2027-01-01' WHERE created_at = '2026-01-01T00:00:01Z'`)
		require.NoError(t, err)
	}
}

func TestAPageHasTwentyUnlessAsked(t *testing.T) {
	d := newDoor(t)
	_, err := d.pool.Exec(t.Context(), `INSERT INTO payonce.payments (id, tenant, reference, attempt, account, livemode, amount, currency,
			capture_method, status, stage, submitted_at, last_command, created_at, updated_at)
		SELECT gen_random_uuid(), $1, 'order', n, 'acct_shop', false, 1000, 'usd', 'automatic', 'submitted', 'submitted', now(), 1, now(), now()
		FROM generate_series(1, 101) n`, d.tenant.UUID)
	require.NoError(t, err)

	require.Len(t, d.list().Data, 20)
	full := d.list("limit=100")
	require.Len(t, full.Data, 100)
	require.Len(t, d.list("limit=100", "cursor="+full.NextCursor).Data, 1)
	require.Len(t, d.list("limit=1").Data, 1)
}

func TestAListNamesTheParameterThatItRefuses(t *testing.T) {
	d := newDoor(t)
	d.listed(d.tenant, "a", 1, payments.StatusFailed, "2026-01-01T00:00:00Z")
	d.listed(d.tenant, "b", 1, payments.StatusFailed, "2026-01-01T00:00:00Z")
	cursor := d.list("limit=1").NextCursor
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "limit=-1": "limit", "limit=+5": "limit", "limit=1.0": "limit", "limit=ten": "limit", "limit=": "limit",
		"limit=99999999999999999999": "limit", "limit=5&limit=5": "limit",
		"status=paid": "status", "status=Succeeded": "status", "status=failed,succeeded": "status",
		"reference=%20a": "reference", "reference=a%0Ab": "reference", "reference=%00": "reference", "reference=%ff": "reference",
		"reference=" + strings.Repeat("a", 256): "reference",
		"created_after=yesterday":               "created_after", "created_after=2026-01-01": "created_after", "created_after=1767225600": "created_after",
		"created_after=2026-01-01T00:00:00": "created_after", "created_after=2026-01-01T00:00:00+02:00": "created_after",
		"created_before=2026-13-01T00:00:00Z": "created_before", "created_before=2026-01-01T24:00:00Z": "created_before",
		"created_after=2026-01-02T00:00:00Z&created_before=2026-01-01T00:00:00Z": "created_before",
		"cursor=x": "cursor", "cursor=" + cursor[1:]: "cursor", "cursor=" + cursor + "A": "cursor", "cursor=" + cursor + "=": "cursor",
		"cursor=" + cursor[:len(cursor)-2]: "cursor", "cursor=" + strings.Repeat("_", len(cursor)): "cursor",
		"Status=failed": "Status", "starting_after=x": "starting_after", "metadata[a]=b": "metadata[a]",
		strings.Repeat("a", 65) + "=1": "", "4242424242424242=1": "", "a%00b=1": "", "limit=%zz": "", "limit=1;status=failed": "",
	} {
		t.Run(query, func(t *testing.T) {
			got := d.send(http.MethodGet, "/v1/payments?"+query, "")
			require.Equal(t, http.StatusBadRequest, got.status, got.body)
			require.Equal(t, "parameter_invalid", got.problem(t).Code)
			require.Equal(t, field, got.problem(t).Field)
			require.NotEmpty(t, got.problem(t).Detail)
		})
	}
	got := d.send(http.MethodGet, "/v1/payments?reference=4242424242424242", "")
	require.Equal(t, http.StatusBadRequest, got.status)
	require.Equal(t, "card_data_refused", got.problem(t).Code)
	require.NotContains(t, got.body, "4242")
}

func TestAListNeedsTheScopeToRead(t *testing.T) {
	d := newDoor(t)
	writer := with("Authorization", "Bearer "+d.newKey(d.tenant, tenants.ScopeWrite))
	got := d.send(http.MethodGet, "/v1/payments", "", writer)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Equal(t, "forbidden_scope", got.problem(t).Code)
	require.Equal(t, http.StatusUnauthorized, d.send(http.MethodGet, "/v1/payments", "", with("Authorization")).status)
}

// A cursor lasts: it is a place, and needs nothing of the server that gave it.
func TestACursorIsAPlaceInTime(t *testing.T) {
	d := newDoor(t)
	for _, at := range []string{"1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2026-01-01T00:00:00.000001Z"} {
		d.listed(d.tenant, at, 1, payments.StatusFailed, at)
	}
	got := d.list("limit=1")
	require.Equal(t, time.UnixMicro(1767225600000001).UTC(), got.Data[0].CreatedAt)
	got = d.list("limit=1", "cursor="+got.NextCursor)
	require.Equal(t, []string{"1970-01-01T00:00:00Z"}, got.references())
	require.Equal(t, []string{"1969-12-31T23:59:59.999999Z"}, d.list("cursor="+got.NextCursor).references())
}
