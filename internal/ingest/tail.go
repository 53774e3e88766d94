package ingest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hookd/internal/event"
	"hookd/internal/store"
)

// Kind is what the store and Status call a file source.
const Kind = "file"

// Values of FileConfig.Start.
const (
	StartBeginning = "beginning"
	StartEnd       = "end"
)

// FileConfig is one file source.
type FileConfig struct {
	Name  string // unique among the sources. Ids of events that have none are made from it
	Path  string // of the file, which need not exist; links are followed
	Start string // StartEnd: a file that is there when it is followed for the first time is read from its end on; else its beginning
	// MaxBytes is how long a line, and the envelope made of it, may be; event.DefaultMaxBytes when below 1.
	MaxBytes int
}

const (
	pollEvery = time.Second // file systems of a network give no events, and events get lost
	// quietFor is how long nothing must have been written to a renamed file before the one at the path is begun: writers change
	// over one after the other.
	quietFor = time.Second
	// lingerFor is how long a file that was read to its end after a rotation is watched for lines that come late. A file whose
	// last name was removed is let go after it.
	lingerFor = time.Minute
	// longestHold bounds how long a renamed file that is never quiet keeps the next one waiting, and lateLingers how many times
	// lingerFor it is watched.
	longestHold = 5 * time.Second
	lateLingers = 10
	// maxLate is how many such files are watched.
	maxLate = 8
)

// A Tail brings the lines of one file, through its rotations, into the log. It is made with NewTail.
type Tail struct {
	st  *store.Store
	c   FileConfig
	log *slog.Logger

	// What tests set otherwise.
	now    func() time.Time
	after  func(time.Duration) <-chan time.Time
	tick   <-chan time.Time // nil: a ticker
	quiet  time.Duration
	linger time.Duration
	events bool         // watch for file system events
	fault  func() error // asked before each write to the store, when set

	poke  chan struct{} // a Drain has come
	ended chan struct{} // Run is over
	idle  chan struct{} // has one token while no batch is being committed
	spare chan []store.Line

	// Of Run's goroutine.
	source  store.SourceID
	wake    <-chan struct{}
	known   []*generation // newest first
	cur     *generation   // the one being read, or read last; nil before the first
	over    bool          // nothing more is to be read of cur
	late    []*generation // read to their end after a rotation, and still watched
	held    time.Time     // since when the file at the path waits for cur; zero when it does not
	since   time.Time     // files of a rotation that were not modified after it are older than what was read
	fromEnd bool          // the first file is read from its end on
	looked  bool          // the path was looked at
	moved   bool          // the folders to watch may be others now
	passed  map[fileID]bool
	drains  []*drain // those that were taken over

	mu      sync.Mutex // guards what follows
	asked   []*drain
	trouble *trouble
	refused string // why the store takes nothing, "" when it does
	view    view
}

// NewTail makes the source. Lines go into st; what happens to the file goes to log, never a line's content.
func NewTail(st *store.Store, c FileConfig, log *slog.Logger) *Tail {
	if c.MaxBytes < 1 {
		c.MaxBytes = event.DefaultMaxBytes
	}
	start := unseen
	t := &Tail{
		st: st, c: c, log: log.With(slog.String("source", c.Name)),
		now: time.Now, after: time.After, quiet: quietFor, linger: lingerFor, events: true,
		poke: make(chan struct{}, 1), ended: make(chan struct{}), idle: make(chan struct{}, 1), spare: make(chan []store.Line, 2),
		fromEnd: c.Start == StartEnd, passed: map[fileID]bool{}, trouble: &start, moved: true,
	}
	t.idle <- struct{}{}
	return t
}

// Run follows the file until ctx ends, and returns nil then, after the batch that was being committed. It is called once. What
// happens to the file, or keeps the store from taking lines, is a state (Status) and never an error.
func (t *Tail) Run(ctx context.Context) error {
	defer close(t.ended)
	w := newWatch(t.log, t.events)
	defer w.close()
	t.wake = w.wake
	defer t.letGo()
	if t.tick == nil {
		ticker := time.NewTicker(pollEvery)
		defer ticker.Stop()
		t.tick = ticker.C
	}
	if t.load(ctx) != nil {
		return nil
	}
	t.resumeLate()
	for pause := 0; ctx.Err() == nil; {
		if t.moved {
			t.moved = false
			w.follow(t.places())
		}
		r := t.pass(ctx)
		t.settleDrains(ctx, r)
		pause = t.sleep(ctx, r, pause)
	}
	return nil
}

// load finds or makes the source and its generations in the store.
func (t *Tail) load(ctx context.Context) error {
	return t.persist(ctx, func() error {
		src, err := t.st.Source(ctx, t.c.Name, Kind)
		if err != nil {
			return err
		}
		marks, err := t.st.Generations(ctx, src.ID)
		if err != nil {
			return err
		}
		t.source = src.ID
		for _, m := range marks {
			t.known = append(t.known, storedGeneration(t.c.Name, m))
		}
		if len(t.known) > 0 {
			t.cur, t.fromEnd = t.known[0], false
			t.since = t.cur.since()
		}
		return nil
	})
}

// letGo waits for the batch that is being committed and closes every file.
func (t *Tail) letGo() {
	<-t.idle
	for _, g := range t.known {
		g.close()
	}
}

// maxPause bounds, in polls, how long a path that cannot be read is left alone.
const maxPause = 10

// sleep waits for something to read. pause is how many polls the last sleep left out; it returns how many this one did.
func (t *Tail) sleep(ctx context.Context, r rest, pause int) int {
	switch {
	case r.trouble == nil || t.cur != nil && t.cur.open():
		pause = 1
	default:
		pause = min(max(1, 2*pause), maxPause)
	}
	var again <-chan time.Time
	if r.hold > 0 {
		again = t.after(r.hold)
	}
	for left := pause; left > 0; {
		select {
		case <-ctx.Done():
			return pause
		case <-t.wake:
			return pause
		case <-t.poke:
			return pause
		case <-again:
			return pause
		case <-t.tick:
			t.moved = true
			left--
		}
	}
	return pause
}

// The pauses before a write that the store refused is tried again.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

// persist writes to the store, again and again until it takes it. It fails only when ctx ends.
func (t *Tail) persist(ctx context.Context, write func() error) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := error(nil)
		if t.fault != nil {
			err = t.fault()
		}
		if err == nil {
			err = write()
		}
		if err == nil {
			t.resume()
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.pause(err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.after(pause):
		}
	}
}
