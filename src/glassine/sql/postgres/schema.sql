-- What all migrations together make, for people to read; a test compares the two.

CREATE TABLE meta (
    name  text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);

CREATE TABLE namespace (
    ns   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);

CREATE SEQUENCE session_key AS bigint;

CREATE TABLE session (
    ns              bigint NOT NULL,
    id              text COLLATE "C" NOT NULL,
    session         bigint NOT NULL,
    change          bigint NOT NULL,
    next_seq        bigint NOT NULL,
    next_strand     bigint NOT NULL,
    messages        bigint NOT NULL,
    leaf_strand     bigint,
    leaf_seq        bigint,
    leaf_open       boolean NOT NULL,
    path_length     bigint NOT NULL,
    path_size       bigint NOT NULL,
    path_o200k      bigint NOT NULL,
    path_claude3    bigint NOT NULL,
    path_claude48   bigint NOT NULL,
    path_gemma3     bigint NOT NULL,
    path_safe       bigint NOT NULL,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    title           text,
    source          text,
    model           text,
    lineage_kind    text,
    lineage_session text COLLATE "C",
    lineage_message text,
    metadata        bytea,
    PRIMARY KEY (ns, id)
) WITH (fillfactor = 60);

CREATE UNIQUE INDEX session_number ON session (ns, session);

CREATE TABLE strand (
    ns            bigint NOT NULL,
    session       bigint NOT NULL,
    strand        bigint NOT NULL,
    parent_strand bigint,
    parent_seq    bigint,
    PRIMARY KEY (ns, session, strand)
);

CREATE INDEX strand_parent ON strand (ns, session, parent_strand, parent_seq);

CREATE TABLE node (
    ns            bigint NOT NULL,
    session       bigint NOT NULL,
    strand        bigint NOT NULL,
    seq           bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    parent        bigint,
    role          smallint NOT NULL,
    externals     integer NOT NULL,
    size          bigint NOT NULL,
    o200k         bigint NOT NULL,
    claude3       bigint NOT NULL,
    claude48      bigint NOT NULL,
    gemma3        bigint NOT NULL,
    safe          bigint NOT NULL,
    estimator     integer NOT NULL,
    path_length   bigint NOT NULL,
    path_size     bigint NOT NULL,
    path_o200k    bigint NOT NULL,
    path_claude3  bigint NOT NULL,
    path_claude48 bigint NOT NULL,
    path_gemma3   bigint NOT NULL,
    path_safe     bigint NOT NULL,
    change        bigint NOT NULL,
    created_at    bigint,
    stored_at     bigint NOT NULL,
    doc           bigint,
    docs          integer NOT NULL DEFAULT 0,
    analysis      integer NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, session, strand, seq)
);

CREATE UNIQUE INDEX node_id ON node (ns, session, id);

CREATE TABLE body (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    codec   smallint NOT NULL,
    crc     bigint NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (ns, session, seq)
);

CREATE TABLE external (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    ordinal integer NOT NULL,
    path    text NOT NULL,
    kind    smallint NOT NULL,
    prefix  text NOT NULL,
    size    bigint NOT NULL,
    digest  bytea NOT NULL,
    PRIMARY KEY (ns, session, seq, ordinal)
);

CREATE INDEX external_blob ON external (ns, digest) WHERE kind = 0;

CREATE TABLE spill (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    seq     bigint NOT NULL,
    ordinal integer NOT NULL,
    chunk   integer NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (ns, session, seq, ordinal, chunk)
);

CREATE TABLE blob (
    ns     bigint NOT NULL,
    digest bytea NOT NULL,
    chunk  integer NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (ns, digest, chunk)
);

ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE overlay (
    ns            bigint NOT NULL,
    session       bigint NOT NULL,
    ord           bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    kind          smallint NOT NULL,
    first_strand  bigint NOT NULL,
    first_seq     bigint NOT NULL,
    last_strand   bigint NOT NULL,
    last_seq      bigint NOT NULL,
    anchor_strand bigint,
    anchor_seq    bigint,
    stale         boolean NOT NULL,
    supersedes    text NOT NULL,
    codec         smallint NOT NULL,
    data          bytea NOT NULL,
    created_at    bigint NOT NULL,
    change        bigint NOT NULL,
    PRIMARY KEY (ns, session, ord)
);

CREATE UNIQUE INDEX overlay_id ON overlay (ns, session, id);

CREATE TABLE tombstone (
    ns         bigint NOT NULL,
    session    bigint NOT NULL,
    kind       smallint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    change     bigint NOT NULL,
    deleted_at bigint NOT NULL,
    PRIMARY KEY (ns, session, kind, id)
);

CREATE TABLE event (
    ns         bigint NOT NULL,
    session    bigint NOT NULL,
    ord        bigint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    kind       text NOT NULL,
    codec      smallint NOT NULL,
    data       bytea NOT NULL,
    created_at bigint,
    stored_at  bigint NOT NULL,
    change     bigint NOT NULL,
    PRIMARY KEY (ns, session, ord)
);

CREATE UNIQUE INDEX event_id ON event (ns, session, id);

CREATE TABLE usage (
    ns             bigint NOT NULL,
    session        bigint NOT NULL,
    ord            bigint NOT NULL,
    id             text COLLATE "C" NOT NULL,
    kind           text NOT NULL,
    ok             boolean NOT NULL,
    message_id     text,
    leaf_id        text,
    model          text,
    route          text,
    started_at     bigint,
    ended_at       bigint,
    input          bigint,
    output         bigint,
    cache_read     bigint,
    cache_write_5m bigint,
    cache_write_1h bigint,
    cost           double precision,
    price_source   text,
    change         bigint NOT NULL,
    estimated      bigint,
    PRIMARY KEY (ns, session, ord)
);

CREATE UNIQUE INDEX usage_id ON usage (ns, session, id);

CREATE TABLE quarantine (
    ns             bigint NOT NULL,
    session        bigint NOT NULL,
    seq            bigint NOT NULL,
    id             text COLLATE "C" NOT NULL,
    reason         text NOT NULL,
    codec          smallint,
    data           bytea,
    quarantined_at bigint NOT NULL,
    PRIMARY KEY (ns, session, seq)
);
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

CREATE INDEX words_found ON words USING gin (words) WITH (gin_pending_list_limit = 256);

CREATE INDEX session_forks ON session (ns, lineage_session, session) WHERE lineage_kind = 'fork';

CREATE TABLE copied (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    change  bigint NOT NULL,
    PRIMARY KEY (ns, session)
);

CREATE TABLE block (
    ns         bigint NOT NULL,
    session    bigint NOT NULL,
    label      text COLLATE "C" NOT NULL,
    data       bytea NOT NULL,
    origins    text NOT NULL,
    updated_at bigint NOT NULL,
    change     bigint NOT NULL,
    PRIMARY KEY (ns, session, label)
);

CREATE TABLE prompt (
    ns        bigint NOT NULL,
    session   bigint NOT NULL,
    ord       bigint NOT NULL,
    digest    bytea NOT NULL,
    reason    text NOT NULL,
    frozen_at bigint NOT NULL,
    since     bigint NOT NULL,
    change    bigint NOT NULL,
    sections  text NOT NULL,
    tools     bytea,
    data      bytea,
    PRIMARY KEY (ns, session, ord)
);

CREATE TABLE lease (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    holder  text NOT NULL,
    until   bigint NOT NULL,
    PRIMARY KEY (ns, session, name)
);

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

CREATE TABLE entry_body (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    label   text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    crc     bigint NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (ns, session, label, key)
);

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
