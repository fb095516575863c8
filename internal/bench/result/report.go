package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Report is a run.
type Report struct {
	Commit   string   `json:"commit"`
	At       string   `json:"at"` // RFC 3339, UTC
	Machine  Machine  `json:"machine"`
	Settings Settings `json:"settings"`
	Rows     []Row    `json:"rows"`
	Seconds  float64  `json:"seconds"`
}

// Machine is what the run ran on.
type Machine struct {
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	MemoryGB float64 `json:"memory_gb"`
	Kernel   string  `json:"kernel"`
	Postgres string  `json:"postgres"`
	Go       string  `json:"go"`
	Load     float64 `json:"load"` // mean number of runnable processes over the minute before the run
}

// Settings are what was asked of the run and what was on in it.
type Settings struct {
	Rounds         int    `json:"rounds"`
	Growth         int    `json:"growth"` // finished payments loaded before
	CallsPerSecond string `json:"calls_per_second"`
	Quick          bool   `json:"quick,omitempty"`
}

// Missed are the names of the rows that are short of their bars.
func (r Report) Missed() []string {
	var missed []string
	for _, row := range r.Rows {
		if row.Missed() {
			missed = append(missed, row.Name)
		}
	}
	return missed
}

// JSON is the report with a final line feed. A figure that could not be measured is an error.
func (r Report) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return append(text, '\n'), nil
}

// Write writes the JSON to the file and the plot beside it, under the same name with .svg.
func (r Report) Write(path string) error {
	text, err := r.JSON()
	if err != nil {
		return err
	}
	var plot bytes.Buffer
	r.Plot(&plot)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	image := path[:len(path)-len(filepath.Ext(path))] + ".svg"
	if err := os.WriteFile(image, plot.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}
