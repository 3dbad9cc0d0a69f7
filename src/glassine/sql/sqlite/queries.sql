-- Every statement of the SQLite store, by name. The names are the same for every engine.
-- The first two parameters are always namespace and session, where a statement has them.

-- name: namespace_key
SELECT ns FROM namespace WHERE name = ?;

-- name: namespace_add
INSERT INTO namespace (name, next_session) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET name = name RETURNING ns;

-- name: namespace_list
SELECT name FROM namespace ORDER BY name;

-- name: session_next_key
UPDATE namespace SET next_session = next_session + 1 WHERE ns = ? RETURNING next_session - 1;

-- name: session_add
INSERT INTO session (ns, id, session, change, next_seq, next_strand, messages, leaf_open, path_length, path_size,
    path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, created_at, updated_at)
VALUES (?1, ?2, ?3, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, ?4, ?4);

-- name: session_head
SELECT session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = ? AND id = ?;

-- name: session_advance
UPDATE session SET change = ?3, next_seq = ?4, next_strand = ?5, messages = ?6, leaf_strand = ?7, leaf_seq = ?8,
    leaf_open = ?9, path_length = ?10, path_size = ?11, path_o200k = ?12, path_claude3 = ?13, path_claude48 = ?14,
    path_gemma3 = ?15, path_safe = ?16, updated_at = ?17
WHERE ns = ?1 AND id = ?2;

-- name: session_title
SELECT title FROM session WHERE ns = ? AND id = ?;

-- name: session_retitle
UPDATE session SET title = ?3 WHERE ns = ?1 AND id = ?2;

-- name: session_describe
UPDATE session SET title = ?3, source = ?4, model = ?5, lineage_kind = ?6, lineage_session = ?7,
    lineage_message = ?8, metadata = ?9, change = change + 1, updated_at = ?10
WHERE ns = ?1 AND id = ?2;

-- name: session_info
SELECT s.id, s.title, s.source, s.model, s.lineage_kind, s.lineage_session, s.lineage_message, s.metadata,
    s.created_at, s.updated_at, s.messages, s.path_length, s.path_size, s.change, n.id,
    coalesce(n.created_at, n.stored_at)
FROM session s LEFT JOIN node n
    ON n.ns = s.ns AND n.session = s.session AND n.strand = s.leaf_strand AND n.seq = s.leaf_seq
WHERE s.ns = ?1 AND s.id = ?2;

-- name: session_list
SELECT s.id, s.title, s.source, s.model, s.lineage_kind, s.lineage_session, s.lineage_message, s.metadata,
    s.created_at, s.updated_at, s.messages, s.path_length, s.path_size, s.change, n.id,
    coalesce(n.created_at, n.stored_at)
FROM session s LEFT JOIN node n
    ON n.ns = s.ns AND n.session = s.session AND n.strand = s.leaf_strand AND n.seq = s.leaf_seq
WHERE s.ns = ?1 ORDER BY s.updated_at DESC, s.session DESC LIMIT ?2;

-- name: session_count
SELECT count(*), coalesce(sum(messages), 0) FROM session WHERE ns = ?;

-- name: session_delete
DELETE FROM session WHERE ns = ? AND id = ?;

-- name: strand_add
INSERT INTO strand (ns, session, strand, parent_strand, parent_seq) VALUES (?, ?, ?, ?, ?);

-- name: strand_delete
DELETE FROM strand WHERE ns = ? AND session = ? AND strand = ?;

-- name: strand_parent
SELECT parent_strand, parent_seq FROM strand WHERE ns = ? AND session = ? AND strand = ?;

-- name: strand_list
SELECT strand, parent_strand, parent_seq FROM strand WHERE ns = ? AND session = ?;

-- name: strand_children
SELECT strand FROM strand WHERE ns = ? AND session = ? AND parent_strand IS ? AND parent_seq IS ? ORDER BY strand;

-- name: strand_rehang
UPDATE strand SET parent_strand = ?5, parent_seq = ?6
WHERE ns = ?1 AND session = ?2 AND parent_strand = ?3 AND parent_seq = ?4;

-- name: path
WITH RECURSIVE up (strand, upto) AS (
    SELECT ?3, ?4
    UNION ALL
    SELECT s.parent_strand, s.parent_seq FROM up CROSS JOIN strand s
        ON s.ns = ?1 AND s.session = ?2 AND s.strand = up.strand
    WHERE s.parent_strand IS NOT NULL
)
SELECT strand, upto FROM up;

