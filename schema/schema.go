// Package schema embeds the shapes of what hookd stores: the migrations of its database. It knows no code.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:generate go test -run TestDumpIsFresh -args -write

//go:embed sql/*.sql
var files embed.FS

// Migration is one step of the database's schema, applied once and in order.
type Migration struct {
	Version int    // 1 and up, without holes
	Name    string // the file's name without number and ending
	SQL     string
}

// Migrations returns all steps, lowest version first. The files are part of the program, so a broken one is a panic.
func Migrations() []Migration {
	names, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		panic(err)
	}
	list := make([]Migration, 0, len(names))
	for _, file := range names { // Glob sorts, and the numbers have leading zeros
		text, err := files.ReadFile(file)
		if err != nil {
			panic(err)
		}
		number, name, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, "sql/"), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if !ok || err != nil || version != len(list)+1 {
			panic(fmt.Sprintf("schema: %s is not NNNN_name.sql with the next number", file))
		}
		list = append(list, Migration{Version: version, Name: name, SQL: string(text)})
	}
	return list
}
