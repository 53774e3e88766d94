package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hookd/internal/config"
	"hookd/internal/keyring"
)

// Step is one thing that Init looked after.
type Step struct {
	What string // "configuration", "data directory", "master key"
	Path string
	Made bool // false: it was there and is as it was
}

// Init makes what hookd needs before its first start: the configuration file, commented, with the given flags in
// force; the data directory; the master key. What is there already is not touched, and a configuration that is there
// decides where the others are made. The steps are those that were done, also where an error ended them: a
// *config.Error, or a *KeyError where a database is there whose key is not.
func Init(f Flags) ([]Step, error) {
	options := config.Options{File: f.Config, Env: os.Environ(), UID: os.Geteuid(), Flags: f.Keys, Checks: checks()}
	path, err := config.InitPath(options)
	if err != nil {
		return nil, err
	}
	var steps []Step
	done := func(what, path string, made bool) { steps = append(steps, Step{What: what, Path: path, Made: made}) }

	made, err := writeTemplate(path, f.Keys)
	if err != nil {
		return steps, err
	}
	done("configuration", path, made)
	options.File = path
	c, err := config.Load(options)
	if err != nil {
		return steps, err
	}

	if made, err = makeDirectory(c.DataDir); err != nil {
		return steps, err
	}
	done("data directory", c.DataDir, made)
	if made, err = makeKey(c); err != nil {
		return steps, err
	}
	done("master key", c.Signing.MasterKeyFile, made)
	return steps, nil
}

func writeTemplate(path string, keys map[string]string) (made bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	text, err := config.Template(keys)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("make directory of configuration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("make configuration: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		// Half a file would be taken for the whole one the next time.
		return false, errors.Join(fmt.Errorf("write configuration: %w", err), os.Remove(path))
	}
	return true, nil
}

func makeDirectory(path string) (made bool, err error) {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return false, fmt.Errorf("make data directory: %s is no directory", path)
		}
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("make data directory: %w", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return false, fmt.Errorf("make data directory: %w", err)
	}
	return true, nil
}

// makeKey makes the master key, but not beside a database: that has one already, elsewhere.
func makeKey(c config.Config) (made bool, err error) {
	path := c.Signing.MasterKeyFile
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if _, err := os.Stat(filepath.Join(c.DataDir, "hookd.db")); err == nil {
		return false, &KeyError{
			Path: path, Rule: "is not there, and the database beside it was made with one",
			Advice: "put the key of this database back, or set signing.master_key_file to where it is",
		}
	}
	if _, err := keyring.Create(path); err != nil {
		return false, err
	}
	return true, nil
}
