"""Overlays: rows laid over the tree that change what a view shows, never the messages.

A *summary* stands for a range of messages on one path. It applies to every path that contains the whole range.
Where several apply, the outermost wins: what it contains lies beneath it and comes back when it is undone.
A *marker* stands for one part of a message, a *reminder* after a message; each applies to every path that contains its
message; a marker that is anchored only to those that contain the leaf of when it was laid, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ._ids import RESERVED_PREFIX
from .errors import InvalidRangeError
from .messages import Message
from .tree import Path, Position, Span

OverlayKind = Literal["summary", "marker", "reminder"]
KINDS: tuple[OverlayKind, ...] = ("summary", "marker", "reminder")


@dataclass(frozen=True, slots=True)
class Overlay:
    """One overlay of a session.

    `first_id` and `last_id` are the ends of its range (the same message for a marker or reminder), `text` is what is
    shown, `data` what else its maker noted, `anchor` is where the leaf was when it was laid,
    `covered_messages`, `covered_bytes` and `covered_tokens` (one estimate for each of `glassine.tokens.FAMILIES`) count
    what it stands for, `supersedes` names the summaries that lay in its range when it was made, and `stale` says that
    a message in its range was deleted since.
    """

    id: str
    kind: OverlayKind
    first_id: str
    last_id: str
    text: str
    created_at: datetime
    stale: bool
    supersedes: tuple[str, ...]
    covered_messages: int
    covered_bytes: int
    covered_tokens: tuple[int, int, int, int, int]
    first: Position
    last: Position
    order: int
    anchor: Position | None = None
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def message_id(self) -> str:
        """The id of the message that shows this summary in a history."""
        return RESERVED_PREFIX + self.id

    @property
    def anchored(self) -> bool:
        """Whether it shows only where its anchor is on the path."""
        return self.data.get("anchored") is True

    @property
    def size(self) -> int:
        """Bytes of the summary."""
        return len(self.text.encode("utf-8", "surrogatepass"))


def outermost(path: Path, overlays: Iterable[Overlay]) -> list[Overlay]:
    """The summaries that a reader of `path` sees, newest range first; they are disjoint."""
    # Invariant: ranges on one path are disjoint or nested (`check_range` sees to it), so going up by their first
    # message, the longer first, each range is either beneath the last one kept or wholly after it.
    there = [
        overlay for overlay in overlays if overlay.kind == "summary" and overlay.first in path and overlay.last in path
    ]
    there.sort(key=lambda overlay: (overlay.first.seq, -overlay.last.seq, -overlay.order))
    seen: list[Overlay] = []
    for overlay in there:
        if not seen or overlay.first.seq > seen[-1].last.seq:
            seen.append(overlay)
    seen.reverse()
    return seen


def beside(path: Path, overlays: Iterable[Overlay]) -> list[Overlay]:
    """The markers and reminders that apply to `path`, in the order they were laid."""
    return [
        overlay
        for overlay in overlays
        if overlay.kind != "summary"
        and overlay.first in path
        and (not overlay.anchored or overlay.anchor is None or overlay.anchor in path)
    ]


def check_range(
    first: tuple[str, Position],
    last: tuple[str, Position],
    path_to_last: Path,
    others: Sequence[tuple[Overlay, Path]],
) -> tuple[str, ...]:
    """The ids of the summaries that a new one over `first`..`last` supersedes.

    `others` are the live summaries, each with the path to its last message. Raises InvalidRangeError when the ends
    are not in order on one path, or when the range would cut through, or lie inside, another summary.
    """
    (first_id, start), (last_id, end) = first, last
    if start not in path_to_last:
        raise InvalidRangeError("the first message is not on the path to the last", first=first_id, last=last_id)
    superseded = []
    for other, path_to_other in others:
        if other.last not in path_to_last and end not in path_to_other:
            continue  # no path holds both
        if other.last.seq < start.seq or end.seq < other.first.seq:
            continue
        if start.seq <= other.first.seq and other.last.seq <= end.seq:
            superseded.append(other.id)
            continue
        inside = other.first.seq <= start.seq and end.seq <= other.last.seq
        raise InvalidRangeError(
            f"it {'lies inside' if inside else 'cuts through'} summary {other.id!r} "
            f"({other.first_id!r} to {other.last_id!r}); cover that one whole, or undo it",
            first=first_id,
            last=last_id,
            overlay_id=other.id,
        )
    return tuple(superseded)


def cuts(one: Overlay, path_to_one: Path, other: Overlay, path_to_other: Path) -> bool:
    """Whether two ranges overlap on a path that holds both, and neither contains the other."""
    if one.last not in path_to_other and other.last not in path_to_one:
        return False
    apart = one.last.seq < other.first.seq or other.last.seq < one.first.seq
    beneath = other.first.seq <= one.first.seq and one.last.seq <= other.last.seq
    around = one.first.seq <= other.first.seq and other.last.seq <= one.last.seq
    return not apart and not beneath and not around


def layers(path: Path, overlays: Iterable[Overlay]) -> list[Span | Overlay]:
    """What a reader of `path` sees, newest first: ranges of messages, and the summaries between them."""
    pieces: list[Span | Overlay] = []
    high = path.segments[0].upto if path.segments else 0
    for overlay in outermost(path, overlays):
        pieces += path.spans(overlay.last.seq + 1, high)
        pieces.append(overlay)
        high = overlay.first.seq - 1
    return pieces + path.spans(1, high)


def open_calls(summary: Overlay) -> dict[str, str]:
    """The calls under a summary that had no result when it was made: name by id."""
    return dict(summary.data.get("open", ()))


def requests(summary: Overlay) -> list[str]:
    """The ids of the user's requests that the makers of a summary were shown, though they are not in its range."""
    return list(summary.data.get("requests", ()))


def summary_message(overlay: Overlay) -> Message:
    """The message that stands for the range of a summary in a history."""
    return Message(
        id=overlay.message_id,
        role="user",
        parts=[{"type": "text", "text": overlay.text}],
        created_at=overlay.created_at,
        metadata={
            "glassine": {
                "kind": "summary",
                "overlay": overlay.id,
                "first": overlay.first_id,
                "last": overlay.last_id,
                "messages": overlay.covered_messages,
                "stale": overlay.stale,
            }
        },
    )
