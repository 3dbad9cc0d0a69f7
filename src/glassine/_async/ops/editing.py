"""Changing what is stored: update, delete, redact, clear, switch.

An inner message costs the narrow rows of its descendants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...drafting import Draft, drafted
from ...errors import CorruptMessageError, MessageNotFoundError
from ...indexing import ESTIMATOR_VERSION, INDEX_VERSION, same_words
from ...messages import Message
from ...origins import Origin
from ...overlays import cuts, requests
from ...records import NOTHING, Ref, Totals
from ...redaction import tells
from ...tree import Path, Position
from ..database import AsyncDatabase
from . import bodies, context, entries
from .heads import (
    SHARED,
    Head,
    Node,
    find_head,
    find_node,
    is_open,
    namespace_key,
    need_message_head,
    need_node,
    path_to,
    save_head,
    totals_at,
)
from .reading import children, list_overlays

FEW = 8
"""From more deletions than this on, counting the session anew once is cheaper than shifting totals each time."""
WIPED = ("node", "body", "strand", "external", "spill", "overlay")
"""The tables that `clear` empties; a deleted session loses the others too."""
OUTLIVING = ("event", "usage", "quarantine", "tombstone", "copied", "block", "prompt", "lease", "entry", "entry_body")


async def update(db: AsyncDatabase, ref: Ref, draft: Draft, now: int) -> None:
    """Replace the content of a stored message."""
    head = await need_message_head(db, ref, draft.id)
    node = await find_node(db, head, draft.id)
    if node is None:
        raise MessageNotFoundError(draft.id, session_id=ref.session)
    if await children(db, head, node.at):
        await context.edited(db, head)
    await _rewrite(db, ref, head, node, draft, now)


async def redact(
    db: AsyncDatabase, ref: Ref, message_id: str, remake: Callable[[Message], Draft], now: int
) -> list[str]:
    """Replace a message by what `remake` leaves of it, and drop what derives from it. Of a message that was deleted,
    alone or with its session, there is only the latter.

    Returns the ids of the summaries that went.
    """
    head = await find_head(db, ref) or await _of_no_session(db, ref, message_id)
    try:
        node = await need_node(db, ref, head, message_id)
    except MessageNotFoundError:
        if not await _redact_deleted(db, ref, head, message_id, now):
            raise
        return []
    row = await db.row(db.queries.message_at, (head.ns, head.session, *node.at))
    before = await bodies.message(db, head.ns, head.session, row)
    dropped = await _drop_derived(db, ref, head._replace(change=head.change + 1), node, before, now)
    if await children(db, head, node.at):
        await context.edited(db, head)
    await _rewrite(db, ref, head, node, remake(before), now)
    return dropped


async def _of_no_session(db: AsyncDatabase, ref: Ref, message_id: str) -> Head:
    """What stands for the head of a session that is gone: nothing has its key."""
    ns = await namespace_key(db, ref.namespace)
    if ns is None:
        raise MessageNotFoundError(message_id, session_id=ref.session)
    return Head(ns, -1, 0, 1, 1, 0, None, True, NOTHING)


async def _redact_deleted(db: AsyncDatabase, ref: Ref, head: Head, message_id: str, now: int) -> bool:
    """Drop what a message wrote that is gone. False: it was never here, as far as anybody can tell."""
    await context.take_turns(db, ref, head, message_id)
    change = head.change + 1
    found = await _drop_written(db, ref, head._replace(change=change), message_id, now)
    known = found or bool(await db.rows(db.queries.tombstone_has, (head.ns, head.session, 0, message_id)))
    if known:
        await save_head(db, ref, head._replace(change=change), now)
    return known


async def recount(db: AsyncDatabase, head: Head) -> None:
    """Count every path's totals anew, in one pass: a parent always comes before its children."""
    queries, key = db.queries, (head.ns, head.session)
    sums: dict[int | None, Totals] = {None: NOTHING}
    for strand, seq, parent, *numbers in await db.rows(queries.node_totals, key):
        right = sums[parent].plus(Totals(1, *numbers[:6]))
        sums[seq] = right
        if right != tuple(numbers[6:]):
            await db.run(queries.node_set_totals, (*key, strand, seq, *right))


async def _drop_derived(db: AsyncDatabase, ref: Ref, head: Head, node: Node, before: Message, now: int) -> list[str]:
    await context.take_turns(db, ref, head, before.id)
    title = (await db.row(db.queries.session_title, (head.ns, ref.session)))[0]
    if title is not None and _tells(title, before):
        await db.run(db.queries.session_retitle, (head.ns, ref.session, None))
    dropped = []
    for overlay in await list_overlays(db, head):
        over = overlay.first.seq <= node.at.seq <= overlay.last.seq and node.at in await path_to(db, head, overlay.last)
        if over or before.id in requests(overlay):
            await take_off(db, head, overlay.id, head.change, now)
            dropped.append(overlay.id)
    await _drop_written(db, ref, head, before.id, now)
    return dropped


