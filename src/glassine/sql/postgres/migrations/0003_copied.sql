-- Sessions that a copy from another store made, and the change they were at. Whoever writes to one moves its change
-- number on, so that the next copy knows that the session is no longer only a copy.
CREATE TABLE copied (
    ns      bigint NOT NULL,
    session bigint NOT NULL,
    change  bigint NOT NULL,
    PRIMARY KEY (ns, session)
);
