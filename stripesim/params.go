package stripesim

import (
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// params are the form-encoded parameters of a request. Readers mark what they understood; whatever is left is an
// unknown parameter. The first fault found is kept.
type params struct {
	pairs []pair
	fault *apiError
}

type pair struct {
	name string // as sent, array indices removed: expand[0] and expand[] are both expand[]
	sent string // exactly as sent
	text string
	used bool
}

// parseParams reads an application/x-www-form-urlencoded text. The last of several equal names counts.
func parseParams(encoded string) (*params, *apiError) {
	p := &params{}
	for _, part := range strings.Split(encoded, "&") {
		if part == "" {
			continue
		}
		rawName, rawText, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return nil, invalidRequest("", "Invalid request: the parameters are not form-encoded.", "")
		}
		text, err := url.QueryUnescape(rawText)
		if err != nil {
			return nil, invalidRequest("", "Invalid request: the parameters are not form-encoded.", "")
		}
		p.pairs = append(p.pairs, pair{name: withoutIndices(name), sent: name, text: text})
	}
	return p, nil
}

func withoutIndices(name string) string {
	head, rest, found := strings.Cut(name, "[")
	if !found || head == "metadata" { // metadata names may look like numbers
		return name
	}
	var b strings.Builder
	b.WriteString(head)
	for _, part := range strings.Split(rest, "[") {
		inner := strings.TrimSuffix(part, "]")
		if _, err := strconv.Atoi(inner); err == nil {
			inner = ""
		}
		b.WriteString("[" + inner + "]")
	}
	return b.String()
}

// canonical is the same text for the same parameters, whatever their order.
func (p *params) canonical() string {
	pairs := append([]pair(nil), p.pairs...)
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].name < pairs[j].name })
	var b strings.Builder
	for _, one := range pairs {
		b.WriteString(url.QueryEscape(one.name) + "=" + url.QueryEscape(one.text) + "&")
	}
	return b.String()
}

// has says whether name was sent; it does not mark it as understood.
func (p *params) has(name string) bool {
	for _, one := range p.pairs {
		if one.name == name {
			return true
		}
	}
	return false
}

// text returns the value of name and whether it was sent.
func (p *params) text(name string) (string, bool) {
	value, found := "", false
	for i := range p.pairs {
		if p.pairs[i].name == name {
			p.pairs[i].used = true
			value, found = p.pairs[i].text, true
		}
	}
	return value, found
}

// required returns the value of name; its absence is a fault.
func (p *params) required(name string) string {
	value, found := p.text(name)
	if !found || value == "" {
		p.fail(missingParam(name))
	}
	return value
}

// integer returns the value of name, or nil when it was not sent or sent empty.
func (p *params) integer(name string) *int64 {
	value, found := p.text(name)
	if !found || value == "" {
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		p.fail(invalidRequest("parameter_invalid_integer", "Invalid integer: "+value, name))
		return nil
	}
	return &n
}

// boolean returns the value of name; absent is false.
func (p *params) boolean(name string) bool {
	value, found := p.text(name)
	switch {
	case !found, value == "", value == "false":
		return false
	case value == "true":
		return true
	}
	p.fail(invalidRequest("", "Invalid boolean: "+value, name))
	return false
}

// oneOf returns the value of name, which must be one of the allowed when sent.
func (p *params) oneOf(name string, allowed ...string) string {
	value, found := p.text(name)
	if !found || value == "" {
		return ""
	}
	for _, one := range allowed {
		if value == one {
			return value
		}
	}
	p.fail(invalidRequest("", "Invalid "+name+": must be one of "+oxford(allowed), name))
	return ""
}

func oxford(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + ", or " + words[len(words)-1]
}

// array returns the values of name[] in order.
func (p *params) array(name string) []string {
	var values []string
	for i := range p.pairs {
		if p.pairs[i].name == name+"[]" {
			p.pairs[i].used = true
			values = append(values, p.pairs[i].text)
		}
	}
	return values
}

// object returns the members name[member]. An empty name= is reported as cleared.
func (p *params) object(name string) (members map[string]string, cleared bool) {
	members = map[string]string{}
	for i := range p.pairs {
		one := &p.pairs[i]
		if one.name == name && one.text == "" {
			one.used, cleared = true, true
			continue
		}
		if strings.HasPrefix(one.sent, name+"[") && strings.HasSuffix(one.sent, "]") {
			one.used = true
			members[one.sent[len(name)+1:len(one.sent)-1]] = one.text
		}
	}
	return members, cleared
}

func (p *params) fail(err *apiError) {
	if p.fault == nil {
		p.fault = err
	}
}

// done returns the fault of the parameters: unknown ones first, then the first bad one. Such a refusal comes before
// execution and is never stored under a key.
func (p *params) done() *apiError {
	var unknown []string
	for _, one := range p.pairs {
		if !one.used {
			unknown = append(unknown, one.sent)
		}
	}
	if len(unknown) > 0 {
		noun := "Received unknown parameter: "
		if len(unknown) > 1 {
			noun = "Received unknown parameters: "
		}
		return invalidRequest("parameter_unknown", noun+strings.Join(unknown, ", "), unknown[0])
	}
	return p.fault
}

// peek returns the members of name without marking them as understood.
func (p *params) peek(name string) (members map[string]string, cleared bool) {
	if p == nil {
		return nil, false
	}
	unmarked := params{pairs: append([]pair(nil), p.pairs...)}
	return unmarked.object(name)
}
