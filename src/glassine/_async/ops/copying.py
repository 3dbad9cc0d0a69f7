"""Copying: a session read page by page in the source, and written in one transaction in the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._spool import Spool
from ...copying import Original, State
from ...entries import decoded
from ...entries import words as words_of_entry
from ...errors import CorruptMessageError
from ...exchange import Label
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION, Words, tokens, words
from ...records import Ref
from ..database import AsyncDatabase
from . import bodies, editing, entries
from .heads import Head, create, find_head, namespace_key, totals_at

SESSIONS = 500
ROWS = 200
BYTES = 8 * 1024 * 1024
"""A page ends after the row that passes this."""
# Of each table: where its first page begins, and how many columns at the front of a row say where it stands.
_TABLES: dict[str, tuple[tuple[Any, ...], int]] = {
    "strand": ((-1,), 1),
    "node": ((-1, -1), 2),
    "overlay": ((-1,), 1),
    "event": ((-1,), 1),
    "usage": ((-1,), 1),
    "tombstone": ((-1, ""), 2),
    "quarantine": ((-1,), 1),
    "block": (("",), 1),
    "prompt": ((-1,), 1),
    "entry": (("", ""), 2),
}
_ORDER = tuple(_TABLES)


class Start(NamedTuple):
    """A session's row, as `copy_session` selects it, but for its key."""

    ns: int
    session: int
    row: tuple[Any, ...]

    @property
    def change(self) -> int:
        return int(self.row[0])

    @property
    def messages(self) -> int:
        return int(self.row[3])

    @property
    def created_at(self) -> int:
        return int(self.row[21])

    @property
    def shown(self) -> tuple[Any, ...]:
        """What of it is the same in every store that holds the session: not its estimates of tokens."""
        return (*self.row[:9], *self.row[14:])


class Place(NamedTuple):
    """Where a page begins: behind `after` in a table."""

    table: int = 0
    after: tuple[Any, ...] = _TABLES["strand"][0]


class Page(NamedTuple):
    """Rows of a session, each (table, row, what else belongs to it); `next` None: that was the last page."""

    rows: list[tuple[Any, ...]]
    next: Place | None


async def originals(db: AsyncDatabase, namespace: str, after: int) -> list[Original]:
    """The next sessions of a namespace, in the order they were made."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return []
    return [Original(*row) for row in await db.rows(db.queries.copy_sessions, (ns, after, SESSIONS))]


async def deleted(db: AsyncDatabase, namespace: str, after: str) -> list[tuple[str, int, int]]:
    """The next deleted sessions of a namespace: (id, change, when)."""
    ns = await namespace_key(db, namespace)
    return [] if ns is None else await db.rows(db.queries.copy_deleted, (ns, after, SESSIONS))


async def states(db: AsyncDatabase, namespace: str, ids: Sequence[str]) -> list[State]:
    """What the target knows of these ids."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return [State(None, None, None, None)] * len(ids)
    return [await _state(db, ns, id) for id in ids]


async def start(db: AsyncDatabase, ref: Ref) -> Start | None:
    ns = await namespace_key(db, ref.namespace)
    row = None if ns is None else await db.row(db.queries.copy_session, (ns, ref.session))
    return None if ns is None or row is None else Start(ns, row[0], tuple(row[1:]))


async def page(db: AsyncDatabase, ref: Ref, begun: Start, place: Place, prepare: bool) -> Page | None:
    """Read on in a session. None: it was changed since it was begun. `prepare` works out words and tokens too."""
    found = await start(db, ref)
    if found is None or (found.session, found.change) != (begun.session, begun.change):
        return None
    key, queries = (begun.ns, begun.session), db.queries
    statements = (
        *(queries.copy_strand, queries.copy_node, queries.copy_overlay, queries.copy_event, queries.copy_usage),
        *(queries.copy_tombstone, queries.copy_quarantine, queries.copy_block, queries.copy_prompt, queries.copy_entry),
    )
    rows: list[tuple[Any, ...]] = []
    size = 0
    number, after = place
    while number < len(_ORDER):
        table = _ORDER[number]
        width = _TABLES[table][1]
        some = await db.rows(statements[number], (*key, *after, ROWS))
        for row in some:
            extra: tuple[Any, ...] = ()
            if table == "node":
                extra = await _beside(db, key, row, prepare)
            elif table == "quarantine":
                extra = (await _left(db, key, row[0]),)
            elif table == "entry":
                extra = await entry_beside(db, key, row, prepare)
            rows.append((table, tuple(row), extra))
            after = tuple(row[:width])
            size += weight(row) + weight(extra)
            if size > BYTES:
                return Page(rows, Place(number, after))
        if len(some) < ROWS:
            number += 1
            after = _TABLES[_ORDER[number]][0] if number < len(_ORDER) else ()
    return Page(rows, None)


