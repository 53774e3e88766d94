package ingest

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A place is a name that files of a source have: themselves, or with a suffix after their rotation.
type place struct{ dir, base string }

// placesOf returns where the files of a source are: beside the path, and beside what it links to.
func placesOf(path, target string) []place {
	places := []place{{filepath.Dir(path), filepath.Base(path)}}
	if target != "" {
		if p := (place{filepath.Dir(target), filepath.Base(target)}); p != places[0] {
			places = append(places, p)
		}
	}
	return places
}

// A sibling is a regular file beside the one that is followed.
type sibling struct {
	path    string
	id      fileID
	size    int64
	modTime time.Time
}

// namesRotated reports whether a rotation may have given this name: the file's own with a suffix. What was compressed is no log
// any more.
func (p place) namesRotated(name string) bool {
	suffix, ok := strings.CutPrefix(name, p.base)
	return ok && suffix != "" && !slices.Contains(compressed, strings.ToLower(filepath.Ext(suffix)))
}

var compressed = []string{".gz", ".bz2", ".xz", ".zst", ".lz4", ".lzma", ".lzo", ".br", ".z", ".zip", ".7z"}

// rotated returns the files that a rotation may have left, oldest modification first. Those without a byte are left out.
func rotated(places []place) ([]sibling, error) {
	list, err := regular(places, place.namesRotated)
	list = slices.DeleteFunc(list, func(s sibling) bool { return s.size == 0 })
	bySuffix := func(a, b sibling) int { // .9 before .10
		return cmp.Or(cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
	}
	byTime := func(a, b sibling) int { return a.modTime.Compare(b.modTime) }
	slices.SortFunc(list, bySuffix)
	// A clock that ticks slowly leaves files that seem to be of one time. Suffixes tell no order by themselves, for they may be
	// numbers that count up with age, or dates; those of the other files tell which way they count.
	falling := 0
	for i := 1; i < len(list); i++ {
		falling += byTime(list[i-1], list[i])
	}
	if falling >= 0 {
		slices.Reverse(list)
	}
	slices.SortStableFunc(list, byTime)
	return list, err
}

// findID returns the file with an identity, whatever its name.
func findID(places []place, id fileID) (sibling, bool, error) {
	list, err := regular(places, func(place, string) bool { return true })
	if i := slices.IndexFunc(list, func(s sibling) bool { return s.id == id }); i >= 0 {
		return list[i], true, nil
	}
	return sibling{}, false, err
}

// listTries bounds how often folders are listed to get the same list twice.
const listTries = 10

// regular lists the regular files of some names, each file once. A list that is made while files are renamed can miss some, so
// it is made again until it stays the same.
func regular(places []place, named func(place, string) bool) ([]sibling, error) {
	list, err := listOnce(places, named)
	for range listTries {
		again, err2 := listOnce(places, named)
		same := slices.EqualFunc(list, again, func(a, b sibling) bool { return a.id == b.id && a.path == b.path })
		if list, err = again, err2; same {
			break
		}
	}
	return list, err
}

func listOnce(places []place, named func(place, string) bool) ([]sibling, error) {
	var list []sibling
	var firstErr error
	seen := map[fileID]bool{}
	for _, p := range places {
		entries, err := os.ReadDir(p.dir)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		for _, e := range entries {
			if !named(p, e.Name()) || !e.Type().IsRegular() {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it went meanwhile
			}
			if err != nil {
				return nil, err
			}
			s := sibling{path: filepath.Join(p.dir, e.Name()), id: idOf(info), size: info.Size(), modTime: info.ModTime()}
			if !seen[s.id] {
				seen[s.id] = true
				list = append(list, s)
			}
		}
	}
	return list, firstErr
}
