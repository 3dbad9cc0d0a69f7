"""From a path to what a model is shown of it, in steps: overlays, reminders, previews. Nothing stored ever changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from .loading import Copy, copies, marker_text
from .marking import Laying, by_message, replaced
from .messages import Message
from .originals import preview
from .overlays import Overlay, summary_message
from .pairing import Repaired, repair
from .reminding import reminder_message
from .tree import Position

_NOWHERE = Position(0, 0)


class ViewEntry(NamedTuple):
    """One message of a view. It stands for `messages` stored messages, from `first_id` to `last_id` (none, for a
    reminder: both name the message it follows); `why` says what made it look other than stored."""

    message: Message
    first_id: str
    last_id: str
    messages: int
    why: tuple[str, ...] = ()

    def shown_as(self, message: Message, why: str) -> ViewEntry:
        """The entry with another look; itself if nothing changed."""
        if message is self.message:
            return self
        return ViewEntry(message, self.first_id, self.last_id, self.messages, (*self.why, why))


@dataclass(frozen=True, slots=True)
class Seen:
    """What a store knows of one path: its leaf and the session's active one, the visible messages and summaries,
    oldest first, with their numbers in the session (of a summary, of its first message), and the markers and reminders
    that apply to it. `next` is the number that the next message will get; what comes
    before the number `since` was made on another prefix than is there now."""

    leaf: str | None
    active: str | None
    pieces: tuple[Message | Overlay, ...]
    numbers: tuple[int, ...]
    beside: tuple[Overlay, ...]
    next: int
    since: int

    @property
    def messages(self) -> list[Message]:
        """The stored messages that are seen."""
        return [piece for piece in self.pieces if isinstance(piece, Message)]

    @property
    def message_numbers(self) -> dict[str, int]:
        """The number of each stored message that is seen, by its id."""
        there = zip(self.pieces, self.numbers, strict=True)
        return {piece.id: number for piece, number in there if isinstance(piece, Message)}

    def reminders(self, prompt: str | None) -> list[Overlay]:
        """The reminders that were laid under the prompt of this digest, and whose messages are seen, or are the last of
        a summary; other covered ones it hides, and a new prompt says itself what they said."""
        there = {piece.last_id if isinstance(piece, Overlay) else piece.id for piece in self.pieces}
        return [
            overlay
            for overlay in self.beside
            if overlay.kind == "reminder" and overlay.first_id in there and overlay.data.get("prompt") == prompt
        ]

    @property
    def markers(self) -> dict[str, dict[str, Overlay]]:
        """The markers over results: message id → call id → marker."""
        return by_message(self.beside)

    @property
    def copies(self) -> list[Copy]:
        """The bodies of loaded entries that stand in it."""
        return copies(self.messages, self.markers)

    @property
    def is_settled(self) -> bool:
        """Whether every call of the newest step has its result: before, nothing may come between them."""
        return not repair(self.messages).pending

    def with_reminders(self, layings: Iterable[Laying], now: datetime) -> Seen:
        """What would be seen if these reminders were laid."""
        laid = [
            Overlay(
                id=laying.id,
                kind="reminder",
                first_id=laying.message_id,
                last_id=laying.message_id,
                text=laying.text,
                created_at=now,
                stale=False,
                supersedes=(),
                covered_messages=0,
                covered_bytes=0,
                covered_tokens=(0, 0, 0, 0, 0),
                first=_NOWHERE,
                last=_NOWHERE,
                order=0,
                data=laying.data,
            )
            for laying in layings
        ]
        return replace(self, beside=(*self.beside, *laid))


Step = Callable[[list[ViewEntry]], list[ViewEntry]]
"""One step of the way from a path to a request. Steps change how entries look, and never what is stored."""


def entries(seen: Seen, steps: Iterable[Step]) -> tuple[ViewEntry, ...]:
    """The entries of a path, after all steps."""
    found = [_entry(piece) for piece in seen.pieces]
    for step in steps:
        found = step(found)
    return tuple(found)


def markers(seen: Seen) -> Step:
    """The step that shows markers in the place of what they lie over."""
    over = seen.markers
    texts = {id: {call: marker.text for call, marker in there.items()} for id, there in over.items()}
    return _with_outputs(texts, "marker")


def unloads(there: Sequence[Copy]) -> Step:
    """The step that takes out bodies whose unloading stands on the path, though no marker lies over them yet."""
    texts: dict[str, dict[str, str]] = {}
    for copy in there:
        if copy.unloaded and not copy.marked:
            texts.setdefault(copy.message_id, {})[copy.call_id] = marker_text(copy.key)
    return _with_outputs(texts, "unloaded")


def reminders(overlays: Sequence[Overlay]) -> Step:
    """The step that puts reminders after their messages."""
    after: dict[str, list[Overlay]] = {}
    for overlay in overlays:
        after.setdefault(overlay.first_id, []).append(overlay)

    def step(found: list[ViewEntry]) -> list[ViewEntry]:
        if not after:
            return found
        shown = []
        for entry in found:
            shown.append(entry)
            shown += [
                ViewEntry(reminder_message(overlay), overlay.first_id, overlay.first_id, 0, ("reminder",))
                for overlay in after.get(entry.last_id, ())
            ]
        return shown

    return step


def _with_outputs(texts: Mapping[str, Mapping[str, str]], why: str) -> Step:
    def step(found: list[ViewEntry]) -> list[ViewEntry]:
        if not texts:
            return found
        shown = []
        for entry in found:
            over = texts.get(entry.message.id)
            shown.append(entry if over is None else entry.shown_as(replaced(entry.message, over), why))
        return shown

    return step


def previews(readable: bool) -> Step:
    """The step that shortens what is too long for a row. `readable`: there is a tool that reads the whole."""

    def step(found: list[ViewEntry]) -> list[ViewEntry]:
        return [entry.shown_as(preview(entry.message, readable=readable), "preview") for entry in found]

    return step


def mended(found: Sequence[ViewEntry], repaired: Repaired) -> tuple[ViewEntry, ...]:
    """The entries of a repaired list. A stub, or a result that was moved out of a message, stands for no message of its
    own."""
    if not repaired.notes and len(repaired.messages) == len(found):
        return tuple(found)  # nothing was mended
    shown = []
    taken: set[int] = set()
    for message, source in zip(repaired.messages, repaired.sources, strict=True):
        origin = found[source]
        if source not in taken and message.id == origin.message.id:
            taken.add(source)
            shown.append(origin.shown_as(message, "repaired"))
        else:
            shown.append(ViewEntry(message, origin.first_id, origin.last_id, 0, ("repaired",)))
    return tuple(shown)


def _entry(piece: Message | Overlay) -> ViewEntry:
    if isinstance(piece, Overlay):
        return ViewEntry(summary_message(piece), piece.first_id, piece.last_id, piece.covered_messages, ("summary",))
    return ViewEntry(piece, piece.id, piece.id, 1)