-- name: node_add
INSERT INTO node (ns, session, strand, seq, id, parent, role, externals, size, o200k, claude3, claude48, gemma3, safe,
    estimator, path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, change,
    created_at, stored_at, doc, docs, analysis)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, session, id) DO NOTHING;

-- name: node_find
SELECT strand, seq, parent, role, externals, doc, docs, analysis, size, o200k, claude3, claude48, gemma3, safe,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = ? AND session = ? AND id = ?;

-- name: node_at
SELECT id, parent, path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = ? AND session = ? AND strand = ? AND seq = ?;

-- name: node_before
SELECT seq FROM node WHERE ns = ? AND session = ? AND strand = ? AND seq < ? ORDER BY seq DESC LIMIT 1;

-- name: node_after
SELECT seq FROM node WHERE ns = ? AND session = ? AND strand = ? AND seq > ? ORDER BY seq LIMIT 1;

-- name: node_reparent
UPDATE node SET parent = ?5, change = ?6 WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq = ?4;

-- name: node_rewrite
UPDATE node SET role = ?5, externals = ?6, size = ?7, o200k = ?8, claude3 = ?9, claude48 = ?10, gemma3 = ?11,
    safe = ?12, estimator = ?13, path_size = path_size + ?14, path_o200k = path_o200k + ?15,
    path_claude3 = path_claude3 + ?16, path_claude48 = path_claude48 + ?17, path_gemma3 = path_gemma3 + ?18,
    path_safe = path_safe + ?19, change = ?20, created_at = ?21, doc = ?22, docs = ?23, analysis = ?24
WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq = ?4;

-- name: node_delete
DELETE FROM node WHERE ns = ? AND session = ? AND strand = ? AND seq = ?;

-- What is below a message moves by a difference: the rest of its strand here, and all that hangs on it from there on
-- in the next.
-- OR FAIL: an error undoes the transaction in any case, and without it SQLite copies every page that it changes into
-- a journal for undoing this statement alone, a tenth of the whole cost.
-- name: strand_shift
UPDATE OR FAIL node SET path_length = path_length + ?5, path_size = path_size + ?6, path_o200k = path_o200k + ?7,
    path_claude3 = path_claude3 + ?8, path_claude48 = path_claude48 + ?9, path_gemma3 = path_gemma3 + ?10,
    path_safe = path_safe + ?11
WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq > ?4;

-- name: hung_strands_shift
WITH RECURSIVE below (strand) AS (
    SELECT strand FROM strand WHERE ns = ?1 AND session = ?2 AND parent_strand = ?3 AND parent_seq >= ?4
    UNION ALL
    SELECT s.strand FROM below CROSS JOIN strand s
        ON s.ns = ?1 AND s.session = ?2 AND s.parent_strand = below.strand
)
UPDATE OR FAIL node SET path_length = path_length + ?5, path_size = path_size + ?6, path_o200k = path_o200k + ?7,
    path_claude3 = path_claude3 + ?8, path_claude48 = path_claude48 + ?9, path_gemma3 = path_gemma3 + ?10,
    path_safe = path_safe + ?11
WHERE ns = ?1 AND session = ?2 AND strand IN (SELECT strand FROM below);

-- name: strand_has_children
SELECT 1 FROM strand WHERE ns = ? AND session = ? AND parent_strand = ? AND parent_seq >= ? LIMIT 1;

-- name: body_add
INSERT INTO body (ns, session, seq, codec, crc, data) VALUES (?, ?, ?, ?, ?, ?);

-- name: body_put
INSERT OR REPLACE INTO body (ns, session, seq, codec, crc, data) VALUES (?, ?, ?, ?, ?, ?);

-- name: body_get
SELECT codec, data FROM body WHERE ns = ? AND session = ? AND seq = ?;

-- name: body_delete
DELETE FROM body WHERE ns = ? AND session = ? AND seq = ?;

-- name: span_up
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? AND n.strand = ? AND n.seq BETWEEN ? AND ? ORDER BY n.seq;

-- name: span_down
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? AND n.strand = ? AND n.seq BETWEEN ? AND ? ORDER BY n.seq DESC;

-- name: message_get
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? AND n.id = ?;

-- name: message_at
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? AND n.strand = ? AND n.seq = ?;

-- name: strand_first
SELECT seq FROM node WHERE ns = ? AND session = ? AND strand = ? ORDER BY seq LIMIT 1;

-- name: outline
SELECT seq, id, parent, role, size, created_at, stored_at FROM node WHERE ns = ? AND session = ? ORDER BY seq;

