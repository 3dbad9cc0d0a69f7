"""What a summary keeps of the range it stands for, beside its text: which skills were loaded there, by name, and which
calls had no result yet. What earlier summaries in the range kept is kept on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .compaction import CompactionPlan
from .exchange import Elsewhere
from .marking import UNLOADED, by_message, replaced
from .messages import Message, results
from .overlays import Overlay, open_calls, requests
from .showing import Seen, ViewEntry
from .tools import shortened


class Kept(NamedTuple):
    """`note` is added to the summary's text, `data` is stored with it, `replaces` are the summaries in its range."""

    note: str
    data: dict[str, Any]
    replaces: frozenset[str]


def covered(entries: Sequence[ViewEntry], plan: CompactionPlan) -> Sequence[ViewEntry]:
    """The entries that a plan's summary will stand for."""
    return entries[plan.head : plan.head + plan.covered]


def kept(seen: Seen, inside: Sequence[ViewEntry], plan: CompactionPlan, names_skills: bool) -> Kept:
    """What the summary over these entries keeps. `names_skills`: the session has skills to load again."""
    ids = {entry.message.id for entry in inside}
    summaries = [piece for piece in seen.pieces if isinstance(piece, Overlay) and piece.message_id in ids]
    answered = _answered(inside)
    waiting = {id: name for piece in summaries for id, name in open_calls(piece).items() if id not in answered}
    data: dict[str, Any] = {"open": [list(item) for item in (waiting | dict(plan.open_calls)).items()]}
    shown = [id for piece in summaries for id in requests(piece)] + [plan.request_id]
    data["requests"] = list(dict.fromkeys([id for id in shown if id is not None]))
    note = ""
    if names_skills:
        there = seen.copies
        skills = {(label, key) for piece in summaries for label, key in piece.data.get("skills", ())}
        skills |= {(copy.label, copy.key) for copy in there if copy.shown and copy.message_id in ids}
        skills -= {(copy.label, copy.key) for copy in there if copy.shown and copy.message_id not in ids}
        if skills:
            data["skills"] = sorted([label, key] for label, key in skills)
            names = ", ".join([shortened(key) for _, key in data["skills"]])
            note = data["note"] = (
                f"\n\n[Skills that were loaded here and are not any more: {names}. Load what is needed.]"
            )
    return Kept(note, data, frozenset([piece.id for piece in summaries]))


def closed(seen: Seen, elsewhere: Sequence[Elsewhere]) -> set[int]:
    """The places on a path where no range may end, by how many entries are before them: inside such summaries."""
    found = set()
    for place, (piece, number) in enumerate(zip(seen.pieces, seen.numbers, strict=True), 1):
        last = piece.last.seq if isinstance(piece, Overlay) else number
        if any(other.first <= last <= other.shared for other in elsewhere):
            found.add(place)
    return found


def as_told(seen: Seen, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as a summariser is told of them: as they are stored, whatever a view shows short; but what was
    unloaded is gone."""
    stored = {message.id: message for message in seen.messages}
    unloaded = by_message([overlay for overlay in seen.beside if overlay.data.get("reason") == UNLOADED])
    found = []
    for message in messages:
        over = {call: marker.text for call, marker in unloaded.get(message.id, {}).items()}
        found.append(replaced(stored.get(message.id, message), over))
    return tuple(found)


def bare(summary: Overlay) -> str:
    """The text of a summary without the note that was added to it."""
    note = summary.data.get("note")
    return summary.text.removesuffix(note) if isinstance(note, str) else summary.text


def _answered(inside: Sequence[ViewEntry]) -> set[str]:
    return {result.id for entry in inside for result in results(entry.message)}
