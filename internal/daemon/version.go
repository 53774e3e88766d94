package daemon

import (
	sqlite3 "modernc.org/sqlite/lib"

	"hookd/internal/control"
)

// Build says what hookd was built from, its SQLite too.
func Build() control.BuildInfo {
	b := control.ThisBuild()
	b.SQLite = sqlite3.SQLITE_VERSION
	return b
}