-- name: external_add
INSERT INTO external (ns, session, seq, ordinal, path, kind, prefix, size, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: external_list
SELECT ordinal, path, kind, prefix, size, digest FROM external WHERE ns = ? AND session = ? AND seq = ? ORDER BY ordinal;

-- name: external_delete
DELETE FROM external WHERE ns = ? AND session = ? AND seq = ?;

-- name: spill_add
INSERT INTO spill (ns, session, seq, ordinal, chunk, data) VALUES (?, ?, ?, ?, ?, ?);

-- name: spill_get
SELECT data FROM spill WHERE ns = ? AND session = ? AND seq = ? AND ordinal = ? ORDER BY chunk;

-- name: spill_delete
DELETE FROM spill WHERE ns = ? AND session = ? AND seq = ?;

-- name: blob_has
SELECT 1 FROM blob WHERE ns = ? AND digest = ? LIMIT 1;

-- Nothing to lock here: there is one writer.
-- name: blob_lock
SELECT 1 FROM blob WHERE ns = ? AND digest = ? LIMIT 1;

-- name: blob_add
INSERT INTO blob (ns, digest, chunk, data) VALUES (?, ?, ?, ?);

-- name: blob_get
SELECT data FROM blob WHERE ns = ? AND digest = ? ORDER BY chunk;

-- name: blob_used
SELECT 1 FROM external WHERE ns = ? AND digest = ? AND kind = 0 LIMIT 1;

-- name: blob_delete
DELETE FROM blob WHERE ns = ? AND digest = ?;

-- name: blob_digests_of_session
SELECT DISTINCT digest FROM external WHERE ns = ? AND session = ? AND kind = 0;

-- name: overlay_list
SELECT o.ord, o.id, o.kind, o.first_strand, o.first_seq, o.last_strand, o.last_seq, o.stale, o.supersedes, o.codec,
    o.data, o.created_at, o.anchor_strand, o.anchor_seq, f.id, l.id, l.path_length - f.path_length + 1, l.path_size - f.path_size + f.size,
    l.path_o200k - f.path_o200k + f.o200k, l.path_claude3 - f.path_claude3 + f.claude3,
    l.path_claude48 - f.path_claude48 + f.claude48, l.path_gemma3 - f.path_gemma3 + f.gemma3,
    l.path_safe - f.path_safe + f.safe
FROM overlay o
JOIN node f ON f.ns = o.ns AND f.session = o.session AND f.strand = o.first_strand AND f.seq = o.first_seq
JOIN node l ON l.ns = o.ns AND l.session = o.session AND l.strand = o.last_strand AND l.seq = o.last_seq
WHERE o.ns = ? AND o.session = ? ORDER BY o.ord;

-- name: overlay_newer
SELECT id FROM overlay WHERE ns = ? AND session = ? AND change > ?;

-- name: overlay_next
SELECT coalesce(max(ord), 0) + 1 FROM overlay WHERE ns = ? AND session = ?;

-- name: overlay_add
INSERT INTO overlay (ns, session, ord, id, kind, first_strand, first_seq, last_strand, last_seq, anchor_strand,
    anchor_seq, stale, supersedes, codec, data, created_at, change)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?);

-- name: overlay_move
UPDATE overlay SET first_strand = ?4, first_seq = ?5, last_strand = ?6, last_seq = ?7, stale = 1, change = ?8
WHERE ns = ?1 AND session = ?2 AND id = ?3;

-- name: overlay_anchor_move
UPDATE overlay SET anchor_strand = ?5, anchor_seq = ?6
WHERE ns = ?1 AND session = ?2 AND kind > 0 AND anchor_strand = ?3 AND anchor_seq = ?4;

-- name: overlay_last
SELECT n.id FROM overlay o
JOIN node n ON n.ns = o.ns AND n.session = o.session AND n.strand = o.last_strand AND n.seq = o.last_seq
WHERE o.ns = ? AND o.session = ? AND o.id = ?;

-- name: overlay_delete
DELETE FROM overlay WHERE ns = ? AND session = ? AND id = ?;

-- name: tombstone_add
INSERT INTO tombstone (ns, session, kind, id, change, deleted_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (ns, session, kind, id) DO UPDATE SET change = excluded.change, deleted_at = excluded.deleted_at;

-- name: tombstone_all_messages
INSERT OR REPLACE INTO tombstone (ns, session, kind, id, change, deleted_at)
SELECT ns, session, 0, id, ?3, ?4 FROM node WHERE ns = ?1 AND session = ?2;

-- name: tombstone_all_overlays
INSERT OR REPLACE INTO tombstone (ns, session, kind, id, change, deleted_at)
SELECT ns, session, 1, id, ?3, ?4 FROM overlay WHERE ns = ?1 AND session = ?2;

-- name: tombstone_drop
DELETE FROM tombstone WHERE ns = ? AND session = ? AND kind = ? AND id = ?;

-- name: tombstone_list
SELECT kind, id, change, deleted_at FROM tombstone WHERE ns = ? AND session = ? ORDER BY change, kind, id;

-- name: tombstone_has
SELECT 1 FROM tombstone WHERE ns = ? AND session = ? AND kind = ? AND id = ?;

-- name: event_next
SELECT coalesce(max(ord), 0) + 1 FROM event WHERE ns = ? AND session = ?;

-- name: event_add
INSERT INTO event (ns, session, ord, id, kind, codec, data, created_at, stored_at, change)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ns, session, id) DO NOTHING;