async def _drop_written(db: AsyncDatabase, ref: Ref, head: Head, message_id: str, now: int) -> bool:
    """Remove the lines and entries that a message wrote, and the reminders and prompts that may show them. The head is
    not saved. Returns whether it wrote any that were there."""
    own, shared = (head.ns, head.session), (head.ns, SHARED)
    found = {}
    for key in (own, shared):
        change = head.change if key == own else None
        lines = await context.forget_lines(db, key, Origin(message_id, ref.session), change, now)
        found[key] = sorted({*lines, *await entries.drop_of_message(db, ref, key, message_id, now)})
        for label in found[key]:
            await context.drop_reminders(db, head, label, key == own, head.change, now)
    # Invariant: of another session's rows, overlays are locked first, then prompts, then what media share: in the order
    # in which those do who write to that session. So nobody waits in a circle.
    await context.drop_prompts(db, head, bool(found[shared]))
    return any(found.values())


async def delete(db: AsyncDatabase, ref: Ref, message_ids: Sequence[str], now: int) -> int:
    """Delete messages; their children stay on the path. Ids that are not there are passed over. Returns how many."""
    head = await find_head(db, ref)
    if head is None:
        return 0
    deleted = 0
    many = len(message_ids) > FEW
    for message_id in message_ids:
        node = await find_node(db, head, message_id)
        if node is not None:
            head = await take_out(db, head, message_id, node, now, shift=not many)
            deleted += 1
    if deleted and many:
        await recount(db, head)
        head = head._replace(totals=await totals_at(db, head, head.leaf))
    if deleted:
        await save_head(db, ref, head, now)
    return deleted


async def clear(db: AsyncDatabase, ref: Ref, now: int) -> int:
    """Delete all messages and overlays of a session; the session itself, its events and usage stay."""
    head = await find_head(db, ref)
    if head is None:
        return 0
    key, change = (head.ns, head.session), head.change + 1
    await db.run(db.queries.tombstone_all_messages, (*key, change, now))
    await db.run(db.queries.tombstone_all_overlays, (*key, change, now))
    await _wipe(db, head, WIPED)
    # Invariant: no (strand, seq) comes twice, so the counters go on.
    cleared = Head(head.ns, head.session, change, head.next_seq, head.next_strand, 0, None, True, NOTHING)
    await save_head(db, ref, cleared, now)
    return head.messages


async def delete_session(db: AsyncDatabase, ref: Ref, now: int) -> bool:
    """Delete a session and all that belongs to it."""
    head = await find_head(db, ref)
    if head is None:
        return False
    await db.entry_index.drop_session((head.ns, head.session))
    await _wipe(db, head, (*WIPED, *OUTLIVING))
    await db.run(db.queries.session_delete, (head.ns, ref.session))
    await db.run(db.queries.tombstone_add, (head.ns, 0, 2, ref.session, head.change, now))
    return True


async def switch(db: AsyncDatabase, ref: Ref, leaf: str, now: int) -> str:
    """Make a message the active leaf. Returns its id (a summary's id means the last message it covers)."""
    head = await need_message_head(db, ref, leaf, "leaf")
    node = await need_node(db, ref, head, leaf, "leaf")
    if node.at != head.leaf:
        head = head._replace(
            leaf=node.at, leaf_open=await is_open(db, head, node.at), totals=node.path, change=head.change + 1
        )
        await save_head(db, ref, head, now)
    found: str = (await db.row(db.queries.node_at, (head.ns, head.session, *node.at)))[0]
    return found


async def take_out(db: AsyncDatabase, head: Head, message_id: str, node: Node, now: int, *, shift: bool = True) -> Head:
    """Take one node out of the tree, with all that hangs on it moved up to its parent. The head is not saved.

    Without `shift` the totals of the descendants are left wrong, for `recount` to mend.
    """
    queries, key, at = db.queries, (head.ns, head.session), node.at
    change = head.change + 1
    above = await _parent(db, head, node)
    await shrink(db, head, node, above, change, now)
    below = await children(db, head, at)
    if below:
        await context.edited(db, head)
    if shift:
        await _shift(db, head, at, NOTHING.minus(node.own))
    await db.run(queries.node_delete, (*key, *at))
    await bodies.drop(db, head, at.seq, node.externals)
    await db.index.drop(key, at.seq, node.doc, node.docs)
    for child in below:
        await db.run(queries.node_reparent, (*key, *child, above and above.seq, change))
    # Invariant: a strand hangs on a message that is there, and is never empty.
    await db.run(queries.strand_rehang, (*key, *at, *(above or (None, None))))
    if not await db.rows(queries.strand_first, (*key, at.strand)):
        await db.run(queries.strand_delete, (*key, at.strand))
    await db.run(queries.tombstone_add, (*key, 0, message_id, change, now))
    leaf = above if head.leaf == at else head.leaf
    return head._replace(
        change=change,
        messages=head.messages - 1,
        leaf=leaf,
        leaf_open=await is_open(db, head, leaf),
        totals=await totals_at(db, head, leaf),
    )


