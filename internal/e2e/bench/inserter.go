package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"hookd/internal/event"
)

// inserterJob has the bare inserter open a new database, or insert the lines of a file.
type inserterJob struct {
	Open  string `json:"open,omitempty"`
	Lines string `json:"lines,omitempty"`
}

// inserted is how that went.
type inserted struct {
	Lines int           `json:"lines"`
	Took  time.Duration `json:"took"`
}

// insertGroup is the number of lines in a transaction.
const insertGroup = 1000

// bareSchema has the columns and the two indexes of hookd's log, in the most direct form.
const bareSchema = `
CREATE TABLE events (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id_hash INTEGER NOT NULL, source INTEGER NOT NULL,
  received_at INTEGER NOT NULL, at INTEGER, id TEXT NOT NULL, route TEXT, line BLOB NOT NULL) STRICT;
CREATE INDEX events_kind ON events (kind);
CREATE INDEX events_id ON events (id_hash);`

const bareInsert = `INSERT INTO events (seq, kind, id_hash, source, received_at, at, id, route, line) VALUES (?,?,?,?,?,?,?,?,?)`

// inserter is the limit of ingestion: one connection, one prepared statement, no check for duplicates.
type inserter struct {
	db    *sql.DB
	conn  *sql.Conn
	kinds map[string]int64
	seq   int64
}

func serveInserter(in io.Reader, out io.Writer) error {
	i := &inserter{kinds: map[string]int64{}}
	defer i.close()
	return serveJobs(in, out, func(job inserterJob) (inserted, error) {
		if job.Open != "" {
			return inserted{}, i.open(job.Open)
		}
		return i.insert(job.Lines)
	})
}

func (i *inserter) open(path string) error {
	ctx := context.Background()
	var err error
	if i.db, err = sql.Open("sqlite", path); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if i.conn, err = i.db.Conn(ctx); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	// As hookd sets its write connection.
	const pragmas = "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-8192; PRAGMA wal_autocheckpoint=1000;"
	if _, err := i.conn.ExecContext(ctx, pragmas+bareSchema); err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	return nil
}

func (i *inserter) close() {
	if i.conn != nil {
		i.conn.Close()
	}
	if i.db != nil {
		i.db.Close()
	}
}

// insert times reading, parsing and inserting. It goes below database/sql, whose bookkeeping the limit need not pay.
func (i *inserter) insert(path string) (done inserted, err error) {
	file, err := os.Open(path)
	if err != nil {
		return done, fmt.Errorf("open lines: %w", err)
	}
	defer file.Close()
	began := time.Now()
	err = i.conn.Raw(func(raw any) error {
		statement, err := raw.(driver.Conn).Prepare(bareInsert)
		if err != nil {
			return fmt.Errorf("prepare insert: %w", err)
		}
		defer statement.Close()
		return i.groups(raw.(driver.ExecerContext), statement.(driver.StmtExecContext), bufio.NewReaderSize(file, 256<<10), &done)
	})
	done.Took = time.Since(began)
	return done, err
}

func (i *inserter) groups(conn driver.ExecerContext, statement driver.StmtExecContext, lines *bufio.Reader, done *inserted) error {
	ctx := context.Background()
	values := make([]driver.NamedValue, 9)
	for n := range values {
		values[n].Ordinal = n + 1
	}
	for {
		if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE", nil); err != nil {
			return fmt.Errorf("begin group: %w", err)
		}
		var end error
		for n := 0; n < insertGroup && end == nil; n++ {
			var line []byte
			if line, end = lines.ReadSlice('\n'); end != nil {
				break
			}
			if err := i.values(values, line[:len(line)-1]); err != nil {
				return err
			}
			if _, err := statement.ExecContext(ctx, values); err != nil {
				return fmt.Errorf("insert line: %w", err)
			}
			done.Lines++
		}
		if _, err := conn.ExecContext(ctx, "COMMIT", nil); err != nil {
			return fmt.Errorf("commit group: %w", err)
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return fmt.Errorf("read line: %w", end)
		}
	}
}

func (i *inserter) values(values []driver.NamedValue, line []byte) error {
	e, err := event.Parse(line, event.DefaultMaxBytes)
	if err != nil {
		return fmt.Errorf("parse line: %w", err)
	}
	hash, err := idHash(e.ID)
	if err != nil {
		return err
	}
	kind, known := i.kinds[e.Type]
	if !known {
		kind = int64(len(i.kinds) + 1)
		i.kinds[e.Type] = kind
	}
	i.seq++
	values[0].Value, values[1].Value, values[2].Value, values[3].Value = i.seq, kind, hash, int64(1)
	values[4].Value, values[5].Value = time.Now().UnixMilli(), e.Time.UnixMilli()
	values[6].Value, values[7].Value, values[8].Value = e.ID, nil, line
	return nil
}

// idHash is the upper half of a UUID: rising for UUIDv7, random for UUIDv4.
func idHash(id string) (int64, error) {
	var half [8]byte
	if _, err := hex.Decode(half[:], []byte(strings.ReplaceAll(id[:19], "-", ""))); err != nil {
		return 0, fmt.Errorf("hash id: %w", err)
	}
	return int64(binary.BigEndian.Uint64(half[:])), nil
}
