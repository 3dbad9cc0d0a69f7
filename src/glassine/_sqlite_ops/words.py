"""The rows of the search index: written with their message, moved into FTS5 in batches, made anew when need be."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import apsw

from .._sqlite import Database
from ..indexing import ESTIMATOR_VERSION, INDEX_VERSION, Words

FOLD = 64
"""Rows that wait in `pending` at most: an FTS5 commit costs as much as several appends."""
BROKEN, UNFINISHED = 0, -1
"""Values of `analysis` in `meta` beside the versions."""
LONG = "long"
"""The scope word of messages that have several rows, so that a search can look across these."""


def scope_of(ns: int, session: int | None = None) -> str:
    """The scope word of a namespace, or of a session in it."""
    return f"n{ns}" if session is None else f"n{ns}s{session}"


def add(db: Database, key: tuple[int, int], strand: int, seq: int, rows: Sequence[Words]) -> int | None:
    """Write the index rows of a message of the session `key`. Returns the first doc; the others follow it."""
    if not rows:
        return None
    scope = f"{scope_of(key[0])} {scope_of(*key)}"
    if len(rows) > 1:
        scope += f" {LONG}"
    for row in rows:
        db.execute(db.queries.pending_add, (scope, *row, *key, strand, seq))
    last: int = db.connection.last_insert_rowid()
    first = last - len(rows) + 1
    if first // FOLD != (last + 1) // FOLD:
        _try_fold(db)
    return first


def drop(db: Database, doc: int | None, docs: int) -> None:
    """Remove index rows; nothing finds them from here on."""
    if doc is not None:
        last = doc + docs - 1
        db.execute(db.queries.pending_drop, (doc, last))
        if db.connection.changes() < docs:
            _guarded(db, db.queries.words_drop, (doc, last))


def drop_session(db: Database, key: tuple[int, int]) -> None:
    """Remove all index rows of a session."""
    first = last = -1
    for doc, docs in db.execute(db.queries.node_docs, key).fetchall():
        if doc != last + 1:
            if first >= 0:
                drop(db, first, last - first + 1)
            first = doc
        last = doc + docs - 1
    if first >= 0:
        drop(db, first, last - first + 1)


def fold(db: Database) -> None:
    """Move what is pending into the index."""
    db.execute(db.queries.words_fold)
    db.execute(db.queries.pending_clear)


def waiting(db: Database) -> bool:
    """Whether anything must be done before a search sees everything."""
    return not is_current(db) or bool(db.execute(db.queries.pending_any).fetchall())


def is_current(db: Database) -> bool:
    """Whether every row was made by this version of the analysis and of the estimator, and the index is sound."""
    found = dict(db.execute(db.queries.meta_all).fetchall())
    return found.get("analysis") == INDEX_VERSION and found.get("estimator") == ESTIMATOR_VERSION


def is_broken(db: Database) -> bool:
    """Whether the index was found damaged."""
    return ("analysis", BROKEN) in db.execute(db.queries.meta_all).fetchall()


def refresh(db: Database) -> None:
    """Make this connection's picture of the index that of the file."""
    with contextlib.suppress(apsw.CorruptError, apsw.SQLError):
        db.execute(db.queries.words_places, ('"none"',)).fetchall()


def mark(db: Database, analysis: int) -> None:
    """Note up to which version of the analysis everything is, or that the index is BROKEN or UNFINISHED."""
    db.execute(db.queries.meta_put, ("analysis", analysis))
    db.execute(db.queries.meta_put, ("estimator", ESTIMATOR_VERSION))


def start_anew(db: Database) -> None:
    """Throw the index away, to be made again from the messages."""
    db.execute(db.queries.words_remove)
    db.execute(db.queries.words_create)
    db.execute(db.queries.pending_clear)
    db.execute(db.queries.node_forget_words)
    mark(db, UNFINISHED)


def squeeze(db: Database) -> None:
    """Rewrite the index without what was deleted from it, so that no word of it is left in the file."""
    fold(db)
    db.execute(db.queries.words_optimize)


def _try_fold(db: Database) -> None:
    # What could not be folded stays pending; the index is made anew from the messages before the next search.
    if _guarded(db, db.queries.words_fold, ()):
        db.execute(db.queries.pending_clear)


def _guarded(db: Database, statement: str, parameters: tuple[int, ...]) -> bool:
    """Run a statement on the index. A damaged index must never keep a message from being stored."""
    db.execute("SAVEPOINT words")
    try:
        db.execute(statement, parameters)
        sound = True
    except (apsw.CorruptError, apsw.SQLError):
        db.execute("ROLLBACK TO words")
        mark(db, BROKEN)
        sound = False
    db.execute("RELEASE words")
    return sound
