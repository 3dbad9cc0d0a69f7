-- Version 4: context memory. `session` 0 stands for the whole namespace: a block of that scope outlives its sessions.

-- The stored blocks of a system prompt. `origins` says which message wrote each line.
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

-- Every freezing of the prompt. Only the last row of a session keeps its bytes; it has none once they were dropped.
-- Messages from `since` on were made on it. What is long comes last: what stands behind it would cost reading it.
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

-- Who may do what only one at a time may do, and until when; a holder that died is waited for no longer than that.
CREATE TABLE lease (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    holder  text NOT NULL,
    until   bigint NOT NULL,
    PRIMARY KEY (ns, session, name)
);
