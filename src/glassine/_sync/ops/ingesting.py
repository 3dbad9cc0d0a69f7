# Generated from src/glassine/_async/ops/ingesting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Taking in a client's list: read the path, reconcile, write, all in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ...drafting import draft
from ...ingesting import Append, as_stored, reconcile
from ...messages import Message
from ...records import Ingested, Named, Ref
from ..database import Database
from .appending import append
from .editing import update
from .heads import find_head, find_node
from .reading import history, list_overlays


def ingest(db: Database, ref: Ref, incoming: Sequence[Message], now: int) -> Ingested:
    """Reconcile `incoming` (ids minted) with the active path."""
    head = find_head(db, ref)
    deleted: set[str] = set()
    if head is not None:
        key = (head.ns, head.session, 0)
        deleted = {
            message.id
            for message in incoming
            if db.rows(db.queries.tombstone_has, (*key, message.id)) and find_node(db, head, message.id) is None
        }
    incoming = [message for message in incoming if message.id not in deleted]
    path = history(db, ref, None, True)
    incoming = as_stored(incoming, path, [] if head is None else list_overlays(db, head))
    plan = reconcile(path, incoming)
    appended, updated = [], []
    for step in plan.steps:
        if isinstance(step, Append):
            message = incoming[step.index]
            if append(db, ref, [draft(message)], Named(step.parent), None, now).added == [True]:
                appended.append(message.id)
        else:
            update(db, ref, draft(step.message), now)
            updated.append(step.message.id)
    known = {incoming[index].id: stored for index, stored in plan.known.items()}
    return Ingested(tuple(appended), tuple(updated), tuple(sorted(deleted)), known)
