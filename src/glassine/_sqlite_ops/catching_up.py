"""Bringing the index and the token totals up to this version, step by step, each in a transaction of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import indexing
from .._sqlite import Database
from ..errors import CorruptMessageError
from ..indexing import ESTIMATOR_VERSION, INDEX_VERSION
from ..records import Ref
from . import bodies, words
from .editing import recount
from .heads import find_head, totals_at

STEP = 200


class Cursor(NamedTuple):
    """The last message that was looked at."""

    ns: int = 0
    session: int = 0
    strand: int = 0
    seq: int = 0


class Progress(NamedTuple):
    """How far a catching up is. `cursor` None: finished. `total` counts all messages of the store."""

    cursor: Cursor | None
    done: int
    total: int


def catch_up(db: Database, anew: bool, cursor: Cursor, done: int) -> Progress:
    """Take the next step: index what is not indexed as this version would. `anew` begins with an empty index."""
    if anew or words.is_broken(db):
        words.start_anew(db)
        cursor = Cursor()
    total = db.execute(db.queries.node_count).fetchone()[0]
    if words.is_current(db):
        words.fold(db)
        return Progress(None, total, total)
    rows = db.execute(db.queries.node_stale, (*cursor, INDEX_VERSION, ESTIMATOR_VERSION, STEP)).fetchall()
    for row in rows:
        _index(db, row)
    ended = {(row[0], row[1]) for row in rows} | ({cursor[:2]} if cursor.session else set())
    if len(rows) == STEP:
        ended.discard((rows[-1][0], rows[-1][1]))
    for ns, session in sorted(ended):
        _recount(db, ns, session)
    if len(rows) == STEP:
        return Progress(Cursor(*rows[-1][:4]), done + len(rows), total)
    words.mark(db, INDEX_VERSION)
    words.fold(db)
    return Progress(None, total, total)


def _index(db: Database, row: tuple[Any, ...]) -> None:
    ns, session, strand, seq, id, role, externals, size, doc, docs, codec, data = row
    words.drop(db, doc, docs)
    try:
        message = bodies.message(db, ns, session, (seq, id, role, externals, size, codec, data))
        found, tokens = indexing.words(message), indexing.tokens(message)
    except CorruptMessageError:
        found, tokens = (), (0, 0, 0, 0, 0)  # `verify` tells of it
    first = words.add(db, (ns, session), strand, seq, found)
    db.execute(
        db.queries.node_set_words,
        (ns, session, strand, seq, first, len(found), INDEX_VERSION, *tokens, ESTIMATOR_VERSION),
    )


def _recount(db: Database, ns: int, session: int) -> None:
    found = db.execute(db.queries.session_by_key, (ns, session)).fetchone()
    if found is None:
        return
    namespace = db.execute(db.queries.namespace_name, (ns,)).fetchone()[0]
    ref = Ref(namespace, found[0])
    head = find_head(db, ref)
    if head is not None:
        recount(db, head)
        db.execute(db.queries.session_set_totals, (ns, found[0], *totals_at(db, head, head.leaf)))
