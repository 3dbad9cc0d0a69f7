"""Which entries a model has loaded, read off the conversation: loads and unloads are tool calls on the path.

So loaded state survives restarts and is right on every branch, without being stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .messages import Message, calls, results

LOAD, UNLOAD = "load_context", "unload_context"
NOT_FOUND = "Not found: "
ALREADY = "Already loaded: "
_EMPTY_HANDED = ("Error:", NOT_FOUND, ALREADY)
"""How answers begin that brought no body along."""


class Loaded(NamedTuple):
    """An entry that is in the conversation now."""

    label: str
    key: str


class Copy(NamedTuple):
    """A body of an entry in a tool result. `unloaded`: a later call took it out again."""

    message_id: str
    call_id: str
    label: str
    key: str
    unloaded: bool

    @property
    def entry(self) -> Loaded:
        return Loaded(self.label, self.key)


def copies(messages: Iterable[Message]) -> list[Copy]:
    """All bodies that stand in a path, oldest first.

    What counts is the order of the calls: an unload takes out every copy that was called for before it, be its result
    stored before or after the unload's own.
    """
    asked: dict[str, tuple[str, str, str, int]] = {}
    found: list[tuple[str, str, int]] = []
    unloads: dict[Loaded, int] = {}
    for message in messages:
        for call in calls(message):
            label, key = call.input.get("label"), call.input.get("key")
            if call.name in (LOAD, UNLOAD) and isinstance(label, str) and isinstance(key, str):
                asked[call.id] = (call.name, label, key, len(asked))
        for result in results(message):
            if result.id not in asked or result.is_error:
                continue
            name, label, key, order = asked[result.id]
            if name == UNLOAD and not _begins(result.output, ("Error:",)):
                unloads[Loaded(label, key)] = max(order, unloads.get(Loaded(label, key), -1))
            elif name == LOAD and not _begins(result.output, _EMPTY_HANDED):
                found.append((message.id, result.id, order))
    return [
        Copy(message_id, call_id, *asked[call_id][1:3], order < unloads.get(Loaded(*asked[call_id][1:3]), -1))
        for message_id, call_id, order in found
    ]


def loaded(there: Sequence[Copy], marked: Iterable[str]) -> tuple[Loaded, ...]:
    """The entries whose bodies a model sees, in the order they were loaded. `marked` are the ids of the calls over
    whose results a marker lies."""
    gone = set(marked)
    return tuple(dict.fromkeys([copy.entry for copy in there if not copy.unloaded and copy.call_id not in gone]))


def marker_text(key: str) -> str:
    """What a view shows in the place of a body that was unloaded."""
    return f"[skill unloaded: {key}]"


def _begins(output: Any, prefixes: tuple[str, ...]) -> bool:
    return isinstance(output, str) and output.startswith(prefixes)
