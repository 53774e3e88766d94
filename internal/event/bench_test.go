package event

import (
	"fmt"
	"strings"
	"testing"
)

// benchLine returns a line of size bytes that looks like real ones: nested objects, numbers, texts, a few escapes.
func benchLine(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"id":"01932c07-91a1-7000-8000-00000000000a","type":"order.line.added","timestamp":"2026-11-30T12:00:00.137Z","key":"A-17","data":{"lines":[`)
	for i := 0; b.Len() < size-170; i++ {
		fmt.Fprintf(&b, `{"line":%d,"sku":"K-%05d","name":"Tee \"Darjeeling\" \u00e9","price":%d.90,"tags":["a","b"],"gift":false,"note":null},`, i, i*37, i)
	}
	b.WriteString(`{}],"rest":"`)
	for b.Len() < size-len(`"},"trace":"x"}`) {
		b.WriteByte('x')
	}
	b.WriteString(`"},"trace":"x"}`)
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{256, 1024, 16384} {
		line := benchLine(size)
		b.Run(fmt.Sprintf("%d", len(line)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, err := Parse(line, DefaultMaxBytes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEnvelope(b *testing.B) {
	e := mustParse(b, string(benchLine(1024)))
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = e.AppendEnvelope(dst[:0], testStamp)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, types := range [][]string{
		{"*"},
		{"order.line.added"},
		{"order.*", "!order.gone"},
		{"github.issues.*", "github.pull_request*", "*.added", "!*.line.gone", "!user.*"},
	} {
		p, err := ParsePatterns(types)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d patterns from %s", len(types), types[0]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !p.Match("order.line.added") {
					b.Fatal("no match")
				}
			}
		})
	}
}
