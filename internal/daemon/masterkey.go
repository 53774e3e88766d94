package daemon

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"hookd/internal/config"
	"hookd/internal/keyring"
	"hookd/internal/store"
)

// KeyError says that hookd does not start with the master key that it found, or without one.
type KeyError struct {
	Path string
	// Rule is what is wrong with it; empty where the error of the file says all.
	Rule string
	// Advice says what would help; empty where Rule does.
	Advice string

	cause error
}

// Error names the file and the rule.
func (e *KeyError) Error() string {
	if e.Rule == "" && e.cause != nil {
		return e.cause.Error()
	}
	return fmt.Sprintf("master key %s: %s", e.Path, e.Rule)
}

// Hint says what would help, where something does.
func (e *KeyError) Hint() string { return e.Advice }

// Unwrap gives the error of the file, where there is one.
func (e *KeyError) Unwrap() error { return e.cause }

// masterKey finds the key that belongs to a database. A database that has never had one gets the one in the file, and
// where there is no file a new one is made; beside one that has, only its own key will do. A *KeyError otherwise.
func masterKey(ctx context.Context, st *store.Store, c config.Signing, log *slog.Logger) (*keyring.Master, error) {
	path, check := c.MasterKeyFile, st.MasterCheck()
	master, err := keyring.Load(path)
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &KeyError{Path: path, cause: err}
	case check != nil:
		return nil, &KeyError{
			Path: path, Rule: "is not there, and the database beside it was made with one", cause: err,
			Advice: "put the key of this database back, or set signing.master_key_file to where it is",
		}
	default:
		if master, err = keyring.Create(path); err != nil {
			return nil, err
		}
		log.Info("made master key", "path", path)
	}
	if check == nil {
		if err := st.SetMasterCheck(ctx, master.CheckValue()); err != nil {
			return nil, fmt.Errorf("store check value of master key: %w", err)
		}
		return master, nil
	}
	if subtle.ConstantTimeCompare(check, master.CheckValue()) != 1 {
		return nil, &KeyError{
			Path: path, Rule: "is not the key that the database was made with",
			Advice: "put the key of this database back, or set signing.master_key_file to where it is",
		}
	}
	return master, nil
}
