-- Version 2: search.

-- Where a message's words are: `docs` rows of the index from `doc` on (NULL: none). `analysis` is the version of the
-- text analysis they were made with; 0: not made yet.
ALTER TABLE node ADD COLUMN doc INTEGER;
ALTER TABLE node ADD COLUMN docs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN analysis INTEGER NOT NULL DEFAULT 0;

-- The index. Each row is a message, or a bounded piece of a long one: its segmented words by kind, and in `scope` a
-- word for its namespace and one for its session, so that a narrow search reads only what is in scope. Contentless:
-- the original text stands in `body`, and all of this can be made anew from there.
CREATE VIRTUAL TABLE words USING fts5 (
    scope, text, tool_input, tool_output, reasoning,
    ns UNINDEXED, session UNINDEXED, strand UNINDEXED, seq UNINDEXED,
    content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'ascii'
);

-- The newest rows, on their way into `words`: an FTS5 commit costs as much as several appends, so they go there in
-- batches, and before a search. The newest that has moved stays behind, empty (its scope is ''): `doc` counts on from
-- there, so that none in `words` is given out twice. (AUTOINCREMENT would write one more page for every message.)
CREATE TABLE pending (
    doc         INTEGER PRIMARY KEY,
    scope       TEXT NOT NULL,
    text        TEXT,
    tool_input  TEXT,
    tool_output TEXT,
    reasoning   TEXT,
    ns          INTEGER NOT NULL,
    session     INTEGER NOT NULL,
    strand      INTEGER NOT NULL,
    seq         INTEGER NOT NULL
) STRICT;

-- Numbers of the whole store: `analysis` and `estimator`, the versions that every row is up to.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which sessions were forked from a session: a search puts their copies of a message together.
CREATE INDEX session_forks ON session (ns, lineage_session, session) WHERE lineage_kind = 'fork';
