package daemon

import (
	"strconv"
	"strings"
	"testing"

	"hookd/internal/control"
	"hookd/internal/event"
)

// What a client gives as the place in a list is either one that a page named, or refused.
func FuzzDeliveryCursor(f *testing.F) {
	for _, text := range []string{"", "h7.0", "p3.99", "f0.12", "e0.50", "f0.-1", "x1.1", "p", ".", "f0.99999999999999999999", "é1.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var l deliveryList
		if err := l.readCursor(text); err != nil {
			refused(t, err, control.CodeInvalidRequest, "/after")
			return
		}
		if text == "" {
			return
		}
		var again deliveryList
		if err := again.readCursor(string(l.part) + number(l.sub) + "." + number(l.seq)); err != nil || again.part != l.part || again.sub != l.sub || again.seq != l.seq {
			t.Errorf("%q is read as %c %d %d, and that as %c %d %d (%v)", text, l.part, l.sub, l.seq, again.part, again.sub, again.seq, err)
		}
	})
}

// A reference is a seq, an id, or not found; never both, and an id is always one that an event can have.
func FuzzEventRef(f *testing.F) {
	for _, text := range []string{"", "0", "7", "007", "id:7", "id:", "id:id:7", "evt-7", "a b", "99999999999999999999", "-1", "+1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seq, id, err := eventRef(text)
		switch {
		case err != nil:
			if seq != 0 || id != "" || problemOf(err).Code != control.CodeNotFound {
				t.Errorf("%q: %d, %q, %v", text, seq, id, err)
			}
		case id != "":
			if seq != 0 || event.ValidID(id) != nil || (text != id && text != "id:"+id) {
				t.Errorf("%q: %d, %q", text, seq, id)
			}
		default:
			if seq < 1 || strings.TrimLeft(text, "0") != strconv.FormatInt(seq, 10) {
				t.Errorf("%q: %d", text, seq)
			}
		}
	})
}
