"""From a path to what a model is shown of it, in steps: overlays, reminders, previews. Nothing stored ever changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import is_
from typing import Any, NamedTuple

from .indexing import tokens as estimates
from .loading import Copy, copies, marker_text
from .marking import UNLOADED, Laying, by_message, replaced, shown_by
from .messages import Message
from .originals import preview
from .overlays import Overlay, open_calls, summary_message
from .pairing import Repaired, repair
from .records import NOTHING, Totals, Usage
from .reminding import reminder_message
from .tokens import FAMILIES
from .tree import Position
from .truncation import Truncation, truncate_older

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
    before the number `since` was made on another prefix than is there now. `visible` are the totals of the messages,
    with the summaries' sizes but not their tokens, `usage` the newest usage rows, the oldest first, `change` the
    session's change number."""

    leaf: str | None
    active: str | None
    pieces: tuple[Message | Overlay, ...]
    numbers: tuple[int, ...]
    beside: tuple[Overlay, ...]
    next: int
    since: int
    visible: Totals = NOTHING
    usage: tuple[Usage, ...] = ()
    change: int = 0

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
    def open_calls(self) -> dict[str, str]:
        """The calls under its summaries that had no result when those were made: name by id."""
        found: dict[str, str] = {}
        for piece in self.pieces:
            if isinstance(piece, Overlay):
                found.update(open_calls(piece))
        return found

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


def entries(seen: Seen, steps: Iterable[Step]) -> list[ViewEntry]:
    """The entries of a path, after these steps."""
    found = [_entry(piece) for piece in seen.pieces]
    for step in steps:
        found = step(found)
    return found


def markers(seen: Seen) -> Step:
    """The step that shows markers in the place of what they lie over."""
    over = seen.markers
    outputs = {id: {call: shown_by(marker) for call, marker in there.items()} for id, there in over.items()}
    return _with_outputs(outputs, "marker")


def unloads(there: Sequence[Copy]) -> Step:
    """The step that takes out bodies whose unloading stands on the path, though no marker lies over them yet."""
    texts: dict[str, dict[str, str]] = {}
    for copy in there:
        if copy.unloaded and not copy.marked:
            texts.setdefault(copy.message_id, {})[copy.call_id] = marker_text(copy.key)
    return _with_outputs(texts, UNLOADED)


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


def _with_outputs(outputs: Mapping[str, Mapping[str, Any]], why: str) -> Step:
    def step(found: list[ViewEntry]) -> list[ViewEntry]:
        if not outputs:
            return found
        shown = []
        for entry in found:
            over = outputs.get(entry.message.id)
            shown.append(entry if over is None else entry.shown_as(replaced(entry.message, over), why))
        return shown

    return step


class Edit(NamedTuple):
    """A prefix was changed at the message of the number `at`, when `until` was the newest one (None: nobody knows)."""

    at: int
    until: int | None


def truncated(
    found: list[ViewEntry], numbers: Mapping[str, int], truncation: Truncation, readable: bool
) -> tuple[list[ViewEntry], list[Edit]]:
    """The entries with the older ones cut, and what edits of the prefix that comes to.

    How many messages are older is told from their places on the path, which a summary does not change, and moves on a
    batch at a time: in between, the earlier bytes of a request stay the same.
    """
    places = []  # of each entry, the place of its last message on the path
    length = 0
    for entry in found:
        length += entry.messages
        places.append(length - 1)
    cut = truncation.cut(length)
    older = [index for index, entry in enumerate(found) if places[index] < cut and entry.message.id in numbers]
    messages = truncate_older(
        [found[index].message for index in older],
        0,
        truncation.max_tool_output_chars,
        truncation.max_text_chars,
        truncation.policies,
        max_message_bytes=truncation.max_message_bytes,
        readable=readable,
    )
    shown = list(found)
    firsts: dict[int, int] = {}  # by batch: the number of the first message that was cut
    for index, message in zip(older, messages, strict=True):
        shown[index] = found[index].shown_as(message, "truncated")
        if shown[index] is not found[index]:
            firsts.setdefault(places[index] // truncation.batch, numbers[message.id])
    edits = []
    for batch, at in firsts.items():
        newest = (batch + 1) * truncation.batch + truncation.keep_recent - 1
        there = [
            numbers[entry.message.id]
            for entry, place in zip(found, places, strict=True)
            if place <= newest and entry.message.id in numbers
        ]
        edits.append(Edit(at, max(there)))
    return shown, edits


def previews(readable: bool) -> Step:
    """The step that shortens what is too long for a row. `readable`: there is a tool that reads the whole."""

    def step(found: list[ViewEntry]) -> list[ViewEntry]:
        return [entry.shown_as(preview(entry.message, readable=readable), "preview") for entry in found]

    return step


class Measure(NamedTuple):
    """What a view's messages cost: the stored totals, with what stands there beside them, without what does not."""

    stored: Totals
    added: tuple[Message, ...]
    removed: tuple[Message, ...]

    def tokens(self, family: str) -> int:
        """Estimated tokens of the messages."""
        number = FAMILIES.index(family)
        more = sum([estimates(message)[number] for message in self.added])
        return self.stored[2 + number] + more - sum([estimates(message)[number] for message in self.removed])


def measured(seen: Seen, shown: Sequence[ViewEntry]) -> Measure:
    """The cost of the entries that a view of `seen` shows. What looks as stored need not be counted again."""
    messages = [entry.message for entry in shown]
    if len(messages) == len(seen.pieces) and all(map(is_, messages, seen.pieces)):
        return Measure(seen.visible, (), ())
    stored = {id(piece) for piece in seen.pieces if isinstance(piece, Message)}
    there = {id(message) for message in messages}
    added = [message for message in messages if id(message) not in stored]
    removed = [piece for piece in seen.pieces if isinstance(piece, Message) and id(piece) not in there]
    return Measure(seen.visible, tuple(added), tuple(removed))


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


def places_of(said: Sequence[ViewEntry], sources: Sequence[int]) -> tuple[int, ...]:
    """For each message of a repaired list, by its source in `said`, the number of the entry that it comes from; a
    reminder comes from the one before it."""
    reminding = [entry.why == ("reminder",) for entry in said]
    if not any(reminding):
        return tuple(sources)
    numbers = []
    number = -1
    for is_reminder in reminding:
        number += not is_reminder
        numbers.append(max(number, 0))
    return tuple([numbers[source] for source in sources])


def _entry(piece: Message | Overlay) -> ViewEntry:
    if isinstance(piece, Overlay):
        return ViewEntry(summary_message(piece), piece.first_id, piece.last_id, piece.covered_messages, ("summary",))
    return ViewEntry(piece, piece.id, piece.id, 1)
