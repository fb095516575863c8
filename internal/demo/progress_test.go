package demo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressPrintsPlainLinesWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 60)
	for range 60 {
		p.add()
	}
	p.finish()
	require.Equal(t, []string{
		"orders: 25 of 60 have their outcome", "orders: 50 of 60 have their outcome", "orders: 60 of 60 have their outcome", "",
	}, strings.Split(out.String(), "\n"))
}
