package stripesim

import (
	"encoding/base64"
	"strings"
)

type wireSearch struct {
	Object   string  `json:"object"`
	Data     []any   `json:"data"`
	HasMore  bool    `json:"has_more"`
	NextPage *string `json:"next_page"`
	URL      string  `json:"url"`
}

// prepareSearch is GET /v1/payment_intents/search. It shows the intents as they were a while ago, newest first: what
// it finds was there, and what it does not find may be there.
func prepareSearch(_ *call, p *params) effect {
	text := p.required("query")
	q, bad := parseSearch(text)
	if text != "" && bad != nil {
		p.fail(bad)
	}
	limit := readLimit(p)
	after := readSearchPage(p)
	return func(t *transition) (any, *apiError) {
		found, more, err := t.find(q, after, limit)
		if err != nil {
			return nil, err
		}
		answer := wireSearch{Object: "search_result", Data: make([]any, 0, len(found)), HasMore: more, URL: "/v1/payment_intents/search"}
		for _, in := range found {
			answer.Data = append(answer.Data, t.books.renderIntent(in, nil))
		}
		if more {
			page := base64.RawURLEncoding.EncodeToString([]byte(searchPage + found[limit-1].ID))
			answer.NextPage = &page
		}
		return answer, nil
	}
}

// searchPage begins the text of a page's cursor, before the last id of the page before.
const searchPage = "after:"

// readSearchPage returns the id that the page comes after, or "".
func readSearchPage(p *params) string {
	page, sent := p.text("page")
	if !sent {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(page)
	id, found := strings.CutPrefix(string(text), searchPage)
	if err != nil || !found {
		p.fail(badSearchPage(page))
	}
	return id
}

func badSearchPage(page string) *apiError {
	return invalidRequest("", "Invalid page: "+page+". Use the next_page of the answer before.", "page")
}

// find returns at most limit intents of the caller that search sees and the query matches.
func (t *transition) find(q searchQuery, after string, limit int) (found []*intent, more bool, err *apiError) {
	line := t.books.intents.lines[t.who.scope]
	if line == nil {
		return nil, false, nil
	}
	from := len(line.rows)
	if after != "" {
		at, known := line.position[after]
		if !known {
			return nil, false, badSearchPage(after)
		}
		from = at
	}
	for i := from - 1; i >= 0; i-- {
		in := t.searched(line.rows[i])
		if in == nil || !q.matches(in) {
			continue
		}
		if len(found) == limit {
			return found, true, nil
		}
		found = append(found, in)
	}
	return found, false, nil
}
