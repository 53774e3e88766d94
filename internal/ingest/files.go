package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileID tells a file from every other one that exists at the same time.
type fileID struct{ dev, ino uint64 }

func idOf(info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t) // what the os package gives on every system that hookd is built for
	return fileID{dev: uint64(st.Dev), ino: st.Ino}
}

// unlinked reports whether no name leads to the file any more.
func unlinked(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Nlink == 0 }

// dataAfter returns where the next bytes stand that are no hole, from at on; at itself where nobody can tell, and the end of the
// file when there are none.
func dataAfter(f *os.File, at int64) int64 {
	data, err := f.Seek(at, unix.SEEK_DATA)
	switch {
	case err == nil:
		return max(at, data)
	case errors.Is(err, syscall.ENXIO):
		if end, err := f.Seek(0, io.SeekEnd); err == nil {
			return max(at, end)
		}
	}
	return at
}

// A trouble is why a path cannot be read now. It is a state of the source, not a failure of hookd.
type trouble struct {
	state  string // Waiting when nothing is there yet, Broken when somebody has to act
	reason string
}

// statFile looks where a path leads: to a regular file, or into trouble.
func statFile(path string) (fs.FileInfo, *trouble) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, troubleOf(path, err)
	}
	if t := irregular(info); t != nil {
		return nil, t
	}
	return info, nil
}

// openFile opens the regular file that a path leads to. It does not hang on a FIFO that has just taken its place.
func openFile(path string) (*os.File, fs.FileInfo, *trouble) {
	if _, t := statFile(path); t != nil { // opening a device may do something
		return nil, nil, t
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, troubleOf(path, err)
	}
	info, err := f.Stat()
	t := (*trouble)(nil)
	if err != nil {
		t = troubleOf(path, err)
	} else {
		t = irregular(info)
	}
	if t != nil {
		_ = f.Close()
		return nil, nil, t
	}
	return f, info, nil
}

func irregular(info fs.FileInfo) *trouble {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &trouble{Broken, "it is a folder, not a file"}
	case mode&fs.ModeNamedPipe != 0:
		return &trouble{Broken, "it is a named pipe, not a regular file"}
	case mode&fs.ModeSocket != 0:
		return &trouble{Broken, "it is a socket, not a regular file"}
	}
	return &trouble{Broken, "it is a device, not a regular file"}
}

func troubleOf(path string, err error) *trouble {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &trouble{Waiting, missing(path)}
	case errors.Is(err, fs.ErrPermission):
		return &trouble{Broken, "permission denied"}
	case errors.Is(err, syscall.ENOTDIR):
		return &trouble{Broken, "a part of the path is a file, not a folder"}
	case errors.Is(err, syscall.ELOOP):
		return &trouble{Broken, "the links of the path lead in a circle"}
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		return &trouble{Broken, no.Error()}
	}
	return &trouble{Broken, fmt.Sprintf("it cannot be read: %v", err)}
}

func missing(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "the link leads to a file that does not exist"
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return "the folder does not exist"
	}
	return "the file does not exist"
}

// targetOf returns where the links of a path lead, "" when it has none or they lead nowhere.
func targetOf(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || target == filepath.Clean(path) {
		return ""
	}
	return target
}
