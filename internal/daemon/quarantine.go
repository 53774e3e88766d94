package daemon

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"hookd/internal/control"
	"hookd/internal/store"
)

func (a *api) listQuarantine(r *request) (reply, error) {
	before, err := after(r.filter)
	if err != nil {
		return reply{}, err
	}
	entries, err := a.store.ListQuarantine(r.Context(), store.QuarantineFilter{
		Source: r.filter.Source, Since: ms(r.filter.Since), Before: before, Limit: r.filter.Limit + 1,
	})
	if err != nil {
		return reply{}, err
	}
	return answer(page(entries, r.filter.Limit, quarantined, func(q store.QuarantineEntry) string { return number(q.ID) })), nil
}

func (a *api) showQuarantine(r *request) (reply, error) {
	id, err := pathID(r, "quarantine entry")
	if err != nil {
		return reply{}, err
	}
	q, err := a.store.Quarantine(r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	shown := quarantined(q)
	line := string(q.Bytes)
	if !utf8.ValidString(line) {
		shown.LineBase64 = base64.StdEncoding.EncodeToString(q.Bytes)
		line = strings.ToValidUTF8(line, string(utf8.RuneError))
	}
	shown.Line = &line
	return answer(shown), nil
}

func quarantined(q store.QuarantineEntry) control.QuarantineEntry {
	return control.QuarantineEntry{
		ID: q.ID, Source: q.Source, Reason: string(q.Reason), Message: q.Message,
		Offset: q.Offset, Length: q.Length, At: at(q.At),
	}
}
