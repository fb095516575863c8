package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/strictjson"
)

type order struct {
	Reference   *string           `json:"reference"`
	Amount      *int64            `json:"amount"`
	OffSession  *bool             `json:"off_session"`
	Metadata    map[string]string `json:"metadata"`
	Kinds       []string          `json:"kinds"`
	Destination *struct {
		Account *string `json:"account"`
	} `json:"destination"`
	Items []struct {
		Name   *string `json:"name"`
		Amount *int64  `json:"amount"`
	} `json:"items"`
}

const maxBytes = 4096

func decode(text string) (order, error) {
	var into order
	err := strictjson.Decode([]byte(text), &into, maxBytes)
	return into, err
}

func TestDecodesEveryKindOfField(t *testing.T) {
	got, err := decode(` {"reference":"o\u002d1 \ud83d\ude00\n","amount":-9007199254740991,"off_session":true,
		"metadata":{"a":"1","A":""},"kinds":["b","a","b"],"destination":{"account":"x"},"items":[{"name":"a","amount":1},{}]} ` + "\r\n")

	require.NoError(t, err)
	require.Equal(t, "o-1 😀\n", *got.Reference)
	require.Equal(t, -strictjson.MaxInteger, *got.Amount)
	require.True(t, *got.OffSession)
	require.Equal(t, map[string]string{"a": "1", "A": ""}, got.Metadata)
	require.Equal(t, []string{"b", "a", "b"}, got.Kinds)
	require.Equal(t, "x", *got.Destination.Account)
	require.Len(t, got.Items, 2)
	require.Equal(t, "a", *got.Items[0].Name)
	require.EqualValues(t, 1, *got.Items[0].Amount)
	require.Nil(t, got.Items[1].Name)
}

func TestNullIsAbsentAndAnEmptyStringIsNot(t *testing.T) {
	absent, err := decode(`{}`)
	require.NoError(t, err)
	null, err := decode(`{"reference":null,"amount":null,"off_session":null,"metadata":null,"kinds":null,"destination":null}`)
	require.NoError(t, err)
	require.Equal(t, absent, null)

	empty, err := decode(`{"reference":"","metadata":{"gone":null},"kinds":[]}`)
	require.NoError(t, err)
	require.Empty(t, *empty.Reference)
	require.NotNil(t, empty.Kinds)
	require.Empty(t, empty.Kinds)
	require.Empty(t, empty.Metadata)
}

func TestOrderAndWhitespaceOfMembersDoNotMatter(t *testing.T) {
	one, err := decode(`{"amount":1000,"metadata":{"a":"1","b":"2"}}`)
	require.NoError(t, err)
	other, err := decode("{\n \"metadata\" : { \"b\":\"2\" ,\t\"a\":\"1\" } , \"amount\" : 1000 }")
	require.NoError(t, err)
	require.Equal(t, one, other)
}

