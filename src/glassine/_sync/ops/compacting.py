# Generated from src/glassine/_async/ops/compacting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""What compaction reads and writes: the weight of a path, and a summary with all that belongs to it, at once."""

from __future__ import annotations

from ... import _json
from ...exchange import Elsewhere, Laid, Weight
from ...indexing import tokens
from ...overlays import Overlay, summary_message
from ...records import NOTHING, Ref, Totals
from ...tree import Path, Span
from ..database import Database
from . import sessions
from .heads import find_head, find_node, path_to
from .overlaying import add_summary
from .reading import list_overlays, plan_of


def weigh(db: Database, ref: Ref) -> Weight:
    """What the path to the active leaf weighs, without reading a message."""
    head = find_head(db, ref)
    if head is None:
        return Weight(0, Path(()), NOTHING, NOTHING, (), ())
    usage = tuple(sessions.recent_usage(db, head))
    planned, path = plan_of(db, ref, head, None, False)
    visible = planned.visible
    for piece in planned.pieces:
        if isinstance(piece, Overlay):
            visible = visible.plus(Totals(0, 0, *tokens(summary_message(piece))))
    over = [piece.id for piece in (*planned.pieces, *planned.beside) if isinstance(piece, Overlay)]
    return Weight(head.change, path, head.totals, visible, tuple(over), usage)


def elsewhere(db: Database, ref: Ref, leaf: str) -> list[Elsewhere]:
    """The summaries that the path to a leaf shares the beginning of, but not the end."""
    head = find_head(db, ref)
    node = None if head is None else find_node(db, head, leaf)
    if head is None or node is None:
        return []
    path = path_to(db, head, node.at)
    found = []
    for overlay in list_overlays(db, head):
        if overlay.kind == "summary" and overlay.first in path and overlay.last not in path:
            other = path_to(db, head, overlay.last)
            found.append(Elsewhere(overlay.first.seq, path.shared(other)))
    return found


def lay_summary(db: Database, ref: Ref, laid: Laid, now: int) -> Overlay | None:
    """Lay a summary, with its event and what was used for it. None, and nothing is written: something in its range is
    not any more as it was when the summary was made.

    Raises InvalidRangeError when other summaries cut through the range by now.
    """
    head = find_head(db, ref)
    if head is None:
        return None
    there = list_overlays(db, head)
    if done := next((overlay for overlay in there if overlay.id == laid.id), None):
        return done  # a retry of what was committed
    known = {overlay.message_id: overlay for overlay in there}
    if not laid.replaces <= {overlay.id for overlay in there}:
        return None
    first_id = known[laid.first].first_id if laid.first in known else laid.first
    last_id = known[laid.last].last_id if laid.last in known else laid.last
    start, end = find_node(db, head, first_id), find_node(db, head, last_id)
    if start is None or end is None:
        return None
    path = path_to(db, head, end.at)
    if start.at not in path or end.path.messages - start.path.messages + 1 != laid.messages:
        return None
    key = (head.ns, head.session)
    spans = path.spans(start.at.seq, end.at.seq)
    if laid.request is not None:
        if (request := find_node(db, head, laid.request)) is None:
            return None
        spans.append(Span(request.at.strand, request.at.seq, request.at.seq))
    for span in spans:
        if db.row(db.queries.node_changed, (*key, *span))[0] > laid.change:
            return None
    newer = {id for (id,) in db.rows(db.queries.overlay_newer, (*key, laid.change))}
    inside = [other for other in there if other.id in newer and other.kind == "summary" and other.last in path]
    if any(start.at.seq <= other.last.seq and other.first.seq <= end.at.seq for other in inside):
        return None
    overlay = add_summary(db, ref, laid.id, laid.text, first_id, last_id, now, now, laid.data)
    id, kind, data = laid.event
    sessions.add_events(db, ref, [(id, kind, *_json.encode(data), None)], now)
    if laid.usage:
        sessions.add_usage(db, ref, laid.usage, now)
    return overlay
