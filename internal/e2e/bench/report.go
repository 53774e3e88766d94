package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"
)

// report is the outcome of a run.
type report struct {
	Began   time.Time `json:"began"`
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	Rounds  int       `json:"rounds"`
	Events  int       `json:"events"`
	Preload int       `json:"preload"`
	Figures []figure  `json:"figures"`
}

func newReport(s settings) *report {
	return &report{
		Began: time.Now().UTC(), Go: runtime.Version(), Cores: runtime.NumCPU(),
		Rounds: s.count, Events: s.events, Preload: s.preload,
	}
}

func (r *report) reached() bool {
	for _, f := range r.Figures {
		if !f.reached() {
			return false
		}
	}
	return true
}

// writeTable prints a line for each figure. A table that cannot be written is nobody's loss: the figures are saved.
func (r *report) writeTable(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\twhat\thookd\tlimit\tratio\twanted\treached")
	for _, f := range r.Figures {
		limit, ratio := "-", "-"
		if f.Rule != valueAtMost {
			limit, ratio = amount(median(f.Limit), f.Unit), fmt.Sprintf("%.2f", f.value())
		}
		reached := "yes"
		if !f.reached() {
			reached = "NO"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Row, f.What, amount(median(f.Hookd), f.Unit), limit, ratio, f.wanted(), reached)
	}
	t.Flush()
	fmt.Fprintf(out, "\nmedians of %d rounds on %d cores, %s\n", r.Rounds, r.Cores, r.Go)
}

// save writes the raw figures into a new file of dir and returns its path.
func (r *report) save(dir string) (string, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("save figures: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save figures: %w", err)
	}
	path := filepath.Join(dir, r.Began.Format("20060102T150405Z")+".json")
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("save figures: %w", err)
	}
	return path, nil
}
