package store

// statements are the prepared statements of the write connection, each with its plan in mind.
type statements struct {
	begin, commit, undo, setMeta *stmt

	events, eventIDs, history, historyIx bulk

	insertKind, insertBlock, indexedIDs, eventByRow *stmt
	addCounts, insertQuarantine                     *stmt
	insertFile, updateFile, dropFiles, insertSource *stmt

	nameTaken, insertSub, insertSecret, dropSecrets, setState, setFailures, setCursor  *stmt
	setLease, deleteSub                                                                *stmt
	putRetry, dropRetry, dropRetries                                                   *stmt
	insertAttempt, insertDead                                                          *stmt
	insertReplay, insertReplayItem, dropReplayItem, countReplay, endReplay, endReplays *stmt
	dropReplayItems, pendingDead, setReplayed, setDelivered                            *stmt
}

func (w *writer) prepare() error {
	for _, p := range []struct {
		to   **stmt
		text string
	}{
		{&w.begin, `BEGIN IMMEDIATE`},
		{&w.commit, `COMMIT`},
		{&w.undo, `ROLLBACK`},
		{&w.setMeta, `INSERT INTO meta (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v`},

		{&w.insertKind, `INSERT INTO kinds (app, type) VALUES (?, ?)`},
		{&w.insertBlock, `INSERT INTO blocks (block, kind, n) VALUES (?, ?, ?)`},
		{&w.indexedIDs, `SELECT i.id_hash, i.seq FROM json_each(?) ask CROSS JOIN event_ids i ON i.id_hash = ask.value`},
		{&w.eventByRow, `SELECT id, line FROM events WHERE seq = ?`},
		{&w.addCounts, `UPDATE sources SET accepted = accepted + ?, duplicates = duplicates + ?, rejected = rejected + ? WHERE id = ?`},
		{&w.insertQuarantine, `INSERT INTO quarantine (source, gen, offset, length, reason, message, at, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.insertFile, `INSERT INTO files (source, salt, dev, ino, head_len, head_sum, tail_len, tail_sum, offset, size_seen, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.updateFile, `UPDATE files SET dev = ?, ino = ?, head_len = ?, head_sum = ?, tail_len = ?, tail_sum = ?, offset = ?, size_seen = ?, state = ? WHERE gen = ?`},
		{&w.dropFiles, `DELETE FROM files WHERE source = ?1 AND state = ?2 AND gen NOT IN (SELECT gen FROM files WHERE source = ?1 AND state = ?2 ORDER BY gen DESC LIMIT ?3)`},
		{&w.insertSource, `INSERT INTO sources (name, kind) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`},

		{&w.nameTaken, `SELECT 1 FROM subs WHERE name = ? AND deleted_at IS NULL`},
		{&w.insertSub, `INSERT INTO subs (uuid, name, app, state, cause, state_at, rev, host, url, headers, spec, cursor, cursor_n, lease_until, created_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.insertSecret, `INSERT INTO secrets (sub, generation, master, sealed, created_at, not_after) VALUES (?, ?, ?, ?, ?, ?)`},
		{&w.dropSecrets, `DELETE FROM secrets WHERE sub = ?`},
		{&w.setState, `UPDATE subs SET state = ?, cause = ?, state_at = ?, rev = ? WHERE id = ? AND deleted_at IS NULL`},
		{&w.setFailures, `UPDATE subs SET failures = ? WHERE id = ?`},
		{&w.setCursor, `UPDATE subs SET cursor = max(cursor, ?), cursor_n = ?, last_seq = max(last_seq, ?) WHERE id = ?`},
		{&w.setLease, `UPDATE subs SET lease_until = ? WHERE id = ? AND deleted_at IS NULL`},
		{&w.deleteSub, `UPDATE subs SET deleted_at = ?, rev = ? WHERE id = ? AND deleted_at IS NULL`},

		{&w.putRetry, `INSERT OR REPLACE INTO retries (sub, lane, seq, replay, attempt, step, counted, first_at, due_at, delay, error, code, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.dropRetry, `DELETE FROM retries WHERE sub = ? AND lane = ?`},
		{&w.dropRetries, `DELETE FROM retries WHERE sub = ?`},
		{&w.insertAttempt, `INSERT INTO attempts (sub, seq, replay, attempt, at, took, error, code, next_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.insertDead, `INSERT INTO dead_letters (sub, app, seq, kind, event_id, received_at, at, resource, key, line, attempts, code, error, dead_at, replay) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},

		{&w.insertReplay, `INSERT INTO replays (sub, origin, state, total, done, dead, expired, created_at) VALUES (?, ?, ?, 0, 0, 0, 0, ?)`},
		{&w.insertReplayItem, `INSERT OR IGNORE INTO replay_items (replay, seq, dead_letter) VALUES (?, ?, ?)`},
		{&w.dropReplayItem, `DELETE FROM replay_items WHERE replay = ? AND seq = ?`},
		{&w.countReplay, `UPDATE replays SET total = total + ?, done = done + ?, dead = dead + ? WHERE id = ?`},
		{&w.endReplay, `UPDATE replays SET state = ?1, ended_at = ?2 WHERE id = ?3 AND ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM replay_items WHERE replay = ?3)`},
		{&w.dropReplayItems, `DELETE FROM replay_items WHERE replay IN (SELECT id FROM replays WHERE sub = ? AND ended_at IS NULL)`},
		{&w.endReplays, `UPDATE replays SET state = ?, ended_at = ? WHERE sub = ? AND ended_at IS NULL`},
		{&w.pendingDead, `SELECT 1 FROM replays r JOIN replay_items i ON i.replay = r.id WHERE r.sub = ? AND r.ended_at IS NULL AND i.seq = ? LIMIT 1`},
		{&w.setReplayed, `UPDATE dead_letters SET replayed_at = ?, replay_status = ? WHERE id = ?`},
		{&w.setDelivered, `UPDATE dead_letters SET replayed_at = ?, replay_status = ? WHERE sub = ? AND seq = ?`},
	} {
		s, err := w.statement(p.text)
		if err != nil {
			return err
		}
		*p.to = s
	}
	return w.prepareBulks()
}

func (w *writer) prepareBulks() (err error) {
	for _, p := range []struct {
		to            *bulk
		insert        string
		columns, rows int
	}{
		{&w.events, `INSERT INTO events (seq, kind, id_hash, source, received_at, at, id, resource, key, line)`, 10, 10},
		{&w.eventIDs, `INSERT OR IGNORE INTO event_ids (id_hash, seq)`, 2, 50},
		{&w.history, `INSERT INTO history (n, sub, seq, kind, status, error, code, attempts, first_at, ended_at, took, replay, moves)`, 13, 10},
		{&w.historyIx, `INSERT OR IGNORE INTO history_ix (sub, seq, n)`, 3, 50},
	} {
		if *p.to, err = w.bulkStatement(p.insert, p.columns, p.rows); err != nil {
			return err
		}
	}
	return nil
}

// dropWaiting forgets the rows that wait in bulks, of a transaction that is rolled back.
func (w *writer) dropWaiting() {
	for _, b := range []*bulk{&w.events, &w.eventIDs, &w.history, &w.historyIx} {
		b.waiting = 0
	}
}
