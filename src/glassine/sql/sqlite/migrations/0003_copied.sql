-- Sessions that a copy from another store made, and the change they were at. Whoever writes to one moves its change
-- number on, so that the next copy knows that the session is no longer only a copy.
CREATE TABLE copied (
    ns      INTEGER NOT NULL,
    session INTEGER NOT NULL,
    change  INTEGER NOT NULL,
    PRIMARY KEY (ns, session)
) STRICT, WITHOUT ROWID;