-- name: event_list
SELECT id, kind, codec, data, created_at, stored_at FROM event WHERE ns = ? AND session = ? ORDER BY ord;

-- The last change of any message in a range of one strand; 0 when there is none.
-- name: node_changed
SELECT coalesce(max(change), 0) FROM node WHERE ns = ? AND session = ? AND strand = ? AND seq BETWEEN ? AND ?;

-- name: event_last
SELECT codec, data, stored_at FROM event WHERE ns = ? AND session = ? AND kind = ? ORDER BY ord DESC LIMIT 1;

-- name: usage_next
SELECT coalesce(max(ord), 0) + 1 FROM usage WHERE ns = ? AND session = ?;

-- name: usage_add
INSERT INTO usage (ns, session, ord, id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output,
    cache_read, cache_write_5m, cache_write_1h, cost, price_source, change, estimated)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ns, session, id) DO NOTHING;

-- name: usage_list
SELECT id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, estimated
FROM usage WHERE ns = ? AND session = ? ORDER BY ord;

-- The newest rows, the newest first.
-- name: usage_recent
SELECT id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, estimated
FROM usage WHERE ns = ? AND session = ? ORDER BY ord DESC LIMIT ?;

-- name: quarantine_add
INSERT OR REPLACE INTO quarantine (ns, session, seq, id, reason, codec, data, quarantined_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: check_nodes
SELECT n.strand, n.seq, n.id, n.parent, n.role, n.externals, n.size, n.o200k, n.claude3, n.claude48, n.gemma3, n.safe,
    n.path_length, n.path_size, n.path_o200k, n.path_claude3, n.path_claude48, n.path_gemma3, n.path_safe,
    b.codec, b.crc, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? ORDER BY n.seq;

-- name: check_bodies
SELECT seq FROM body WHERE ns = ? AND session = ? ORDER BY seq;

-- name: node_totals
SELECT strand, seq, parent, size, o200k, claude3, claude48, gemma3, safe,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = ? AND session = ? ORDER BY seq;

-- name: node_set_totals
UPDATE node SET path_length = ?5, path_size = ?6, path_o200k = ?7, path_claude3 = ?8, path_claude48 = ?9,
    path_gemma3 = ?10, path_safe = ?11
WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq = ?4;

-- name: node_set_size
UPDATE node SET size = ?5 WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq = ?4;

-- name: check_overlays
SELECT o.id, f.id IS NULL OR l.id IS NULL, o.kind, o.supersedes, o.codec, o.data FROM overlay o
LEFT JOIN node f ON f.ns = o.ns AND f.session = o.session AND f.strand = o.first_strand AND f.seq = o.first_seq
LEFT JOIN node l ON l.ns = o.ns AND l.session = o.session AND l.strand = o.last_strand AND l.seq = o.last_seq
WHERE o.ns = ? AND o.session = ?;

-- Everything of one session, table by table.

-- name: wipe_node
DELETE FROM node WHERE ns = ? AND session = ?;

-- name: wipe_body
DELETE FROM body WHERE ns = ? AND session = ?;

-- name: wipe_strand
DELETE FROM strand WHERE ns = ? AND session = ?;

-- name: wipe_external
DELETE FROM external WHERE ns = ? AND session = ?;

-- name: wipe_spill
DELETE FROM spill WHERE ns = ? AND session = ?;

-- name: wipe_overlay
DELETE FROM overlay WHERE ns = ? AND session = ?;

-- name: wipe_event
DELETE FROM event WHERE ns = ? AND session = ?;

-- name: wipe_usage
DELETE FROM usage WHERE ns = ? AND session = ?;

-- name: wipe_quarantine
DELETE FROM quarantine WHERE ns = ? AND session = ?;

-- name: wipe_tombstone
DELETE FROM tombstone WHERE ns = ? AND session = ?;

-- The index.

-- name: pending_add
INSERT INTO pending (scope, text, tool_input, tool_output, reasoning, ns, session, strand, seq)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: pending_any
SELECT 1 FROM pending WHERE scope <> '' LIMIT 1;

-- name: pending_drop
DELETE FROM pending WHERE doc BETWEEN ? AND ? AND scope <> '';

-- The newest row stays, empty: see the table.
-- name: pending_clear
DELETE FROM pending WHERE doc < (SELECT max(doc) FROM pending);
UPDATE pending SET scope = '', text = NULL, tool_input = NULL, tool_output = NULL, reasoning = NULL;

-- name: words_fold
INSERT INTO words (rowid, scope, text, tool_input, tool_output, reasoning, ns, session, strand, seq)
SELECT doc, scope, text, tool_input, tool_output, reasoning, ns, session, strand, seq FROM pending WHERE scope <> '';

-- name: words_drop
DELETE FROM words WHERE rowid BETWEEN ? AND ?;

-- SQLite leaves one table of the index behind when the index goes, and no index can be made beside it.
-- name: words_remove
DROP TABLE words;
DROP TABLE IF EXISTS words_content;

-- name: words_create
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, tool_input, tool_output, reasoning,
    ns UNINDEXED, session UNINDEXED, strand UNINDEXED, seq UNINDEXED,
    content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'ascii'
);

