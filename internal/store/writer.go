package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// writer is the one connection that writes. Only the leader of a group may use it. It is the driver's own: database/sql
// would add its locks and copies to each of the millions of statements, and a context that is cancelled in the middle of
// a transaction.
type writer struct {
	conn    driver.Conn
	is      durability // what synchronous is set to
	wrote   bool       // since begin
	prepped []*stmt
	statements
}

func openWriter(path string, fresh bool) (*writer, error) {
	// As durable as fsync, and spares each commit the journal of the file's timestamps. Where there is none, fsync it is.
	_, _ = sqlite.Fdatasync(true)
	conn, err := (&sqlite.Driver{}).Open(dsn(path, ""))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", classify(err))
	}
	w := &writer{conn: conn}
	if fresh {
		// These only take effect before the first table is made.
		err = settle(conn, []pragma{{"page_size", "4096"}, {"auto_vacuum", "2"}})
	}
	if err == nil {
		err = settle(conn, writerPragmas)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.prepped {
		errs = append(errs, s.s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// run runs statements that are not prepared.
func (w *writer) run(text string) error {
	_, err := w.conn.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return classify(err)
}

// synchronous makes the next transactions survive the loss of power, or not. Inside of one it would fail.
func (w *writer) synchronous(want durability) error {
	w.wrote = false
	if w.is == want {
		return nil
	}
	text := "PRAGMA synchronous=1"
	if want == durable {
		text = "PRAGMA synchronous=2"
	}
	if err := w.run(text); err != nil {
		return fmt.Errorf("set synchronous: %w", err)
	}
	w.is = want
	return nil
}

// rollback ends the transaction and drops the rows that wait. After some errors SQLite has ended it itself and says that
// there is none: either way none is open afterwards.
func (w *writer) rollback() {
	w.dropWaiting()
	_ = w.undo.exec()
}

// stmt is a prepared statement of the write connection.
type stmt struct {
	w    *writer
	s    driver.Stmt
	args []driver.NamedValue
}

func (w *writer) statement(text string) (*stmt, error) {
	s, err := w.conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, classify(err))
	}
	st := &stmt{w: w, s: s, args: make([]driver.NamedValue, parameters(text))}
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

func (s *stmt) bind(values []any) {
	if len(values) != len(s.args) {
		panic(fmt.Sprintf("store: %d values for %d parameters", len(values), len(s.args)))
	}
	s.set(0, values)
}

// set sets the parameters from at on.
func (s *stmt) set(at int, values []any) {
	for i, v := range values {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		s.args[at+i].Value = v
	}
}

// run runs the statement with what is bound. The context has no end: a cancelled one must not leave a transaction half
// done.
func (s *stmt) run() (driver.Result, error) {
	res, err := s.s.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	return res, classify(err)
}

// write runs a statement that writes with what is bound.
func (s *stmt) write() error {
	s.w.wrote = true
	_, err := s.run()
	return err
}

// exec runs the statement.
func (s *stmt) exec(values ...any) error {
	s.bind(values)
	s.w.wrote = s.w.wrote || len(values) > 0 // BEGIN and its like have none
	_, err := s.run()
	return err
}

// insert runs the statement and returns the row's id.
func (s *stmt) insert(values ...any) (int64, error) {
	s.bind(values)
	s.w.wrote = true
	res, err := s.run()
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// change runs the statement and returns how many rows it changed.
func (s *stmt) change(values ...any) (int64, error) {
	s.bind(values)
	s.w.wrote = true
	res, err := s.run()
	if err != nil {
		return 0, err
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

// null is n, or NULL for 0.
func null(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// text is s, or NULL for "".
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// blob is b, or NULL for nil.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
