package stack

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// lines writes whole lines of several sources to one place.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) line(name, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.to, "%-12s | %s\n", name, text)
}

// of is a writer that puts the name before each line.
func (l *lines) of(name string) *splitter {
	return &splitter{each: func(text string) { l.line(name, text) }}
}

// splitter hands on what is written to it line by line; an unfinished line waits
// for its end.
type splitter struct {
	each    func(text string)
	pending []byte
}

func (s *splitter) Write(p []byte) (int, error) {
	s.pending = append(s.pending, p...)
	for {
		end := bytes.IndexByte(s.pending, '\n')
		if end < 0 {
			return len(p), nil
		}
		s.each(string(bytes.TrimSuffix(s.pending[:end], []byte("\r"))))
		s.pending = s.pending[end+1:]
	}
}

// watch is like of, and sends what the pattern's last group matched in the first
// line that it matches; matched needs room for one. A nil pattern matches nothing.
func (l *lines) watch(name string, pattern *regexp.Regexp, matched chan<- string) *splitter {
	waiting := pattern != nil
	return &splitter{each: func(text string) {
		l.line(name, text)
		if !waiting {
			return
		}
		if groups := pattern.FindStringSubmatch(text); groups != nil {
			waiting = false
			matched <- groups[len(groups)-1]
		}
	}}
}