func TestRefusesWhatTwoReadersCouldUnderstandDifferently(t *testing.T) {
	for name, c := range map[string]struct{ text, field, reason string }{
		"fraction":                    {`{"amount":1000.0}`, "amount", "plain integer"},
		"exponent":                    {`{"amount":1e3}`, "amount", "plain integer"},
		"capital exponent":            {`{"amount":1E3}`, "amount", "plain integer"},
		"minus zero":                  {`{"amount":-0}`, "amount", "plain integer"},
		"decimal price":               {`{"amount":19.99}`, "amount", "plain integer"},
		"integer as string":           {`{"amount":"1000"}`, "amount", "not a string"},
		"beyond 2^53-1":               {`{"amount":9007199254740992}`, "amount", "out of range"},
		"below -(2^53-1)":             {`{"amount":-9007199254740992}`, "amount", "out of range"},
		"beyond 64 bits":              {`{"amount":99999999999999999999}`, "amount", "out of range"},
		"leading zero":                {`{"amount":01}`, "amount", "well-formed"},
		"plus sign":                   {`{"amount":+1}`, "amount", "well-formed"},
		"hexadecimal":                 {`{"amount":0x10}`, "amount", "well-formed"},
		"not a number":                {`{"amount":NaN}`, "amount", "well-formed"},
		"duplicate":                   {`{"amount":1,"amount":1}`, "amount", "given twice"},
		"duplicate by escape":         {`{"amount":1,"\u0061mount":2}`, "amount", "given twice"},
		"duplicate of null":           {`{"amount":null,"amount":2}`, "amount", "given twice"},
		"duplicate in a map":          {`{"metadata":{"a":"1","a":"2"}}`, "metadata.a", "given twice"},
		"case variant":                {`{"Amount":1}`, "Amount", `letter case from "amount"`},
		"case variant beside":         {`{"amount":1,"AMOUNT":2}`, "AMOUNT", "letter case"},
		"case variant by folding":     {`{"off_ſession":true}`, "off_ſession", "letter case"},
		"case variant deeper":         {`{"destination":{"Account":"x"}}`, "destination.Account", "letter case"},
		"unknown":                     {`{"amout":1}`, "amout", "known"},
		"unknown deeper":              {`{"destination":{"x":1}}`, "destination.x", "known"},
		"escaped NUL":                 {`{"metadata":{"n":"a\u0000b"}}`, "metadata.n", "U+0000"},
		"raw NUL":                     {"{\"reference\":\"a\x00b\"}", "reference", "control character"},
		"NUL in a name":               {`{"metadata":{"\u0000":"x"}}`, "metadata", "U+0000"},
		"lone high surrogate":         {`{"metadata":{"n":"\ud800"}}`, "metadata.n", "lone surrogate"},
		"lone low surrogate":          {`{"metadata":{"n":"\udfff"}}`, "metadata.n", "lone surrogate"},
		"high before plain":           {`{"metadata":{"n":"\ud800\u0041"}}`, "metadata.n", "lone surrogate"},
		"two highs":                   {`{"metadata":{"n":"\ud800\ud800"}}`, "metadata.n", "lone surrogate"},
		"lone surrogate in a name":    {`{"metadata":{"\udfff":"x"}}`, "metadata", "lone surrogate"},
		"invalid UTF-8":               {"{\"reference\":\"\xff\"}", "", "UTF-8"},
		"surrogate in UTF-8":          {"{\"reference\":\"\xed\xa0\x80\"}", "", "UTF-8"},
		"raw newline":                 {"{\"reference\":\"a\nb\"}", "reference", "control character"},
		"trailing data":               {`{} {}`, "", "must end"},
		"trailing word":               {`{"amount":1}x`, "", "must end"},
		"trailing comma":              {`{"amount":1,}`, "", "object"},
		"byte order mark":             {"\uFEFF{}", "", "object"},
		"comment":                     {`{/**/}`, "", "object"},
		"array":                       {`[]`, "", "object"},
		"null":                        {`null`, "", "object"},
		"empty":                       {``, "", "object"},
		"cut":                         {`{"amount":1`, "amount", "well-formed"},
		"cut string":                  {`{"reference":"abc`, "reference", "well-formed"},
		"cut escape":                  {`{"reference":"abc\`, "reference", "well-formed"},
		"cut unicode escape":          {`{"reference":"\u12`, "reference", "well-formed"},
		"bad escape":                  {`{"reference":"\x41"}`, "reference", "well-formed"},
		"signed unicode escape":       {`{"reference":"\u+041"}`, "reference", "well-formed"},
		"missing colon":               {`{"amount" 1}`, "amount", "well-formed"},
		"bare name":                   {`{amount:1}`, "", "object"},
		"single quotes":               {`{'amount':1}`, "", "object"},
		"number for a string":         {`{"reference":1}`, "reference", "must be a string, not a number"},
		"string for a boolean":        {`{"off_session":"true"}`, "off_session", "must be a boolean, not a string"},
		"boolean for an integer":      {`{"amount":true}`, "amount", "not a boolean"},
		"array for a map":             {`{"metadata":["a"]}`, "metadata", "must be an object, not an array"},
		"number in a map":             {`{"metadata":{"n":1}}`, "metadata.n", "must be a string, not a number"},
		"object in a map":             {`{"metadata":{"n":{}}}`, "metadata.n", "must be a string, not an object"},
		"string for a list":           {`{"kinds":"a"}`, "kinds", "must be an array, not a string"},
		"number in a list":            {`{"kinds":["a",1]}`, "kinds", "must be a string, not a number"},
		"null in a list":              {`{"kinds":[null]}`, "kinds", "must be a string, not null"},
		"list in a list":              {`{"kinds":[["a"]]}`, "kinds", "must be a string, not an array"},
		"string for an object":        {`{"destination":"x"}`, "destination", "must be an object, not a string"},
		"fault inside a refused kind": {`{"metadata":[{"a":1,"a":2}]}`, "metadata[0].a", "given twice"},
		"member of an item":           {`{"items":[{"name":"a"},{"amount":"1"}]}`, "items[1].amount", "must be an integer, not a string"},
		"unknown member of an item":   {`{"items":[{"nme":"a"}]}`, "items[0].nme", "not a member"},
		"member of an item, twice":    {`{"items":[{"amount":1},{"amount":1,"amount":1}]}`, "items[1].amount", "given twice"},
		"string for an item":          {`{"items":["a"]}`, "items[0]", "must be an object, not a string"},
		"null for an item":            {`{"items":[null]}`, "items[0]", "must be an object, not null"},
		"object for items":            {`{"items":{"name":"a"}}`, "items", "must be an array, not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode(c.text)

			var refused *strictjson.FieldError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.field, refused.Field)
			require.Contains(t, refused.Reason, c.reason)
		})
	}
}

