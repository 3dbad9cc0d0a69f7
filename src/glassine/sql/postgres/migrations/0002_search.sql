-- Version 2: search.

-- How many rows of the index a message has (`doc` is 0 where there are any), and which version of the text analysis
-- made them; 0: none yet.
ALTER TABLE node ADD COLUMN doc bigint;
ALTER TABLE node ADD COLUMN docs integer NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN analysis integer NOT NULL DEFAULT 0;

-- The index. Each row is a message, or a bounded piece of a long one: its segmented words, which no parser or
-- dictionary of the server has touched, each with the weight of its kind: A text, B tool input, C tool output,
-- D reasoning. Words that begin with `/` are no words but the namespace and the session, so that the one index on
-- `words` serves every scope. `size` counts the words.
CREATE TABLE words (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    chunk   integer NOT NULL,
    strand  bigint NOT NULL,
    size    integer NOT NULL,
    words   tsvector NOT NULL,
    PRIMARY KEY (ns, session, seq, chunk)
);

-- New rows wait in a list of at most 256 KB (Postgres would allow 4 MB): whoever fills it moves it into the index, and
-- that should not take long.
CREATE INDEX words_found ON words USING gin (words) WITH (gin_pending_list_limit = 256);

-- Forks of a session, for putting their copies of a hit together.
CREATE INDEX session_forks ON session (ns, lineage_session, session) WHERE lineage_kind = 'fork';

-- A planner that knows nothing of a table takes a session for a row or two, and goes by the wrong index, or joins a
-- whole session to a whole session. So it is shown what is to come: sessions of twenty messages. What it learns from
-- the real ones soon counts instead.
INSERT INTO session (ns, id, session, change, next_seq, next_strand, messages, leaf_open, path_length, path_size,
    path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, created_at, updated_at)
SELECT n % 5, n, n, 0, 0, 0, 0, true, 0, 0, 0, 0, 0, 0, 0, n, n FROM generate_series(1, 100) n;
INSERT INTO strand (ns, session, strand, parent_strand, parent_seq)
SELECT s.ns, s.session, n, n - 1, n FROM session s, generate_series(1, 20) n;
INSERT INTO node (ns, session, strand, seq, id, parent, role, externals, size, o200k, claude3, claude48, gemma3, safe,
    estimator, path_length, path_size, path_o200k, path_claude3, path_claude48, path_gemma3, path_safe, change,
    stored_at)
SELECT ns, session, strand, parent_seq, ns || '-' || session || '-' || strand, parent_seq - 1, 0, 0, 0, 0, 0, 0, 0, 0,
    0, strand, 0, 0, 0, 0, 0, 0, strand, strand
FROM strand;
INSERT INTO body (ns, session, seq, codec, crc, data) SELECT ns, session, seq, 0, 0, '' FROM node;
INSERT INTO overlay (ns, session, ord, id, kind, first_strand, first_seq, last_strand, last_seq, stale, supersedes,
    codec, data, created_at, change)
SELECT ns, session, seq, seq, 0, strand, seq, strand, seq, false, '', 0, '', 0, 0 FROM node WHERE seq <= 4;
INSERT INTO words (ns, session, seq, chunk, strand, size, words)
SELECT ns, session, seq, 0, strand, 2,
    format($$'/%s' '/%s/%s' 'w%s':1A 'w%s':2A$$, ns, ns, session, seq, session)::tsvector
FROM node;
ANALYZE session, strand, node, body, overlay, words;
DELETE FROM session;
DELETE FROM strand;
DELETE FROM node;
DELETE FROM body;
DELETE FROM overlay;
DELETE FROM words;
