# Generated from src/glassine/_async/ops/editing.py by scripts/unasync.py. Edit that file and run ./dev fix.
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
from ..database import Database
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


def update(db: Database, ref: Ref, draft: Draft, now: int) -> None:
    """Replace the content of a stored message."""
    head = need_message_head(db, ref, draft.id)
    node = find_node(db, head, draft.id)
    if node is None:
        raise MessageNotFoundError(draft.id, session_id=ref.session)
    if children(db, head, node.at):
        context.edited(db, head)
    _rewrite(db, ref, head, node, draft, now)


def redact(db: Database, ref: Ref, message_id: str, remake: Callable[[Message], Draft], now: int) -> list[str]:
    """Replace a message by what `remake` leaves of it, and drop what derives from it. Of a message that was deleted,
    alone or with its session, there is only the latter.

    Returns the ids of the summaries that went.
    """
    head = find_head(db, ref) or _of_no_session(db, ref, message_id)
    try:
        node = need_node(db, ref, head, message_id)
    except MessageNotFoundError:
        if not _redact_deleted(db, ref, head, message_id, now):
            raise
        return []
    row = db.row(db.queries.message_at, (head.ns, head.session, *node.at))
    before = bodies.message(db, head.ns, head.session, row)
    dropped = _drop_derived(db, ref, head._replace(change=head.change + 1), node, before, now)
    if children(db, head, node.at):
        context.edited(db, head)
    _rewrite(db, ref, head, node, remake(before), now)
    return dropped


def _of_no_session(db: Database, ref: Ref, message_id: str) -> Head:
    """What stands for the head of a session that is gone: nothing has its key."""
    ns = namespace_key(db, ref.namespace)
    if ns is None:
        raise MessageNotFoundError(message_id, session_id=ref.session)
    return Head(ns, -1, 0, 1, 1, 0, None, True, NOTHING)


def _redact_deleted(db: Database, ref: Ref, head: Head, message_id: str, now: int) -> bool:
    """Drop what a message wrote that is gone. False: it was never here, as far as anybody can tell."""
    context.take_turns(db, ref, head, message_id)
    change = head.change + 1
    found = _drop_written(db, ref, head._replace(change=change), message_id, now)
    known = found or bool(db.rows(db.queries.tombstone_has, (head.ns, head.session, 0, message_id)))
    if known:
        save_head(db, ref, head._replace(change=change), now)
    return known


def recount(db: Database, head: Head) -> None:
    """Count every path's totals anew, in one pass: a parent always comes before its children."""
    queries, key = db.queries, (head.ns, head.session)
    sums: dict[int | None, Totals] = {None: NOTHING}
    for strand, seq, parent, *numbers in db.rows(queries.node_totals, key):
        right = sums[parent].plus(Totals(1, *numbers[:6]))
        sums[seq] = right
        if right != tuple(numbers[6:]):
            db.run(queries.node_set_totals, (*key, strand, seq, *right))


def _drop_derived(db: Database, ref: Ref, head: Head, node: Node, before: Message, now: int) -> list[str]:
    context.take_turns(db, ref, head, before.id)
    title = db.row(db.queries.session_title, (head.ns, ref.session))[0]
    if title is not None and _tells(title, before):
        db.run(db.queries.session_retitle, (head.ns, ref.session, None))
    dropped = []
    for overlay in list_overlays(db, head):
        over = overlay.first.seq <= node.at.seq <= overlay.last.seq and node.at in path_to(db, head, overlay.last)
        if over or before.id in requests(overlay):
            take_off(db, head, overlay.id, head.change, now)
            dropped.append(overlay.id)
    _drop_written(db, ref, head, before.id, now)
    return dropped


def _drop_written(db: Database, ref: Ref, head: Head, message_id: str, now: int) -> bool:
    """Remove the lines and entries that a message wrote, and the reminders and prompts that may show them. The head is
    not saved. Returns whether it wrote any that were there."""
    own, shared = (head.ns, head.session), (head.ns, SHARED)
    found = {}
    for key in (own, shared):
        change = head.change if key == own else None
        lines = context.forget_lines(db, key, Origin(message_id, ref.session), change, now)
        found[key] = sorted({*lines, *entries.drop_of_message(db, ref, key, message_id, now)})
        for label in found[key]:
            context.drop_reminders(db, head, label, key == own, head.change, now)
    # Invariant: of another session's rows, overlays are locked first, then prompts, then what media share: in the order
    # in which those do who write to that session. So nobody waits in a circle.
    context.drop_prompts(db, head, bool(found[shared]))
    return any(found.values())


