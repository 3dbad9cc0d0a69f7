"""Thinking that is bound to its prefix: on such models a thinking block is accepted only behind the bytes it was made
on. Whoever edits a prefix takes out the thinking that was made on the old one, whole and for good.

What was made on what follows from what is stored: where an overlay lies and where the leaf was when it was laid, since
when the prompt is frozen, and which model answered. So every view finds the same, after a restart and anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .marking import STUBBED
from .messages import Message
from .models import Model, facts
from .overlays import Overlay
from .showing import Edit, Seen, Step, ViewEntry

REASON = "thinking removed"
UNNAMED = "unknown"
"""The name of the model of a view that names none."""


def edits(seen: Seen) -> list[Edit]:
    """The edits of what is seen: its summaries and markers. A reminder only ever adds at the end."""
    overlays = [piece for piece in seen.pieces if isinstance(piece, Overlay)]
    overlays += [
        overlay for overlay in seen.beside if overlay.kind == "marker" and overlay.data.get("reason") != STUBBED
    ]
    return [Edit(overlay.first.seq, None if overlay.anchor is None else overlay.anchor.seq) for overlay in overlays]


def unbound(numbers: dict[str, int], found: Sequence[Edit], since: int, model: Model) -> Step:
    """The step that takes out thinking whose prefix is another one now, or that another model made.

    `numbers` are the messages' numbers in the session; what came before `since` was made on another prefix. Where a
    message does not say which model made it, its number decides alone.
    """
    makers: dict[str, bool] = {}

    def made_elsewhere(message: Message) -> bool:
        number = numbers.get(message.id)
        if number is None:
            return False
        maker = maker_of(message)
        if maker is not None and maker not in makers:
            makers[maker] = _is_same(facts(maker), model)
        if number < since or (maker is not None and not makers[maker]):
            return True
        return any(edit.at <= number and (edit.until is None or number <= edit.until) for edit in found)

    def step(entries: list[ViewEntry]) -> list[ViewEntry]:
        return [
            entry.shown_as(without_thinking(entry.message), REASON)
            if entry.message.role == "assistant" and made_elsewhere(entry.message)
            else entry
            for entry in entries
        ]

    return step


def _is_same(one: Model, other: Model) -> bool:
    """Whether two names, dated or of a gateway or not, are of one model; nobody knows what an unnamed one is."""
    if other.name == UNNAMED:
        return True
    return one.plain_name == other.plain_name


def maker_of(message: Message) -> str | None:
    """The model that a recorded message says it comes from."""
    noted = (message.metadata or {}).get("glassine")
    model = noted.get("model") if isinstance(noted, dict) else None
    return model if isinstance(model, str) else None


def without_thinking(message: Message) -> Message:
    """The message without its reasoning parts; itself if it has none."""
    parts: Iterable[Any] = message.parts
    if all(part["type"] != "reasoning" for part in parts):
        return message
    wire = message.to_dict()
    wire["parts"] = [part for part in wire["parts"] if part["type"] != "reasoning"]
    return Message.from_dict(wire)
