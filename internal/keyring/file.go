package keyring

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	fileMode = 0o600
	// openToOthers are the mode bits that a key file must not have.
	openToOthers = 0o077
	// credentialsVariable is set by systemd to the directory with a unit's
	// credentials, whose files have the modes that systemd gives them.
	credentialsVariable = "CREDENTIALS_DIRECTORY"
)

// Create makes a new random master key and writes it to path as hex digits and
// a newline, mode 0600 whatever the umask. File and directory are synced when
// it returns. A path that exists, be it a dangling link, is left alone
// (errors.Is fs.ErrExist): an overwritten key takes every sealed value and
// every derived secret with it.
func Create(path string) (*Master, error) {
	var key [masterBytes]byte
	// rand.Read fills the slice or ends the program; it returns no error.
	_, _ = rand.Read(key[:])
	m, err := newMaster(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fmt.Errorf("create master key: %w", err)
	}
	if err := errors.Join(fill(f, hex.EncodeToString(key[:])+"\n"), f.Close()); err != nil {
		// It is ours and no key yet; left behind it would stop the next try.
		return nil, fmt.Errorf("write master key: %w", errors.Join(err, os.Remove(path)))
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("sync directory of master key: %w", err)
	}
	return m, nil
}

// fill writes text to a new file and syncs it. The mode is set again since a
// umask may have taken the owner's bits away.
func fill(f *os.File, text string) error {
	if err := f.Chmod(fileMode); err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Load reads a master key from a regular file, directly or through symbolic
// links: 64 hex digits, then at most one line end. A file that group or world
// may use in any way is refused with the command that mends it, except below
// $CREDENTIALS_DIRECTORY. A missing file is fs.ErrNotExist (errors.Is).
func Load(path string) (*Master, error) {
	// Without O_NONBLOCK opening a named pipe would wait for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("load master key: %w", err)
	}
	defer f.Close() // only read: there is nothing that closing could lose
	// The open file is looked at, not the path, which may change meanwhile.
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("load master key: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, fmt.Errorf("load master key: %w", err)
	}
	// One more byte than a whole file has shows that there is too much.
	content, err := io.ReadAll(io.LimitReader(f, int64(masterDigits+len("\r\n")+1)))
	if err != nil {
		return nil, fmt.Errorf("load master key: %w", err)
	}
	text := string(content)
	if line, found := strings.CutSuffix(text, "\n"); found {
		text = strings.TrimSuffix(line, "\r")
	}
	if len(text) > masterDigits {
		return nil, fmt.Errorf("load master key: %s holds more than %d hex digits and a line end", path, masterDigits)
	}
	m, err := FromHex(text)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return m, nil
}

func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if info.Mode().Perm()&openToOthers != 0 && !isCredential(path) {
		return fmt.Errorf("%s is open to group or world (mode %04o): run `chmod 600 %s`",
			path, info.Mode().Perm(), shellQuote(path))
	}
	return nil
}

// isCredential tells whether path lies below the directory that systemd made
// for this unit.
func isCredential(path string) bool {
	dir := os.Getenv(credentialsVariable)
	if !filepath.IsAbs(dir) {
		return false
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(dir, whole)
	return err == nil && below != "." && filepath.IsLocal(below)
}

// shellQuote writes a path so that the advice can be pasted into a shell.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path // chmod would take it for a flag
	}
	if path != "" && strings.TrimFunc(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