-- Reads only; FTS5's own command for it would take the write lock.
-- name: words_check
PRAGMA quick_check(words);

-- What messages say they have in the index, what it holds a length of, and what a search finds: FTS5's check misses
-- rows that are gone. `n` begins the scope word of every namespace.
-- name: words_count
SELECT (SELECT coalesce(sum(docs), 0) FROM node) - (SELECT count(*) FROM pending WHERE scope <> ''),
    (SELECT count(*) FROM words_docsize d JOIN words_content c USING (id)),
    (SELECT count(*) FROM words WHERE words MATCH 'scope : n *');

-- name: words_optimize
INSERT INTO words (words) VALUES ('optimize');

-- The best matches, with their messages as `hit` gives them. Not `ORDER BY rank`: FTS5 then keeps all matches while it
-- sorts, and works out the weights of the phrases twice when `rank` is selected, too.
-- name: words_best
SELECT w.session, w.strand, w.seq, -best.score,
    n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data, coalesce(n.created_at, n.stored_at)
FROM (
    SELECT rowid AS doc, bm25(words, 0.0, 1.0, 1.0, 1.0, 1.0) AS score FROM words
    WHERE words MATCH ?1 ORDER BY score, doc LIMIT ?2
) best CROSS JOIN words w ON w.rowid = best.doc
LEFT JOIN node n ON n.ns = w.ns AND n.session = w.session AND n.strand = w.strand AND n.seq = w.seq
LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
ORDER BY best.score, best.doc;

-- The matches after the best ?2.
-- name: words_ranked
SELECT w.session, w.strand, w.seq, -rest.score
FROM (
    SELECT rowid AS doc, bm25(words, 0.0, 1.0, 1.0, 1.0, 1.0) AS score FROM words
    WHERE words MATCH ?1 ORDER BY score, doc LIMIT -1 OFFSET ?2
) rest CROSS JOIN words w ON w.rowid = rest.doc
ORDER BY rest.score, rest.doc;

-- name: words_measured
SELECT session, strand, seq, frequencies(words) FROM words WHERE words MATCH ?;

-- name: words_places
SELECT DISTINCT session, strand, seq FROM words WHERE words MATCH ?;

-- name: words_total
SELECT coalesce(max(doc), 0) FROM pending;

-- name: node_docs
SELECT doc, docs FROM node WHERE ns = ? AND session = ? AND docs > 0 ORDER BY doc;

-- name: node_forget_words
UPDATE node SET doc = NULL, docs = 0, analysis = 0;

-- name: node_set_words
UPDATE node SET doc = ?5, docs = ?6, analysis = ?7, o200k = ?8, claude3 = ?9, claude48 = ?10, gemma3 = ?11,
    safe = ?12, estimator = ?13
WHERE ns = ?1 AND session = ?2 AND strand = ?3 AND seq = ?4;

-- name: session_set_totals
UPDATE session SET path_length = ?3, path_size = ?4, path_o200k = ?5, path_claude3 = ?6, path_claude48 = ?7,
    path_gemma3 = ?8, path_safe = ?9
WHERE ns = ?1 AND id = ?2;

-- name: node_stale_keys
SELECT ns, session, strand, seq FROM node
WHERE (ns, session, strand, seq) > (?, ?, ?, ?) AND (analysis <> ? OR estimator <> ?)
ORDER BY ns, session, strand, seq LIMIT ?;

