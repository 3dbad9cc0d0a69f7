"""Finding sessions and messages: every other operation begins here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._ids import RESERVED_PREFIX
from ...errors import MessageNotFoundError
from ...records import NOTHING, Ref, Totals
from ...tree import Path, Position
from ..database import AsyncDatabase

SHARED = 0
"""In the place of a session: the whole namespace."""


class Head(NamedTuple):
    """The hot half of a session's row: its keys, counters, active leaf, and the totals of the active path."""

    ns: int
    session: int
    change: int
    next_seq: int
    next_strand: int
    messages: int
    leaf: Position | None
    leaf_open: bool
    totals: Totals


class Node(NamedTuple):
    """A message's narrow row. `own` are its own totals, `path` those from the root to it. `docs` rows of the search
    index are its words, from `doc` on."""

    at: Position
    parent: int | None
    role: int
    externals: int
    own: Totals
    path: Totals
    doc: int | None
    docs: int
    analysis: int


async def namespace_key(db: AsyncDatabase, name: str) -> int | None:
    """The key of a namespace, or None when nothing was ever written to it."""
    if (key := db.namespaces.get(name)) is None:
        rows = await db.rows(db.queries.namespace_key, (name,))
        if not rows:
            return None
        key = db.namespaces[name] = rows[0][0]
    return key


async def need_namespace(db: AsyncDatabase, ref: Ref) -> int:
    """The key of a namespace, which is made if it is not there."""
    ns = await namespace_key(db, ref.namespace)
    if ns is None:
        ns = db.namespaces[ref.namespace] = (await db.rows(db.queries.namespace_add, (ref.namespace,)))[0][0]
    return ns


async def find_head(db: AsyncDatabase, ref: Ref) -> Head | None:
    ns = await namespace_key(db, ref.namespace)
    if ns is None:
        return None
    row = await db.row(db.queries.session_head, (ns, ref.session))
    return None if row is None else head_of(ns, row)


async def need_message_head(db: AsyncDatabase, ref: Ref, message_id: str, named_as: str = "message") -> Head:
    """The head of a session that must hold a message: where there is no session, there is no such message."""
    head = await find_head(db, ref)
    if head is None:
        raise MessageNotFoundError(message_id, session_id=ref.session, named_as=named_as)
    return head


async def create(db: AsyncDatabase, ref: Ref, now: int) -> Head:
    ns = await need_namespace(db, ref)
    session = (await db.rows(db.queries.session_next_key, (ns,)))[0][0]
    if not await db.run(db.queries.session_add, (ns, ref.session, session, now)):
        # Another writer made it meanwhile (and perhaps deleted it again).
        return await find_head(db, ref) or await create(db, ref, now)
    await db.run(db.queries.tombstone_drop, (ns, 0, 2, ref.session))
    return Head(ns, session, 0, 1, 1, 0, None, True, NOTHING)


async def save_head(db: AsyncDatabase, ref: Ref, head: Head, now: int) -> None:
    strand, seq = head.leaf if head.leaf is not None else (None, None)
    await db.run(
        db.queries.session_advance,
        (
            head.ns,
            ref.session,
            head.change,
            head.next_seq,
            head.next_strand,
            head.messages,
            strand,
            seq,
            head.leaf_open,
            *head.totals,
            now,
        ),
    )


async def find_node(db: AsyncDatabase, head: Head, message_id: str) -> Node | None:
    row = await db.row(db.queries.node_find, (head.ns, head.session, message_id))
    if row is None:
        return None
    strand, seq, parent, role, externals, doc, docs, analysis, *rest = row
    own, path = Totals(1, *rest[:6]), Totals(*rest[6:])
    return Node(Position(strand, seq), parent, role, externals, own, path, doc, docs, analysis)


async def need_node(db: AsyncDatabase, ref: Ref, head: Head, message_id: str, named_as: str = "message") -> Node:
    node = await find_node(db, head, message_id)
    if node is None and message_id.startswith(RESERVED_PREFIX):
        # A summary's message, named as a place in the tree, means the last message it covers.
        key = (head.ns, head.session, message_id.removeprefix(RESERVED_PREFIX))
        for (last_id,) in await db.rows(db.queries.overlay_last, key):
            node = await find_node(db, head, last_id)
    if node is None:
        raise MessageNotFoundError(message_id, session_id=ref.session, named_as=named_as)
    return node


async def totals_at(db: AsyncDatabase, head: Head, at: Position | None) -> Totals:
    if at is None:
        return NOTHING
    row = await db.row(db.queries.node_at, (head.ns, head.session, *at))
    return Totals(*row[2:])


async def is_open(db: AsyncDatabase, head: Head, at: Position | None) -> bool:
    """Whether a child of the message at `at` can go on the same strand, since nothing follows there yet."""
    if at is None:
        return True
    return not await db.rows(db.queries.node_after, (head.ns, head.session, *at))


async def path_to(db: AsyncDatabase, head: Head, leaf: Position | None) -> Path:
    if leaf is None:
        return Path(())
    if leaf.strand == 1:
        return Path((leaf,))  # the first strand of a session begins at a root, for ever
    return Path(await db.rows(db.queries.path, (head.ns, head.session, *leaf)))


def head_of(ns: int, row: Sequence[Any]) -> Head:
    """The head in a row of `session_head`."""
    session, change, next_seq, next_strand, messages, leaf_strand, leaf_seq, leaf_open, *totals = row
    leaf = None if leaf_seq is None else Position(leaf_strand, leaf_seq)
    return Head(ns, session, change, next_seq, next_strand, messages, leaf, bool(leaf_open), Totals(*totals))
