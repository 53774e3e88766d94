//go:build !race

package event

import (
	"strings"
	"testing"
)

// Not under the race detector: sync.Pool gives back less there on purpose.
func TestAllocations(t *testing.T) {
	line := []byte(`{"id":"evt-7","type":"order.paid","timestamp":"2026-11-30T12:00:00Z","data":{"a":[1,2,{"b":"\u00e9"}]},"x":1}`)
	if n := testing.AllocsPerRun(1000, func() { _, _ = Parse(line, 0) }); n > 2 {
		t.Errorf("Parse allocates %v times, want at most the strings of id and type", n)
	}
	e := mustParse(t, string(line))
	e.ID = strings.Repeat(`\`, 200) // escaped, and longer than what a conversion keeps on the stack
	dst := make([]byte, 0, 2048)
	if n := testing.AllocsPerRun(1000, func() { dst = e.AppendEnvelope(dst[:0], testStamp) }); n != 0 {
		t.Errorf("AppendEnvelope allocates %v times", n)
	}
}
