"""Bringing the index and the token totals up to this version, step by step, each in a transaction of its own."""

from __future__ import annotations

from typing import Any

from ... import indexing
from ...errors import CorruptMessageError
from ...exchange import Cursor, Progress
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION
from ..database import AsyncDatabase
from . import bodies
from .editing import recount
from .heads import head_of, totals_at

STEP = 200


async def waits(db: AsyncDatabase) -> bool:
    """Whether something must be indexed before a search sees everything."""
    return await db.index.waits()


async def condemn(db: AsyncDatabase) -> None:
    """Note that the index was found damaged."""
    await db.index.condemn()


async def catch_up(db: AsyncDatabase, anew: bool, cursor: Cursor, done: int) -> Progress:
    """Take the next step: index what is not indexed as this version would. `anew` begins with an empty index."""
    if anew or await db.index.is_broken():
        await db.index.start_anew()
        cursor = Cursor()
    total = (await db.row(db.queries.node_count))[0]
    if await db.index.is_current():
        await db.index.settle(done=False)
        # What stood in the way of settling is a damaged index: the next step makes it anew.
        return Progress(Cursor() if await db.index.is_broken() else None, total, total)
    versions = (INDEX_VERSION, ESTIMATOR_VERSION)
    keys = await db.rows(db.queries.node_stale_keys, (*cursor, *versions, STEP))
    ended = {(key[0], key[1]) for key in keys} | ({cursor[:2]} if cursor.session else set())
    sessions = sorted(ended)
    # Invariant: a session is held before its messages are read, so that no writer changes one in between.
    for key in sessions:
        await db.row(db.queries.session_by_key, key)
    if keys:
        for row in await db.rows(db.queries.node_stale, (*cursor, *keys[-1], *versions)):
            await _index(db, row)
    if len(keys) == STEP:
        sessions.remove((keys[-1][0], keys[-1][1]))
    for key in sessions:
        await _recount(db, *key)
    if len(keys) == STEP:
        return Progress(Cursor(*keys[-1]), done + len(keys), total)
    await db.index.settle(done=True)
    return Progress(None, total, total)


async def _index(db: AsyncDatabase, row: tuple[Any, ...]) -> None:
    ns, session, strand, seq, id, role, externals, size, doc, docs, codec, data = row
    await db.index.drop((ns, session), seq, doc, docs)
    try:
        message = await bodies.message(db, ns, session, (seq, id, role, externals, size, codec, data))
        found, tokens = indexing.words(message), indexing.tokens(message)
    except CorruptMessageError:
        found, tokens = (), (0, 0, 0, 0, 0)  # `verify` tells of it
    first = await db.index.add((ns, session), strand, seq, found)
    await db.run(
        db.queries.node_set_words,
        (ns, session, strand, seq, first, len(found), INDEX_VERSION, *tokens, ESTIMATOR_VERSION),
    )


async def _recount(db: AsyncDatabase, ns: int, session: int) -> None:
    found = await db.row(db.queries.session_by_key, (ns, session))
    if found is None:
        return
    id, _, _, _, _, *row = found
    head = head_of(ns, row)
    await recount(db, head)
    await db.run(db.queries.session_set_totals, (ns, id, *await totals_at(db, head, head.leaf)))