def delete(db: Database, ref: Ref, message_ids: Sequence[str], now: int) -> int:
    """Delete messages; their children stay on the path. Ids that are not there are passed over. Returns how many."""
    head = find_head(db, ref)
    if head is None:
        return 0
    deleted = 0
    many = len(message_ids) > FEW
    for message_id in message_ids:
        node = find_node(db, head, message_id)
        if node is not None:
            head = take_out(db, head, message_id, node, now, shift=not many)
            deleted += 1
    if deleted and many:
        recount(db, head)
        head = head._replace(totals=totals_at(db, head, head.leaf))
    if deleted:
        save_head(db, ref, head, now)
    return deleted


def clear(db: Database, ref: Ref, now: int) -> int:
    """Delete all messages and overlays of a session; the session itself, its events and usage stay."""
    head = find_head(db, ref)
    if head is None:
        return 0
    key, change = (head.ns, head.session), head.change + 1
    db.run(db.queries.tombstone_all_messages, (*key, change, now))
    db.run(db.queries.tombstone_all_overlays, (*key, change, now))
    _wipe(db, head, WIPED)
    # Invariant: no (strand, seq) comes twice, so the counters go on.
    cleared = Head(head.ns, head.session, change, head.next_seq, head.next_strand, 0, None, True, NOTHING)
    save_head(db, ref, cleared, now)
    return head.messages


def delete_session(db: Database, ref: Ref, now: int) -> bool:
    """Delete a session and all that belongs to it."""
    head = find_head(db, ref)
    if head is None:
        return False
    db.entry_index.drop_session((head.ns, head.session))
    _wipe(db, head, (*WIPED, *OUTLIVING))
    db.run(db.queries.session_delete, (head.ns, ref.session))
    db.run(db.queries.tombstone_add, (head.ns, 0, 2, ref.session, head.change, now))
    return True


def switch(db: Database, ref: Ref, leaf: str, now: int) -> str:
    """Make a message the active leaf. Returns its id (a summary's id means the last message it covers)."""
    head = need_message_head(db, ref, leaf, "leaf")
    node = need_node(db, ref, head, leaf, "leaf")
    if node.at != head.leaf:
        head = head._replace(
            leaf=node.at, leaf_open=is_open(db, head, node.at), totals=node.path, change=head.change + 1
        )
        save_head(db, ref, head, now)
    found: str = db.row(db.queries.node_at, (head.ns, head.session, *node.at))[0]
    return found


def take_out(db: Database, head: Head, message_id: str, node: Node, now: int, *, shift: bool = True) -> Head:
    """Take one node out of the tree, with all that hangs on it moved up to its parent. The head is not saved.

    Without `shift` the totals of the descendants are left wrong, for `recount` to mend.
    """
    queries, key, at = db.queries, (head.ns, head.session), node.at
    change = head.change + 1
    above = _parent(db, head, node)
    shrink(db, head, node, above, change, now)
    below = children(db, head, at)
    if below:
        context.edited(db, head)
    if shift:
        _shift(db, head, at, NOTHING.minus(node.own))
    db.run(queries.node_delete, (*key, *at))
    bodies.drop(db, head, at.seq, node.externals)
    db.index.drop(key, at.seq, node.doc, node.docs)
    for child in below:
        db.run(queries.node_reparent, (*key, *child, above and above.seq, change))
    # Invariant: a strand hangs on a message that is there, and is never empty.
    db.run(queries.strand_rehang, (*key, *at, *(above or (None, None))))
    if not db.rows(queries.strand_first, (*key, at.strand)):
        db.run(queries.strand_delete, (*key, at.strand))
    db.run(queries.tombstone_add, (*key, 0, message_id, change, now))
    leaf = above if head.leaf == at else head.leaf
    return head._replace(
        change=change,
        messages=head.messages - 1,
        leaf=leaf,
        leaf_open=is_open(db, head, leaf),
        totals=totals_at(db, head, leaf),
    )


