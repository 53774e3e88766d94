package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// scanner reads the columns of one row.
type scanner func(to ...any) error

// querier is what can be read from: the pool, or one snapshot of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls row with each row of a query. The rows are closed when it returns: an open one would pin the WAL.
func each(ctx context.Context, db querier, query string, args []any, row func(scanner) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return classify(err)
	}
	return drain(rows, row)
}

func drain(rows *sql.Rows, row func(scanner) error) error {
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return errors.Join(classify(err), rows.Close())
		}
	}
	return errors.Join(classify(rows.Err()), rows.Close())
}

// one reads a single row; where there is none it is ErrNotFound.
func one(row *sql.Row, to ...any) error {
	err := row.Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return classify(err)
}

// plan returns the prepared statement of a query that is asked often; query is a constant.
func (s *Store) plan(ctx context.Context, query string) (*sql.Stmt, error) {
	if p, ok := s.plans.Load(query); ok {
		return p.(*sql.Stmt), nil
	}
	p, err := s.read.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare read: %w", classify(err))
	}
	if other, loaded := s.plans.LoadOrStore(query, p); loaded {
		return other.(*sql.Stmt), p.Close()
	}
	return p, nil
}

func (s *Store) closePlans() error {
	var errs []error
	s.plans.Range(func(_, p any) bool {
		errs = append(errs, p.(*sql.Stmt).Close())
		return true
	})
	return errors.Join(errs...)
}

// often is each for a query that is asked often.
func (s *Store) often(ctx context.Context, query string, row func(scanner) error, args ...any) error {
	p, err := s.plan(ctx, query)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return classify(err)
	}
	return drain(rows, row)
}

// numbers writes integers as a JSON array: one parameter for a list of any length.
func numbers[N ~int64](list []N) string {
	text := append(make([]byte, 0, 2+8*len(list)), '[')
	for i, n := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	return string(append(text, ']'))
}

// where builds the conditions of a list from those that were asked for.
type where struct {
	text string
	args []any
}

func (w *where) and(condition string, args ...any) {
	if w.text == "" {
		w.text = " WHERE "
	} else {
		w.text += " AND "
	}
	w.text += condition
	w.args = append(w.args, args...)
}
