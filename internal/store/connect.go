package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// walBytes is above which size the WAL is made short again where readers kept it from being used anew. Up to it, a
// checkpoint that SQLite makes by itself each 1000 pages (4 MiB) is all there is.
const walBytes = 64 << 20

// readers is how many connections read at once.
const readers = 4

// pragma is a setting of a connection. It is read back after it was set: one that is misspelt or comes too late is
// ignored by SQLite without an error.
type pragma struct{ name, value string }

var writerPragmas = []pragma{
	{"journal_mode", "wal"},
	{"synchronous", "1"},
	{"foreign_keys", "1"},
	{"busy_timeout", "5000"},
	{"wal_autocheckpoint", "1000"},
	{"journal_size_limit", "16777216"}, // above what a checkpoint leaves: cutting and growing the file costs each sync
	{"cache_size", "-8192"},
	{"temp_store", "2"},
	{"mmap_size", "0"},
}

var readerPragmas = []pragma{
	{"journal_mode", "wal"},
	{"synchronous", "2"},
	{"foreign_keys", "1"},
	{"busy_timeout", "5000"},
	{"cache_size", "-2048"},
	{"temp_store", "2"},
	{"mmap_size", "0"},
	{"query_only", "1"},
}

// dsn names a database file, by its absolute path. The path is percent-encoded whole: pasted into a URI, "a#b" would be
// another file. The database belongs to this process alone (unix-excl): its connections share the index of the WAL in
// memory, and no transaction pays for locks against other processes, which were a third of a small commit.
func dsn(path, parameters string) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: "vfs=unix-excl" + parameters}).String()
}

// settle sets pragmas on a connection, in this order, and reads them back.
func settle(conn driver.Conn, pragmas []pragma) error {
	for _, p := range pragmas {
		if _, err := value(conn, "PRAGMA "+p.name+"="+p.value); err != nil {
			return fmt.Errorf("set %s: %w", p.name, classify(err))
		}
		got, err := value(conn, "PRAGMA "+p.name)
		if err != nil {
			return fmt.Errorf("read back %s: %w", p.name, classify(err))
		}
		if text := fmt.Sprint(got); text != p.value {
			return fmt.Errorf("set %s: it is %s, not %s: the file system may not support it", p.name, text, p.value)
		}
	}
	return nil
}

// value returns the first column of the first row of a query, nil where there is none.
func value(conn driver.Conn, text string) (v driver.Value, err error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, max(len(rows.Columns()), 1))
	if err := rows.Next(values); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return values[0], nil
}

// readConnector opens the connections of the read pool, each with its settings.
type readConnector struct{ driver.Connector }

func (c readConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := settle(conn, readerPragmas); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// openReaders opens the pool of connections that only read. Reads are short and page by key: a long one would keep the
// WAL from being used again.
func openReaders(ctx context.Context, path string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn(path, "&mode=ro"))
	if err != nil {
		return nil, fmt.Errorf("open readers: %w", err)
	}
	db := sql.OpenDB(readConnector{c})
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open readers: %w", classify(err)), db.Close())
	}
	return db, nil
}

// classify adds the sentinel that a caller decides on to an error of the driver.
func classify(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
