package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Bounds of a page, in rows.
const (
	maxPage     = 100
	defaultPage = 20
)

// maxParameterName bounds the name of a refused parameter that is sent back.
const maxParameterName = 64

// parameters reads the query of a read. A parameter that is unknown, empty or given twice is refused: a filter that is
// misspelt would show what was not asked for.
func parameters(r *http.Request, known ...string) (map[string]string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal{Code: codeParameterInvalid, Detail: "The query is not well-formed."}
	}
	read := make(map[string]string, len(query))
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			return nil, unknownParameter(name, known)
		case len(values) > 1:
			return nil, parameterInvalid(name, "is given more than once")
		case values[0] == "":
			return nil, parameterInvalid(name, "is empty")
		}
		read[name] = values[0]
	}
	return read, nil
}

func unknownParameter(name string, known []string) error {
	detail := "This operation takes no query parameters."
	if len(known) > 0 {
		detail = "The query parameters of this operation are " + strings.Join(known, ", ") + "."
	}
	if len(name) > maxParameterName || !printable(name) || holdsCardNumber(name) {
		name = ""
	}
	return refusal{Code: codeParameterInvalid, Field: name, Detail: detail}
}

// queryParameter is a parameter of a query, as the document describes it.
func queryParameter(name, description string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: description, Schema: schema}
}

func parameterInvalid(name, reason string) refusal {
	return refusal{Code: codeParameterInvalid, Field: name, Detail: name + " " + reason + "."}
}

// pageLimit is how many rows a page may hold: otherwise when the parameter is absent.
func pageLimit(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	limit, err := strconv.ParseUint(text, 10, 16)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, parameterInvalid("limit", "must be a whole number from 1 to "+strconv.Itoa(maxPage))
	}
	return int(limit), nil
}
