package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"hookd/internal/control"
)

// writeReady writes the ready file. Who waits for its name finds it whole.
func writeReady(path string, content control.ReadyFile) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".hookd-ready-*")
	if err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	// The name of the socket is no secret, and who waits may be another user.
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write ready file: %w", err), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("write ready file: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// removeReady removes the ready file; that somebody did before is no trouble.
func removeReady(path string, log *slog.Logger) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("remove ready file", "error", err)
	}
}

// notify tells systemd, where it started hookd.
func notify(state string, log *slog.Logger) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		log.Warn("notify systemd", "state", state, "error", err)
	}
}

// readySources are the sources as the ready file has them.
func (a *api) readySources() control.List[control.ReadySource] {
	list := control.List[control.ReadySource]{}
	for _, s := range a.sources {
		list = append(list, control.ReadySource{Name: s.name, Kind: s.kind, Path: s.path})
	}
	return list
}

// places are the sources as a line of the log has them.
func (a *api) places() []string {
	list := make([]string, 0, len(a.sources))
	for _, s := range a.sources {
		list = append(list, s.kind+":"+s.path)
	}
	return list
}
