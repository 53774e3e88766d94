package signing

import (
	"bytes"
	"strings"
	"testing"
)

func TestSignAppends(t *testing.T) {
	signer := NewSigner(Secret(counting(32)))
	alone := signer.Sign(nil, "evt-1", 1, []byte("{}"))
	got := signer.Sign([]byte("before "), "evt-1", 1, []byte("{}"))
	if string(got) != "before "+string(alone) {
		t.Errorf("got %q", got)
	}
}

func TestSignNewestFirst(t *testing.T) {
	older, newer := Secret(counting(24)), Secret(counting(40))
	first := string(NewSigner(newer).Sign(nil, "evt-1", 1, nil))
	second := string(NewSigner(older).Sign(nil, "evt-1", 1, nil))
	if got := string(NewSigner(newer, older).Sign(nil, "evt-1", 1, nil)); got != first+" "+second {
		t.Errorf("got %q, want %q then %q", got, first, second)
	}
}

func TestSignWithoutSecretAppendsNothing(t *testing.T) {
	if got := NewSigner().Sign([]byte("x"), "evt-1", 1, nil); string(got) != "x" {
		t.Errorf("got %q", got)
	}
}

func TestSignOnlyReadsItsArguments(t *testing.T) {
	secret, body := Secret(counting(32)), []byte(`{"a":1}`)
	signer := NewSigner(secret)
	want := signer.Sign(nil, "evt-1", 1, body)
	if !bytes.Equal(secret, counting(32)) || string(body) != `{"a":1}` {
		t.Fatal("an argument was changed")
	}
	clear(secret) // the signer keeps no reference
	if got := signer.Sign(nil, "evt-1", 1, body); !bytes.Equal(got, want) {
		t.Error("the signature follows the caller's slice")
	}
}

func TestNewSignerRefusesGuessableKeys(t *testing.T) {
	for _, size := range []int{0, 1, 23, 65} {
		t.Run("", func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("a key of %d bytes signs", size)
				}
			}()
			NewSigner(Secret(counting(size)))
		})
	}
}

func TestSignDoesNotAllocate(t *testing.T) {
	signer := NewSigner(Secret(counting(32)), Secret(counting(64)))
	body, dst := bytes.Repeat([]byte("x"), 1024), make([]byte, 0, 256)
	id := strings.Repeat("a", MaxIDBytes)
	if n := testing.AllocsPerRun(100, func() { dst = signer.Sign(dst[:0], id, 1767225600, body) }); n != 0 {
		t.Errorf("%v allocations a signature", n)
	}
}

func BenchmarkSign(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	for _, bench := range []struct {
		name    string
		secrets []Secret
	}{
		{"secrets=1", []Secret{counting(32)}},
		{"secrets=2", []Secret{counting(32), counting(64)}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			signer, dst := NewSigner(bench.secrets...), make([]byte, 0, 256)
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				dst = signer.Sign(dst[:0], "01932c07-91a0-7000-8000-000000000001", 1767225600, body)
			}
		})
	}
}