async def shrink(db: AsyncDatabase, head: Head, node: Node, above: Position | None, change: int, now: int) -> None:
    """Move the ends of the overlays off a message that goes: to its neighbour inside the range, or away."""
    raised = set()
    await db.run(db.queries.overlay_anchor_move, (head.ns, head.session, *node.at, *(above or (None, None))))
    for overlay in await list_overlays(db, head):
        if not overlay.first.seq <= node.at.seq <= overlay.last.seq:
            continue
        path = await path_to(db, head, overlay.last)
        if node.at not in path:
            continue
        first, last = overlay.first, overlay.last
        if first == last:
            await take_off(db, head, overlay.id, change, now)
            continue
        if node.at == first:
            first = await _next_on(db, head, path, node.at)
        elif node.at == last:
            assert above is not None
            last = above
            raised.add(overlay.id)
        await db.run(db.queries.overlay_move, (head.ns, head.session, overlay.id, *first, *last, change))
    if raised:
        # A summary that now ends at a fork is seen on the other branches too, and may cut through one of theirs.
        there = [
            (item, await path_to(db, head, item.last))
            for item in await list_overlays(db, head)
            if item.kind == "summary"
        ]
        for overlay, path in there:
            if overlay.id in raised and any(cuts(overlay, path, *other) for other in there):
                await take_off(db, head, overlay.id, change, now)


async def take_off(db: AsyncDatabase, head: Head, overlay_id: str, change: int, now: int) -> None:
    """Remove an overlay, and let others know."""
    await db.run(db.queries.overlay_delete, (head.ns, head.session, overlay_id))
    await db.run(db.queries.tombstone_add, (head.ns, head.session, 1, overlay_id, change, now))


async def _rewrite(db: AsyncDatabase, ref: Ref, head: Head, node: Node, draft: Draft, now: int) -> Head:
    queries, key, at = db.queries, (head.ns, head.session), node.at
    own = Totals(1, draft.size, *draft.tokens)
    grown = own.minus(node.own)
    change = head.change + 1
    doc, docs = await _rewrite_words(db, head, node, draft)
    await db.run(
        queries.node_rewrite,
        (
            *(*key, *at, draft.role, len(draft.externals), *own[1:], ESTIMATOR_VERSION, *grown[1:]),
            *(change, draft.created_at, doc, docs, INDEX_VERSION),
        ),
    )
    if node.externals:
        await bodies.drop_externals(db, head, at.seq)
    await db.run(queries.body_put, (*key, at.seq, draft.codec, draft.crc, draft.body))
    if draft.externals:
        await bodies.put_externals(db, head, at.seq, draft)
    if any(grown):
        # At the active leaf, too: where a strand ends, branches may hang.
        await _shift(db, head, at, grown)
        head = head._replace(totals=await totals_at(db, head, head.leaf))
    head = head._replace(change=change)
    await save_head(db, ref, head, now)
    return head


async def _rewrite_words(db: AsyncDatabase, head: Head, node: Node, draft: Draft) -> tuple[int | None, int]:
    """Index the new words of a message, unless they are the old ones: a changed flag costs the index nothing."""
    row = await db.row(db.queries.message_at, (head.ns, head.session, *node.at))
    try:
        same = node.analysis == INDEX_VERSION and same_words(
            await bodies.message(db, head.ns, head.session, row), drafted(draft)
        )
    except CorruptMessageError:
        same = False
    if same:
        return node.doc, node.docs
    key = (head.ns, head.session)
    await db.index.drop(key, node.at.seq, node.doc, node.docs)
    return await db.index.add(key, *node.at, draft.words), len(draft.words)


async def _shift(db: AsyncDatabase, head: Head, at: Position, by: Totals) -> None:
    """Add `by` to the path totals of everything below a message."""
    key = (head.ns, head.session)
    await db.run(db.queries.strand_shift, (*key, *at, *by))
    if await db.rows(db.queries.strand_has_children, (*key, *at)):
        await db.run(db.queries.hung_strands_shift, (*key, *at, *by))


async def _parent(db: AsyncDatabase, head: Head, node: Node) -> Position | None:
    if node.parent is None:
        return None
    key = (head.ns, head.session, node.at.strand)
    for (seq,) in await db.rows(db.queries.node_before, (*key, node.at.seq)):
        return Position(node.at.strand, seq)
    strand, seq = await db.row(db.queries.strand_parent, key)
    return Position(strand, seq)


async def _next_on(db: AsyncDatabase, head: Head, path: Path, at: Position) -> Position:
    """The message after `at` on a path that goes on."""
    return next(child for child in await children(db, head, at) if child in path)


async def _wipe(db: AsyncDatabase, head: Head, tables: Iterable[str]) -> None:
    key = (head.ns, head.session)
    await db.index.drop_session(key)
    digests = {digest for (digest,) in await db.rows(db.queries.blob_digests_of_session, key)}
    for table in tables:
        await db.run(getattr(db.queries, f"wipe_{table}"), key)
    await context.drop_prompts(db, head, False)
    await bodies.drop_unused_blobs(db, head.ns, digests)


def _tells(title: str, message: Message) -> bool:
    try:
        return tells(title, message)
    except CorruptMessageError:
        return True  # nobody can say it is not in there