async def put(db: AsyncDatabase, ref: Ref, row: tuple[Any, ...], rows: Spool, expected: State, now: int) -> bool:
    """Make the session in the target what was read in the source. False, and nothing is written, when the target is
    no longer as it was expected to be."""
    change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open, *rest = row
    path, described, (created_at, updated_at) = rest[:7], rest[7:14], rest[14:]
    head = await find_head(db, ref)
    ns = await namespace_key(db, ref.namespace)
    state = State(None, None, None, None) if ns is None else await _state(db, ns, ref.session)
    if state != expected:
        return False
    if head is not None:
        await editing.delete_session(db, ref, now)
    head = await create(db, ref, created_at)
    if head.change:
        return False  # another writer made it at the same moment
    recount = False
    for table, values, extra in rows:
        if table == "node":
            recount |= await _put_node(db, head, values, extra)
        elif table == "entry":
            label, *rest = values
            await entries.copied(db, Label(head.ns, head.session, label), rest, *extra)
        else:
            await _put(db, head, table, values)
            if extra:
                await _put_left(db, head, values[0], extra[0])
    await db.run(db.queries.session_describe, (head.ns, ref.session, *described, updated_at))
    key = (head.ns, ref.session)
    counters = (change, next_seq, next_strand, messages, leaf_strand, leaf_seq, bool(leaf_open))
    await db.run(db.queries.session_advance, (*key, *counters, *path, updated_at))
    if recount:
        await _recount(db, ref)
    await db.run(db.queries.copied_put, (head.ns, head.session, change))
    return True


async def adopt(db: AsyncDatabase, ref: Ref, expected: State) -> bool:
    """Take a session that holds the same as the source for a copy of it."""
    head = await find_head(db, ref)
    if head is None or await _state(db, head.ns, ref.session) != expected:
        return False
    await db.run(db.queries.copied_put, (head.ns, head.session, head.change))
    return True


async def drop(db: AsyncDatabase, ref: Ref, change: int, deleted_at: int) -> bool:
    """Delete a session that was deleted in the source, if it is still only a copy."""
    head = await find_head(db, ref)
    if head is None or not (await _state(db, head.ns, ref.session)).untouched:
        return False
    await editing.delete_session(db, ref, deleted_at)
    await db.run(db.queries.tombstone_add, (head.ns, 0, 2, ref.session, change, deleted_at))
    return True


async def bury(db: AsyncDatabase, ref: Ref, change: int, deleted_at: int) -> bool:
    """Note that a session was deleted in the source, where the target has none."""
    if await find_head(db, ref) is not None:
        return False
    ns = await namespace_key(db, ref.namespace)
    if ns is None:
        ns = (await db.row(db.queries.namespace_add, (ref.namespace,)))[0]
    await db.run(db.queries.tombstone_add, (ns, 0, 2, ref.session, change, deleted_at))
    return True


async def _state(db: AsyncDatabase, ns: int, id: str) -> State:
    found = await db.row(db.queries.copied_state, (ns, id))
    gone = await db.row(db.queries.copied_deleted, (ns, id))
    change, created_at, copied = found or (None, None, None)
    return State(change, created_at, copied, None if gone is None else gone[0])


async def _beside(db: AsyncDatabase, key: tuple[int, int], row: Any, prepare: bool) -> tuple[Any, ...]:
    """What belongs to a message beside its rows: (what left it, its words, its tokens)."""
    seq, id, role, externals, size = row[1], row[2], row[4], row[5], row[6]
    left = await _left(db, key, seq) if externals else ()
    if not prepare:
        return (left, (), ())
    try:
        message = await bodies.message(db, *key, (seq, id, role, externals, size, row[23], row[25]))
        found = tuple([tuple(each) for each in words(message)])
        return (left, found, () if row[12] == ESTIMATOR_VERSION else tokens(message))
    except CorruptMessageError:
        return (left, (), ())  # copied as it is; `verify` tells of it


