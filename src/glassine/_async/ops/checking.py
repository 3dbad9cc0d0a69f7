"""`verify` and `repair`: every row of a session looked at, what is wrong named, and what can be mended mended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from ...errors import CorruptMessageError
from ...records import NOTHING, Problem, Ref, Totals
from ...tree import Position
from ..database import AsyncDatabase
from . import bodies, context, editing, entries
from .heads import SHARED, Head, find_head, find_node, is_open, namespace_key, save_head, totals_at
from .reading import overlay_content
from .sessions import listing


async def session_ids(db: AsyncDatabase, namespace: str) -> list[str]:
    """The sessions of a namespace, by id."""
    return sorted(item.id for item in await listing(db, namespace, None))


async def check_database(db: AsyncDatabase) -> list[Problem]:
    """What the engine finds wrong with its own files, and with the search index."""
    found = [Problem("database", None, None, text) for text in await db.faults()]
    faults = [*await db.index.faults(), *await db.entry_index.faults()]
    return found + [Problem("index", None, None, text) for text in faults]


async def check_shared(db: AsyncDatabase, namespace: str, mend: bool, now: int) -> list[Problem]:
    """What is wrong with the entries that belong to a whole namespace."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return []
    key = (ns, SHARED)
    found = await entries.faults(db, key, mend, now)
    left = set(await entries.faults(db, key, False, now)) if mend and found else set(found)
    problems = [Problem("entry", None, None, text, repaired=text not in left) for text in found]
    there = await context.faults(db, key, mend)
    still = set(await context.faults(db, key, False)) if there else set()
    return problems + [Problem(code, None, None, text, repaired=(code, text) not in still) for code, text in there]


async def verify(db: AsyncDatabase, ref: Ref) -> tuple[int, list[Problem]]:
    """Look at every row of a session. Returns how many messages were looked at, and what is wrong."""
    head = await find_head(db, ref)
    if head is None:
        return 0, []
    return head.messages, [problem async for problem in _faults(db, ref, head)]


async def repair(db: AsyncDatabase, ref: Ref, now: int) -> tuple[int, list[Problem]]:
    """Mend what `verify` finds: unreadable messages go to quarantine, structure and totals are made anew."""
    head = await find_head(db, ref)
    if head is None:
        return 0, []
    looked_at = head.messages
    problems = [problem async for problem in _faults(db, ref, head)]
    if problems:
        for overlay_id in await _lost_overlays(db, head):
            await editing.take_off(db, head, overlay_id, head.change + 1, now)
        # The structure first: what is taken out must know its neighbours.
        head = await _rebuild(db, head, now)
        for problem in problems:
            if problem.code == "unreadable" and problem.message_id is not None:
                head = await _quarantine(db, head, problem.message_id, problem.detail, now)
        await editing.recount(db, head)
        await entries.faults(db, (head.ns, head.session), True, now)
        await context.faults(db, (head.ns, head.session), True)
        head = head._replace(change=head.change + 1, totals=await totals_at(db, head, head.leaf))
        await save_head(db, ref, head, now)
    left = set((await verify(db, ref))[1]) if problems else set()
    return looked_at, [replace(problem, repaired=problem not in left) for problem in problems]


async def _lost_overlays(db: AsyncDatabase, head: Head) -> list[str]:
    """Overlays whose range is gone or whose text cannot be read."""
    lost = []
    for overlay_id, gone, *content in await db.rows(db.queries.check_overlays, (head.ns, head.session)):
        try:
            overlay_content(overlay_id, *content)
        except CorruptMessageError:
            gone = True
        if gone:
            lost.append(overlay_id)
    return lost


