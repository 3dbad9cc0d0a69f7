# Generated from src/glassine/_async/ops/catching_up.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Bringing the index and the token totals up to this version, step by step, each in a transaction of its own."""

from __future__ import annotations

from typing import Any

from ... import indexing
from ...errors import CorruptMessageError
from ...exchange import Cursor, Progress
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION
from ..database import Database
from . import bodies
from .editing import recount
from .heads import head_of, totals_at

STEP = 200


def waits(db: Database) -> bool:
    """Whether something must be indexed before a search sees everything."""
    return db.index.waits()


def condemn(db: Database) -> None:
    """Note that the index was found damaged."""
    db.index.condemn()


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
    versions = (INDEX_VERSION, ESTIMATOR_VERSION)
    keys = db.rows(db.queries.node_stale_keys, (*cursor, *versions, STEP))
    ended = {(key[0], key[1]) for key in keys} | ({cursor[:2]} if cursor.session else set())
    sessions = sorted(ended)
    # Invariant: a session is held before its messages are read, so that no writer changes one in between.
    for key in sessions:
        db.row(db.queries.session_by_key, key)
    if keys:
        for row in db.rows(db.queries.node_stale, (*cursor, *keys[-1], *versions)):
            _index(db, row)
    if len(keys) == STEP:
        sessions.remove((keys[-1][0], keys[-1][1]))
    for key in sessions:
        _recount(db, *key)
    if len(keys) == STEP:
        return Progress(Cursor(*keys[-1]), done + len(keys), total)
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
    id, _, _, _, _, *row = found
    head = head_of(ns, row)
    recount(db, head)
    db.run(db.queries.session_set_totals, (ns, id, *totals_at(db, head, head.leaf)))
