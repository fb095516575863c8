package strictjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string literal. It refuses U+0000 and lone surrogates: Postgres stores neither, and a decoder that
// replaces them would read two different strings as one.
func (p *parser) string(path string) (string, error) {
	p.at++ // "
	var text []byte
	for {
		if p.at == len(p.data) {
			return "", notJSON(path)
		}
		switch next := p.data[p.at]; {
		case next == '"':
			p.at++
			return string(text), nil
		case next < 0x20:
			return "", &FieldError{Field: path, Reason: "holds a control character that is not escaped"}
		case next == '\\':
			character, err := p.escape(path)
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, character)
		default:
			text = append(text, next)
			p.at++
		}
	}
}

// escape reads one escaped character; a surrogate pair is one.
func (p *parser) escape(path string) (rune, error) {
	p.at++ // \
	next := p.peek()
	p.at++
	switch next {
	case '"', '\\', '/':
		return rune(next), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode(path)
	default:
		return 0, notJSON(path)
	}
}

func (p *parser) unicode(path string) (rune, error) {
	unit, ok := p.hex()
	switch {
	case !ok:
		return 0, notJSON(path)
	case unit == 0:
		return 0, &FieldError{Field: path, Reason: "holds U+0000"}
	case !utf16.IsSurrogate(unit):
		return unit, nil
	}
	if p.take(`\u`) {
		if low, ok := p.hex(); ok {
			if character := utf16.DecodeRune(unit, low); character != utf8.RuneError {
				return character, nil
			}
		}
	}
	return 0, &FieldError{Field: path, Reason: "holds a lone surrogate"}
}

// hex reads four hexadecimal digits.
func (p *parser) hex() (rune, bool) {
	const digits = 4
	if len(p.data)-p.at < digits {
		return 0, false
	}
	for _, digit := range p.data[p.at : p.at+digits] {
		if !isHex(digit) {
			return 0, false
		}
	}
	unit, err := strconv.ParseUint(string(p.data[p.at:p.at+digits]), 16, 16)
	if err != nil {
		return 0, false
	}
	p.at += digits
	return rune(unit), true
}

func isHex(b byte) bool {
	return (b >= '0' && b <= '9') || (b >= 'a' && b <= 'f') || (b >= 'A' && b <= 'F')
}