async def _faults(db: AsyncDatabase, ref: Ref, head: Head) -> AsyncIterator[Problem]:
    queries, key = db.queries, (head.ns, head.session)
    hung = {strand: (parent, seq) for strand, parent, seq in await db.rows(queries.strand_list, key)}
    before: dict[int, int] = {}  # strand → the last seq seen on it
    sums: dict[int | None, Totals] = {None: NOTHING}
    strand_of: dict[int, int] = {}
    count = 0

    def fault(code: str, message_id: str | None, detail: str) -> Problem:
        return Problem(code, ref.session, message_id, detail)

    for row in await db.rows(queries.check_nodes, key):
        strand, seq, id, parent, role, externals, size, *numbers, codec, crc, data = row
        count += 1
        strand_of[seq] = strand
        reason, measured = await bodies.look(db, head, (seq, id, role, externals, size, codec, data), crc)
        if reason is not None:
            yield fault("unreadable", id, reason)
        elif measured != size:
            yield fault("totals", id, f"its size is written as {size} bytes and is {measured}")
        if strand not in hung:
            yield fault("structure", id, f"its strand {strand} is not there")
        due = before.get(strand, hung.get(strand, (None, None))[1])
        if parent != due:
            yield fault("structure", id, f"its parent is written as {parent} and stands at {due}")
        elif due is not None and due not in strand_of:
            yield fault("structure", id, f"it hangs on a message ({due}) that is not there")
        before[strand] = seq
        right = sums.get(due, NOTHING).plus(Totals(1, size, *numbers[:5]))
        sums[seq] = right
        if right != tuple(numbers[5:]):
            yield fault("totals", id, "the running totals of its path are wrong")
    for (seq,) in await db.rows(queries.check_bodies, key):
        if seq not in strand_of:
            yield fault("structure", None, f"a body ({seq}) belongs to no message")
    if head.messages != count:
        yield fault("totals", None, f"the session counts {head.messages} messages and has {count}")
    if head.leaf is not None and strand_of.get(head.leaf.seq) != head.leaf.strand:
        yield fault("structure", None, f"the active leaf {tuple(head.leaf)} is not there")
    elif head.totals != sums.get(head.leaf.seq if head.leaf else None, NOTHING):
        yield fault("totals", None, "the totals of the active path are wrong")
    for overlay_id in await _lost_overlays(db, head):
        yield fault("overlay", None, f"overlay {overlay_id!r} cannot be read, or its range is gone")
    for text in await entries.faults(db, key, False, 0):
        yield fault("entry", None, text)
    for code, text in await context.faults(db, key, False):
        yield fault(code, None, text)


async def _quarantine(db: AsyncDatabase, head: Head, message_id: str, reason: str, now: int) -> Head:
    node = await find_node(db, head, message_id)
    if node is None:
        return head
    key = (head.ns, head.session, node.at.seq)
    codec, data = await db.row(db.queries.body_get, key) or (None, None)
    await db.run(db.queries.quarantine_add, (*key, message_id, reason, codec, data, now))
    # What left its row stays under the same key, as whole as the bytes in quarantine.
    return await editing.take_out(db, head, message_id, node._replace(externals=0), now, shift=False)


async def _rebuild(db: AsyncDatabase, head: Head, now: int) -> Head:
    """Make strands, parents, sizes and the head agree with the nodes that are there. Totals are left for later."""
    queries, key = db.queries, (head.ns, head.session)
    hung = {strand: (parent, seq) for strand, parent, seq in await db.rows(queries.strand_list, key)}
    before: dict[int, int] = {}
    places: dict[int, Position] = {}
    for strand, seq, parent, *_ in await db.rows(queries.node_totals, key):
        if strand not in hung:
            # The strand's row is lost: its first message still knows its parent.
            above = places.get(parent) if parent is not None else None
            hung[strand] = above or (None, None)
            await db.run(queries.strand_add, (*key, strand, *hung[strand]))
        on, at = hung[strand]
        if at is not None and at not in places:
            # The message it hung on is lost: as after a deletion, the one before that is the parent.
            earlier = [place for place in places.values() if place.strand == on and place.seq < at]
            hung[strand] = max(earlier) if earlier else hung.get(on, (None, None))
            await db.run(queries.strand_delete, (*key, strand))
            await db.run(queries.strand_add, (*key, strand, *hung[strand]))
        due = before.get(strand, hung[strand][1])
        if parent != due:
            await db.run(queries.node_reparent, (*key, strand, seq, due, head.change + 1))
        before[strand] = seq
        places[seq] = Position(strand, seq)
    for (seq,) in await db.rows(queries.check_bodies, key):
        if seq not in places:
            codec, data = await db.row(queries.body_get, (*key, seq))
            what = (f"lost message {seq}", "a body belongs to no message")
            await db.run(queries.quarantine_add, (*key, seq, *what, codec, data, now))
            await db.run(queries.body_delete, (*key, seq))
    for strand, seq, id, _, role, externals, size, *_, codec, crc, data in await db.rows(queries.check_nodes, key):
        reason, measured = await bodies.look(db, head, (seq, id, role, externals, size, codec, data), crc)
        if reason is None and measured != size:
            await db.run(queries.node_set_size, (*key, strand, seq, measured))
    # No leaf beside messages is sound: the active leaf was a root and was deleted.
    leaf = head.leaf
    if leaf is not None and places.get(leaf.seq) != leaf:
        leaf = places[max(places)] if places else None
    return head._replace(
        messages=len(places),
        leaf=leaf,
        leaf_open=await is_open(db, head, leaf),
        next_seq=max(head.next_seq, max(places, default=0) + 1),
        next_strand=max(head.next_strand, max(hung, default=0) + 1),
    )