async def entry_beside(db: AsyncDatabase, key: tuple[int, int], row: Any, prepare: bool) -> tuple[Any, ...]:
    """What belongs to an entry beside its row: ((checksum, content), its words)."""
    label, name, description = row[:3]
    body = tuple(await db.row(db.queries.entry_body_get, (*key, label, name)) or ())
    if not prepare or not body:
        return (body, ())
    try:
        text = None if description is None else decoded(description)
        return (body, words_of_entry(name, text, decoded(body[1])))
    except UnicodeDecodeError:
        return (body, ())  # copied as it is; `verify` tells of it


async def _put_node(db: AsyncDatabase, head: Head, row: Any, extra: Any) -> bool:
    """Write a message. Returns whether its tokens are other ones than in the source."""
    strand, seq, id, parent, role, externals, size, *rest = row
    own, estimator, path, (change, created_at, stored_at, codec, crc, data) = rest[:5], rest[5], rest[6:13], rest[13:]
    left, found, counted = extra
    if counted:
        own, estimator = counted, ESTIMATOR_VERSION
    key = (head.ns, head.session)
    doc = await db.index.add(key, strand, seq, [Words(*each) for each in found])
    await db.run(
        db.queries.node_add,
        (
            *(*key, strand, seq, id, parent, role, externals, size, *own, estimator, *path),
            *(change, created_at, stored_at, doc, len(found), INDEX_VERSION),
        ),
    )
    if data is not None:
        await db.run(db.queries.body_add, (*key, seq, codec, crc, data))
    await _put_left(db, head, seq, left)
    return bool(counted)


async def _left(db: AsyncDatabase, key: tuple[int, int], seq: int) -> tuple[Any, ...]:
    """What left the row of a message; of one in quarantine, too."""
    found = []
    for ordinal, path, kind, prefix, length, digest in await db.rows(db.queries.external_list, (*key, seq)):
        data = await bodies.external_data(db, (*key, seq), ordinal, kind, digest)
        found.append((ordinal, path, kind, prefix, length, digest, data))
    return tuple(found)


async def _put_left(db: AsyncDatabase, head: Head, seq: int, left: Any) -> None:
    key = (head.ns, head.session, seq)
    for ordinal, path, kind, prefix, length, digest, data in left:
        await db.run(db.queries.external_add, (*key, ordinal, path, kind, prefix, length, digest))
        await bodies.put_external_data(db, key, ordinal, kind, digest, data)


async def _put(db: AsyncDatabase, head: Head, table: str, row: Any) -> None:
    queries, key = db.queries, (head.ns, head.session)
    if table == "strand":
        await db.run(queries.strand_add, (*key, *row))
    elif table == "overlay":
        await db.run(queries.overlay_add, (*key, *row[:9], *row[10:]))
        if row[9]:
            await db.run(queries.overlay_stale, (*key, row[0], True))
    elif table == "event":
        await db.run(queries.event_add, (*key, *row))
    elif table == "usage":
        await db.run(queries.usage_add, (*key, *row[:3], bool(row[3]), *row[4:]))
    elif table == "block":
        await db.run(queries.block_add, (*key, *row))
    elif table == "prompt":
        await db.run(queries.prompt_add, (*key, *row))
    elif table == "tombstone":
        await db.run(queries.tombstone_add, (*key, *row))
    else:
        await db.run(queries.quarantine_add, (*key, *row))


async def _recount(db: AsyncDatabase, ref: Ref) -> None:
    head = await find_head(db, ref)
    if head is not None:
        await editing.recount(db, head)
        await db.run(db.queries.session_set_totals, (head.ns, ref.session, *await totals_at(db, head, head.leaf)))


def shown(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What of a page is the same in every store that holds the session: not its estimates of tokens."""
    return [
        (table, *row[:7], *row[13:15], *row[20:], extra[0])
        if table == "node"
        else (table, row, extra[0] if table == "entry" else extra)
        for table, row, extra in rows
    ]


def weight(row: Sequence[Any]) -> int:
    return sum(
        len(value) if isinstance(value, (bytes, str)) else weight(value) if isinstance(value, tuple) else 8
        for value in row
    )
