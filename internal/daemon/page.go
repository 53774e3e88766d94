package daemon

import (
	"strconv"
	"time"

	"hookd/internal/control"
)

// after reads the cursor of a list that is paged by one rising number; 0 is the first page.
func after(f control.Filter) (int64, error) {
	if f.After == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(f.After, 10, 64)
	if err != nil || n < 1 {
		return 0, badCursor()
	}
	return n, nil
}

func badCursor() error { return invalid("/after", "parameter \"after\" is not a cursor of this list") }

// page cuts a list that was read with one entry more than a page has, and names the cursor of the next page by the
// last entry.
func page[R, T any](rows []R, limit int, shown func(R) T, cursor func(R) string) control.Page[T] {
	p := control.Page[T]{Items: control.List[T]{}}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = cursor(rows[limit-1])
	}
	for _, row := range rows {
		p.Items = append(p.Items, shown(row))
	}
	return p
}

// number writes a cursor of one number.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// at turns a stored time into one of the API.
func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// atOrNone is nil for 0, which the store and the engine use for "never".
func atOrNone(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := at(ms)
	return &t
}

// orNone is nil for 0: there was no response.
func orNone(httpStatus int) *int {
	if httpStatus == 0 {
		return nil
	}
	return &httpStatus
}

// ms is the first millisecond at or after t, which is what both ends of a range of times mean: the store keeps whole
// milliseconds. A zero time is 0, which stands for no bound.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	n := t.UnixMilli()
	if t.After(time.UnixMilli(n)) {
		n++
	}
	return n
}
