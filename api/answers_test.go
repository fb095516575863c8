package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
)

// row is an answer as docs/answers.md has it.
type row struct {
	section string // "Create"
	name    string // "409 reference_conflict", or "200 after the window"
	status  string
	code    string
	headers []string
	stored  bool
}

// rows reads the table.
func rows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../docs/answers.md")
	require.NoError(t, err)
	answer := regexp.MustCompile("^`([0-9]{3})(?: ([a-z_]+))?`(.*)$")
	var (
		read    []row
		section string
	)
	for line := range strings.Lines(string(text)) {
		if title, found := strings.CutPrefix(strings.TrimSpace(line), "## "); found {
			section = title
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		require.Len(t, cells, 5, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		found := answer.FindStringSubmatch(cells[0])
		require.NotNil(t, found, line)
		require.Contains(t, []string{"yes", "no"}, cells[2], line)
		require.NotEmpty(t, cells[3], line)
		require.NotEmpty(t, cells[4], line)
		headers := []string{}
		if cells[1] != "" {
			headers = strings.Split(cells[1], ", ")
		}
		read = append(read, row{section, strings.ReplaceAll(cells[0], "`", ""), found[1], found[2], headers, cells[2] == "yes"})
	}
	return read
}

// operationsOf are the operations, as the OpenAPI document names them, that a section speaks of.
func operationsOf(section string) []string {
	commands := []string{"create_payment", "confirm_payment", "capture_payment", "cancel_payment", "create_refund", "create_payout"}
	provisions := []string{"create_customer", "create_connected_account", "create_wallet"}
	got := []string{"get_customer", "get_connected_account", "get_wallet"}
	return map[string][]string{
		"Every operation": append(slices.Concat(commands, provisions, got), "get_payment", "list_payments", "payment_timeline", "get_refund", "list_refunds", "get_payout", "list_payouts",
			"get_dispute", "list_disputes"),
		"Every command":                 slices.Concat(commands, provisions),
		"Every read without parameters": append(slices.Clone(got), "get_payment", "get_refund", "list_refunds", "get_dispute", "list_disputes", "get_payout"),
		"Every command at Stripe":       slices.Concat(commands, provisions[:2]),
		"Customer or connected account": provisions[:2], "Wallet": provisions[2:], "Get customer, connected account or wallet": got,
		"Create": commands[:1], "Confirm": commands[1:2], "Capture": commands[2:3], "Cancel": commands[3:4], "Refund": commands[4:5],
		"Payout": commands[5:], "Get payout": {"get_payout"}, "List payouts": {"list_payouts"},
		"Get": {"get_payment"}, "List": {"list_payments"}, "Timeline": {"payment_timeline"},
		"Get refund": {"get_refund"}, "List refunds": {"list_refunds"}, "Get dispute": {"get_dispute"}, "List disputes": {"list_disputes"},
	}[section]
}

func TestTheTableAndTheDocumentNameTheSameAnswers(t *testing.T) {
	var described struct {
		Paths map[string]map[string]struct {
			ID        string `json:"operationId"`
			Responses map[string]struct {
				Description string         `json:"description"`
				Content     map[string]any `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(document(t, "/openapi.json")), &described))
	documented, tabled := map[string][]string{}, map[string][]string{}
	for _, methods := range described.Paths {
		for _, operation := range methods {
			for status, response := range operation.Responses {
				codes := []string{""}
				if response.Content["application/problem+json"] != nil {
					codes = strings.Split(strings.ReplaceAll(response.Description, "`", ""), ", ")
				}
				for _, code := range codes {
					documented[operation.ID] = append(documented[operation.ID], status+" "+code)
				}
			}
		}
	}
	for _, row := range rows(t) {
		for _, operation := range operationsOf(row.section) {
			tabled[operation] = append(tabled[operation], row.status+" "+row.code)
		}
	}
	for _, operation := range operationsOf("Every operation") {
		slices.Sort(documented[operation])
		slices.Sort(tabled[operation])
		require.Equal(t, documented[operation], slices.Compact(tabled[operation]), operation)
	}
}