-- name: node_stale
SELECT n.ns, n.session, n.strand, n.seq, n.id, n.role, n.externals, n.size, n.doc, n.docs, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE (n.ns, n.session, n.strand, n.seq) > (?, ?, ?, ?) AND (n.ns, n.session, n.strand, n.seq) <= (?, ?, ?, ?)
    AND (n.analysis <> ? OR n.estimator <> ?)
ORDER BY n.ns, n.session, n.strand, n.seq;

-- name: node_count
SELECT count(*) FROM node;

-- name: namespace_name
SELECT name FROM namespace WHERE ns = ?;

-- name: meta_all
SELECT name, value FROM meta;

-- name: meta_put
INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: hit
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data, coalesce(n.created_at, n.stored_at)
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ? AND n.session = ? AND n.strand = ? AND n.seq = ?;

-- The same for several messages of a session: a JSON list of [strand, seq].
-- name: words_hits
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data, coalesce(n.created_at, n.stored_at)
FROM json_each(?3) place
CROSS JOIN node n ON n.ns = ?1 AND n.session = ?2 AND n.strand = place.value ->> 0 AND n.seq = place.value ->> 1
LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq;

-- name: session_by_key
SELECT id, lineage_kind, lineage_session,
    EXISTS (SELECT 1 FROM overlay o WHERE o.ns = session.ns AND o.session = session.session),
    EXISTS (
        SELECT 1 FROM session f WHERE f.ns = session.ns AND f.lineage_session = session.id AND f.lineage_kind = 'fork'
    ),
    session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = ? AND session = ?;

-- name: session_lineage
SELECT lineage_kind, lineage_session FROM session WHERE ns = ? AND id = ?;

-- A session, and then all that was forked from it or from a fork of it.
-- name: session_forks
WITH RECURSIVE family (id, session) AS (
    SELECT id, session FROM session WHERE ns = ?1 AND id = ?2
    UNION
    SELECT s.id, s.session FROM family f CROSS JOIN session s ON s.ns = ?1 AND s.lineage_session = f.id
    WHERE s.lineage_kind = 'fork'
)
SELECT id, session FROM family ORDER BY id <> ?2, session;

-- Copying between stores: what is read of the source, page by page.

-- name: copy_sessions
SELECT session, id, change, created_at FROM session WHERE ns = ?1 AND session > ?2 ORDER BY session LIMIT ?3;

-- name: copy_deleted
SELECT id, change, deleted_at FROM tombstone
WHERE ns = ?1 AND session = 0 AND kind = 2 AND id > ?2 ORDER BY id LIMIT ?3;

-- name: copy_session
SELECT session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open, path_length, path_size,
    path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, title, source, model, lineage_kind,
    lineage_session, lineage_message, metadata, created_at, updated_at
FROM session WHERE ns = ?1 AND id = ?2;

-- name: copy_strand
SELECT strand, parent_strand, parent_seq FROM strand
WHERE ns = ?1 AND session = ?2 AND strand > ?3 ORDER BY strand LIMIT ?4;

-- name: copy_node
SELECT n.strand, n.seq, n.id, n.parent, n.role, n.externals, n.size, n.o200k, n.claude3, n.claude48, n.gemma3, n.safe,
    n.estimator, n.path_length, n.path_size, n.path_o200k, n.path_claude3, n.path_claude48, n.path_gemma3, n.path_safe,
    n.change, n.created_at, n.stored_at, b.codec, b.crc, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = ?1 AND n.session = ?2 AND (n.strand, n.seq) > (?3, ?4) ORDER BY n.strand, n.seq LIMIT ?5;

-- name: copy_overlay
SELECT ord, id, kind, first_strand, first_seq, last_strand, last_seq, anchor_strand, anchor_seq, stale, supersedes,
    codec, data, created_at, change
FROM overlay WHERE ns = ?1 AND session = ?2 AND ord > ?3 ORDER BY ord LIMIT ?4;

-- name: copy_event
SELECT ord, id, kind, codec, data, created_at, stored_at, change
FROM event WHERE ns = ?1 AND session = ?2 AND ord > ?3 ORDER BY ord LIMIT ?4;

-- name: copy_usage
SELECT ord, id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, change, estimated
FROM usage WHERE ns = ?1 AND session = ?2 AND ord > ?3 ORDER BY ord LIMIT ?4;

-- name: copy_tombstone
SELECT kind, id, change, deleted_at FROM tombstone
WHERE ns = ?1 AND session = ?2 AND (kind, id) > (?3, ?4) ORDER BY kind, id LIMIT ?5;

