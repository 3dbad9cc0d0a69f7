"""Copying what belongs to a whole namespace: its entries, one by one, as no session's change number stands for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...copying import judge_shared
from ...exchange import Label
from ...records import Ref
from ..database import AsyncDatabase
from . import entries
from .copying import BYTES, ROWS, entry_beside, weight
from .heads import SHARED, namespace_key, need_namespace

Row = tuple[Any, ...]


class Page(NamedTuple):
    """Entries of a namespace, each (row, what else belongs to it); `next` None: that was the last page."""

    rows: list[tuple[Row, Row]]
    next: tuple[str, str] | None


async def page(db: AsyncDatabase, namespace: str, after: tuple[str, str]) -> Page:
    """The next entries of a namespace, with their words."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return Page([], None)
    found: list[tuple[Row, Row]] = []
    size = 0
    some = await db.rows(db.queries.copy_entry, (ns, SHARED, *after, ROWS))
    for row in some:
        extra = await entry_beside(db, (ns, SHARED), row, True)
        found.append((tuple(row), extra))
        size += weight(row) + weight(extra)
        if size > BYTES:
            return Page(found, (row[0], row[1]))
    return Page(found, (some[-1][0], some[-1][1]) if len(some) == ROWS else None)


async def put(
    db: AsyncDatabase, namespace: str, rows: Sequence[tuple[Row, Row]], dry_run: bool
) -> list[tuple[str, str]]:
    """Write entries as they were read in the source. Returns those (label, key) that the target has otherwise, and
    that somebody wrote there: these are left alone."""
    ref = Ref(namespace, "")
    ns = await namespace_key(db, namespace)
    if ns is None:
        if dry_run:
            return []
        ns = await need_namespace(db, ref)
    left = []
    for (label, key, description, *rest), (body, found) in rows:
        place = Label(ns, SHARED, label)
        there = await db.row(db.queries.entry_find, (*place, key))
        decision = "new"
        if there is not None:
            same = await _content(db, place, key) == (description, body)
            decision = judge_shared(same, there[2])
        if decision == "diverged":
            left.append((label, key))
        elif decision != "same" and not dry_run:
            row = (description, *rest[:-1])
            if there is None:
                await db.run(db.queries.entry_add, (*place, key, *row, entries.COPIED))
            else:
                await db.run(db.queries.entry_replace, (*place, key, *row, entries.COPIED))
                await db.entry_index.drop(place, key, there[0], there[1])
            await entries.put_rest(db, place, key, body, found)
    return left


async def blocks(db: AsyncDatabase, namespace: str) -> list[Row]:
    """The stored blocks of a namespace: (label, text, origins, when written)."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return []
    return [tuple(row[:4]) for row in await db.rows(db.queries.block_list, (ns, SHARED))]


async def put_blocks(db: AsyncDatabase, namespace: str, rows: Sequence[Row], dry_run: bool) -> list[str]:
    """Write blocks as they were read in the source. Returns the labels of those that somebody wrote here otherwise:
    these are left alone."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        if dry_run:
            return []
        ns = await need_namespace(db, Ref(namespace, ""))
    left = []
    for label, *row in rows:
        place = (ns, SHARED, label)
        there = await db.row(db.queries.block_get, place)
        decision = "new" if there is None else judge_shared(bytes(there[0]) == bytes(row[0]), there[3])
        if decision == "diverged":
            left.append(label)
        elif decision != "same" and not dry_run:
            if there is None:
                await db.run(db.queries.block_add, (*place, *row, entries.COPIED))
            else:
                await db.run(db.queries.block_swap, (*place, *row, entries.COPIED, there[3]))
    return left


async def deleted(db: AsyncDatabase, namespace: str) -> list[tuple[str, str]]:
    """The entries (label, key) that were removed from a namespace, and not written again."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return []
    return [tuple(json.loads(id)) for (id,) in await db.rows(db.queries.copy_entry_removed, (ns,))]


async def drop(
    db: AsyncDatabase, namespace: str, gone: Sequence[tuple[str, str]], dry_run: bool, now: int
) -> list[tuple[str, str]]:
    """Remove entries that were removed in the source, if they are still only copies. Returns those that are not."""
    ns = await namespace_key(db, namespace)
    left = []
    for label, key in gone if ns is not None else ():
        place = Label(ns or 0, SHARED, label)
        there = await db.row(db.queries.entry_find, (*place, key))
        if there is not None and there[2] != entries.COPIED:
            left.append((label, key))
        elif there is not None and not dry_run:
            await entries.take_out(db, place, key, there[0], there[1], now)
    return left


async def _content(db: AsyncDatabase, place: Label, key: str) -> tuple[Any, Row]:
    row = await db.row(db.queries.entry_get, (*place, key))
    body = await db.row(db.queries.entry_body_get, (*place, key))
    return row[1], tuple(body or ())
