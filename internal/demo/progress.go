package demo

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
)

// progress shows how many orders have their outcome: a bar on a terminal, else a line now and then.
type progress struct {
	out   io.Writer
	total int
	bar   *progressbar.ProgressBar // nil: not a terminal

	mutex sync.Mutex
	done  int
}

// linesEvery is the number of orders between two lines.
const linesEvery = 25

func newProgress(out io.Writer, total int) *progress {
	p := &progress{out: out, total: total}
	if isTerminal(out) {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription("orders"),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(40))
	}
	return p
}

// add tells that one more order has its outcome.
func (p *progress) add() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn changes nothing
		return
	}
	if p.done%linesEvery == 0 || p.done == p.total {
		fmt.Fprintf(p.out, "orders: %d of %d have their outcome\n", p.done, p.total)
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		fmt.Fprintln(p.out)
	}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
