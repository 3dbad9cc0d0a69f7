"""Which entries a model has loaded, read off the conversation: loads and unloads are tool calls on the path.

So loaded state survives restarts and is right on every branch, without being stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from .formats._outputs import is_error_output, output_text
from .messages import Message, calls, results
from .tools import shortened

LOAD, UNLOAD = "load_context", "unload_context"


class Loaded(NamedTuple):
    """An entry that is in the conversation now."""

    label: str
    key: str


class Copy(NamedTuple):
    """A body of an entry in a tool result. `unloaded`: a later call took it out again. `marked`: a marker lies over
    it."""

    message_id: str
    call_id: str
    label: str
    key: str
    unloaded: bool
    marked: bool

    @property
    def entry(self) -> Loaded:
        return Loaded(self.label, self.key)

    @property
    def shown(self) -> bool:
        return not self.unloaded and not self.marked


class _Asked(NamedTuple):
    name: str
    entry: Loaded
    order: int


def copies(messages: Iterable[Message], markers: Mapping[str, Collection[str]]) -> list[Copy]:
    """All bodies that stand in a path, oldest first. `markers` are the calls over whose results markers lie, by their
    messages.

    What counts is the order of the calls: an unload takes out every copy that was called for before it, be its result
    stored before or after the unload's own. A result belongs to the newest call of its id.
    """
    asked: dict[str, _Asked] = {}
    found: list[tuple[str, str, _Asked]] = []
    unloads: dict[Loaded, int] = {}
    order = 0
    for message in messages:
        for call in calls(message):
            asked.pop(call.id, None)
            label, key = call.input.get("label"), call.input.get("key")
            if call.name in (LOAD, UNLOAD) and isinstance(label, str) and isinstance(key, str):
                order += 1
                asked[call.id] = _Asked(call.name, Loaded(label, key), order)
        for result in results(message):
            call_of = asked.get(result.id)
            if call_of is None or result.is_error or is_error_output(result.output):
                continue
            text = output_text(result.output)
            if call_of.name == UNLOAD and not is_error_text(text):
                unloads[call_of.entry] = max(call_of.order, unloads.get(call_of.entry, 0))
            elif call_of.name == LOAD and not is_empty_handed(text, call_of.entry.key):
                found.append((message.id, result.id, call_of))
    return [
        Copy(
            message_id,
            call_id,
            *call_of.entry,
            call_of.order < unloads.get(call_of.entry, 0),
            call_id in markers.get(message_id, ()),
        )
        for message_id, call_id, call_of in found
    ]


def loaded(there: Iterable[Copy]) -> tuple[Loaded, ...]:
    """The entries whose bodies a model sees, in the order they were loaded."""
    return tuple(dict.fromkeys([copy.entry for copy in there if copy.shown]))


def concerns(message: Message) -> bool:
    """Whether a message holds a load or an unload, or a result of one."""
    names = [call.name for call in calls(message)] + [result.name for result in results(message)]
    return LOAD in names or UNLOAD in names


def already(key: str) -> str:
    """The answer to loading what is loaded."""
    return f"Already loaded: {key}. It stands further up in this conversation."


def not_found(key: str) -> str:
    """The answer to loading what is not there."""
    return f"Not found: {shortened(key)}"


def is_error_text(text: str) -> bool:
    """Whether a tool's answer says that something went wrong: one line that begins with `Error:`. A body may begin so
    too, but then it has more lines."""
    return text.startswith("Error:") and "\n" not in text


def is_empty_handed(text: str, key: str) -> bool:
    """Whether an answer to loading `key` brought no body along."""
    return text in (already(key), not_found(key)) or is_error_text(text)


def marker_text(key: str) -> str:
    """What a view shows in the place of a body that was unloaded."""
    return f"[skill unloaded: {key}]"
