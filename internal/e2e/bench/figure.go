package main

import (
	"fmt"
	"slices"
)

// rule says how a figure is held against what is wanted.
type rule int

const (
	ratioAtLeast rule = iota + 1 // hookd's median over the limit's
	ratioAtMost
	valueAtMost // hookd's median alone
)

// figure is one line of 8.3 with what was measured, a value a round.
type figure struct {
	Row    string    `json:"row"`
	What   string    `json:"what"`
	Unit   string    `json:"unit"`
	Rule   rule      `json:"-"`
	Wanted float64   `json:"wanted"`
	Hookd  []float64 `json:"hookd"`
	Limit  []float64 `json:"limit,omitempty"`
	// Notes says more about the rounds: whether both sides did the same work, and at what cost.
	Notes map[string][]float64 `json:"notes,omitempty"`
}

// value is what is held against Wanted.
func (f figure) value() float64 {
	if f.Rule == valueAtMost {
		return median(f.Hookd)
	}
	return median(f.Hookd) / median(f.Limit)
}

func (f figure) reached() bool {
	if f.Rule == ratioAtLeast {
		return f.value() >= f.Wanted
	}
	return f.value() <= f.Wanted
}

func (f figure) wanted() string {
	switch f.Rule {
	case ratioAtLeast:
		return fmt.Sprintf(">= %.2f", f.Wanted)
	case ratioAtMost:
		return fmt.Sprintf("<= %.1f", f.Wanted)
	default:
		return "<= " + amount(f.Wanted, f.Unit)
	}
}

// noteArrivals keeps what a round of one side sent and what that cost it.
func (f *figure) noteArrivals(side string, a arrivals) {
	if f.Notes == nil {
		f.Notes = map[string][]float64{}
	}
	for name, value := range map[string]float64{
		side + "_body_bytes": float64(a.Bytes) / float64(a.Total),
		side + "_cpu_us":     a.cpuMicros(),
	} {
		f.Notes[name] = append(f.Notes[name], value)
	}
}

// amount prints a value with as many digits as mean something.
func amount(v float64, unit string) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// median of no values is 0.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
