package strictjson

import "strings"

// kind is the type of a JSON value.
type kind int

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is a parsed JSON value. Members keep the order of the document, so that the first fault is the one reported.
type value struct {
	kind     kind
	boolean  bool
	text     string // of a string, decoded; of a number, as written
	elements []value
	members  []member
}

type member struct {
	name  string
	value value
}

// usualMembers is how many members an object has at most, as a rule.
const usualMembers = 8

// names are those of the members of an object beyond the usual ones: few are sought one by one, and only many by a map.
type names map[string]bool

// add tells whether the name is new to an object that has the members so far.
func (n *names) add(name string, members []member) bool {
	for _, m := range members[:min(len(members), usualMembers)] {
		if m.name == name {
			return false
		}
	}
	if len(members) < usualMembers {
		return true
	}
	if *n == nil {
		*n = names{}
	}
	known := (*n)[name]
	(*n)[name] = true
	return !known
}

// maxShownName bounds how much of a member's name is repeated in an error.
const maxShownName = 64

// join extends the path of a member by a name.
func join(path, name string) string {
	if runes := []rune(name); len(runes) > maxShownName {
		name = string(runes[:maxShownName]) + "…"
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if path == "" {
		return name
	}
	return path + "." + name
}
