-- Version 1: the stored conversation.
-- Namespace (ns) and session head every key. Integers of time are microseconds since 1970, UTC.

CREATE TABLE namespace (
    ns           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    next_session INTEGER NOT NULL
) STRICT;

-- One conversation. `session` is never used twice in a namespace, so that a deleted session's key, held by
-- another process, can't reach its successor. leaf_* is the active leaf with the totals of its path;
-- leaf_open says that the leaf is the end of its strand, so an append needs no look around.
CREATE TABLE session (
    ns              INTEGER NOT NULL,
    id              TEXT NOT NULL,
    session         INTEGER NOT NULL,
    change          INTEGER NOT NULL,
    next_seq        INTEGER NOT NULL,
    next_strand     INTEGER NOT NULL,
    messages        INTEGER NOT NULL,
    leaf_strand     INTEGER,
    leaf_seq        INTEGER,
    leaf_open       INTEGER NOT NULL,
    path_length     INTEGER NOT NULL,
    path_size       INTEGER NOT NULL,
    path_o200k      INTEGER NOT NULL,
    path_claude3    INTEGER NOT NULL,
    path_claude48   INTEGER NOT NULL,
    path_gemma3     INTEGER NOT NULL,
    path_safe       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    title           TEXT,
    source          TEXT,
    model           TEXT,
    lineage_kind    TEXT,
    lineage_session TEXT,
    lineage_message TEXT,
    metadata        BLOB,
    PRIMARY KEY (ns, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_key ON session (ns, session);

-- An unbranched run of messages; parent_* is the message it hangs on (NULL: it begins at a root).
CREATE TABLE strand (
    ns            INTEGER NOT NULL,
    session       INTEGER NOT NULL,
    strand        INTEGER NOT NULL,
    parent_strand INTEGER,
    parent_seq    INTEGER,
    PRIMARY KEY (ns, session, strand)
) STRICT, WITHOUT ROWID;

CREATE INDEX strand_parent ON strand (ns, session, parent_strand, parent_seq);

-- The narrow half of a message. seq is the session's insertion counter. parent is the seq of the parent (NULL: a
-- root), on the same strand or where the strand hangs. role counts system, user, assistant, tool from 0.
-- The token columns are estimates per family; path_* are totals from the root to here, this message included.
CREATE TABLE node (
    ns            INTEGER NOT NULL,
    session       INTEGER NOT NULL,
    strand        INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    id            TEXT NOT NULL,
    parent        INTEGER,
    role          INTEGER NOT NULL,
    externals     INTEGER NOT NULL,
    size          INTEGER NOT NULL,
    o200k         INTEGER NOT NULL,
    claude3       INTEGER NOT NULL,
    claude48      INTEGER NOT NULL,
    gemma3        INTEGER NOT NULL,
    safe          INTEGER NOT NULL,
    estimator     INTEGER NOT NULL,
    path_length   INTEGER NOT NULL,
    path_size     INTEGER NOT NULL,
    path_o200k    INTEGER NOT NULL,
    path_claude3  INTEGER NOT NULL,
    path_claude48 INTEGER NOT NULL,
    path_gemma3   INTEGER NOT NULL,
    path_safe     INTEGER NOT NULL,
    change        INTEGER NOT NULL,
    created_at    INTEGER,
    stored_at     INTEGER NOT NULL,
    PRIMARY KEY (ns, session, strand, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX node_id ON node (ns, session, id);

-- The bytes of a message: JSON, read as `codec` says (0: UTF-8; 1: lone surrogates as three bytes). crc is the
-- CRC-32 of data.
CREATE TABLE body (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    codec   INTEGER NOT NULL,
    crc     INTEGER NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (ns, session, seq)
) STRICT, WITHOUT ROWID;

-- A value that left the row of its message: path is a JSON list of keys and indexes, kind counts media, text,
-- json from 0, digest is the SHA-256 of its bytes. They lie in `blob` (media) or `spill` (the others).
CREATE TABLE external (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    path    TEXT NOT NULL,
    kind    INTEGER NOT NULL,
    prefix  TEXT NOT NULL,
    size    INTEGER NOT NULL,
    digest  BLOB NOT NULL,
    PRIMARY KEY (ns, session, seq, ordinal)
) STRICT, WITHOUT ROWID;

CREATE INDEX external_blob ON external (ns, digest) WHERE kind = 0;

CREATE TABLE spill (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    chunk   INTEGER NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (ns, session, seq, ordinal, chunk)
) STRICT;

-- Media, once per namespace, for as long as an `external` row names its digest.
CREATE TABLE blob (
    ns     INTEGER NOT NULL,
    digest BLOB NOT NULL,
    chunk  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (ns, digest, chunk)
) STRICT;

-- What is laid over the tree. kind counts summary, marker, reminder from 0. The range runs from first_* to
-- last_*; anchor_* is the leaf when it was laid. `ord` is the order of making; supersedes a JSON list of ids.
CREATE TABLE overlay (
    ns            INTEGER NOT NULL,
    session       INTEGER NOT NULL,
    ord           INTEGER NOT NULL,
    id            TEXT NOT NULL,
    kind          INTEGER NOT NULL,
    first_strand  INTEGER NOT NULL,
    first_seq     INTEGER NOT NULL,
    last_strand   INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    anchor_strand INTEGER,
    anchor_seq    INTEGER,
    stale         INTEGER NOT NULL,
    supersedes    TEXT NOT NULL,
    codec         INTEGER NOT NULL,
    data          BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    change        INTEGER NOT NULL,
    PRIMARY KEY (ns, session, ord)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX overlay_id ON overlay (ns, session, id);

-- What was deleted, so that copies, other processes and imports know. session 0: a whole session.
-- kind counts message, overlay, session from 0.
CREATE TABLE tombstone (
    ns         INTEGER NOT NULL,
    session    INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    id         TEXT NOT NULL,
    change     INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (ns, session, kind, id)
) STRICT, WITHOUT ROWID;

-- Lines that belong to a conversation but are no context. id makes an import repeatable.
CREATE TABLE event (
    ns         INTEGER NOT NULL,
    session    INTEGER NOT NULL,
    ord        INTEGER NOT NULL,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL,
    codec      INTEGER NOT NULL,
    data       BLOB NOT NULL,
    created_at INTEGER,
    stored_at  INTEGER NOT NULL,
    change     INTEGER NOT NULL,
    PRIMARY KEY (ns, session, ord)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX event_id ON event (ns, session, id);

-- One row per request to a model; it outlives the message. Times and tokens are NULL where unknown.
CREATE TABLE usage (
    ns             INTEGER NOT NULL,
    session        INTEGER NOT NULL,
    ord            INTEGER NOT NULL,
    id             TEXT NOT NULL,
    kind           TEXT NOT NULL,
    ok             INTEGER NOT NULL,
    message_id     TEXT,
    leaf_id        TEXT,
    model          TEXT,
    route          TEXT,
    started_at     INTEGER,
    ended_at       INTEGER,
    input          INTEGER,
    output         INTEGER,
    cache_read     INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    cost           REAL,
    price_source   TEXT,
    change         INTEGER NOT NULL,
    PRIMARY KEY (ns, session, ord)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX usage_id ON usage (ns, session, id);

-- Rows that could not be read and were taken out of the tree by `repair`.
CREATE TABLE quarantine (
    ns             INTEGER NOT NULL,
    session        INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    id             TEXT NOT NULL,
    reason         TEXT NOT NULL,
    codec          INTEGER,
    data           BLOB,
    quarantined_at INTEGER NOT NULL,
    PRIMARY KEY (ns, session, seq)
) STRICT, WITHOUT ROWID;
