package control

import "runtime"

// Version and Commit are stamped in by the linker (-X hookd/internal/control.Version=1.2.3); both programs use them.
var (
	// Version is the version of this build, "dev" when nobody stamped one.
	Version = "dev"
	// Commit is the commit that was built, empty when nobody stamped one.
	Commit = ""
)

// BuildInfo says what a program was built from.
type BuildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	// SQLite is the version of the linked SQLite, only from hookd.
	SQLite string `json:"sqlite,omitempty"`
}

// ThisBuild describes the running program. The daemon adds the version of its SQLite.
func ThisBuild() BuildInfo {
	return BuildInfo{Version: Version, Commit: Commit, Go: runtime.Version()}
}