-- name: copy_quarantine
SELECT seq, id, reason, codec, data, quarantined_at
FROM quarantine WHERE ns = ?1 AND session = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4;

-- Blocks, frozen prompts and leases. A session of 0 is the whole namespace.

-- name: block_get
SELECT data, origins, updated_at, change FROM block WHERE ns = ?1 AND session = ?2 AND label = ?3;

-- name: block_change
SELECT change FROM block WHERE ns = ?1 AND session = ?2 AND label = ?3;

-- name: block_add
INSERT INTO block (ns, session, label, data, origins, updated_at, change)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (ns, session, label) DO NOTHING;

-- name: block_swap
UPDATE block SET data = ?4, origins = ?5, updated_at = ?6, change = ?7
WHERE ns = ?1 AND session = ?2 AND label = ?3 AND change = ?8;

-- name: block_list
SELECT label, data, origins, updated_at, change FROM block WHERE ns = ?1 AND session = ?2 ORDER BY label;

-- name: prompt_live
SELECT p.ord, p.data, p.tools, p.sections, p.digest, p.reason, p.frozen_at, p.since
FROM session s JOIN prompt p ON p.ns = s.ns AND p.session = s.session
WHERE s.ns = ?1 AND s.id = ?2 ORDER BY p.ord DESC LIMIT 1;

-- name: prompt_named
SELECT ord, digest, data IS NULL, since FROM prompt
WHERE ns = ?1 AND session = (SELECT session FROM session WHERE ns = ?1 AND id = ?2) ORDER BY ord DESC LIMIT 1;

-- name: prompt_list
SELECT ord, data, tools, sections, digest, reason, frozen_at, since
FROM prompt WHERE ns = ?1 AND session = ?2 ORDER BY ord;

-- name: prompt_add
INSERT INTO prompt (ns, session, ord, data, tools, sections, digest, reason, frozen_at, since, change)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: reminder_list
SELECT session, id, codec, data FROM overlay WHERE ns = ?1 AND kind = 2 ORDER BY session, ord;

-- name: prompt_since
UPDATE prompt SET since = ?3
WHERE ns = ?1 AND session = ?2 AND ord = (SELECT max(ord) FROM prompt WHERE ns = ?1 AND session = ?2);

-- name: prompt_drop_bytes
UPDATE prompt SET data = NULL, tools = NULL WHERE ns = ?1 AND session = ?2 AND data IS NOT NULL;

-- name: prompt_drop_bytes_of_namespace
UPDATE prompt SET data = NULL, tools = NULL WHERE ns = ?1 AND data IS NOT NULL;

