"""Reconciling a client's list of messages with the stored path.

Clients mint ids of their own, send optimistic snapshots, and hold on to what they once saw. So a message of the list
is recognised by id, else by its tool calls within the open turn, else by its position; what is recognised is only
ever made more complete, and what is not is appended where the client has it. Nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._ids import RESERVED_PREFIX
from .handles import names_original
from .marking import by_message, replaced
from .messages import Message, calls, results
from .overlays import Overlay
from .redaction import is_redacted

# The states of the AI SDK's tool parts, and what other clients call theirs.
_STATES = {
    "pending": 0,
    "input-streaming": 0,
    "running": 1,
    "input-available": 1,
    "approval-requested": 2,
    "approval-responded": 3,
    "output-denied": 4,
    "output-error": 4,
    "output-available": 4,
    "error": 4,
    "completed": 4,
    "done": 4,
}
_ANSWERED = 4
# Marks of steps are made by clients, and many leave the model's thoughts out: a message is told by the rest.
_UNSPOKEN = frozenset({"step-start", "reasoning"})


@dataclass(frozen=True, slots=True)
class Append:
    """Append the message at `index` of the list below `parent`: a stored id, or None for a root."""

    index: int
    parent: str | None


@dataclass(frozen=True, slots=True)
class Update:
    """Replace a stored message by a more complete state of it."""

    message: Message


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The steps to take, in order, and which stored id each recognised message of the list (by index) stands for."""

    steps: tuple[Append | Update, ...]
    known: dict[int, str]


def starts_turn(message: Message) -> bool:
    """Whether a message opens a turn: a user message that is more than tool results."""
    answered = {result.part for result in results(message)}
    return message.role == "user" and len(answered) < len(message.parts)


def as_stored(incoming: Sequence[Message], path: Sequence[Message], overlays: Sequence[Overlay]) -> list[Message]:
    """A client's list without what a view laid over the conversation: reminders go, and where a result has the text of
    a marker, it is the stored result that the marker lies over."""
    markers = by_message(overlays)
    beneath = {
        (result.id, markers[message.id][result.id].text): result.output
        for message in path
        if message.id in markers
        for result in results(message)
        if result.id in markers[message.id]
    }
    told = {overlay.text for overlay in overlays if overlay.kind == "reminder"}
    if not beneath and not told:
        return list(incoming)
    found = []
    for message in incoming:
        if message.role == "user" and message.text in told and len(message.parts) == 1:
            continue
        shown = {result.id: result.output for result in results(message) if isinstance(result.output, str)}
        outputs = {id: beneath[id, text] for id, text in shown.items() if (id, text) in beneath}
        found.append(replaced(message, outputs))
    return found


def reconcile(path: Sequence[Message], incoming: Sequence[Message]) -> Reconciled:
    """Lay a client's list against the stored active path. The list must have its ids minted.

    The list is the client's whole view, or the tail of it from a message whose id is stored.
    """
    where = {message.id: index for index, message in enumerate(path)}
    claimed = {message.id for message in incoming} & where.keys()
    turn = max((index for index, message in enumerate(path) if starts_turn(message)), default=0)
    current: dict[str, Message] = {}
    steps: list[Append | Update] = []
    known: dict[int, str] = {}
    fresh: dict[str, Message] = {}
    parent: str | None = None
    cursor = 0
    branched = False
    for index, message in enumerate(incoming):
        if message.id.startswith(RESERVED_PREFIX):
            # Our own summary, handed back: what follows stands behind the last message that it covers.
            cursor = max(cursor, where.get(_covered(message), -1) + 1)
            continue
        if fresh.get(message.id) == message:
            known[index] = parent = message.id  # the list has it twice
            continue
        found = where.get(message.id)
        if found is None and not branched:
            found = _by_calls(path, turn, message)
            if found is None:
                found = _by_position(path, cursor, message, claimed, alone=len(incoming) == 1)
            if found is None and not known:
                found = _newest_reply(path, message, claimed)
        if found is not None:
            stored = current.get(path[found].id, path[found])
            better = merged(stored, message)
            if better is not None:
                current[stored.id] = better
                steps.append(Update(better))
            known[index] = stored.id
            parent, cursor, branched = stored.id, found + 1, False
            continue
        if not branched:
            if not known:
                cursor = len(path)  # the list shares nothing so far: it goes on from the end
            elif starts_turn(message):
                # A new question belongs behind the whole turn before it, of which the client may know only a part.
                while cursor < len(path) and not starts_turn(path[cursor]):
                    cursor += 1
            parent = path[cursor - 1].id if cursor else None
            branched = True
        steps.append(Append(index, parent))
        fresh[message.id] = message
        parent = message.id
    return Reconciled(tuple(steps), known)


