"""Laying overlays over the tree and taking them off again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ... import _json
from ...errors import ConflictError, OverlayNotFoundError
from ...marking import Laying
from ...overlays import KINDS, Overlay, check_range
from ...records import Ref
from ..database import AsyncDatabase
from . import context
from .heads import find_head, need_message_head, need_node, path_to, save_head
from .reading import list_overlays

_SUMMARY = KINDS.index("summary")


async def add_summary(
    db: AsyncDatabase,
    ref: Ref,
    overlay_id: str,
    text: str,
    first: str,
    last: str,
    made: int,
    now: int,
    data: Mapping[str, Any],
) -> Overlay:
    """Lay a summary, made at `made`, over `first`..`last`, and keep `data` with it. Raises InvalidRangeError when it
    does not fit there."""
    head = await need_message_head(db, ref, first, "first message")
    there = await list_overlays(db, head)
    # A summary's message, named as the first, means the first message it covers: a history's range is taken whole.
    begins = next((overlay.first_id for overlay in there if overlay.message_id == first), first)
    start = await need_node(db, ref, head, begins, "first message")
    end = await need_node(db, ref, head, last, "last message")
    for overlay in there:
        if overlay.id == overlay_id:
            # Invariant: as with messages, laying the same overlay again is a no-op, so that a retry is safe.
            if (overlay.kind, overlay.text, overlay.first, overlay.last) == ("summary", text, start.at, end.at):
                return overlay
            raise ConflictError(
                "the overlay is already there with another range or text",
                session_id=ref.session,
                message_id=overlay.message_id,
            )
    superseded = check_range(
        (first, start.at),
        (last, end.at),
        await path_to(db, head, end.at),
        [(other, await path_to(db, head, other.last)) for other in there if other.kind == "summary"],
    )
    codec, packed = _json.encode({"text": text, **data})
    change = head.change + 1
    order = (await db.row(db.queries.overlay_next, (head.ns, head.session)))[0]
    await db.run(
        db.queries.overlay_add,
        (
            *(head.ns, head.session, order, overlay_id, _SUMMARY, *start.at, *end.at, *(head.leaf or (None, None))),
            *(json.dumps(superseded), codec, packed, made, change),
        ),
    )
    await save_head(db, ref, head._replace(change=change), now)
    return next(overlay for overlay in await list_overlays(db, head) if overlay.id == overlay_id)


async def lay(db: AsyncDatabase, ref: Ref, layings: Sequence[Laying], now: int) -> list[str]:
    """Lay markers and reminders on messages. What lies there already stays so. Returns the ids of the new ones."""
    head = await find_head(db, ref)
    if head is None:
        return []
    there = {overlay.id for overlay in await list_overlays(db, head)}
    order = (await db.row(db.queries.overlay_next, (head.ns, head.session)))[0]
    change = head.change + 1
    new: list[str] = []
    for laying in layings:
        overlay_id = laying.id
        if laying.anchored and head.leaf is not None:
            overlay_id += f"-{head.leaf.seq}"  # the same on another branch is another one
        if overlay_id in there:
            continue
        at = (await need_node(db, ref, head, laying.message_id)).at
        codec, data = _json.encode({"text": laying.text, "anchored": laying.anchored, **laying.data})
        await db.run(
            db.queries.overlay_add,
            (
                *(head.ns, head.session, order + len(new), overlay_id, KINDS.index(laying.kind), *at, *at),
                *(*(head.leaf or (None, None)), "[]", codec, data, now, change),
            ),
        )
        there.add(overlay_id)
        new.append(overlay_id)
    if new:
        await save_head(db, ref, head._replace(change=change), now)
    return new


async def undo(db: AsyncDatabase, ref: Ref, overlay_id: str, now: int) -> Overlay:
    """Take an overlay off; what lay beneath it shows again."""
    head = await find_head(db, ref)
    if head is not None:
        for overlay in await list_overlays(db, head):
            if overlay.id == overlay_id:
                change = head.change + 1
                await db.run(db.queries.overlay_delete, (head.ns, head.session, overlay_id))
                await db.run(db.queries.tombstone_add, (head.ns, head.session, 1, overlay_id, change, now))
                await context.edited(db, head)
                await save_head(db, ref, head._replace(change=change), now)
                return overlay
    raise OverlayNotFoundError(overlay_id, session_id=ref.session)
