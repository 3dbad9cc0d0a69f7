# Generated from src/glassine/_async/ops/recording.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Taking in a model's reply: the message, and what the request took, in one transaction."""

from __future__ import annotations

from typing import NamedTuple

from ...drafting import Draft
from ...records import Named, Ref, Usage
from ..database import Database
from . import appending, editing, sessions
from .heads import Head, find_head, find_node, path_to


class Below(NamedTuple):
    """Where a reply belongs: the leaf of the view that it answers, and what the active leaf was then."""

    leaf: str
    active: str | None


def record(db: Database, ref: Ref, draft: Draft | None, below: Below | None, usage: Usage | None, now: int) -> None:
    """Store a reply, or a later state of it, and its usage. A message that somebody deleted meanwhile stays deleted.

    Without `below`, or when that message is gone, it goes below the active leaf.
    """
    if draft is not None:
        head = find_head(db, ref)
        if head is not None and find_node(db, head, draft.id) is not None:
            editing.update(db, ref, draft, now)
        elif head is None or not db.rows(db.queries.tombstone_has, (head.ns, head.session, 0, draft.id)):
            _attach(db, ref, draft, below, now)
    if usage is not None:
        sessions.add_usage(db, ref, [usage], now)


def _attach(db: Database, ref: Ref, draft: Draft, below: Below | None, now: int) -> None:
    head = find_head(db, ref)
    node = None if head is None or below is None else find_node(db, head, below.leaf)
    if head is None or below is None or node is None:
        appending.append(db, ref, [draft], None, None, now)
        return
    active = _active(db, head)
    if below.leaf == below.active:
        # Made for the active branch. Whoever added to that meanwhile was first; whoever went elsewhere stays there.
        if head.leaf is not None and node.at in path_to(db, head, head.leaf):
            appending.append(db, ref, [draft], None, None, now)
            return
        stays = True
    else:
        stays = active != below.active  # made for another branch on purpose, which then becomes the active one
    appending.append(db, ref, [draft], Named(below.leaf), None, now)
    if stays and active is not None:
        editing.switch(db, ref, active, now)


def _active(db: Database, head: Head) -> str | None:
    if head.leaf is None:
        return None
    found: str = db.row(db.queries.node_at, (head.ns, head.session, *head.leaf))[0]
    return found
