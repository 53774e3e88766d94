package daemon

import (
	"io"
	"log/slog"

	"hookd/internal/config"
)

// NewLog makes hookd's logger. Both formats keep a value on its line: what is not printable, bidirectional controls
// too, is written as an escape in the text format, and control characters are in JSON.
func NewLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
				a.Value = slog.TimeValue(a.Value.Time().UTC())
			}
			return a
		},
	}
	if format == config.FormatJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
