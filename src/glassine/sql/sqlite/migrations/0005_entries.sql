-- Version 5: entries, the keyed documents of searchable and loadable blocks. `session` 0 stands for the whole
-- namespace.

-- The narrow half of an entry. `size` is bytes of its content, `description` UTF-8 with lone surrogates as three bytes.
-- The message that wrote it is `message_id`; `writer` is the session of that message, where the entry belongs to the
-- namespace. `change` is the session's; in a namespace it counts the writes to this entry, and 0 is what a copy from
-- another store wrote. doc, docs, analysis as in `node`.
CREATE TABLE entry (
    ns          INTEGER NOT NULL,
    session     INTEGER NOT NULL,
    label       TEXT NOT NULL,
    key         TEXT NOT NULL,
    description BLOB,
    size        INTEGER NOT NULL,
    message_id  TEXT,
    writer      TEXT,
    updated_at  INTEGER NOT NULL,
    change      INTEGER NOT NULL,
    doc         INTEGER,
    docs        INTEGER NOT NULL DEFAULT 0,
    analysis    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, session, label, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX entry_analysis ON entry (analysis);

-- Its content, and the CRC-32 of that.
CREATE TABLE entry_body (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    label   TEXT NOT NULL,
    key     TEXT NOT NULL,
    crc     INTEGER NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (ns, session, label, key)
) STRICT, WITHOUT ROWID;

-- The index of entries, apart from that of messages: each row is an entry, or a bounded piece of a long one, with the
-- words of its key, description and content. `scope` has one word for where it belongs.
CREATE VIRTUAL TABLE entry_words USING fts5 (
    scope, words, ns UNINDEXED, session UNINDEXED, label UNINDEXED, key UNINDEXED,
    content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'ascii'
);
