"""Taking in a model's reply: the message, and what the request took, in one transaction."""

from __future__ import annotations

from typing import NamedTuple

from ...drafting import Draft
from ...records import Named, Ref, Usage
from ..database import AsyncDatabase
from . import appending, editing, sessions
from .heads import Head, find_head, find_node, path_to


class Below(NamedTuple):
    """Where a reply belongs: the leaf of the view that it answers, and what the active leaf was then."""

    leaf: str
    active: str | None


async def record(
    db: AsyncDatabase, ref: Ref, draft: Draft | None, below: Below | None, usage: Usage | None, now: int
) -> None:
    """Store a reply, or a later state of it, and its usage. A message that somebody deleted meanwhile stays deleted.

    Without `below`, or when that message is gone, it goes below the active leaf.
    """
    if draft is not None:
        head = await find_head(db, ref)
        if head is not None and await find_node(db, head, draft.id) is not None:
            await editing.update(db, ref, draft, now)
        elif head is None or not await db.rows(db.queries.tombstone_has, (head.ns, head.session, 0, draft.id)):
            await _attach(db, ref, draft, below, now)
    if usage is not None:
        await sessions.add_usage(db, ref, [usage], now)


async def _attach(db: AsyncDatabase, ref: Ref, draft: Draft, below: Below | None, now: int) -> None:
    head = await find_head(db, ref)
    node = None if head is None or below is None else await find_node(db, head, below.leaf)
    if head is None or below is None or node is None:
        await appending.append(db, ref, [draft], None, None, now)
        return
    active = await _active(db, head)
    if below.leaf == below.active:
        # Made for the active branch. Whoever added to that meanwhile was first; whoever went elsewhere stays there.
        if head.leaf is not None and node.at in await path_to(db, head, head.leaf):
            await appending.append(db, ref, [draft], None, None, now)
            return
        stays = True
    else:
        stays = active != below.active  # made for another branch on purpose, which then becomes the active one
    await appending.append(db, ref, [draft], Named(below.leaf), None, now)
    if stays and active is not None:
        await editing.switch(db, ref, active, now)


async def _active(db: AsyncDatabase, head: Head) -> str | None:
    if head.leaf is None:
        return None
    found: str = (await db.row(db.queries.node_at, (head.ns, head.session, *head.leaf)))[0]
    return found