def shrink(db: Database, head: Head, node: Node, above: Position | None, change: int, now: int) -> None:
    """Move the ends of the overlays off a message that goes: to its neighbour inside the range, or away."""
    raised = set()
    db.run(db.queries.overlay_anchor_move, (head.ns, head.session, *node.at, *(above or (None, None))))
    for overlay in list_overlays(db, head):
        if not overlay.first.seq <= node.at.seq <= overlay.last.seq:
            continue
        path = path_to(db, head, overlay.last)
        if node.at not in path:
            continue
        first, last = overlay.first, overlay.last
        if first == last:
            take_off(db, head, overlay.id, change, now)
            continue
        if node.at == first:
            first = _next_on(db, head, path, node.at)
        elif node.at == last:
            assert above is not None
            last = above
            raised.add(overlay.id)
        db.run(db.queries.overlay_move, (head.ns, head.session, overlay.id, *first, *last, change))
    if raised:
        # A summary that now ends at a fork is seen on the other branches too, and may cut through one of theirs.
        there = [(item, path_to(db, head, item.last)) for item in list_overlays(db, head) if item.kind == "summary"]
        for overlay, path in there:
            if overlay.id in raised and any(cuts(overlay, path, *other) for other in there):
                take_off(db, head, overlay.id, change, now)


def take_off(db: Database, head: Head, overlay_id: str, change: int, now: int) -> None:
    """Remove an overlay, and let others know."""
    db.run(db.queries.overlay_delete, (head.ns, head.session, overlay_id))
    db.run(db.queries.tombstone_add, (head.ns, head.session, 1, overlay_id, change, now))


def _rewrite(db: Database, ref: Ref, head: Head, node: Node, draft: Draft, now: int) -> Head:
    queries, key, at = db.queries, (head.ns, head.session), node.at
    own = Totals(1, draft.size, *draft.tokens)
    grown = own.minus(node.own)
    change = head.change + 1
    doc, docs = _rewrite_words(db, head, node, draft)
    db.run(
        queries.node_rewrite,
        (
            *(*key, *at, draft.role, len(draft.externals), *own[1:], ESTIMATOR_VERSION, *grown[1:]),
            *(change, draft.created_at, doc, docs, INDEX_VERSION),
        ),
    )
    if node.externals:
        bodies.drop_externals(db, head, at.seq)
    db.run(queries.body_put, (*key, at.seq, draft.codec, draft.crc, draft.body))
    if draft.externals:
        bodies.put_externals(db, head, at.seq, draft)
    if any(grown):
        # At the active leaf, too: where a strand ends, branches may hang.
        _shift(db, head, at, grown)
        head = head._replace(totals=totals_at(db, head, head.leaf))
    head = head._replace(change=change)
    save_head(db, ref, head, now)
    return head


def _rewrite_words(db: Database, head: Head, node: Node, draft: Draft) -> tuple[int | None, int]:
    """Index the new words of a message, unless they are the old ones: a changed flag costs the index nothing."""
    row = db.row(db.queries.message_at, (head.ns, head.session, *node.at))
    try:
        same = node.analysis == INDEX_VERSION and same_words(
            bodies.message(db, head.ns, head.session, row), drafted(draft)
        )
    except CorruptMessageError:
        same = False
    if same:
        return node.doc, node.docs
    key = (head.ns, head.session)
    db.index.drop(key, node.at.seq, node.doc, node.docs)
    return db.index.add(key, *node.at, draft.words), len(draft.words)


def _shift(db: Database, head: Head, at: Position, by: Totals) -> None:
    """Add `by` to the path totals of everything below a message."""
    key = (head.ns, head.session)
    db.run(db.queries.strand_shift, (*key, *at, *by))
    if db.rows(db.queries.strand_has_children, (*key, *at)):
        db.run(db.queries.hung_strands_shift, (*key, *at, *by))


def _parent(db: Database, head: Head, node: Node) -> Position | None:
    if node.parent is None:
        return None
    key = (head.ns, head.session, node.at.strand)
    for (seq,) in db.rows(db.queries.node_before, (*key, node.at.seq)):
        return Position(node.at.strand, seq)
    strand, seq = db.row(db.queries.strand_parent, key)
    return Position(strand, seq)


def _next_on(db: Database, head: Head, path: Path, at: Position) -> Position:
    """The message after `at` on a path that goes on."""
    return next(child for child in children(db, head, at) if child in path)


def _wipe(db: Database, head: Head, tables: Iterable[str]) -> None:
    key = (head.ns, head.session)
    db.index.drop_session(key)
    digests = {digest for (digest,) in db.rows(db.queries.blob_digests_of_session, key)}
    for table in tables:
        db.run(getattr(db.queries, f"wipe_{table}"), key)
    context.drop_prompts(db, head, False)
    bodies.drop_unused_blobs(db, head.ns, digests)


def _tells(title: str, message: Message) -> bool:
    try:
        return tells(title, message)
    except CorruptMessageError:
        return True  # nobody can say it is not in there