def merged(stored: Message, incoming: Message) -> Message | None:
    """`stored` made more complete by what a client has of it, or None when nothing is gained."""
    # Invariant: what was redacted stays so, though a client still holds the text.
    if stored.role != incoming.role or is_redacted(stored) or names_original(incoming.parts, stored.id):
        return None
    wire = stored.to_dict()
    theirs: list[Any] = incoming.to_dict()["parts"]
    if stored.role == "user":
        parts = theirs or wire["parts"]
    else:
        parts = _merged_parts(wire["parts"], theirs)
    metadata = {**(incoming.metadata or {}), **(stored.metadata or {})} or None
    if parts == wire["parts"] and metadata == (stored.metadata or None):
        return None
    wire["parts"] = parts
    if metadata is not None:
        wire["metadata"] = metadata
    return Message.from_dict(wire)


def _merged_parts(ours: list[Any], theirs: list[Any]) -> list[Any]:
    left = list(theirs)
    parts = []
    for part in ours:
        twin = next((other for other in left if _same_part(part, other)), None)
        if twin is not None:
            left.remove(twin)
        parts.append(twin if twin is not None and _completeness(twin) > _completeness(part) else part)
    # What the client has beyond that is new only if it comes after all that is stored; a part from the middle is
    # one that a later state replaced.
    tail = []
    for part in reversed(theirs):
        if not any(part is other for other in left):
            break
        tail.append(part)
    return parts + tail[::-1]


def _same_part(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if "toolCallId" in ours or "toolCallId" in theirs:
        return ours.get("toolCallId") == theirs.get("toolCallId") and _is_result(ours) == _is_result(theirs)
    if ours.get("type") != theirs.get("type"):
        return False
    mine, its = ours.get("text"), theirs.get("text")
    if isinstance(mine, str) and isinstance(its, str):
        return mine.startswith(its) or its.startswith(mine)
    return ours == theirs


def _covered(summary: Message) -> str:
    """The id of the last message that a summary's message stands for, as it says itself; "" if it does not."""
    about = (summary.metadata or {}).get("glassine")
    last = about.get("last") if isinstance(about, dict) else None
    return last if isinstance(last, str) else ""


def _is_result(part: dict[str, Any]) -> bool:
    return part.get("type") == "tool-result"


def _completeness(part: dict[str, Any]) -> tuple[int, bool, int]:
    state, text = part.get("state"), part.get("text")
    rank = 0
    if "toolCallId" in part:
        answered = part.get("output") is not None or part.get("errorText") is not None
        rank = max(_STATES.get(state, 0) if isinstance(state, str) else 0, _ANSWERED if answered else 0)
    return rank, part.get("preliminary") is not True, len(text) if isinstance(text, str) else 0


def _by_calls(path: Sequence[Message], turn: int, message: Message) -> int | None:
    if not (ids := _call_ids(message)):
        return None
    for index in range(len(path) - 1, turn - 1, -1):
        if path[index].role == message.role and ids & _call_ids(path[index]):
            return index
    # Some providers number their calls anew in each turn, so further up it takes the very same parts.
    for index in range(turn - 1, -1, -1):
        if path[index].role == message.role and path[index].parts == message.parts:
            return index
    return None


def _call_ids(message: Message) -> set[str]:
    return {call.id for call in calls(message)} | {result.id for result in results(message)}


def _by_position(path: Sequence[Message], cursor: int, message: Message, claimed: set[str], alone: bool) -> int | None:
    if cursor >= len(path) or path[cursor].id in claimed or path[cursor].role != message.role:
        return None
    if alone and message.role == "user" and cursor < len(path) - 1:
        # Many clients send the newest message only, and people say the same thing twice ("go on").
        return None
    stored, theirs = path[cursor].parts, message.parts
    # Of a redacted message only the place is left to know it by; a message that comes alone has none.
    if stored == theirs or (is_redacted(path[cursor]) and not alone):
        return cursor
    if message.role != "assistant":
        return None
    # A reply that was still growing when the client saw it, or that grew on after it was stored.
    said, heard = _spoken(stored), _spoken(theirs)
    return cursor if said and heard and all(map(_same_part, said, heard)) else None


def _newest_reply(path: Sequence[Message], message: Message, claimed: set[str]) -> int | None:
    """Where the newest message stands, if it is this reply, of a list that lacks all that comes before it."""
    if not path or message.role != "assistant" or path[-1].role != "assistant" or path[-1].id in claimed:
        return None
    # Without a place nothing less than the same will do: the next step of an agent may begin like the one before.
    said, heard = ([{**part, "state": None} for part in _spoken(item.parts)] for item in (path[-1], message))
    return len(path) - 1 if said and said == heard else None


def _spoken(parts: list[Any]) -> list[Any]:
    """The parts that a reply is told by: all, if it has but marks and thoughts."""
    return [part for part in parts if part["type"] not in _UNSPOKEN] or parts
