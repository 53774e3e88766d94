package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	fileName = "hookd.toml"
	// systemFile is where a configuration is looked for last, and where root's is made.
	systemFile = "/etc/hookd/" + fileName
	// systemDataDir is root's data_dir.
	systemDataDir = "/var/lib/hookd"
	// credentialName is the master key among systemd's credentials.
	credentialName = "hookd-master-key"
)

// InitPath is where `hookd init` makes the file: the one that was asked for (a
// flag, else HOOKD_CONFIG), else /etc/hookd/hookd.toml for root and
// $XDG_CONFIG_HOME/hookd/hookd.toml (~/.config) for a user. It fails where a
// user has neither variable.
func InitPath(o Options) (string, error) {
	env := environment(o.Env)
	switch {
	case o.File != "":
		return o.File, nil
	case env["HOOKD_CONFIG"] != "":
		return env["HOOKD_CONFIG"], nil
	case o.UID == 0:
		return systemFile, nil
	}
	if path := userFile(env); path != "" {
		return path, nil
	}
	return "", &Error{Mistakes: []Mistake{{
		Place:   "--config",
		Problem: "must be given where neither XDG_CONFIG_HOME nor HOME is an absolute path",
	}}}
}

// openConfig finds and reads the file. One that was asked for must be there;
// those that are only looked for may be missing, and the first found is the
// only one read. An empty path means that there is none.
func openConfig(asked string, env map[string]string, system string) (path string, data []byte, _ error) {
	explicit := func(place, path string) (string, []byte, error) {
		data, err := readFile(path)
		if err != nil {
			return "", nil, &Error{Mistakes: []Mistake{{Place: place, Problem: err.Error(), cause: err}}}
		}
		return path, data, nil
	}
	if asked != "" {
		return explicit("--config", asked)
	}
	if path := env["HOOKD_CONFIG"]; path != "" {
		return explicit("HOOKD_CONFIG", path)
	}
	for _, path := range []string{userFile(env), system} {
		if path == "" {
			continue
		}
		data, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, &Error{Mistakes: []Mistake{{Place: path, Problem: err.Error(), cause: err}}}
		}
		return path, data, nil
	}
	return "", nil, nil
}

// userFile is the place of a user's file; empty where it cannot be told.
func userFile(env map[string]string) string {
	return under(env, "XDG_CONFIG_HOME", ".config", fileName)
}

// defaultDataDir is empty where it cannot be told.
func defaultDataDir(env map[string]string, uid int) string {
	if uid == 0 {
		return systemDataDir
	}
	return under(env, "XDG_STATE_HOME", filepath.Join(".local", "state"), "")
}

// under joins hookd's folder to a base directory of the XDG specification,
// which says that a relative value of the variable is to be ignored.
func under(env map[string]string, variable, inHome, name string) string {
	if base := env[variable]; filepath.IsAbs(base) {
		return filepath.Join(base, "hookd", name)
	}
	if home := env["HOME"]; filepath.IsAbs(home) {
		return filepath.Join(home, inHome, "hookd", name)
	}
	return ""
}

// credential is the master key that systemd hands over, if it does.
func credential(env map[string]string) (path string, found bool) {
	dir := env["CREDENTIALS_DIRECTORY"]
	if dir == "" {
		return "", false
	}
	path = filepath.Join(dir, credentialName)
	// Any other error than a missing file is told by whoever opens it.
	_, err := os.Stat(path)
	return path, !errors.Is(err, fs.ErrNotExist)
}
