package schema_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"hookd/schema"
)

var write = flag.Bool("write", false, "write hookd.sql anew")

// hookd.sql is the schema of a migrated database, for people to read. It must be what the migrations make.
func TestDumpIsFresh(t *testing.T) {
	dump := dump(t)
	if *write {
		if err := os.WriteFile("hookd.sql", []byte(dump), 0o644); err != nil { //nolint:gosec // it is source
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("hookd.sql")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != dump {
		t.Error("hookd.sql is not what the migrations make: run go generate ./schema")
	}
}

func dump(t *testing.T) string {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // the database is the connection's
	for _, m := range schema.Migrations() {
		if _, err := db.ExecContext(t.Context(), m.SQL); err != nil {
			t.Fatalf("%04d_%s: %v", m.Version, m.Name, err)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "-- Made from schema/sql by go generate ./schema. Do not edit.\nPRAGMA user_version=%d;\n", len(schema.Migrations()))
	for _, s := range statements(t.Context(), t, db) {
		text.WriteString(s + ";\n")
	}
	return text.String()
}

func statements(ctx context.Context, t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(ctx, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMigrationsAreNumbered(t *testing.T) {
	for i, m := range schema.Migrations() {
		if m.Version != i+1 || m.Name == "" || m.SQL == "" {
			t.Errorf("migration %d is %d %q with %d bytes", i+1, m.Version, m.Name, len(m.SQL))
		}
	}
}

// Tables are STRICT: SQLite would keep a text in a column of integers.
func TestTablesAreStrict(t *testing.T) {
	for _, s := range strings.Split(dump(t), ";\n") {
		if strings.HasPrefix(s, "CREATE TABLE") && !strings.Contains(s, "STRICT") {
			t.Errorf("not strict: %s", s)
		}
	}
}
