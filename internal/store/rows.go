package store

import (
	"context"
	"database/sql"
	"errors"
)

// scanner reads the columns of one row.
type scanner func(to ...any) error

// each calls row with each row of a query. The rows are closed when it returns: an open one would pin the WAL.
func each(ctx context.Context, db *sql.DB, query string, args []any, row func(scanner) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return classify(err)
	}
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

// null turns a zero into NULL.
func null(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
