package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The WAL is checkpointed by the writer every walPages pages (4 MiB), and cut above walBytes where readers kept it from
// being used again.
const (
	pageSize = 4096
	walPages = 1000
	walBytes = 64 << 20
	readers  = 4
)

// writerPragmas are set on the write connection, in this order, and read back: a pragma that is misspelt or comes too
// late is ignored without an error.
var writerPragmas = []pragma{
	{"journal_mode", "wal"},
	{"synchronous", "2"},
	{"foreign_keys", "1"},
	{"busy_timeout", "5000"},
	{"wal_autocheckpoint", "1000"},
	{"cache_size", "-8192"},
	{"temp_store", "2"},
	{"journal_size_limit", "4194304"},
}

var readerPragmas = []pragma{
	{"query_only", "1"},
	{"busy_timeout", "5000"},
	{"cache_size", "-2048"},
	{"temp_store", "2"},
}

type pragma struct{ name, value string }

// dsn names a database file. The path is percent-encoded whole: pasted into a URI, "a#b" would be another file.
func dsn(path, parameters string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: parameters}
	return strings.ReplaceAll(u.String(), "//", "/%2F")
}

// writer is the one connection that writes. Only the leader of a group may use it.
type writer struct {
	conn    driver.Conn
	full    bool // synchronous is FULL
	prepped []*stmt
	statements
}

func openWriter(path string, fresh bool) (*writer, error) {
	conn, err := (&sqlite.Driver{}).Open(dsn(path, ""))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", classify(err))
	}
	w := &writer{conn: conn, full: true}
	if fresh {
		// Both only take effect before the first table is made.
		for _, p := range []string{"PRAGMA page_size=4096", "PRAGMA auto_vacuum=2"} {
			if err := w.run(p); err != nil {
				return nil, errors.Join(err, w.close())
			}
		}
	}
	for _, p := range writerPragmas {
		got, err := w.value("PRAGMA " + p.name + "=" + p.value)
		if err == nil && got == nil {
			got, err = w.value("PRAGMA " + p.name)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", p.name, classify(err)), w.close())
		}
		if text := fmt.Sprint(got); text != p.value {
			return nil, errors.Join(fmt.Errorf("set %s: it is %s, not %s: the file system may not support it", p.name, text, p.value), w.close())
		}
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.prepped {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// run runs statements that are not prepared.
func (w *writer) run(text string) error {
	_, err := w.conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return classify(err)
}

// value returns the first column of the first row of a query, nil where there is none.
func (w *writer) value(text string) (driver.Value, error) {
	rows, err := w.conn.(driver.QueryerContext).QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, max(len(rows.Columns()), 1))
	if err := rows.Next(values); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, rows.Close())
	}
	return values[0], rows.Close()
}

// synchronous makes the next transaction durable against the loss of power, or not. It must not be called inside one.
func (w *writer) synchronous(full bool) error {
	if w.full == full {
		return nil
	}
	text := "PRAGMA synchronous=1"
	if full {
		text = "PRAGMA synchronous=2"
	}
	if err := w.run(text); err != nil {
		return err
	}
	w.full = full
	return nil
}

// rollback ends the transaction. After some errors SQLite has ended it itself and says that there is none: either way
// none is open afterwards.
func (w *writer) rollback() { _ = w.undo.exec() }

// stmt is a prepared statement of the write connection.
type stmt struct {
	s    driver.Stmt
	args []driver.NamedValue
}

func (w *writer) statement(text string) (*stmt, error) {
	s, err := w.conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, classify(err))
	}
	st := &stmt{s: s, args: make([]driver.NamedValue, parameters(text))}
	for i := range st.args {
		st.args[i].Ordinal = i + 1
	}
	w.prepped = append(w.prepped, st)
	return st, nil
}

// parameters counts the parameters of a statement: its "?", or the highest of its "?1", "?2", ...
func parameters(text string) int {
	n := strings.Count(text, "?")
	for highest := n; highest > 0; highest-- {
		if strings.Contains(text, "?"+strconv.Itoa(highest)) {
			return highest
		}
	}
	return n
}

func (s *stmt) close() error { return s.s.Close() }

func (s *stmt) bind(values []any) {
	if len(values) != len(s.args) {
		panic(fmt.Sprintf("store: %d values for %d parameters", len(values), len(s.args)))
	}
	for i, v := range values {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		s.args[i].Value = v
	}
}

// exec runs the statement. The context has no end: a cancelled one must not leave a transaction half done.
func (s *stmt) exec(values ...any) error {
	s.bind(values)
	_, err := s.s.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	return classify(err)
}

// insert runs the statement and returns the row's id.
func (s *stmt) insert(values ...any) (int64, error) {
	s.bind(values)
	res, err := s.s.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, classify(err)
	}
	return res.LastInsertId()
}

// change runs the statement and returns how many rows it changed.
func (s *stmt) change(values ...any) (int64, error) {
	s.bind(values)
	res, err := s.s.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, classify(err)
	}
	return res.RowsAffected()
}

// query calls row with each row of the answer; the values are the callee's only until it returns.
func (s *stmt) query(row func([]driver.Value) error, values ...any) error {
	s.bind(values)
	rows, err := s.s.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return classify(err)
	}
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(dest)
		if errors.Is(err, io.EOF) {
			return rows.Close()
		}
		if err == nil {
			err = row(dest)
		}
		if err != nil {
			return errors.Join(classify(err), rows.Close())
		}
	}
}

// number is a column that is an integer or NULL.
func number(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

// openReaders opens the pool of connections that only read. Reads are short and page by key: a long one would keep the
// WAL from being used again.
func openReaders(ctx context.Context, path string) (*sql.DB, error) {
	parameters := "mode=ro"
	for _, p := range readerPragmas {
		parameters += "&_pragma=" + p.name + "(" + p.value + ")"
	}
	db, err := sql.Open("sqlite", dsn(path, parameters))
	if err != nil {
		return nil, fmt.Errorf("open readers: %w", err)
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	for _, p := range append([]pragma{{"journal_mode", "wal"}}, readerPragmas...) {
		var got string
		if err := db.QueryRowContext(ctx, "PRAGMA "+p.name).Scan(&got); err != nil {
			return nil, errors.Join(fmt.Errorf("read back %s: %w", p.name, classify(err)), db.Close())
		}
		if got != p.value {
			return nil, errors.Join(fmt.Errorf("read back %s: it is %s, not %s", p.name, got, p.value), db.Close())
		}
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
