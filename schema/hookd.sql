-- Made from schema/sql by go generate ./schema. Do not edit.
PRAGMA user_version=1;
CREATE TABLE apps (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,
  scopes TEXT NOT NULL, grants TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE attempts (n INTEGER PRIMARY KEY, sub INTEGER NOT NULL, seq INTEGER NOT NULL, replay INTEGER NOT NULL,
  attempt INTEGER NOT NULL, at INTEGER NOT NULL, took INTEGER NOT NULL, error INTEGER NOT NULL, code INTEGER NOT NULL,
  next_at INTEGER) STRICT;
CREATE INDEX attempts_delivery ON attempts (sub, seq);
CREATE TABLE audit (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, uid INTEGER, actor TEXT NOT NULL,
  action INTEGER NOT NULL, app INTEGER, sub INTEGER, detail TEXT NOT NULL) STRICT;
CREATE TABLE blocks (block INTEGER NOT NULL, kind INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (kind, block)) STRICT, WITHOUT ROWID;
CREATE TABLE dead_letters (id INTEGER PRIMARY KEY AUTOINCREMENT, sub INTEGER NOT NULL, app TEXT NOT NULL, seq INTEGER NOT NULL,
  kind INTEGER NOT NULL, event_id TEXT NOT NULL, received_at INTEGER NOT NULL, at INTEGER, resource TEXT, key TEXT,
  line BLOB NOT NULL, attempts INTEGER NOT NULL, code INTEGER NOT NULL, error INTEGER NOT NULL, dead_at INTEGER NOT NULL,
  replay INTEGER NOT NULL, replayed_at INTEGER, replay_status INTEGER) STRICT;
CREATE INDEX dead_letters_delivery ON dead_letters (sub, seq);
CREATE INDEX dead_letters_sub ON dead_letters (sub, id);
CREATE TABLE event_ids (id_hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (id_hash, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE events (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id_hash INTEGER NOT NULL, source INTEGER NOT NULL,
  received_at INTEGER NOT NULL, at INTEGER, id TEXT NOT NULL, resource TEXT, key TEXT, line BLOB NOT NULL) STRICT;
CREATE INDEX events_kind ON events (kind);
CREATE TABLE files (gen INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources, salt BLOB NOT NULL,
  dev INTEGER NOT NULL, ino INTEGER NOT NULL, head_len INTEGER NOT NULL, head_sum BLOB, tail_len INTEGER NOT NULL,
  tail_sum BLOB, offset INTEGER NOT NULL, size_seen INTEGER NOT NULL, state INTEGER NOT NULL) STRICT;
CREATE INDEX files_source ON files (source, gen);
CREATE TABLE gaps (id INTEGER PRIMARY KEY, sub INTEGER NOT NULL, cause INTEGER NOT NULL, from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL, events INTEGER NOT NULL, exact INTEGER NOT NULL, at INTEGER NOT NULL,
  acknowledged_at INTEGER) STRICT;
CREATE INDEX gaps_sub ON gaps (sub, from_seq);
CREATE TABLE history (n INTEGER PRIMARY KEY, sub INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
  status INTEGER NOT NULL, error INTEGER NOT NULL, code INTEGER NOT NULL, attempts INTEGER NOT NULL,
  first_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, took INTEGER NOT NULL, replay INTEGER NOT NULL,
  moves INTEGER NOT NULL) STRICT;
CREATE TABLE history_ix (sub INTEGER NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (sub, seq, n)) STRICT, WITHOUT ROWID;
CREATE TABLE keys (kid TEXT PRIMARY KEY, state INTEGER NOT NULL, public BLOB NOT NULL, sealed BLOB NOT NULL,
  published_at INTEGER NOT NULL, active_at INTEGER, not_after INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE kinds (id INTEGER PRIMARY KEY, app TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (app, type)) STRICT;
CREATE TABLE losses (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, certain INTEGER NOT NULL, at INTEGER NOT NULL,
  detail TEXT NOT NULL) STRICT;
CREATE TABLE masters (id INTEGER PRIMARY KEY, sealed BLOB) STRICT;
CREATE TABLE meta (k TEXT PRIMARY KEY, v ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parked (sub INTEGER NOT NULL, lane INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (sub, lane, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE quarantine (id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, gen INTEGER, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL, at INTEGER NOT NULL, bytes BLOB) STRICT;
CREATE TABLE replay_items (replay INTEGER NOT NULL, seq INTEGER NOT NULL, dead_letter INTEGER,
  PRIMARY KEY (replay, seq)) STRICT, WITHOUT ROWID;
CREATE INDEX replay_items_dead ON replay_items (dead_letter);
CREATE TABLE replays (id INTEGER PRIMARY KEY AUTOINCREMENT, sub INTEGER NOT NULL, origin INTEGER NOT NULL, state INTEGER NOT NULL,
  from_seq INTEGER, to_seq INTEGER, next_seq INTEGER, types TEXT, only_failed INTEGER, rate REAL,
  total INTEGER NOT NULL, done INTEGER NOT NULL, dead INTEGER NOT NULL, expired INTEGER NOT NULL,
  created_at INTEGER NOT NULL, ended_at INTEGER) STRICT;
CREATE INDEX replays_open ON replays (sub, id) WHERE ended_at IS NULL;
CREATE TABLE retries (sub INTEGER NOT NULL, lane INTEGER NOT NULL, seq INTEGER NOT NULL, replay INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL, step INTEGER NOT NULL, counted INTEGER NOT NULL, first_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL, delay INTEGER NOT NULL, error INTEGER NOT NULL, code INTEGER NOT NULL,
  since INTEGER NOT NULL, PRIMARY KEY (sub, lane)) STRICT, WITHOUT ROWID;
CREATE TABLE secrets (sub INTEGER NOT NULL, generation INTEGER NOT NULL, master INTEGER NOT NULL, sealed BLOB,
  created_at INTEGER NOT NULL, not_after INTEGER, PRIMARY KEY (sub, generation)) STRICT, WITHOUT ROWID;
CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
  last_producer_seq INTEGER, accepted INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE subs (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, app TEXT NOT NULL,
  state INTEGER NOT NULL, cause INTEGER NOT NULL, state_at INTEGER NOT NULL, rev INTEGER NOT NULL, host TEXT NOT NULL,
  url BLOB NOT NULL, headers BLOB, spec TEXT NOT NULL,        -- url, headers sealed; spec: what the owner gave (absent = inherited)
  cursor INTEGER NOT NULL, cursor_n INTEGER NOT NULL,         -- flushed lazily; history rows after cursor_n, and after
                                                              -- meta.cursors_n, move it further
  last_seq INTEGER NOT NULL DEFAULT 0,                        -- highest seq that succeeded, moved on likewise
  failures INTEGER NOT NULL DEFAULT 0, armed INTEGER NOT NULL DEFAULT 1, lease_until INTEGER,
  created_at INTEGER NOT NULL, deleted_at INTEGER) STRICT;
CREATE UNIQUE INDEX subs_name ON subs (name) WHERE deleted_at IS NULL;
