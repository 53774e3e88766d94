package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"testing"
)

// DB-03: readers that overlap keep the WAL from being used anew; the leader cuts it as soon as there is a gap, and writes
// go on meanwhile.
func TestWALIsBounded(t *testing.T) {
	s := openTest(t, t.TempDir())
	s.walLimit = 8 << 20
	grow := func(until func() bool) {
		t.Helper()
		for n := 0; !until(); n++ {
			if n > 400 {
				t.Fatalf("the WAL has %d bytes", s.Size().WAL)
			}
			check(t, put(s, "x", noise(100<<10))())
		}
	}
	pin, err := s.read.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	check(t, err)
	var n int
	check(t, one(pin.QueryRowContext(t.Context(), `SELECT count(*) FROM meta`), &n))
	grow(func() bool { return s.Size().WAL > 2*s.walLimit })
	if s.walTried.IsZero() {
		t.Error("the leader has not tried to cut it")
	}
	check(t, pin.Rollback())
	s.walTried = s.walTried.Add(-walPause)
	grow(func() bool { return s.Size().WAL < s.walLimit })
	for name, want := range map[string]string{"busy_timeout": "5000", "wal_autocheckpoint": "1000"} {
		if v, err := value(s.w.conn, "PRAGMA "+name); err != nil || fmt.Sprint(v) != want {
			t.Errorf("%s is %v %v afterwards", name, v, err)
		}
	}
}

// Without readers in the way the WAL stays at the size of a checkpoint, and a clean stop leaves none.
func TestWALStaysShort(t *testing.T) {
	s := openTest(t, t.TempDir())
	for range 300 {
		check(t, put(s, "x", noise(100<<10))())
		check(t, s.do(context.Background(), lazy, 0, step{do: func(*tx) error { return nil }}))
	}
	if n := s.Size().WAL; n > 6<<20 {
		t.Errorf("the WAL has %d bytes", n)
	}
	check(t, s.Close())
	if size := s.Size(); size.WAL != 0 || size.Store == 0 {
		t.Errorf("after the stop: %+v", size)
	}
}

// noise is content that differs each time: SQLite does not write what is there already.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}
