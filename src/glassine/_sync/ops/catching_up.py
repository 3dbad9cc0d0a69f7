# Generated from src/glassine/_async/ops/catching_up.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Bringing the index and the token totals up to this version, step by step, each in a transaction of its own."""

from __future__ import annotations

from typing import Any

from ... import indexing
from ...errors import CorruptMessageError
from ...exchange import Cursor, Progress
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION
from ...records import Ref
from ..database import Database
from . import bodies
from .editing import recount
from .heads import find_head, totals_at

STEP = 200


def catch_up(db: Database, anew: bool, cursor: Cursor, done: int) -> Progress:
    """Take the next step: index what is not indexed as this version would. `anew` begins with an empty index."""
    if anew or db.index.is_broken():
        db.index.start_anew()
        cursor = Cursor()
    total = db.row(db.queries.node_count)[0]
    if db.index.is_current():
        db.index.settle(done=False)
        # What stood in the way of settling is a damaged index: the next step makes it anew.
        return Progress(Cursor() if db.index.is_broken() else None, total, total)
    rows = db.rows(db.queries.node_stale, (*cursor, INDEX_VERSION, ESTIMATOR_VERSION, STEP))
    for row in rows:
        _index(db, row)
    ended = {(row[0], row[1]) for row in rows} | ({cursor[:2]} if cursor.session else set())
    if len(rows) == STEP:
        ended.discard((rows[-1][0], rows[-1][1]))
    for ns, session in sorted(ended):
        _recount(db, ns, session)
    if len(rows) == STEP:
        return Progress(Cursor(*rows[-1][:4]), done + len(rows), total)
    db.index.settle(done=True)
    return Progress(None, total, total)


def _index(db: Database, row: tuple[Any, ...]) -> None:
    ns, session, strand, seq, id, role, externals, size, doc, docs, codec, data = row
    db.index.drop((ns, session), seq, doc, docs)
    try:
        message = bodies.message(db, ns, session, (seq, id, role, externals, size, codec, data))
        found, tokens = indexing.words(message), indexing.tokens(message)
    except CorruptMessageError:
        found, tokens = (), (0, 0, 0, 0, 0)  # `verify` tells of it
    first = db.index.add((ns, session), strand, seq, found)
    db.run(
        db.queries.node_set_words,
        (ns, session, strand, seq, first, len(found), INDEX_VERSION, *tokens, ESTIMATOR_VERSION),
    )


def _recount(db: Database, ns: int, session: int) -> None:
    found = db.row(db.queries.session_by_key, (ns, session))
    if found is None:
        return
    namespace = db.row(db.queries.namespace_name, (ns,))[0]
    ref = Ref(namespace, found[0])
    head = find_head(db, ref)
    if head is not None:
        recount(db, head)
        db.run(db.queries.session_set_totals, (ns, found[0], *totals_at(db, head, head.leaf)))
