-- Version 5: entries, the keyed documents of searchable and loadable blocks. `session` 0 stands for the whole
-- namespace.

-- The narrow half of an entry. `size` is bytes of its content, `description` UTF-8 with lone surrogates as three bytes.
-- The message that wrote it is `message_id`; `writer` is the session of that message, where the entry belongs to the
-- namespace. `change` is the session's; in a namespace it counts the writes to this entry, and 0 is what a copy from
-- another store wrote. doc, docs, analysis as in `node`.
CREATE TABLE entry (
    ns          bigint NOT NULL,
    session     bigint NOT NULL,
    label       text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    description bytea,
    size        bigint NOT NULL,
    message_id  text,
    writer      text,
    updated_at  bigint NOT NULL,
    change      bigint NOT NULL,
    doc         bigint,
    docs        integer NOT NULL DEFAULT 0,
    analysis    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, session, label, key)
);

CREATE INDEX entry_analysis ON entry (analysis);

-- Its content, and the CRC-32 of that.
CREATE TABLE entry_body (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    label   text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    crc     bigint NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (ns, session, label, key)
);

-- The index of entries, apart from that of messages: each row is an entry, or a bounded piece of a long one, with the
-- words of its key, description and content. Words that begin with `/` are no words but the place it belongs to.
CREATE TABLE entry_words (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    label   text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    chunk   integer NOT NULL,
    size    integer NOT NULL,
    words   tsvector NOT NULL,
    PRIMARY KEY (ns, session, label, key, chunk)
);

CREATE INDEX entry_words_found ON entry_words USING gin (words) WITH (gin_pending_list_limit = 256);

-- As for messages: a planner that knows nothing of a table is shown what is to come, here twelve entries to a label.
INSERT INTO entry (ns, session, label, key, size, updated_at, change, analysis)
SELECT n % 5, n % 50, 'label', n::text, 0, 0, 0, 1 FROM generate_series(1, 600) n;
INSERT INTO entry_body (ns, session, label, key, crc, data)
SELECT ns, session, label, key, 0, '' FROM entry;
INSERT INTO entry_words (ns, session, label, key, chunk, size, words)
SELECT ns, session, label, key, 0, 2, format($$'/%s/%s' 'w%s':1A$$, ns, session, key)::tsvector FROM entry;
ANALYZE entry, entry_body, entry_words;
DELETE FROM entry;
DELETE FROM entry_body;
DELETE FROM entry_words;
