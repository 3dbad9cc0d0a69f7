"""A reply of the Responses API: whole, and while it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Message
from ._common import Reply, parsed, plain
from ._openai_item_parts import item_parts
from ._openai_shared import usage_of

_CALLS = ("function_call", "custom_tool_call")
_ENDS = ("response.completed", "response.incomplete")
_DELTAS = {
    "response.output_text.delta": ("content", "content_index", {"type": "output_text"}, "text"),
    "response.refusal.delta": ("content", "content_index", {"type": "refusal"}, "refusal"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", {"type": "summary_text"}, "text"),
    "response.reasoning_text.delta": ("content", "content_index", {"type": "reasoning_text"}, "text"),
}
"""By event: the list of the item that it adds to, the field with the place there, a new entry, and its text."""
_INPUTS = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


def reply_of(response: Mapping[str, Any], output: Sequence[Any]) -> Reply:
    """The reply that a response object tells, with these items. A call that was cut short is left out."""
    parts = [part for item in output if isinstance(item, Mapping) and _is_whole(item) for part in item_parts(item)]
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    usage = usage_of(response.get("usage"), "input_tokens", "output_tokens")
    message = Message(role="assistant", parts=parts)
    return Reply(message, usage, response.get("model"), reason or response.get("status"), response.get("id"))


def _is_whole(item: Mapping[str, Any]) -> bool:
    if not isinstance(item.get("type"), str):
        return False
    if item["type"] not in _CALLS or item.get("status") != "incomplete":
        return True
    return item["type"] == "function_call" and isinstance(parsed(str(item.get("arguments"))), dict)


class ItemStream:
    """Takes in the events of `responses.create(stream=True)` or `responses.stream(…)`; others are ignored."""

    def __init__(self) -> None:
        self.finished = False
        """Whether the reply came to its end."""
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()

    def feed(self, event: Any) -> None:
        """Take in one event: an object of the SDK, or a dict."""
        given = plain(event)
        kind = given.get("type") if isinstance(given, Mapping) else None
        if not isinstance(kind, str):
            return
        match given:
            case {"response": {} as response}:
                self._response.update(response)
                self.finished = self.finished or kind in _ENDS
                output = response.get("output")
                if kind in _ENDS and isinstance(output, list) and output:
                    self._items = {index: dict(item) for index, item in enumerate(output) if isinstance(item, Mapping)}
                    self._done = set(self._items)
            case {"type": "response.output_item.added", "output_index": int(index), "item": {} as item}:
                # What is encrypted is whole only when the item is done.
                self._items[index] = {name: value for name, value in item.items() if name != "encrypted_content"}
            case {"type": "response.output_item.done", "output_index": int(index), "item": {} as item}:
                self._items[index] = dict(item)
                self._done.add(index)
            case {"output_index": int(index), "delta": str(text)} if index in self._items:
                self._add(self._items[index], kind, given, text)

    def reply(self, finished: bool | None = None) -> Reply:
        """What has come so far. `finished`: whether more will not come; by default the stream's own `finished`.

        While more may come, a call has its input so far as text. Once `finished` is given, or the stream has come to
        its end, calls whose input is not whole are left out, and opaque items that are not.
        """
        ended = self.finished or finished is not None
        shown = [item for index, item in sorted(self._items.items()) if self._is_shown(index, item, ended)]
        return reply_of(self._response, shown)

    def _is_shown(self, index: int, item: Mapping[str, Any], ended: bool) -> bool:
        if index in self._done or item.get("type") in ("message", "reasoning"):
            return True
        return item.get("type") in _CALLS and not ended

    def _add(self, item: dict[str, Any], kind: str, event: Mapping[str, Any], text: str) -> None:
        if (field := _INPUTS.get(kind)) is not None:
            begun = item.get(field)
            item[field] = (begun if isinstance(begun, str) else "") + text
            return
        if kind not in _DELTAS:
            return
        name, place, blank, said = _DELTAS[kind]
        index = event.get(place)
        blocks = list(item.get(name) or ())
        while isinstance(index, int) and len(blocks) <= index:
            blocks.append({**blank, said: ""})
        if isinstance(index, int) and isinstance(blocks[index], Mapping):
            blocks[index] = {**blocks[index], said: str(blocks[index].get(said, "")) + text}
        item[name] = blocks