-- name: lease_take
INSERT INTO lease (ns, session, name, holder, until) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (ns, session, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE lease.holder = excluded.holder OR lease.until <= ?6;

-- name: lease_drop
DELETE FROM lease WHERE ns = ?1 AND session = ?2 AND name = ?3 AND holder = ?4;

-- name: wipe_block
DELETE FROM block WHERE ns = ?1 AND session = ?2;

-- name: wipe_prompt
DELETE FROM prompt WHERE ns = ?1 AND session = ?2;

-- name: wipe_lease
DELETE FROM lease WHERE ns = ?1 AND session = ?2;

-- name: copy_block
SELECT label, data, origins, updated_at, change FROM block
WHERE ns = ?1 AND session = ?2 AND label > ?3 ORDER BY label LIMIT ?4;

-- name: copy_prompt
SELECT ord, data, tools, sections, digest, reason, frozen_at, since, change FROM prompt
WHERE ns = ?1 AND session = ?2 AND ord > ?3 ORDER BY ord LIMIT ?4;

-- What is known of a session in the target; and when it was deleted there.
-- name: copied_state
SELECT s.change, s.created_at, c.change
FROM session s LEFT JOIN copied c ON c.ns = s.ns AND c.session = s.session
WHERE s.ns = ?1 AND s.id = ?2;

-- name: copied_deleted
SELECT deleted_at FROM tombstone WHERE ns = ?1 AND session = 0 AND kind = 2 AND id = ?2;

-- name: copied_put
INSERT INTO copied (ns, session, change) VALUES (?1, ?2, ?3)
ON CONFLICT (ns, session) DO UPDATE SET change = excluded.change;

-- name: overlay_stale
UPDATE overlay SET stale = ?4 WHERE ns = ?1 AND session = ?2 AND ord = ?3;

-- name: wipe_copied
DELETE FROM copied WHERE ns = ?1 AND session = ?2;

-- Entries. A session of 0 is the whole namespace.

-- name: entry_find
SELECT doc, docs, change FROM entry WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_description
SELECT description FROM entry WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_get
SELECT e.key, e.description, e.size, e.message_id, e.updated_at, b.data
FROM entry e LEFT JOIN entry_body b ON b.ns = e.ns AND b.session = e.session AND b.label = e.label AND b.key = e.key
WHERE e.ns = ?1 AND e.session = ?2 AND e.label = ?3 AND e.key = ?4;

-- name: entry_add
INSERT INTO entry (ns, session, label, key, description, size, message_id, writer, updated_at, change)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (ns, session, label, key) DO NOTHING;

-- name: entry_replace
UPDATE entry SET description = ?5, size = ?6, message_id = ?7, writer = ?8, updated_at = ?9, change = ?10
WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_set_words
UPDATE entry SET doc = ?5, docs = ?6, analysis = ?7 WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_delete
DELETE FROM entry WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_list
SELECT key, description, size, message_id, updated_at FROM entry
WHERE ns = ?1 AND session = ?2 AND label = ?3 ORDER BY key;

-- name: entry_count
SELECT count(*) FROM entry WHERE ns = ?1 AND session = ?2 AND label = ?3;

-- name: entry_of_message
SELECT label, key, doc, docs FROM entry
WHERE ns = ?1 AND session = ?2 AND message_id = ?3 AND coalesce(writer, ?4) = ?4 ORDER BY label, key;

-- name: entry_keys
SELECT label, key, size FROM entry WHERE ns = ?1 AND session = ?2 ORDER BY label, key;

-- name: entry_docs
SELECT doc, docs FROM entry WHERE ns = ?1 AND session = ?2 AND docs > 0 ORDER BY doc;

-- name: entry_stale_any
SELECT 1 FROM entry WHERE analysis < ?1 LIMIT 1;

-- name: entry_stale
SELECT ns, session, label, key, doc, docs FROM entry WHERE analysis < ?1 ORDER BY analysis LIMIT ?2;

-- name: entry_forget_words
UPDATE entry SET doc = NULL, docs = 0, analysis = 0;

-- name: entry_body_put
INSERT OR REPLACE INTO entry_body (ns, session, label, key, crc, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: entry_body_get
SELECT crc, data FROM entry_body WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_body_delete
DELETE FROM entry_body WHERE ns = ?1 AND session = ?2 AND label = ?3 AND key = ?4;

-- name: entry_body_lost
SELECT label, key FROM entry_body b WHERE ns = ?1 AND session = ?2 AND NOT EXISTS (
    SELECT 1 FROM entry e WHERE e.ns = b.ns AND e.session = b.session AND e.label = b.label AND e.key = b.key
) ORDER BY label, key;

-- name: wipe_entry
DELETE FROM entry WHERE ns = ?1 AND session = ?2;

-- name: wipe_entry_body
DELETE FROM entry_body WHERE ns = ?1 AND session = ?2;

-- name: copy_entry
SELECT label, key, description, size, message_id, writer, updated_at, change FROM entry
WHERE ns = ?1 AND session = ?2 AND (label, key) > (?3, ?4) ORDER BY label, key LIMIT ?5;

-- name: copy_entry_removed
SELECT id FROM tombstone WHERE ns = ?1 AND session = 0 AND kind = 3 ORDER BY id;

-- name: entry_words_add
INSERT INTO entry_words (rowid, scope, words, ns, session, label, key) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: entry_words_drop
DELETE FROM entry_words WHERE rowid BETWEEN ?1 AND ?2;

-- name: entry_words_remove
DROP TABLE entry_words;
DROP TABLE IF EXISTS entry_words_content;

-- name: entry_words_create
CREATE VIRTUAL TABLE entry_words USING fts5 (
    scope, words, ns UNINDEXED, session UNINDEXED, label UNINDEXED, key UNINDEXED,
    content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'ascii'
);

-- name: entry_words_check
PRAGMA quick_check(entry_words);

-- As `words_count`: rows that entries say they have, rows with a length, rows that a search finds.
-- name: entry_words_count
SELECT (SELECT coalesce(sum(docs), 0) FROM entry),
    (SELECT count(*) FROM entry_words_docsize d JOIN entry_words_content c USING (id)),
    (SELECT count(*) FROM entry_words WHERE entry_words MATCH 'scope : n *');

-- name: entry_words_optimize
INSERT INTO entry_words (entry_words) VALUES ('optimize');

-- name: entry_words_measured
SELECT key, entry_frequencies(entry_words) FROM entry_words
WHERE entry_words MATCH ?1 AND label = ?2;

-- name: entry_words_places
SELECT DISTINCT key FROM entry_words WHERE entry_words MATCH ?1 AND label = ?2;