func TestBoundsSizeAndDepth(t *testing.T) {
	_, err := decode(`{"reference":"` + strings.Repeat("a", maxBytes) + `"}`)
	require.ErrorContains(t, err, "4096 bytes")

	fits := strings.Repeat("[", strictjson.MaxDepth-1) + strings.Repeat("]", strictjson.MaxDepth-1)
	_, err = decode(`{"metadata":` + fits + `}`)
	require.ErrorContains(t, err, "must be an object, not an array")

	_, err = decode(`{"metadata":[` + fits + `]}`)
	require.ErrorContains(t, err, "nested too deeply")
}

func TestAnErrorRepeatsNoValueAndBoundsTheName(t *testing.T) {
	_, err := decode(`{"` + strings.Repeat("é", 500) + `":"secret-value"}`)

	require.ErrorContains(t, err, "known")
	require.NotContains(t, err.Error(), "secret-value")
	require.Less(t, len(err.Error()), 250)
}

func TestAProgrammingErrorPanics(t *testing.T) {
	require.Panics(t, func() { _ = strictjson.Decode([]byte(`{}`), order{}, maxBytes) })
	require.Panics(t, func() {
		_ = strictjson.Decode([]byte(`{"x":1}`), &struct {
			X float64 `json:"x"`
		}{}, maxBytes)
	})
	require.Panics(t, func() { _ = strictjson.Decode([]byte(`{}`), &struct{ X string }{}, maxBytes) })
}

// FuzzDecodeAgreesWithTheStandardLibrary holds that whatever is accepted, encoding/json reads as the same, and that every
// refusal is a *FieldError.
func FuzzDecodeAgreesWithTheStandardLibrary(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"reference":"a","amount":1,"off_session":false,"metadata":{"a":"1"},"destination":{"account":"x"}}`,
		`{"reference":"\ud83d\ude00\u00e9\/"}`, `{"amount":1e3}`, `{"amount":null}`, `{"metadata":{"\ud800":"1"}}`, "{\"reference\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want order
		if err := strictjson.Decode(data, &got, maxBytes); err != nil {
			var refused *strictjson.FieldError
			require.ErrorAs(t, err, &refused)
			return
		}
		require.NoError(t, json.Unmarshal(data, &want))
		for name, text := range want.Metadata {
			if _, kept := got.Metadata[name]; !kept && text == "" {
				delete(want.Metadata, name) // null in a map: encoding/json reads it as ""
			}
		}
		if len(want.Metadata) == 0 && len(got.Metadata) == 0 {
			want.Metadata, got.Metadata = nil, nil
		}
		require.Equal(t, want, got)
	})
}

// However many members there are before, between and after the two.
func TestAMemberIsGivenOnce(t *testing.T) {
	type object struct {
		Metadata map[string]string `json:"metadata"`
	}
	const members = 20
	write := func(name func(i int) string) []byte {
		var text strings.Builder
		for i := range members {
			fmt.Fprintf(&text, `,"%s":"x"`, name(i))
		}
		return []byte(`{"metadata":{` + text.String()[1:] + `}}`)
	}
	var read object
	require.NoError(t, strictjson.Decode(write(func(i int) string { return fmt.Sprint("m", i) }), &read, 1000))
	require.Len(t, read.Metadata, members)
	for second := 1; second < members; second++ {
		for first := range second {
			body := write(func(i int) string {
				if i == second {
					i = first
				}
				return fmt.Sprint("m", i)
			})
			var refused *strictjson.FieldError
			require.ErrorAs(t, strictjson.Decode(body, &read, 1000), &refused)
			require.Equal(t, &strictjson.FieldError{Field: fmt.Sprint("metadata.m", first), Reason: "is given twice"}, refused)
		}
	}
}
