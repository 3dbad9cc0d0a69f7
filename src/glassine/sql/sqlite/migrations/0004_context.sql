-- Version 4: context memory. `session` 0 stands for the whole namespace: a block of that scope outlives its sessions.

-- The stored blocks of a system prompt. `origins` says which message wrote each line.
CREATE TABLE block (
    ns         INTEGER NOT NULL,
    session    INTEGER NOT NULL,
    label      TEXT NOT NULL,
    data       BLOB NOT NULL,
    origins    TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    change     INTEGER NOT NULL,
    PRIMARY KEY (ns, session, label)
) STRICT, WITHOUT ROWID;

-- Every freezing of the prompt. Only the last row of a session keeps its bytes; it has none once they were dropped.
-- Messages from `since` on were made on it. What is long comes last: what stands behind it would cost reading it.
CREATE TABLE prompt (
    ns        INTEGER NOT NULL,
    session   INTEGER NOT NULL,
    ord       INTEGER NOT NULL,
    digest    BLOB NOT NULL,
    reason    TEXT NOT NULL,
    frozen_at INTEGER NOT NULL,
    since     INTEGER NOT NULL,
    change    INTEGER NOT NULL,
    sections  TEXT NOT NULL,
    tools     BLOB,
    data      BLOB,
    PRIMARY KEY (ns, session, ord)
) STRICT;

-- Who may do what only one at a time may do, and until when; a holder that died is waited for no longer than that.
CREATE TABLE lease (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    name    TEXT NOT NULL,
    holder  TEXT NOT NULL,
    until   INTEGER NOT NULL,
    PRIMARY KEY (ns, session, name)
) STRICT, WITHOUT ROWID;
