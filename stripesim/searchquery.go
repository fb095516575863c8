package stripesim

import (
	"strconv"
	"strings"
)

// searchQuery is a query in Stripe's search language (Stripe docs, Search query language): clauses joined by AND,
// which may be left out, or by OR, never by both.
type searchQuery struct {
	clauses []searchClause
	either  bool // joined by OR
}

type searchClause struct {
	negated bool
	field   string
	member  string // of metadata
	op      string
	value   string
	number  int64 // of a numeric field
	null    bool  // field:null, without quotes
}

// fields that payment intents can be searched by.
func searchKind(field string) (numeric, known bool) {
	switch field {
	case "amount", "created":
		return true, true
	case "currency", "customer", "metadata", "status":
		return false, true
	}
	return false, false
}

// parseSearch reads a query. Its faults are faults of the parameter.
func parseSearch(text string) (searchQuery, *apiError) {
	q := searchQuery{}
	s := searchScanner{rest: text}
	and := false
	for s.blanks(); s.rest != ""; s.blanks() {
		if len(q.clauses) > 0 {
			switch {
			case s.word("or"):
				q.either = true
			case s.word("and"):
				and = true
			default:
				and = true
			}
			s.blanks()
		}
		c, err := s.clause()
		if err != nil {
			return q, err
		}
		q.clauses = append(q.clauses, c)
	}
	switch {
	case len(q.clauses) == 0:
		return q, badSearch("The search query is empty.")
	case and && q.either:
		return q, badSearch("A search query may use AND or OR, not both.")
	}
	return q, nil
}

func badSearch(message string) *apiError { return invalidRequest("", message, "query") }

// searchScanner reads a query from left to right.
type searchScanner struct{ rest string }

func (s *searchScanner) blanks() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

// word takes a word that a blank follows, in either case.
func (s *searchScanner) word(word string) bool {
	n := len(word)
	if len(s.rest) <= n || !strings.EqualFold(s.rest[:n], word) || !strings.ContainsRune(" \t\r\n", rune(s.rest[n])) {
		return false
	}
	s.rest = s.rest[n:]
	return true
}

func (s *searchScanner) take(prefix string) bool {
	rest, found := strings.CutPrefix(s.rest, prefix)
	s.rest = rest
	return found
}

func (s *searchScanner) bad() *apiError {
	near := s.rest
	if len(near) > 20 {
		near = near[:20]
	}
	return badSearch("The search query could not be parsed near `" + near + "`. Write clauses as status:'succeeded' or metadata['key']:'value'.")
}

// clause reads [-]field[member] operator value.
func (s *searchScanner) clause() (searchClause, *apiError) {
	c := searchClause{negated: s.take("-")}
	end := strings.IndexFunc(s.rest, func(r rune) bool { return r != '_' && r != '.' && (r < 'a' || r > 'z') })
	if end <= 0 {
		return c, s.bad()
	}
	c.field, s.rest = s.rest[:end], s.rest[end:]
	numeric, known := searchKind(c.field)
	if !known {
		return c, badSearch("Field `" + c.field + "` is not one that payment_intents can be searched by.")
	}
	if c.field == "metadata" {
		member, ok := "", s.take("[")
		if ok {
			member, ok = s.quoted()
		}
		if !ok || !s.take("]") {
			return c, s.bad()
		}
		c.member = member
	}
	for _, op := range []string{">=", "<=", ">", "<", ":", "=", "~"} {
		if s.take(op) {
			c.op = op
			break
		}
	}
	if c.op == "" || c.op == "=" && !numeric {
		return c, s.bad()
	}
	if c.op == "~" || c.op != ":" && !numeric {
		return c, badSearch("Field `" + c.field + "` does not support the operator " + c.op + ".")
	}
	return s.valueOf(c, numeric)
}

func (s *searchScanner) valueOf(c searchClause, numeric bool) (searchClause, *apiError) {
	value, quoted := s.quoted()
	if !quoted {
		end := strings.IndexAny(s.rest+" ", " \t\r\n")
		value, s.rest = s.rest[:end], s.rest[end:]
	}
	c.value = value
	switch {
	case !quoted && value == "null" && c.op == ":" && !numeric:
		c.null = true
	case numeric:
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return c, badSearch("Field `" + c.field + "` wants a whole number, not `" + value + "`.")
		}
		c.number = number
	case !quoted:
		return c, s.bad()
	}
	return c, nil
}

// quoted takes a text in single or double quotes, in which a backslash escapes.
func (s *searchScanner) quoted() (string, bool) {
	if s.rest == "" || s.rest[0] != '\'' && s.rest[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch {
		case s.rest[i] == s.rest[0]:
			s.rest = s.rest[i+1:]
			return b.String(), true
		case s.rest[i] == '\\' && i+1 < len(s.rest):
			i++
		}
		b.WriteByte(s.rest[i])
	}
	return "", false
}

// matches says whether an intent is what the query looks for. Texts are compared without regard to case.
func (q searchQuery) matches(in *intent) bool {
	for _, c := range q.clauses {
		if c.matches(in) != c.negated == q.either {
			return q.either
		}
	}
	return !q.either
}

func (c searchClause) matches(in *intent) bool {
	var text string
	known := true
	switch c.field {
	case "amount":
		return c.compares(in.Amount)
	case "created":
		return c.compares(in.Created)
	case "currency":
		text = in.Currency
	case "customer":
		text, known = in.Customer, in.Customer != ""
	case "status":
		text = in.Status
	default:
		text, known = in.Metadata[c.member]
	}
	if c.null {
		return !known
	}
	return known && strings.EqualFold(text, c.value)
}

func (c searchClause) compares(number int64) bool {
	switch c.op {
	case ">":
		return number > c.number
	case ">=":
		return number >= c.number
	case "<":
		return number < c.number
	case "<=":
		return number <= c.number
	}
	return number == c.number
}
