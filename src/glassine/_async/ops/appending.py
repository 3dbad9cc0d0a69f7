"""Appending: messages become nodes at the end of a strand, or begin a new one."""

from __future__ import annotations

from collections.abc import Sequence

from ...drafting import Draft, drafted
from ...errors import ConflictError, LeafMovedError
from ...exchange import Appended
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION
from ...records import NOTHING, Named, Ref, Totals
from ...tree import Position
from ..database import AsyncDatabase
from . import bodies
from .heads import Head, Node, create, find_head, find_node, is_open, need_node, save_head


async def append(
    db: AsyncDatabase,
    ref: Ref,
    drafts: Sequence[Draft],
    parent: Named | None,
    expect_leaf: Named | None,
    now: int,
) -> Appended:
    """Chain `drafts` below `parent` (None: the active leaf)."""
    queries = db.queries
    head = await find_head(db, ref) or await create(db, ref, now)
    if expect_leaf is not None:
        await _expect(db, ref, head, drafts, expect_leaf)
    at, is_end, totals = await _start(db, ref, head, parent)
    named = parent is not None
    ns, session, change = head.ns, head.session, head.change + 1
    first = seq = head.next_seq
    strands = head.next_strand
    leaf, leaf_totals = head.leaf, head.totals
    added = []
    for draft in drafts:
        begins = at is None or not is_end
        strand = strands if begins or at is None else at.strand
        below = totals.plus(Totals(1, draft.size, *draft.tokens))
        doc = await db.index.add((ns, session), strand, seq, draft.words)
        new = await db.run(
            queries.node_add,
            (
                *(ns, session, strand, seq, draft.id, at and at.seq, draft.role, len(draft.externals), draft.size),
                *(*draft.tokens, ESTIMATOR_VERSION, *below, change, draft.created_at, now),
                *(doc, len(draft.words), INDEX_VERSION),
            ),
        )
        if not new:
            # Invariant: appending an id again is a no-op, and what follows in the batch chains to what is there.
            await db.index.drop((ns, session), seq, doc, len(draft.words))
            node = await _existing(db, ref, head, draft, at, named)
            at, totals, is_end = node.at, node.path, await is_open(db, head, node.at)
            added.append(False)
        else:
            if begins:
                await db.run(queries.strand_add, (ns, session, strand, *(at or (None, None))))
                strands += 1
            await bodies.put(db, head, seq, draft)
            leaf = at = Position(strand, seq)
            leaf_totals = totals = below
            is_end = True
            seq += 1
            added.append(True)
        named = False
    if seq != first:
        head = Head(ns, session, change, seq, strands, head.messages + seq - first, leaf, True, leaf_totals)
        await save_head(db, ref, head, now)
    return Appended(added, head.change, head.totals)


async def _start(db: AsyncDatabase, ref: Ref, head: Head, parent: Named | None) -> tuple[Position | None, bool, Totals]:
    """Where the first message hangs, whether that is the end of a strand, and the totals down to there."""
    if parent is None:
        return head.leaf, head.leaf_open, head.totals
    if parent.id is None:
        return None, True, NOTHING
    node = await need_node(db, ref, head, parent.id, "parent")
    return node.at, await is_open(db, head, node.at), node.path


async def _existing(db: AsyncDatabase, ref: Ref, head: Head, draft: Draft, at: Position | None, named: bool) -> Node:
    """The stored message of this id, if it is the same message; else ConflictError."""
    node = await find_node(db, head, draft.id)
    assert node is not None
    if named and node.parent != (at and at.seq):
        raise ConflictError("it is already stored under another parent", session_id=ref.session, message_id=draft.id)
    row = await db.row(db.queries.message_get, (head.ns, head.session, draft.id))
    if await bodies.message(db, head.ns, head.session, row) != drafted(draft):
        raise ConflictError(
            "it is already stored with other content; `update` changes a message",
            session_id=ref.session,
            message_id=draft.id,
        )
    return node


async def _expect(db: AsyncDatabase, ref: Ref, head: Head, drafts: Sequence[Draft], expected: Named) -> None:
    actual = None
    if head.leaf is not None:
        actual = (await db.row(db.queries.node_at, (head.ns, head.session, *head.leaf)))[0]
    # A retry of an append that did commit finds its own messages: that is no conflict.
    if actual != expected.id and not all([await find_node(db, head, draft.id) for draft in drafts]):
        raise LeafMovedError(session_id=ref.session, expected=expected.id, actual=actual, message_id=drafts[0].id)
