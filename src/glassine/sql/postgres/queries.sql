-- Every statement of the Postgres store, by name; those of the operations have the same names for every engine.
-- The first two parameters are always namespace and session, where a statement has them.
-- A name that ends in `_locked` takes the place of the one without in a transaction that writes.

-- name: namespace_key
SELECT ns FROM namespace WHERE name = $1;

-- name: namespace_add
INSERT INTO namespace (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING ns;

-- name: namespace_list
SELECT name FROM namespace ORDER BY name;

-- name: session_next_key
SELECT nextval('session_key') WHERE $1::bigint IS NOT NULL;

-- name: session_add
INSERT INTO session (ns, id, session, change, next_seq, next_strand, messages, leaf_open, path_length, path_size,
    path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, created_at, updated_at)
VALUES ($1, $2, $3, 0, 1, 1, 0, true, 0, 0, 0, 0, 0, 0, 0, $4, $4)
ON CONFLICT (ns, id) DO NOTHING;

-- name: session_head
SELECT session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = $1 AND id = $2;

-- The first statement of whoever writes to a session: writers of one session take turns here, those of different
-- sessions never meet.
-- name: session_head_locked
SELECT session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = $1 AND id = $2
FOR UPDATE;

-- name: session_advance
UPDATE session SET change = $3, next_seq = $4, next_strand = $5, messages = $6, leaf_strand = $7, leaf_seq = $8,
    leaf_open = $9, path_length = $10, path_size = $11, path_o200k = $12, path_claude3 = $13, path_claude48 = $14,
    path_gemma3 = $15, path_safe = $16, updated_at = $17
WHERE ns = $1 AND id = $2;

-- name: session_title
SELECT title FROM session WHERE ns = $1 AND id = $2;

-- name: session_retitle
UPDATE session SET title = $3 WHERE ns = $1 AND id = $2;

-- name: session_describe
UPDATE session SET title = $3, source = $4, model = $5, lineage_kind = $6, lineage_session = $7,
    lineage_message = $8, metadata = $9, change = change + 1, updated_at = $10
WHERE ns = $1 AND id = $2;

-- name: session_info
SELECT s.id, s.title, s.source, s.model, s.lineage_kind, s.lineage_session, s.lineage_message, s.metadata,
    s.created_at, s.updated_at, s.messages, s.path_length, s.path_size, s.change, n.id,
    coalesce(n.created_at, n.stored_at)
FROM session s LEFT JOIN node n
    ON n.ns = s.ns AND n.session = s.session AND n.strand = s.leaf_strand AND n.seq = s.leaf_seq
WHERE s.ns = $1 AND s.id = $2;

-- name: session_list
SELECT s.id, s.title, s.source, s.model, s.lineage_kind, s.lineage_session, s.lineage_message, s.metadata,
    s.created_at, s.updated_at, s.messages, s.path_length, s.path_size, s.change, n.id,
    coalesce(n.created_at, n.stored_at)
FROM session s LEFT JOIN node n
    ON n.ns = s.ns AND n.session = s.session AND n.strand = s.leaf_strand AND n.seq = s.leaf_seq
WHERE s.ns = $1 ORDER BY s.updated_at DESC, s.session DESC LIMIT nullif($2::bigint, -1);

-- name: session_count
SELECT count(*), coalesce(sum(messages), 0)::bigint FROM session WHERE ns = $1;

-- name: session_delete
DELETE FROM session WHERE ns = $1 AND id = $2;

-- name: strand_add
INSERT INTO strand (ns, session, strand, parent_strand, parent_seq) VALUES ($1, $2, $3, $4, $5);

-- name: strand_delete
DELETE FROM strand WHERE ns = $1 AND session = $2 AND strand = $3;

-- name: strand_parent
SELECT parent_strand, parent_seq FROM strand WHERE ns = $1 AND session = $2 AND strand = $3;

-- name: strand_list
SELECT strand, parent_strand, parent_seq FROM strand WHERE ns = $1 AND session = $2;

-- name: strand_children
SELECT strand FROM strand WHERE ns = $1 AND session = $2
    AND (parent_strand = $3 OR $3::bigint IS NULL AND parent_strand IS NULL)
    AND (parent_seq = $4 OR $4::bigint IS NULL AND parent_seq IS NULL)
ORDER BY strand;

-- name: strand_rehang
UPDATE strand SET parent_strand = $5, parent_seq = $6
WHERE ns = $1 AND session = $2 AND parent_strand = $3 AND parent_seq = $4;

-- name: path
WITH RECURSIVE up (strand, upto) AS (
    SELECT $3::bigint, $4::bigint
    UNION ALL
    SELECT s.parent_strand, s.parent_seq FROM up JOIN strand s
        ON s.ns = $1 AND s.session = $2 AND s.strand = up.strand
    WHERE s.parent_strand IS NOT NULL
)
SELECT strand, upto FROM up;

-- name: node_add
INSERT INTO node (ns, session, strand, seq, id, parent, role, externals, size, o200k, claude3, claude48, gemma3, safe,
    estimator, path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, change,
    created_at, stored_at, doc, docs, analysis)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
ON CONFLICT (ns, session, id) DO NOTHING;

-- name: node_find
SELECT strand, seq, parent, role, externals, doc, docs, analysis, size, o200k, claude3, claude48, gemma3, safe,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = $1 AND session = $2 AND id = $3;

-- name: node_at
SELECT id, parent, path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: node_before
SELECT seq FROM node WHERE ns = $1 AND session = $2 AND strand = $3 AND seq < $4 ORDER BY seq DESC LIMIT 1;

-- name: node_after
SELECT seq FROM node WHERE ns = $1 AND session = $2 AND strand = $3 AND seq > $4 ORDER BY seq LIMIT 1;

-- name: node_reparent
UPDATE node SET parent = $5, change = $6 WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: node_rewrite
UPDATE node SET role = $5, externals = $6, size = $7, o200k = $8, claude3 = $9, claude48 = $10, gemma3 = $11,
    safe = $12, estimator = $13, path_size = path_size + $14, path_o200k = path_o200k + $15,
    path_claude3 = path_claude3 + $16, path_claude48 = path_claude48 + $17, path_gemma3 = path_gemma3 + $18,
    path_safe = path_safe + $19, change = $20, created_at = $21, doc = $22, docs = $23, analysis = $24
WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: node_delete
DELETE FROM node WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- What is below a message moves by a difference: the rest of its strand here, and all that hangs on it from there on
-- in the next.
-- name: strand_shift
UPDATE node SET path_length = path_length + $5, path_size = path_size + $6, path_o200k = path_o200k + $7,
    path_claude3 = path_claude3 + $8, path_claude48 = path_claude48 + $9, path_gemma3 = path_gemma3 + $10,
    path_safe = path_safe + $11
WHERE ns = $1 AND session = $2 AND strand = $3 AND seq > $4;

-- name: hung_strands_shift
WITH RECURSIVE below (strand) AS (
    SELECT strand FROM strand WHERE ns = $1 AND session = $2 AND parent_strand = $3 AND parent_seq >= $4
    UNION ALL
    SELECT s.strand FROM below JOIN strand s
        ON s.ns = $1 AND s.session = $2 AND s.parent_strand = below.strand
)
UPDATE node SET path_length = path_length + $5, path_size = path_size + $6, path_o200k = path_o200k + $7,
    path_claude3 = path_claude3 + $8, path_claude48 = path_claude48 + $9, path_gemma3 = path_gemma3 + $10,
    path_safe = path_safe + $11
WHERE ns = $1 AND session = $2 AND strand IN (SELECT strand FROM below);

-- name: strand_has_children
SELECT 1 FROM strand WHERE ns = $1 AND session = $2 AND parent_strand = $3 AND parent_seq >= $4 LIMIT 1;

-- name: body_add
INSERT INTO body (ns, session, seq, codec, crc, data) VALUES ($1, $2, $3, $4, $5, $6);

-- name: body_put
INSERT INTO body (ns, session, seq, codec, crc, data) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (ns, session, seq) DO UPDATE SET codec = excluded.codec, crc = excluded.crc, data = excluded.data;

-- name: body_get
SELECT codec, data FROM body WHERE ns = $1 AND session = $2 AND seq = $3;

-- name: body_delete
DELETE FROM body WHERE ns = $1 AND session = $2 AND seq = $3;

-- name: span_up
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 AND n.strand = $3 AND n.seq BETWEEN $4 AND $5
ORDER BY n.seq LIMIT $6;

-- name: span_down
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 AND n.strand = $3 AND n.seq BETWEEN $4 AND $5
ORDER BY n.seq DESC LIMIT $6;

-- name: message_get
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 AND n.id = $3;

-- name: message_at
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 AND n.strand = $3 AND n.seq = $4;

-- name: strand_first
SELECT seq FROM node WHERE ns = $1 AND session = $2 AND strand = $3 ORDER BY seq LIMIT 1;

-- name: outline
SELECT seq, id, parent, role, size, created_at, stored_at FROM node WHERE ns = $1 AND session = $2 ORDER BY seq;

-- name: external_add
INSERT INTO external (ns, session, seq, ordinal, path, kind, prefix, size, digest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: external_list
SELECT ordinal, path, kind, prefix, size, digest FROM external WHERE ns = $1 AND session = $2 AND seq = $3 ORDER BY ordinal;

-- name: external_delete
DELETE FROM external WHERE ns = $1 AND session = $2 AND seq = $3;

-- name: spill_add
INSERT INTO spill (ns, session, seq, ordinal, chunk, data) VALUES ($1, $2, $3, $4, $5, $6);

-- name: spill_get
SELECT data FROM spill WHERE ns = $1 AND session = $2 AND seq = $3 AND ordinal = $4 ORDER BY chunk;

-- name: spill_delete
DELETE FROM spill WHERE ns = $1 AND session = $2 AND seq = $3;

-- name: blob_has
SELECT 1 FROM blob WHERE ns = $1 AND digest = $2 AND chunk = 0;

-- Whoever begins to use a blob holds it until the commit, as does whoever may remove it (`blob_lock`).
-- name: blob_has_locked
SELECT 1 FROM blob WHERE ns = $1 AND digest = $2 AND chunk = 0 FOR KEY SHARE;

-- name: blob_lock
SELECT 1 FROM blob WHERE ns = $1 AND digest = $2 AND chunk = 0 FOR UPDATE;

-- Two sessions may bring the same blob at once: the second waits for the first here, and then has nothing to add.
-- name: blob_add
INSERT INTO blob (ns, digest, chunk, data) VALUES ($1, $2, $3, $4)
ON CONFLICT (ns, digest, chunk) DO NOTHING;

-- name: blob_get
SELECT data FROM blob WHERE ns = $1 AND digest = $2 ORDER BY chunk;

-- name: blob_used
SELECT 1 FROM external WHERE ns = $1 AND digest = $2 AND kind = 0 LIMIT 1;

-- name: blob_delete
DELETE FROM blob WHERE ns = $1 AND digest = $2;

-- name: blob_digests_of_session
SELECT DISTINCT digest FROM external WHERE ns = $1 AND session = $2 AND kind = 0;

-- name: overlay_list
SELECT o.ord, o.id, o.kind, o.first_strand, o.first_seq, o.last_strand, o.last_seq, o.stale, o.supersedes, o.codec,
    o.data, o.created_at, o.anchor_strand, o.anchor_seq, f.id, l.id, l.path_length - f.path_length + 1, l.path_size - f.path_size + f.size,
    l.path_o200k - f.path_o200k + f.o200k, l.path_claude3 - f.path_claude3 + f.claude3,
    l.path_claude48 - f.path_claude48 + f.claude48, l.path_gemma3 - f.path_gemma3 + f.gemma3,
    l.path_safe - f.path_safe + f.safe
FROM overlay o
JOIN node f ON f.ns = o.ns AND f.session = o.session AND f.strand = o.first_strand AND f.seq = o.first_seq
JOIN node l ON l.ns = o.ns AND l.session = o.session AND l.strand = o.last_strand AND l.seq = o.last_seq
WHERE o.ns = $1 AND o.session = $2 ORDER BY o.ord;

-- name: overlay_newer
SELECT id FROM overlay WHERE ns = $1 AND session = $2 AND change > $3;

-- name: overlay_next
SELECT coalesce(max(ord), 0) + 1 FROM overlay WHERE ns = $1 AND session = $2;

-- name: overlay_add
INSERT INTO overlay (ns, session, ord, id, kind, first_strand, first_seq, last_strand, last_seq, anchor_strand,
    anchor_seq, stale, supersedes, codec, data, created_at, change)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, false, $12, $13, $14, $15, $16);

-- name: overlay_move
UPDATE overlay SET first_strand = $4, first_seq = $5, last_strand = $6, last_seq = $7, stale = true, change = $8
WHERE ns = $1 AND session = $2 AND id = $3;

-- name: overlay_anchor_move
UPDATE overlay SET anchor_strand = $5, anchor_seq = $6
WHERE ns = $1 AND session = $2 AND kind > 0 AND anchor_strand = $3 AND anchor_seq = $4;

-- name: overlay_last
SELECT n.id FROM overlay o
JOIN node n ON n.ns = o.ns AND n.session = o.session AND n.strand = o.last_strand AND n.seq = o.last_seq
WHERE o.ns = $1 AND o.session = $2 AND o.id = $3;

-- name: overlay_delete
DELETE FROM overlay WHERE ns = $1 AND session = $2 AND id = $3;

-- name: tombstone_add
INSERT INTO tombstone (ns, session, kind, id, change, deleted_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (ns, session, kind, id) DO UPDATE SET change = excluded.change, deleted_at = excluded.deleted_at;

-- name: tombstone_all_messages
INSERT INTO tombstone (ns, session, kind, id, change, deleted_at)
SELECT ns, session, 0, id, $3, $4 FROM node WHERE ns = $1 AND session = $2
ON CONFLICT (ns, session, kind, id) DO UPDATE SET change = excluded.change, deleted_at = excluded.deleted_at;

-- name: tombstone_all_overlays
INSERT INTO tombstone (ns, session, kind, id, change, deleted_at)
SELECT ns, session, 1, id, $3, $4 FROM overlay WHERE ns = $1 AND session = $2
ON CONFLICT (ns, session, kind, id) DO UPDATE SET change = excluded.change, deleted_at = excluded.deleted_at;

-- name: tombstone_drop
DELETE FROM tombstone WHERE ns = $1 AND session = $2 AND kind = $3 AND id = $4;

-- name: tombstone_list
SELECT kind, id, change, deleted_at FROM tombstone WHERE ns = $1 AND session = $2 ORDER BY change, kind, id;

-- name: tombstone_has
SELECT 1 FROM tombstone WHERE ns = $1 AND session = $2 AND kind = $3 AND id = $4;

-- name: event_next
SELECT coalesce(max(ord), 0) + 1 FROM event WHERE ns = $1 AND session = $2;

-- name: event_add
INSERT INTO event (ns, session, ord, id, kind, codec, data, created_at, stored_at, change)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (ns, session, id) DO NOTHING;

-- name: event_list
SELECT id, kind, codec, data, created_at, stored_at FROM event WHERE ns = $1 AND session = $2 ORDER BY ord;

-- The last change of any message in a range of one strand; 0 when there is none.
-- name: node_changed
SELECT coalesce(max(change), 0) FROM node WHERE ns = $1 AND session = $2 AND strand = $3 AND seq BETWEEN $4 AND $5;

-- name: event_last
SELECT codec, data, stored_at FROM event WHERE ns = $1 AND session = $2 AND kind = $3 ORDER BY ord DESC LIMIT 1;

-- name: usage_next
SELECT coalesce(max(ord), 0) + 1 FROM usage WHERE ns = $1 AND session = $2;

-- name: usage_add
INSERT INTO usage (ns, session, ord, id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output,
    cache_read, cache_write_5m, cache_write_1h, cost, price_source, change, estimated)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (ns, session, id) DO NOTHING;

-- name: usage_list
SELECT id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, estimated
FROM usage WHERE ns = $1 AND session = $2 ORDER BY ord;

-- The newest rows, the newest first.
-- name: usage_recent
SELECT id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, estimated
FROM usage WHERE ns = $1 AND session = $2 ORDER BY ord DESC LIMIT $3;

-- name: quarantine_add
INSERT INTO quarantine (ns, session, seq, id, reason, codec, data, quarantined_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (ns, session, seq) DO UPDATE SET id = excluded.id, reason = excluded.reason, codec = excluded.codec,
    data = excluded.data, quarantined_at = excluded.quarantined_at;

-- name: check_nodes
SELECT n.strand, n.seq, n.id, n.parent, n.role, n.externals, n.size, n.o200k, n.claude3, n.claude48, n.gemma3, n.safe,
    n.path_length, n.path_size, n.path_o200k, n.path_claude3, n.path_claude48, n.path_gemma3, n.path_safe,
    b.codec, b.crc, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 ORDER BY n.seq;

-- name: check_bodies
SELECT seq FROM body WHERE ns = $1 AND session = $2 ORDER BY seq;

-- name: node_totals
SELECT strand, seq, parent, size, o200k, claude3, claude48, gemma3, safe,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM node WHERE ns = $1 AND session = $2 ORDER BY seq;

-- name: node_set_totals
UPDATE node SET path_length = $5, path_size = $6, path_o200k = $7, path_claude3 = $8, path_claude48 = $9,
    path_gemma3 = $10, path_safe = $11
WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: node_set_size
UPDATE node SET size = $5 WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: check_overlays
SELECT o.id, f.id IS NULL OR l.id IS NULL, o.kind, o.supersedes, o.codec, o.data FROM overlay o
LEFT JOIN node f ON f.ns = o.ns AND f.session = o.session AND f.strand = o.first_strand AND f.seq = o.first_seq
LEFT JOIN node l ON l.ns = o.ns AND l.session = o.session AND l.strand = o.last_strand AND l.seq = o.last_seq
WHERE o.ns = $1 AND o.session = $2;

-- Everything of one session, table by table.

-- name: wipe_node
DELETE FROM node WHERE ns = $1 AND session = $2;

-- name: wipe_body
DELETE FROM body WHERE ns = $1 AND session = $2;

-- name: wipe_strand
DELETE FROM strand WHERE ns = $1 AND session = $2;

-- name: wipe_external
DELETE FROM external WHERE ns = $1 AND session = $2;

-- name: wipe_spill
DELETE FROM spill WHERE ns = $1 AND session = $2;

-- name: wipe_overlay
DELETE FROM overlay WHERE ns = $1 AND session = $2;

-- name: wipe_event
DELETE FROM event WHERE ns = $1 AND session = $2;

-- name: wipe_usage
DELETE FROM usage WHERE ns = $1 AND session = $2;

-- name: wipe_quarantine
DELETE FROM quarantine WHERE ns = $1 AND session = $2;

-- name: wipe_tombstone
DELETE FROM tombstone WHERE ns = $1 AND session = $2;

-- The index.

-- name: words_add
INSERT INTO words (ns, session, seq, chunk, strand, size, words) VALUES ($1, $2, $3, $4, $5, $6, $7::text::tsvector);

-- name: words_drop
DELETE FROM words WHERE ns = $1 AND session = $2 AND seq = $3;

-- name: words_drop_session
DELETE FROM words WHERE ns = $1 AND session = $2;

-- name: words_drop_lost
DELETE FROM words w WHERE NOT EXISTS (
    SELECT 1 FROM node n WHERE n.ns = w.ns AND n.session = w.session AND n.strand = w.strand AND n.seq = w.seq
);

-- Of each matching row: the words of $4 that stand in it in the kinds of $3, with their positions, and which of the
-- queries of $5 it answers. OFFSET 0: the vector is unpacked once for all of these.
-- name: words_found
SELECT session, strand, seq, size,
    ts_filter(setweight(setweight(vector, 'D'), 'A', $4::text[]), '{a}')::text,
    ARRAY(SELECT vector @@ q FROM unnest($5::text[]::tsquery[]) WITH ORDINALITY q (q, number) ORDER BY number)
FROM (
    SELECT session, strand, seq, size, ts_filter(words, $3::text::"char"[]) AS vector
    FROM words WHERE ns = $1 AND words @@ $2::text::tsquery LIMIT $6 OFFSET 0
) found;

-- The same, the newest first, from a place on.
-- name: words_newest
SELECT session, strand, seq, size,
    ts_filter(setweight(setweight(vector, 'D'), 'A', $4::text[]), '{a}')::text,
    ARRAY(SELECT vector @@ q FROM unnest($5::text[]::tsquery[]) WITH ORDINALITY q (q, number) ORDER BY number)
FROM (
    SELECT session, strand, seq, size, ts_filter(words, $3::text::"char"[]) AS vector
    FROM words WHERE ns = $1 AND words @@ $2::text::tsquery AND (session, seq) < ($7, $8)
    ORDER BY session DESC, seq DESC LIMIT $6
) found
ORDER BY session DESC, seq DESC;

-- How many rows each of several queries finds, counted up to $3.
-- name: words_counts
SELECT (SELECT count(*) FROM (SELECT 1 FROM words WHERE ns = $1 AND words @@ q.query LIMIT $3) found)
FROM unnest($2::text[]::tsquery[]) WITH ORDINALITY q (query, number) ORDER BY number;

-- Messages that all of several queries find, in whichever of their rows.
-- name: words_across
SELECT w.session, w.strand, w.seq
FROM unnest($2::text[]::tsquery[]) WITH ORDINALITY q (query, number) JOIN words w ON w.ns = $1 AND w.words @@ q.query
GROUP BY w.session, w.strand, w.seq HAVING count(DISTINCT q.number) = cardinality($2::text[])
ORDER BY w.session DESC, w.seq DESC;

-- Messages that have words and are not in the index, and rows of the index that belong to no message with words.
-- name: words_check
SELECT (
    SELECT count(*) FROM node n WHERE n.docs > 0 AND NOT EXISTS (
        SELECT 1 FROM words w WHERE w.ns = n.ns AND w.session = n.session AND w.seq = n.seq AND w.chunk = 0
    )
), (
    SELECT count(*) FROM words w WHERE NOT EXISTS (
        SELECT 1 FROM node n
        WHERE n.ns = w.ns AND n.session = w.session AND n.strand = w.strand AND n.seq = w.seq AND n.docs > 0
    )
);

-- name: node_forget_words
UPDATE node SET analysis = 0;

-- name: node_set_words
UPDATE node SET doc = $5, docs = $6, analysis = $7, o200k = $8, claude3 = $9, claude48 = $10, gemma3 = $11,
    safe = $12, estimator = $13
WHERE ns = $1 AND session = $2 AND strand = $3 AND seq = $4;

-- name: session_set_totals
UPDATE session SET path_length = $3, path_size = $4, path_o200k = $5, path_claude3 = $6, path_claude48 = $7,
    path_gemma3 = $8, path_safe = $9
WHERE ns = $1 AND id = $2;

-- name: node_stale_keys
SELECT ns, session, strand, seq FROM node
WHERE (ns, session, strand, seq) > ($1, $2, $3, $4) AND (analysis <> $5 OR estimator <> $6)
ORDER BY ns, session, strand, seq LIMIT $7;

-- name: node_stale
SELECT n.ns, n.session, n.strand, n.seq, n.id, n.role, n.externals, n.size, n.doc, n.docs, b.codec, b.data
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE (n.ns, n.session, n.strand, n.seq) > ($1, $2, $3, $4) AND (n.ns, n.session, n.strand, n.seq) <= ($5, $6, $7, $8)
    AND (n.analysis <> $9 OR n.estimator <> $10)
ORDER BY n.ns, n.session, n.strand, n.seq;

-- name: node_count
SELECT count(*) FROM node;

-- name: meta_all
SELECT name, value FROM meta;

-- name: meta_put
INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: hit
SELECT n.seq, n.id, n.role, n.externals, n.size, b.codec, b.data, coalesce(n.created_at, n.stored_at)
FROM node n LEFT JOIN body b ON b.ns = n.ns AND b.session = n.session AND b.seq = n.seq
WHERE n.ns = $1 AND n.session = $2 AND n.strand = $3 AND n.seq = $4;

-- name: session_by_key
SELECT id, lineage_kind, lineage_session,
    EXISTS (SELECT 1 FROM overlay o WHERE o.ns = session.ns AND o.session = session.session),
    EXISTS (
        SELECT 1 FROM session f WHERE f.ns = session.ns AND f.lineage_session = session.id AND f.lineage_kind = 'fork'
    ),
    session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = $1 AND session = $2;

-- name: session_by_key_locked
SELECT id, lineage_kind, lineage_session,
    EXISTS (SELECT 1 FROM overlay o WHERE o.ns = session.ns AND o.session = session.session),
    EXISTS (
        SELECT 1 FROM session f WHERE f.ns = session.ns AND f.lineage_session = session.id AND f.lineage_kind = 'fork'
    ),
    session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open,
    path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe
FROM session WHERE ns = $1 AND session = $2
FOR UPDATE OF session;

-- name: session_lineage
SELECT lineage_kind, lineage_session FROM session WHERE ns = $1 AND id = $2;

-- A session, and then all that was forked from it or from a fork of it.
-- name: session_forks
WITH RECURSIVE family (id, session) AS (
    SELECT id, session FROM session WHERE ns = $1 AND id = $2
    UNION
    SELECT s.id, s.session FROM family f JOIN session s ON s.ns = $1 AND s.lineage_session = f.id
    WHERE s.lineage_kind = 'fork'
)
SELECT id, session FROM family ORDER BY id <> $2, session;

-- About the database itself.

-- The version, how many bytes the tables take with all that belongs to them, and the version of the schema.
-- name: facts
SELECT current_setting('server_version'), (
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
    FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname = $1 AND c.relkind = 'r' AND (c.relname = ANY ($2::text[]) OR c.relispartition)
), (SELECT value FROM meta WHERE name = 'schema');

-- The first schema of the search path, the encoding of the database, and who asks.
-- name: surroundings
SELECT current_schema()::text, current_setting('server_encoding'), current_user::text;

-- Whether a schema is there, whether its tables are ours, and whether any has a name of ours.
-- name: tables
SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
    EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND c.relname = 'session_key' AND c.relkind = 'S'),
    EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p', 'v', 'f'));

-- Held until the commit. One key for each schema of the database.
-- name: migration_lock
SELECT pg_advisory_xact_lock(1735160691, hashtext($1));

-- Copying between stores: what is read of the source, page by page.

-- name: copy_sessions
SELECT session, id, change, created_at FROM session WHERE ns = $1 AND session > $2 ORDER BY session LIMIT $3;

-- name: copy_deleted
SELECT id, change, deleted_at FROM tombstone
WHERE ns = $1 AND session = 0 AND kind = 2 AND id > $2 ORDER BY id LIMIT $3;

-- name: copy_session
SELECT session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open, path_length, path_size,
    path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, title, source, model, lineage_kind,
    lineage_session, lineage_message, metadata, created_at, updated_at
FROM session WHERE ns = $1 AND id = $2;

-- name: copy_strand
SELECT strand, parent_strand, parent_seq FROM strand
WHERE ns = $1 AND session = $2 AND strand > $3 ORDER BY strand LIMIT $4;

-- The limits keep the planner from joining the whole session for every page.
-- name: copy_node
SELECT n.strand, n.seq, n.id, n.parent, n.role, n.externals, n.size, n.o200k, n.claude3, n.claude48, n.gemma3, n.safe,
    n.estimator, n.path_length, n.path_size, n.path_o200k, n.path_claude3, n.path_claude48, n.path_gemma3, n.path_safe,
    n.change, n.created_at, n.stored_at, b.codec, b.crc, b.data
FROM (
    SELECT * FROM node WHERE ns = $1 AND session = $2 AND (strand, seq) > ($3, $4) ORDER BY strand, seq LIMIT $5
) n LEFT JOIN LATERAL (
    SELECT * FROM body WHERE ns = n.ns AND session = n.session AND seq = n.seq LIMIT 1
) b ON true
ORDER BY n.strand, n.seq;

-- name: copy_overlay
SELECT ord, id, kind, first_strand, first_seq, last_strand, last_seq, anchor_strand, anchor_seq, stale, supersedes,
    codec, data, created_at, change
FROM overlay WHERE ns = $1 AND session = $2 AND ord > $3 ORDER BY ord LIMIT $4;

-- name: copy_event
SELECT ord, id, kind, codec, data, created_at, stored_at, change
FROM event WHERE ns = $1 AND session = $2 AND ord > $3 ORDER BY ord LIMIT $4;

-- name: copy_usage
SELECT ord, id, kind, ok, message_id, leaf_id, model, route, started_at, ended_at, input, output, cache_read,
    cache_write_5m, cache_write_1h, cost, price_source, change, estimated
FROM usage WHERE ns = $1 AND session = $2 AND ord > $3 ORDER BY ord LIMIT $4;

-- name: copy_tombstone
SELECT kind, id, change, deleted_at FROM tombstone
WHERE ns = $1 AND session = $2 AND (kind, id) > ($3, $4) ORDER BY kind, id LIMIT $5;

-- name: copy_quarantine
SELECT seq, id, reason, codec, data, quarantined_at
FROM quarantine WHERE ns = $1 AND session = $2 AND seq > $3 ORDER BY seq LIMIT $4;

-- Blocks, frozen prompts and leases. A session of 0 is the whole namespace.

-- name: block_get
SELECT data, origins, updated_at, change FROM block WHERE ns = $1 AND session = $2 AND label = $3;

-- name: block_change
SELECT change FROM block WHERE ns = $1 AND session = $2 AND label = $3;

-- name: block_add
INSERT INTO block (ns, session, label, data, origins, updated_at, change)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (ns, session, label) DO NOTHING;

-- name: block_swap
UPDATE block SET data = $4, origins = $5, updated_at = $6, change = $7
WHERE ns = $1 AND session = $2 AND label = $3 AND change = $8;

-- name: block_list
SELECT label, data, origins, updated_at, change FROM block WHERE ns = $1 AND session = $2 ORDER BY label;

-- name: prompt_live
SELECT p.ord, p.data, p.tools, p.sections, p.digest, p.reason, p.frozen_at, p.since
FROM session s JOIN prompt p ON p.ns = s.ns AND p.session = s.session
WHERE s.ns = $1 AND s.id = $2 ORDER BY p.ord DESC LIMIT 1;

-- name: prompt_named
SELECT ord, digest, data IS NULL, since FROM prompt
WHERE ns = $1 AND session = (SELECT session FROM session WHERE ns = $1 AND id = $2) ORDER BY ord DESC LIMIT 1;

-- name: prompt_list
SELECT ord, data, tools, sections, digest, reason, frozen_at, since
FROM prompt WHERE ns = $1 AND session = $2 ORDER BY ord;

-- name: prompt_add
INSERT INTO prompt (ns, session, ord, data, tools, sections, digest, reason, frozen_at, since, change)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: reminder_list
SELECT session, id, codec, data FROM overlay WHERE ns = $1 AND kind = 2 ORDER BY session, ord;

-- name: prompt_since
UPDATE prompt SET since = $3
WHERE ns = $1 AND session = $2 AND ord = (SELECT max(ord) FROM prompt WHERE ns = $1 AND session = $2);

-- name: prompt_drop_bytes
UPDATE prompt SET data = NULL, tools = NULL WHERE ns = $1 AND session = $2 AND data IS NOT NULL;

-- name: prompt_drop_bytes_of_namespace
UPDATE prompt SET data = NULL, tools = NULL WHERE ns = $1 AND data IS NOT NULL;

-- name: lease_take
INSERT INTO lease (ns, session, name, holder, until) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (ns, session, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE lease.holder = excluded.holder OR lease.until <= $6;

-- name: lease_drop
DELETE FROM lease WHERE ns = $1 AND session = $2 AND name = $3 AND holder = $4;

-- name: wipe_block
DELETE FROM block WHERE ns = $1 AND session = $2;

-- name: wipe_prompt
DELETE FROM prompt WHERE ns = $1 AND session = $2;

-- name: wipe_lease
DELETE FROM lease WHERE ns = $1 AND session = $2;

-- name: copy_block
SELECT label, data, origins, updated_at, change FROM block
WHERE ns = $1 AND session = $2 AND label > $3 ORDER BY label LIMIT $4;

-- name: copy_prompt
SELECT ord, data, tools, sections, digest, reason, frozen_at, since, change FROM prompt
WHERE ns = $1 AND session = $2 AND ord > $3 ORDER BY ord LIMIT $4;

-- What is known of a session in the target; and when it was deleted there.
-- name: copied_state
SELECT s.change, s.created_at, c.change
FROM session s LEFT JOIN copied c ON c.ns = s.ns AND c.session = s.session
WHERE s.ns = $1 AND s.id = $2;

-- name: copied_deleted
SELECT deleted_at FROM tombstone WHERE ns = $1 AND session = 0 AND kind = 2 AND id = $2;

-- name: copied_put
INSERT INTO copied (ns, session, change) VALUES ($1, $2, $3)
ON CONFLICT (ns, session) DO UPDATE SET change = excluded.change;

-- name: overlay_stale
UPDATE overlay SET stale = $4 WHERE ns = $1 AND session = $2 AND ord = $3;

-- name: wipe_copied
DELETE FROM copied WHERE ns = $1 AND session = $2;

-- Entries. A session of 0 is the whole namespace.

-- name: entry_find
SELECT doc, docs, change FROM entry WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_find_locked
SELECT doc, docs, change FROM entry WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4 FOR UPDATE;

-- name: entry_description
SELECT description FROM entry WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_get
SELECT e.key, e.description, e.size, e.message_id, e.updated_at, b.data
FROM entry e LEFT JOIN entry_body b ON b.ns = e.ns AND b.session = e.session AND b.label = e.label AND b.key = e.key
WHERE e.ns = $1 AND e.session = $2 AND e.label = $3 AND e.key = $4;

-- name: entry_add
INSERT INTO entry (ns, session, label, key, description, size, message_id, writer, updated_at, change)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (ns, session, label, key) DO NOTHING;

-- name: entry_replace
UPDATE entry SET description = $5, size = $6, message_id = $7, writer = $8, updated_at = $9, change = $10
WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_set_words
UPDATE entry SET doc = $5, docs = $6, analysis = $7 WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_delete
DELETE FROM entry WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_list
SELECT key, description, size, message_id, updated_at FROM entry
WHERE ns = $1 AND session = $2 AND label = $3 ORDER BY key;

-- name: entry_count
SELECT count(*) FROM entry WHERE ns = $1 AND session = $2 AND label = $3;

-- name: entry_of_message
SELECT label, key, doc, docs FROM entry
WHERE ns = $1 AND session = $2 AND message_id = $3 AND coalesce(writer, $4::text) = $4 ORDER BY label, key;

-- name: entry_keys
SELECT label, key, size FROM entry WHERE ns = $1 AND session = $2 ORDER BY label, key;

-- name: entry_stale_any
SELECT 1 FROM entry WHERE analysis < $1 LIMIT 1;

-- name: entry_stale
SELECT ns, session, label, key, doc, docs FROM entry WHERE analysis < $1 ORDER BY analysis LIMIT $2 FOR UPDATE;

-- name: entry_forget_words
UPDATE entry SET analysis = 0;

-- name: entry_body_put
INSERT INTO entry_body (ns, session, label, key, crc, data) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (ns, session, label, key) DO UPDATE SET crc = excluded.crc, data = excluded.data;

-- name: entry_body_get
SELECT crc, data FROM entry_body WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_body_delete
DELETE FROM entry_body WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_body_lost
SELECT label, key FROM entry_body b WHERE ns = $1 AND session = $2 AND NOT EXISTS (
    SELECT 1 FROM entry e WHERE e.ns = b.ns AND e.session = b.session AND e.label = b.label AND e.key = b.key
) ORDER BY label, key;

-- name: wipe_entry
DELETE FROM entry WHERE ns = $1 AND session = $2;

-- name: wipe_entry_body
DELETE FROM entry_body WHERE ns = $1 AND session = $2;

-- name: copy_entry
SELECT label, key, description, size, message_id, writer, updated_at, change FROM entry
WHERE ns = $1 AND session = $2 AND (label, key) > ($3, $4) ORDER BY label, key LIMIT $5;

-- name: copy_entry_removed
SELECT id FROM tombstone WHERE ns = $1 AND session = 0 AND kind = 3 ORDER BY id;

-- name: entry_words_add
INSERT INTO entry_words (ns, session, label, key, chunk, size, words) VALUES ($1, $2, $3, $4, $5, $6, $7::text::tsvector);

-- name: entry_words_drop
DELETE FROM entry_words WHERE ns = $1 AND session = $2 AND label = $3 AND key = $4;

-- name: entry_words_drop_session
DELETE FROM entry_words WHERE ns = $1 AND session = $2;

-- name: entry_words_drop_lost
DELETE FROM entry_words w WHERE NOT EXISTS (
    SELECT 1 FROM entry e WHERE e.ns = w.ns AND e.session = w.session AND e.label = w.label AND e.key = w.key
);

-- As `words_found`: of each matching row, the words of $5 in it with their positions, and which of the queries of $6
-- it answers. The word of the label leads there by the index; the columns, asked for first, would lead to all of its
-- rows one by one.
-- name: entry_words_found
SELECT key, size, ts_filter(setweight(setweight(vector, 'D'), 'A', $5::text[]), '{a}')::text,
    ARRAY(SELECT vector @@ q FROM unnest($6::text[]::tsquery[]) WITH ORDINALITY q (q, number) ORDER BY number)
FROM (
    SELECT session, label, key, size, words AS vector FROM entry_words
    WHERE ns = $1 AND words @@ $4::text::tsquery LIMIT $7 OFFSET 0
) found
WHERE session = $2 AND label = $3;

-- name: entry_words_across
WITH found AS MATERIALIZED (
    SELECT q.number, w.session, w.label, w.key
    FROM unnest($4::text[]::tsquery[]) WITH ORDINALITY q (query, number)
    JOIN entry_words w ON w.ns = $1 AND w.words @@ q.query
)
SELECT key FROM found WHERE session = $2 AND label = $3
GROUP BY key HAVING count(DISTINCT number) = cardinality($4::text[]) ORDER BY key;

-- Entries that have words and are not in the index, and rows of the index that belong to no entry with words.
-- name: entry_words_check
SELECT (
    SELECT count(*) FROM entry e WHERE e.docs > 0 AND NOT EXISTS (
        SELECT 1 FROM entry_words w
        WHERE w.ns = e.ns AND w.session = e.session AND w.label = e.label AND w.key = e.key AND w.chunk = 0
    )
), (
    SELECT count(*) FROM entry_words w WHERE NOT EXISTS (
        SELECT 1 FROM entry e
        WHERE e.ns = w.ns AND e.session = w.session AND e.label = w.label AND e.key = w.key AND e.docs > 0
    )
);
