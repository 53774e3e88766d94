package ingest

import (
	"errors"
	"log/slog"

	"hookd/internal/store"
)

// The states of a source.
const (
	Running = "running" // it is read
	Waiting = "waiting" // there is nothing to read from yet, for the reason given
	Broken  = "failed"  // it cannot be read before somebody does something; it is tried again all the same
	Paused  = "paused"  // the store takes no lines now; nothing is lost, and reading goes on by itself
)

// Status is what can be told of a file source.
type Status struct {
	Name    string
	Kind    string // "file"
	State   string
	Reason  string // why it is not running, "" when it is
	Path    string // as configured
	Target  string // where the links of the path lead, "" when there are none
	Offset  int64  // in the file that is being read; everything before it is in the log
	Lag     int64  // bytes known to be unread of that file and of the one at the path
	Problem bool   // somebody should look at it
}

// view is what Status shows, beside the states, of the file being read.
type view struct {
	gen          *generation
	target       string
	offset, size int64
	ahead        int64 // bytes of a file at the path that is still to be read
}

// Status returns what the source is doing. It does not look at the file itself, so it never waits for a file system.
func (t *Tail) Status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Status{
		Name: t.c.Name, Kind: Kind, State: Running, Path: t.c.Path, Target: t.view.target,
		Offset: t.view.offset, Lag: max(0, t.view.size-t.view.offset) + t.view.ahead,
	}
	if t.trouble != nil {
		s.State, s.Reason = t.trouble.state, t.trouble.reason
	}
	if t.refused != "" {
		s.State, s.Reason = Paused, t.refused
	}
	s.Problem = s.State == Broken || s.State == Paused
	return s
}

// showCurrent makes g the generation that Status speaks of.
func (t *Tail) showCurrent(g *generation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view = view{gen: g, target: t.view.target, offset: g.mark.Offset, size: g.lines.size}
}

func (t *Tail) showRead(g *generation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view.gen == g {
		t.view.size = g.lines.size
	}
}

func (t *Tail) showCommitted(g *generation, offset int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view.gen == g {
		t.view.offset = offset
	}
}

func (t *Tail) showAhead(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view.ahead = n
}

func (t *Tail) showTarget(target string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view.target = target
}

// report sets what keeps the path from being read, nil for nothing. A change is logged, once.
func (t *Tail) report(now *trouble) {
	t.mu.Lock()
	before := t.trouble
	t.trouble = now
	t.mu.Unlock()
	switch {
	case now == nil && before != nil && *before != unseen:
		t.log.Info("source is read again", slog.String("state", Running))
	case now != nil && (before == nil || *before != *now):
		say := t.log.Info
		switch {
		case now.state == Broken:
			say = t.log.Warn
		case t.cur != nil && t.cur.open(): // between two steps of a rotation
			say = t.log.Debug
		}
		say("source cannot be read", slog.String("state", now.state), slog.String("reason", now.reason))
	}
}

// unseen is the trouble of a source whose path was not looked at yet.
var unseen = trouble{Waiting, "it was not looked at yet"}

// pause says that the store takes nothing, resume that it does again.
func (t *Tail) pause(err error) {
	reason := "the store failed: " + err.Error()
	if errors.Is(err, store.ErrFull) {
		reason = "the store takes no writes: " + err.Error()
	}
	t.mu.Lock()
	first := t.refused == ""
	t.refused = reason
	t.mu.Unlock()
	if first {
		t.log.Warn("source is paused", slog.String("state", Paused), slog.String("reason", reason))
	}
}

func (t *Tail) resume() {
	t.mu.Lock()
	paused := t.refused != ""
	t.refused = ""
	t.mu.Unlock()
	if paused {
		t.log.Info("source goes on, the store takes lines again")
	}
}
