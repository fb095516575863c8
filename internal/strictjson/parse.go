package strictjson

import (
	"bytes"
	"unicode/utf8"
)

// parser reads RFC 8259 by recursive descent.
type parser struct {
	data []byte
	at   int
}

// parse reads exactly one object.
func parse(data []byte) (value, error) {
	if !utf8.Valid(data) {
		return value{}, &FieldError{Reason: "must be UTF-8"}
	}
	p := &parser{data: data}
	p.space()
	if p.peek() != '{' {
		return value{}, &FieldError{Reason: "must be a JSON object"}
	}
	root, err := p.value("", 1)
	if err != nil {
		return value{}, err
	}
	p.space()
	if p.at != len(p.data) {
		return value{}, &FieldError{Reason: "must end after the JSON object"}
	}
	return root, nil
}

// peek is the next byte, or 0 at the end: a raw NUL begins no token either.
func (p *parser) peek() byte {
	if p.at == len(p.data) {
		return 0
	}
	return p.data[p.at]
}

func (p *parser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// take consumes the word if it comes next.
func (p *parser) take(word string) bool {
	if !bytes.HasPrefix(p.data[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) value(path string, depth int) (value, error) {
	if depth > MaxDepth {
		return value{}, &FieldError{Field: path, Reason: "is nested too deeply"}
	}
	switch next := p.peek(); {
	case next == '{':
		return p.object(path, depth)
	case next == '[':
		return p.array(path, depth)
	case next == '"':
		text, err := p.string(path)
		return value{kind: kindString, text: text}, err
	case next == '-' || (next >= '0' && next <= '9'):
		return p.number(path)
	case p.take("true"):
		return value{kind: kindBool, boolean: true}, nil
	case p.take("false"):
		return value{kind: kindBool}, nil
	case p.take("null"):
		return value{kind: kindNull}, nil
	default:
		return value{}, notJSON(path)
	}
}

func (p *parser) object(path string, depth int) (value, error) {
	object := value{kind: kindObject}
	var seen names
	p.at++ // {
	p.space()
	if p.take("}") {
		return object, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return value{}, notJSON(path)
		}
		name, err := p.string(path)
		if err != nil {
			return value{}, err
		}
		here := join(path, name)
		if !seen.add(name, object.members) {
			return value{}, &FieldError{Field: here, Reason: "is given twice"}
		}
		p.space()
		if !p.take(":") {
			return value{}, notJSON(here)
		}
		p.space()
		inner, err := p.value(here, depth+1)
		if err != nil {
			return value{}, err
		}
		if object.members == nil {
			object.members = make([]member, 0, usualMembers)
		}
		object.members = append(object.members, member{name, inner})
		p.space()
		if p.take("}") {
			return object, nil
		}
		if !p.take(",") {
			return value{}, notJSON(here)
		}
	}
}

func (p *parser) array(path string, depth int) (value, error) {
	array := value{kind: kindArray}
	p.at++ // [
	p.space()
	if p.take("]") {
		return array, nil
	}
	for i := 0; ; i++ {
		p.space()
		element, err := p.value(at(path, i), depth+1)
		if err != nil {
			return value{}, err
		}
		array.elements = append(array.elements, element)
		p.space()
		if p.take("]") {
			return array, nil
		}
		if !p.take(",") {
			return value{}, notJSON(path)
		}
	}
}

// number reads the whole grammar of RFC 8259, so that 1000.0 and 1e3 are refused as what they are and not as broken JSON.
func (p *parser) number(path string) (value, error) {
	start := p.at
	p.take("-")
	if !p.take("0") && !p.digits() {
		return value{}, notJSON(path)
	}
	if p.take(".") && !p.digits() {
		return value{}, notJSON(path)
	}
	if p.take("e") || p.take("E") {
		if !p.take("+") {
			p.take("-")
		}
		if !p.digits() {
			return value{}, notJSON(path)
		}
	}
	return value{kind: kindNumber, text: string(p.data[start:p.at])}, nil
}

// digits consumes the digits that come next and tells whether there was one.
func (p *parser) digits() bool {
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	return p.at > start
}

func notJSON(path string) error {
	if path == "" {
		return &FieldError{Reason: "must be a JSON object"}
	}
	return &FieldError{Field: path, Reason: "is not well-formed JSON here"}
}
