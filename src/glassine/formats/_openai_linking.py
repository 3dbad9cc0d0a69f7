"""Items of OpenAI that belong together: reasoning and what it led to, and calls of its own tools and their outputs.

The provider refuses reasoning that nothing follows, an item with the id of one that came of reasoning which is not
there, and two items of one id. Of a history that was shortened or put together anew, what is left must still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ._common import sendable_value
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


Noting = Callable[[int, int, str, str], None]
"""Takes a note: the message, the part, the code and the text."""


def link(entries: Sequence[Entry], note: Noting) -> list[dict[str, Any]]:
    """The items that can be sent.

    An item of our own kinds gets its id only behind reasoning that is sent with its own, in the same message: alone it
    is whole without one. What is decided for a message depends on no later one, but for calls that wait for output.
    """
    entries = _single(entries, note)
    found: list[dict[str, Any]] = []
    sent: set[str] = set()
    thinking: bool | None = None  # of this message: whether its last reasoning is sent, None if it had none
    named = False  # whether that has ids
    message, run_ends = -1, 0
    for number, (piece, item, id) in enumerate(entries):
        if piece.message != message or piece.result is not None:
            message, thinking, named = piece.message, None, False
        kind = item["type"]
        if kind == "reasoning":
            if number >= run_ends:
                run = _run(entries, number)
                run_ends = number + len(run)
                thinking = _holds(entries, run, run_ends, sent, note)
                named = thinking and all(entry.id is not None for entry in run)
                sent.update(entry.id for entry in run if thinking and entry.id is not None)
            if not thinking:
                continue
            if id is not None:
                item = {"type": kind, "id": id, **item}
        elif piece.part.get("type") == "provider-item":
            if thinking is False:
                note(piece.message, piece.at, "dropped", f"this {kind} is left out, for its reasoning is not sent")
                continue
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


def _single(entries: Sequence[Entry], note: Noting) -> list[Entry]:
    """The entries without items of the provider that stand there twice, or that are half of a pair."""
    if not any(map(_is_provided, entries)):
        return list(entries)
    whole = _whole(entries)
    found: list[Entry] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        piece, item, _ = entry
        if _is_provided(entry):
            id = item.get("id")
            if number not in whole or id in seen:
                twice = number in whole
                text = f"this {item['type']} " + ("stands there twice" if twice else "has no other half")
                note(piece.message, piece.at, "duplicate_item" if twice else "dropped", text)
                continue
            if isinstance(id, str):
                seen.add(id)
        found.append(entry)
    return found


def _run(entries: Sequence[Entry], number: int) -> list[Entry]:
    """The reasoning of one message from here on, up to what it led to."""
    end = number
    while end < len(entries) and entries[end].item["type"] == "reasoning":
        if entries[end].piece.message != entries[number].piece.message:
            break
        end += 1
    return list(entries[number:end])


def _holds(entries: Sequence[Entry], run: Sequence[Entry], after: int, sent: set[str], note: Noting) -> bool:
    """Whether a run of reasoning can be sent: all of it, or nothing. `after` is where what follows it stands."""
    follower = entries[after] if after < len(entries) else None
    led = follower is not None and follower.piece.message == run[0].piece.message and _is_led_to(follower)
    ids = [entry.id for entry in run if entry.id is not None]
    if any("encrypted_content" not in entry.item for entry in run):
        problem = ("reasoning_dropped", "reasoning without OpenAI's encrypted content was left out")
    elif any(sendable_value(entry.item) is not entry.item for entry in run):
        problem = ("reasoning_dropped", "reasoning with a character that cannot be sent was left out")
    elif len(set(ids)) < len(ids) or not sent.isdisjoint(ids):
        problem = ("duplicate_item", "this reasoning was sent before")
    elif not led:
        problem = ("reasoning_dropped", "reasoning that nothing follows cannot be sent back")
    else:
        return True
    for entry in run:
        note(entry.piece.message, entry.piece.at, *problem)
    return False


def _is_provided(entry: Entry) -> bool:
    """Whether an item is one of the provider's, that is kept whole."""
    return bool(entry.piece.part.get("type") == "provider-item")


def _is_led_to(entry: Entry) -> bool:
    """Whether an item is one that a model writes after it has reasoned."""
    if entry.piece.result is not None:
        return False
    kind = entry.item["type"]
    return not _is_provided(entry) or "_call" in kind or kind == "compaction"


def _whole(entries: Sequence[Entry]) -> set[int]:
    """The entries that are no half of a pair whose other half is missing. Calls in the last message wait for it."""
    asked: dict[tuple[str, str], int] = {}
    whole = set(range(len(entries)))
    last = entries[-1].piece.message if entries else 0
    for number, entry in enumerate(entries):
        if not _is_provided(entry):
            continue
        piece, item, _ = entry
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
