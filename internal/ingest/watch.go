package ingest

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A watch wakes a tail when a file of its source has changed. It watches folders: so it sees files that come and go, and those
// that were renamed. What it misses, and what file systems never tell, a poll finds.
type watch struct {
	wake chan struct{}
	log  *slog.Logger
	fs   *fsnotify.Watcher // nil where there are no events
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	places []place
}

// newWatch makes a watch that sees nothing yet. It is closed with close.
func newWatch(log *slog.Logger, events bool) *watch {
	w := &watch{wake: make(chan struct{}), log: log, stop: make(chan struct{})}
	if !events {
		return w
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("file system events are not to be had, the file is polled", slog.Any("error", err))
		return w
	}
	w.fs = fs
	w.done.Go(w.run)
	return w
}

// follow watches the folders of these places and no others. It is asked again and again, for folders come and go too.
func (w *watch) follow(places []place) {
	if w.fs == nil {
		return
	}
	w.mu.Lock()
	before := w.places
	w.places = places
	w.mu.Unlock()
	for _, p := range before {
		if !slices.ContainsFunc(places, func(q place) bool { return q.dir == p.dir }) {
			_ = w.fs.Remove(p.dir) // gone already, perhaps
		}
	}
	for _, p := range places {
		_ = w.fs.Add(p.dir) // polls do where it fails, and it is tried again
	}
}

// run passes events on. It takes no more of them while nobody takes the last: the kernel makes one of those that are alike.
func (w *watch) run() {
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if !w.concerns(e.Name) {
				continue
			}
		case _, ok := <-w.fs.Errors: // some were lost
			if !ok {
				return
			}
		case <-w.stop:
			return
		}
		select {
		case w.wake <- struct{}{}:
		case <-w.stop:
			return
		}
	}
}

// concerns reports whether a name is that of a file of the source, or of its folder.
func (w *watch) concerns(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	base := filepath.Base(name)
	return slices.ContainsFunc(w.places, func(p place) bool {
		return strings.HasPrefix(base, p.base) || name == p.dir
	})
}

func (w *watch) close() {
	close(w.stop)
	if w.fs != nil {
		_ = w.fs.Close() // fails only when it is closed already
	}
	w.done.Wait()
}