// Every row is brought about and every case has its row: the answer has the status, the code, the headers and the memory that the table says.
func TestEveryAnswerIsAsTheTableSays(t *testing.T) {
	t.Parallel()
	cases := answerCases()
	s := system.Start(t) // of the cases that leave it as it was
	for _, row := range rows(t) {
		operations := operationsOf(row.section)
		if row.section == "Elsewhere" {
			operations = []string{"elsewhere"}
		}
		for _, operation := range operations {
			name := row.section + " " + row.name
			bring, there := cases[name]
			require.True(t, there, "no case %q", name)
			t.Run(name+" "+operation, func(t *testing.T) {
				at := &scene{t: t, system: s, operation: operation}
				bring(at)
				at.check(row)
			})
		}
	}
	named := map[string]bool{}
	for _, row := range rows(t) {
		named[row.section+" "+row.name] = true
	}
	for name := range cases {
		require.True(t, named[name], "no row for %q", name)
	}
}

// scene is a case that is being brought about: a request that is about to be sent, and to whom.
type scene struct {
	t         *testing.T
	system    *system.System
	operation string

	door    string // the address; empty: the system's
	apiKey  string // empty: the system's
	method  string
	path    string
	body    string
	headers map[string]string

	send func() answer // in place of the request above, where that one cannot be sent with a client
}

// ask sends the request, on a line of its own: once, whatever the mode of the suite.
func (s *scene) ask() answer {
	s.t.Helper()
	if s.send != nil {
		return s.send()
	}
	door, key := s.door, s.apiKey
	if door == "" {
		door, key = s.system.URL, s.system.APIKey
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), s.method, door+s.path, strings.NewReader(s.body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	for name, value := range s.headers {
		request.Header.Set(name, value)
		if value == "" {
			request.Header.Del(name)
		}
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return answer{response.StatusCode, response.Header, string(body)}
}

// check holds the answer against its row.
func (s *scene) check(want row) {
	s.t.Helper()
	got := s.ask()
	require.Equal(s.t, want.status, strconv.Itoa(got.status), got.body)
	var problem struct {
		Code    string              `json:"code"`
		Detail  string              `json:"detail"`
		Payment *payments.PaymentID `json:"payment"`
	}
	if want.code != "" {
		require.NoError(s.t, json.Unmarshal([]byte(got.body), &problem))
		require.Equal(s.t, want.code, problem.Code)
		require.Equal(s.t, "application/problem+json", got.header.Get("Content-Type"))
	}
	if want.code != "" && want.code != "internal" {
		require.NotEmpty(s.t, problem.Detail)
	}
	if s.ofNoPayment() && want.code != "" {
		want.headers = slices.DeleteFunc(slices.Clone(want.headers), func(name string) bool { return name == "Location" })
	}
	headers := []string{}
	for _, name := range []string{"Location", "Retry-After", "Idempotent-Replayed", "ETag", "WWW-Authenticate", "Allow"} {
		repeat := want.stored && name == "Idempotent-Replayed" // which a case may be
		if got.header.Get(name) != "" && !repeat {
			headers = append(headers, name)
		}
	}
	require.Equal(s.t, want.headers, headers)
	if refund := "/v1/refunds/"; s.operation == "create_refund" && (got.status == http.StatusCreated || got.status == http.StatusAccepted) {
		require.Contains(s.t, got.body, `"id":"`+strings.TrimPrefix(got.header.Get("Location"), refund)+`"`, "its own Location")
	}
	require.Equal(s.t, problem.Payment != nil, want.code != "" && slices.Contains(headers, "Location"), "what is about a payment names it")
	if problem.Payment != nil {
		require.Equal(s.t, "/v1/payments/"+problem.Payment.String(), got.header.Get("Location"))
	}
	s.checkStored(want, got)
}

// checkStored asks our memory, and once more the API, where the answer is one to keep.
func (s *scene) checkStored(want row, got answer) {
	s.t.Helper()
	if s.door == "" && s.send == nil {
		stored := s.system.Count(`SELECT count(*) FROM payonce.idempotency_keys WHERE caller_key = $1 AND response_code = $2`,
			s.headers["Idempotency-Key"], got.status)
		require.Equal(s.t, want.stored, stored == 1)
	}
	if !want.stored {
		return
	}
	again := s.ask()
	require.Equal(s.t, got.status, again.status)
	require.Equal(s.t, got.body, again.body)
	require.Equal(s.t, got.header.Get("Location"), again.header.Get("Location"))
	require.Equal(s.t, "true", again.header.Get("Idempotent-Replayed"))
}

// key is a caller key or a reference that nobody used.
func key() string { return uuid.NewString() }
