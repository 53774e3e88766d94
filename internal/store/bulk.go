package store

import "strings"

// bulk is a statement that inserts rows, several at once where several come: the start and the end of a statement cost
// as much as a small row.
type bulk struct {
	many, one *stmt
	columns   int
	rows      int // of many
	waiting   int // rows in the arguments of many
}

// bulkStatement prepares an INSERT, which lacks only its VALUES, of rows with so many columns.
func (w *writer) bulkStatement(insert string, columns, rows int) (b bulk, err error) {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", columns), ", ") + ")"
	b = bulk{columns: columns, rows: rows}
	if b.one, err = w.statement(insert + " VALUES " + row); err != nil {
		return b, err
	}
	b.many, err = w.statement(insert + " VALUES " + strings.Repeat(row+", ", rows-1) + row)
	return b, err
}

// add adds a row. It is in the table when flush has returned.
func (b *bulk) add(values ...any) error {
	b.many.set(b.waiting*b.columns, values)
	if b.waiting++; b.waiting < b.rows {
		return nil
	}
	b.waiting = 0
	return b.many.write()
}

// flush inserts the rows that wait.
func (b *bulk) flush() error {
	args := b.many.args[:b.waiting*b.columns]
	b.waiting = 0
	for ; len(args) > 0; args = args[b.columns:] {
		for i := range b.columns {
			b.one.args[i].Value = args[i].Value
		}
		if err := b.one.write(); err != nil {
			return err
		}
	}
	return nil
}
