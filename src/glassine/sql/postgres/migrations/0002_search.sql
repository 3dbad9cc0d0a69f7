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

CREATE INDEX words_found ON words USING gin (words);

-- Forks of a session, for putting their copies of a hit together.
CREATE INDEX session_forks ON session (ns, lineage_session, session) WHERE lineage_kind = 'fork';
