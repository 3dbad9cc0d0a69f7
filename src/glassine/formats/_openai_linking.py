"""Items of OpenAI that belong together: reasoning and what it led to, and calls of its own tools and their outputs.

The provider refuses reasoning that nothing follows, an item with the id of one that came of reasoning which is not
there, and two items of one id. Of a history that was shortened or put together anew, what is left must still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._pieces import Piece

_OUTPUTS = {
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}
_CALLS = {output: call for call, output in _OUTPUTS.items()}
_IDS = ("call_id", "id")


class Entry(NamedTuple):
    """An item, the piece it was made of (its first one), and the id it had where it came from."""

    piece: Piece
    item: dict[str, Any]
    id: str | None


def link(entries: Sequence[Entry], note: Callable[[int, int, str, str], None]) -> list[dict[str, Any]]:
    """The items that can be sent. `note` takes message, part, code and text.

    An item of our own kinds gets its id only behind reasoning that is sent with its own, in the same message: alone it
    is whole without one. What is decided for a message depends on no later one, but for calls that wait for output.
    """
    found: list[dict[str, Any]] = []
    sent: set[str] = set()
    whole = _whole(entries)
    thinking: bool | None = None  # of this message: whether its last reasoning is sent, None if it had none
    named = False  # whether that has an id
    message = -1
    for number, (piece, item, id) in enumerate(entries):
        if piece.message != message or piece.result is not None:
            message, thinking, named = piece.message, None, False
        kind = item["type"]
        if kind == "reasoning":
            problem = _problem(entries, number, id, sent, whole)
            thinking, named = problem is None, problem is None and id is not None
            if problem is not None:
                note(piece.message, piece.at, *problem)
                continue
            if id is not None:
                sent.add(id)
                item = {"type": kind, "id": id, **item}
        elif piece.part.get("type") == "provider-item":
            own = item.get("id")
            if number not in whole:
                note(piece.message, piece.at, "dropped", f"the {kind} has no other half")
                continue
            if thinking is False or (isinstance(own, str) and own in sent):
                reason = "its reasoning is not sent" if thinking is False else "it was sent before"
                note(piece.message, piece.at, "dropped", f"the item {own} is left out: {reason}")
                continue
            if isinstance(own, str):
                sent.add(own)
            if thinking and not named:
                # Where reasoning comes without an id, as stateless clients send it, what it led to has none either.
                item = {name: value for name, value in item.items() if name != "id"}
        elif id is not None and named and id not in sent:
            sent.add(id)
            item = {"type": kind, "id": id, **item}
            if kind == "message":
                item["status"] = "completed"
        found.append(item)
    return found


def _problem(
    entries: Sequence[Entry], number: int, id: str | None, sent: set[str], whole: set[int]
) -> tuple[str, str] | None:
    """Why a reasoning item cannot be sent, as code and text; None when it can."""
    if "encrypted_content" not in entries[number].item:
        return "reasoning_dropped", "reasoning without OpenAI's encrypted content was left out"
    if id is not None and id in sent:
        return "duplicate_item", f"the reasoning {id} was sent before"
    if not _leads(entries, number, sent, whole):
        return "reasoning_dropped", "reasoning that nothing follows cannot be sent back"
    return None


def _leads(entries: Sequence[Entry], number: int, sent: set[str], whole: set[int]) -> bool:
    """Whether the model wrote something right behind a reasoning item, in the same message."""
    message = entries[number].piece.message
    for place in range(number + 1, len(entries)):
        piece, item, _ = entries[place]
        if piece.message != message or piece.result is not None:
            return False
        if item["type"] == "reasoning":
            continue
        if piece.part.get("type") != "provider-item":
            return True
        if place in whole and item.get("id") not in sent:
            return "_call" in item["type"] or item["type"] == "compaction"
    return False


def _whole(entries: Sequence[Entry]) -> set[int]:
    """The entries that are no half of a pair whose other half is missing. Calls in the last message wait for it."""
    asked: dict[tuple[str, str], int] = {}
    whole = set(range(len(entries)))
    last = entries[-1].piece.message if entries else 0
    for number, (piece, item, _) in enumerate(entries):
        if piece.part.get("type") != "provider-item":
            continue
        kind = item["type"]
        id = next((item[name] for name in _IDS if isinstance(item.get(name), str)), "")
        if kind in _OUTPUTS:
            asked[kind, id] = number
            if piece.message != last:
                whole.discard(number)
        elif kind in _CALLS:
            if (_CALLS[kind], id) in asked:
                whole.add(asked.pop((_CALLS[kind], id)))
            else:
                whole.discard(number)
    return whole
