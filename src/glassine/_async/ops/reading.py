"""Reading paths: the ranges that are visible are read one by one, and what no reader sees is never touched."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from ... import _json
from ..._ids import RESERVED_PREFIX
from ...errors import CorruptMessageError, MessageNotFoundError
from ...exchange import Plan
from ...indexing import tokens
from ...marking import by_message, replaced, shown_by
from ...messages import ROLES, Message
from ...moments import from_micros
from ...overlays import KINDS, Overlay, OverlayKind, beside, layers, outermost, summary_message
from ...records import NOTHING, Outline, Recent, Ref, Totals
from ...tree import Path, Position, Span
from ...turns import begins_turn
from ..database import AsyncDatabase
from . import bodies
from .heads import Head, find_head, need_node, path_to
from .sessions import recent_usage

if TYPE_CHECKING:
    from ...showing import Seen

PAGE_MESSAGES = 256
PAGE_BYTES = 4 * 1024 * 1024


async def plan(db: AsyncDatabase, ref: Ref, leaf: str | None, raw: bool) -> Plan:
    """Lay out the path to `leaf` (None: the active one). `raw` leaves the overlays out."""
    head = await find_head(db, ref)
    if head is None:
        if leaf is not None:
            raise MessageNotFoundError(leaf, session_id=ref.session, named_as="leaf")
        return Plan(0, 0, (), NOTHING)
    return (await plan_of(db, ref, head, leaf, raw))[0]


async def plan_of(db: AsyncDatabase, ref: Ref, head: Head, leaf: str | None, raw: bool) -> tuple[Plan, Path]:
    """The same in a session that is there, and the path itself."""
    if leaf is None:
        at, totals = head.leaf, head.totals
    else:
        node = await need_node(db, ref, head, leaf, "leaf")
        at, totals = node.at, node.path
    path = await path_to(db, head, at)
    overlays = () if raw else await list_overlays(db, head)
    for overlay in outermost(path, overlays):
        totals = totals.minus(Totals(overlay.covered_messages, overlay.covered_bytes, *overlay.covered_tokens))
        totals = totals.plus(Totals(1, overlay.size))
    return Plan(head.ns, head.session, layers(path, overlays), totals, beside(path, overlays)), path


async def history(db: AsyncDatabase, ref: Ref, leaf: str | None, raw: bool) -> list[Message]:
    """The whole path, oldest first, decoded: a message that cannot be read is found here, not later."""
    planned = await plan(db, ref, leaf, raw)
    found = []
    async for message, _, _, _ in _walk(db, planned, newest_first=False):
        _check(message, ref)
        found.append(message)
    if len(found) != planned.visible.messages:
        raise _lacking(found, planned, ref)
    return found


async def seen(db: AsyncDatabase, ref: Ref, leaf: str | None) -> Seen:
    """All that a view of one path is made from, of one moment; messages as they are stored."""
    from ...showing import Seen  # with all that a view needs; who only reads messages never asks for it

    head = await find_head(db, ref)
    if head is None and leaf is not None:
        raise MessageNotFoundError(leaf, session_id=ref.session, named_as="leaf")
    planned, path = (None, Path(())) if head is None else await plan_of(db, ref, head, leaf, False)
    if head is None or planned is None or not path.segments:
        number, change = (1, 0) if head is None else (head.next_seq, head.change)
        usage = () if head is None else await recent_usage(db, head)
        return Seen(None, None, (), (), (), number, 0, usage=tuple(usage), change=change)
    numbers: list[int] = []
    pieces: list[Message | Overlay] = []
    async for message, index, seq, _ in _walk(db, planned._replace(beside=()), newest_first=False):
        piece = planned.pieces[index]
        if not isinstance(piece, Overlay):
            _check(message, ref)
        pieces.append(piece if isinstance(piece, Overlay) else message)
        numbers.append(piece.first.seq if isinstance(piece, Overlay) else seq)
    if len(pieces) != planned.visible.messages:
        raise _lacking(pieces, planned, ref)
    named = await db.row(db.queries.prompt_named, (head.ns, ref.session))
    since = 0 if named is None else named[3]
    at = Position(*path.segments[0])
    leaf_id = active = (await db.row(db.queries.node_at, (head.ns, head.session, *at)))[0]
    if head.leaf is not None and head.leaf != at:
        active = (await db.row(db.queries.node_at, (head.ns, head.session, *head.leaf)))[0]
    return Seen(
        leaf=leaf_id,
        active=active,
        pieces=tuple(pieces),
        numbers=tuple(numbers),
        beside=tuple(planned.beside),
        next=head.next_seq,
        since=since,
        visible=planned.visible,
        usage=tuple(await recent_usage(db, head)),
        change=head.change,
    )


async def next_number(db: AsyncDatabase, ref: Ref) -> int:
    """The number that the next message of a session will get."""
    head = await find_head(db, ref)
    return 1 if head is None else head.next_seq


def _lacking(found: Sequence[Message | Overlay], planned: Plan, ref: Ref) -> CorruptMessageError:
    # Invariant: nothing vanishes silently. A lost row or strand leaves a path shorter than its totals say.
    return CorruptMessageError(
        found[0].id if found else "active leaf",
        f"of the {planned.visible.messages} messages on its path {len(found)} are there; `verify` says more",
        session_id=ref.session,
    )


async def first_page(
    db: AsyncDatabase, ref: Ref, leaf: str | None, raw: bool, newest_first: bool
) -> tuple[list[Message], Plan]:
    """Plan a path and read its first page; the plan returned is for what is left."""
    return await next_page(db, await plan(db, ref, leaf, raw), newest_first)


async def next_page(db: AsyncDatabase, planned: Plan, newest_first: bool) -> tuple[list[Message], Plan]:
    """Read on. Pages are bounded by number and bytes; between two of them nothing is held open."""
    messages: list[Message] = []
    bytes_left = PAGE_BYTES
    async for message, index, seq, size in _walk(db, planned, newest_first):
        messages.append(message)
        bytes_left -= size
        if len(messages) == PAGE_MESSAGES or bytes_left <= 0:
            return messages, planned._replace(pieces=_behind(planned.pieces, index, seq, newest_first))
    return messages, planned._replace(pieces=())


async def recent(
    db: AsyncDatabase,
    ref: Ref,
    leaf: str | None,
    max_messages: int | None,
    max_bytes: int | None,
    min_messages: int,
    max_turns: int | None,
) -> Recent:
    """The newest visible messages within all limits, but by bytes never fewer than `min_messages`."""
    planned = await plan(db, ref, leaf, False)
    messages: list[Message] = []
    total = 0
    wanted = planned if max_messages != 0 and max_turns != 0 else planned._replace(pieces=())
    turns = 0
    async for message, _, _, size in _walk(db, wanted, newest_first=True):
        total += size
        if max_bytes is not None and total > max_bytes and len(messages) >= min_messages:
            break
        _check(message, ref)
        messages.append(message)
        if len(messages) == max_messages:
            break
        if max_turns is not None and begins_turn(message):
            turns += 1
            if turns == max_turns:
                break
    messages.reverse()
    visible = planned.visible
    return Recent(tuple(messages), len(messages) < visible.messages, visible.messages, visible.size)


async def _walk(db: AsyncDatabase, planned: Plan, newest_first: bool) -> AsyncIterator[tuple[Message, int, int, int]]:
    """(message, index of its piece, seq, bytes) for all that the plan shows."""
    ns, session, pieces = planned.ns, planned.session, planned.pieces
    stored, roles, known = Message.stored, ROLES, len(ROLES)
    over = by_message(planned.beside)
    for index in range(len(pieces)) if newest_first else range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        if isinstance(piece, Overlay):
            yield summary_message(piece), index, 0, piece.size
            continue
        async for row in db.span((ns, session), piece, newest_first):
            seq, id, role, externals, size, codec, data = row
            if id in over:
                message = await bodies.message(db, ns, session, row)
                outputs = {call: shown_by(marker) for call, marker in over[id].items()}
                yield replaced(message, outputs), index, seq, size
            elif externals or data is None or not 0 <= role < known:
                yield await bodies.message(db, ns, session, row), index, seq, size
            else:
                yield stored(id, roles[role], codec, data), index, seq, size


def _check(message: Message, ref: Ref) -> None:
    try:
        message.check()
    except CorruptMessageError as error:
        raise CorruptMessageError(error.message_id, error.reason, session_id=ref.session) from error


def _behind(pieces: Sequence[Span | Overlay], index: int, seq: int, newest_first: bool) -> Sequence[Span | Overlay]:
    """What is left of `pieces` once the message at `seq` in the piece at `index` was read."""
    here = pieces[index]
    left: list[Span | Overlay] = []
    if isinstance(here, Span):
        left = [here._replace(high=seq - 1) if newest_first else here._replace(low=seq + 1)]
    return [*left, *pieces[index + 1 :]] if newest_first else [*pieces[:index], *left]


async def get(db: AsyncDatabase, ref: Ref, message_id: str) -> Message | None:
    """One message, or the message of a summary, by its id."""
    head = await find_head(db, ref)
    if head is None:
        return None
    row = await db.row(db.queries.message_get, (head.ns, head.session, message_id))
    if row is not None:
        return await bodies.message(db, head.ns, head.session, row)
    if message_id.startswith(RESERVED_PREFIX):
        for overlay in await list_overlays(db, head):
            if overlay.message_id == message_id and overlay.kind == "summary":
                return summary_message(overlay)
    return None


async def leaf(db: AsyncDatabase, ref: Ref) -> Message | None:
    """The message at the active leaf."""
    head = await find_head(db, ref)
    if head is None or head.leaf is None:
        return None
    row = await db.row(db.queries.message_at, (head.ns, head.session, *head.leaf))
    if row is None:
        raise CorruptMessageError("active leaf", "it is not there", session_id=ref.session)
    return await bodies.message(db, head.ns, head.session, row)


async def totals(db: AsyncDatabase, ref: Ref, leaf: str | None, raw: bool) -> Totals:
    """What a history comes to: stored totals, and the summaries that are shown, estimated."""
    planned = await plan(db, ref, leaf, raw)
    found = planned.visible
    for piece in planned.pieces:
        if isinstance(piece, Overlay):
            found = found.plus(Totals(0, 0, *tokens(summary_message(piece))))
    return found


async def path_length(db: AsyncDatabase, ref: Ref, leaf: str | None) -> int:
    """Stored messages on a path, whatever lies over them."""
    head = await find_head(db, ref)
    if head is None or leaf is None:
        if leaf is not None:
            raise MessageNotFoundError(leaf, session_id=ref.session, named_as="leaf")
        return 0 if head is None else head.totals.messages
    return (await need_node(db, ref, head, leaf, "leaf")).path.messages


async def branches(db: AsyncDatabase, ref: Ref, message_id: str | None) -> list[Message]:
    """The children of a message (None: the roots) in the order they were inserted."""
    head = await find_head(db, ref)
    if head is None:
        if message_id is not None:
            raise MessageNotFoundError(message_id, session_id=ref.session)
        return []
    at = None if message_id is None else (await need_node(db, ref, head, message_id)).at
    found = []
    for child in await children(db, head, at):
        row = await db.row(db.queries.message_at, (head.ns, head.session, *child))
        found.append(await bodies.message(db, head.ns, head.session, row))
    return found


async def children(db: AsyncDatabase, head: Head, at: Position | None) -> list[Position]:
    """Where the children of a message stand: the next on its strand, and the first of each strand hung on it."""
    queries, key = db.queries, (head.ns, head.session)
    found = []
    if at is not None:
        found = [Position(at.strand, seq) for (seq,) in await db.rows(queries.node_after, (*key, *at))]
    for (strand,) in await db.rows(queries.strand_children, (*key, *(at or (None, None)))):
        found += [Position(strand, seq) for (seq,) in await db.rows(queries.strand_first, (*key, strand))]
    return sorted(found, key=lambda position: position.seq)


async def outline(db: AsyncDatabase, ref: Ref) -> list[Outline]:
    """The shape of the whole tree in the order of insertion, without reading a body."""
    head = await find_head(db, ref)
    if head is None:
        return []
    ids: dict[int, str] = {}
    found = []
    for seq, id, parent, role, size, created_at, stored_at in await db.rows(
        db.queries.outline, (head.ns, head.session)
    ):
        ids[seq] = id
        created = None if created_at is None else from_micros(created_at)
        found.append(
            Outline(id, None if parent is None else ids[parent], ROLES[role], size, created, from_micros(stored_at))
        )
    return found


async def list_overlays(db: AsyncDatabase, head: Head) -> list[Overlay]:
    """All overlays of a session, in the order they were made."""
    return [_overlay(row) for row in await db.rows(db.queries.overlay_list, (head.ns, head.session))]


async def overlays(db: AsyncDatabase, ref: Ref) -> list[Overlay]:
    head = await find_head(db, ref)
    return [] if head is None else await list_overlays(db, head)


def overlay_content(
    id: str, kind: int, supersedes: str, codec: int, data: bytes
) -> tuple[OverlayKind, Any, dict[str, Any]]:
    """Kind, superseded ids and content of an overlay's row. Raises CorruptMessageError."""
    try:
        content = _json.decode(codec, data)
        if not isinstance(content["text"], str):
            raise TypeError("its text is none")
        return KINDS[kind], tuple(json.loads(supersedes)), content
    except (ValueError, LookupError, TypeError) as error:
        raise CorruptMessageError(RESERVED_PREFIX + id, f"overlay {id!r}: {error}") from error


def _overlay(row: tuple[Any, ...]) -> Overlay:
    order, id, kind, first_strand, first_seq, last_strand, last_seq, stale, supersedes, codec, data, *rest = row
    created_at, anchor_strand, anchor_seq, first_id, last_id, messages, size, *estimates = rest
    kind_name, beneath, content = overlay_content(id, kind, supersedes, codec, data)
    return Overlay(
        id=id,
        kind=kind_name,
        first_id=first_id,
        last_id=last_id,
        text=content.pop("text"),
        created_at=from_micros(created_at),
        stale=bool(stale),
        supersedes=beneath,
        covered_messages=messages,
        covered_bytes=size,
        covered_tokens=tuple(estimates),
        first=Position(first_strand, first_seq),
        last=Position(last_strand, last_seq),
        order=order,
        anchor=None if anchor_seq is None else Position(anchor_strand, anchor_seq),
        data=content,
    )
