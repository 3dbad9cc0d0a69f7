"""Older messages made short for a model: long tool outputs and long texts, on copies, each with a way back.

Nothing stored changes. A value stays what it was: an object an object with its keys, a list a list, a text a text that
begins and ends as it did; what was cut says how much there was and how the whole is read.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import _json
from ..handles import original_handle
from ..messages import Message, MessageLike, calls, results
from ._shrink import placeholder, shrink, size

__all__ = ["Policy", "Truncation", "truncate_older"]

Policy = Literal["never", "shape", "head_tail", "placeholder"] | Callable[[Any], Any]
"""How the output of a tool is cut: see `truncate_older`."""

_POLICIES = ("never", "shape", "head_tail", "placeholder")
_LITTLE = (200, 40)
"""Characters that a value keeps when its message is too large as a whole: first try, and second."""


def truncate_older(
    messages: Sequence[MessageLike],
    keep_recent: int = 4,
    max_tool_output_chars: int = 500,
    max_text_chars: int = 10_000,
    policies: Mapping[str, Policy] | None = None,
    *,
    max_message_bytes: int | None = None,
    readable: bool = True,
) -> list[Message]:
    """The messages, all but the last `keep_recent` of them with long tool outputs and long texts cut.

    The input is not touched; a message that needs no cut is returned as the same object. Cutting twice with the same
    arguments gives what cutting once gave, as far as functions of yours do. Sizes are in characters, of the JSON for
    outputs that are no text. The note that a cut leaves counts in, so that nothing is longer than its limit afterwards.

    `policies` says by the tool's name, or a pattern with `*` (an exact name goes first, then the first pattern that
    fits), how an output over the limit is cut:

    - "shape" (the default): an object stays an object with its keys, a list a list; long texts inside are cut, lists
      shortened, and `__truncated` marks are added where they fit. Of an object with too many keys the last ones go.
      Media is kept whole or left out: a content block that holds it becomes a text block that says so.
    - "head_tail": the same without any added key or item and without a key gone, for readers with a closed schema. Its
      result can be longer than the limit when the keys alone are.
    - "placeholder": nothing but the note, as the same kind of value.
    - "never": left as it is, whatever its size.
    - a function from the output to a shorter one. It gets a copy. When it raises, or returns what is no JSON, the
      output is cut as with "placeholder".

    `max_message_bytes` is a limit for a whole message, in bytes of its JSON: where many small values are too much
    together, outputs, then the inputs of calls, then texts are cut to 200 characters, the first ones first, until it
    fits; if that is not enough, to 40 likewise.

    `readable`: the model has a tool that reads originals; the note then says so, beside the handle to the part.

    Left alone: reasoning (a provider takes it back whole or not at all), files, parts of unknown types, and the outputs
    of tools that the provider ran itself. Raises ValueError for a negative number or a policy that does not exist.
    """
    check(
        policies,
        keep_recent=keep_recent,
        max_tool_output_chars=max_tool_output_chars,
        max_text_chars=max_text_chars,
        max_message_bytes=max_message_bytes or 0,
    )
    shown = [Message.of(message) for message in messages]
    older = max(0, len(shown) - keep_recent)
    # A result on its own need not name its tool; its call does.
    names = {call.id: call.name for message in shown for call in calls(message)} if policies else {}
    smallest = min(max_tool_output_chars, max_text_chars, *([] if max_message_bytes is None else [max_message_bytes]))
    for index, message in enumerate(shown[:older]):
        if len(message.encoded()[1]) > smallest:
            work = _Work(message, policies or {}, names, readable)
            work.cut_each(max_tool_output_chars, max_text_chars)
            if max_message_bytes is not None:
                work.cut_together(max_message_bytes)
            shown[index] = work.done()
    return shown


def check(policies: Mapping[str, Policy] | None, **numbers: int) -> None:
    """Raise ValueError for a negative number, or a policy that does not exist."""
    for name, value in numbers.items():
        if value < 0:
            raise ValueError(f"{name} must not be negative, as {value} is")
    for name, policy in (policies or {}).items():
        if not callable(policy) and policy not in _POLICIES:
            raise ValueError(f"the policy of {name!r} is none of {', '.join(_POLICIES)}, nor a function: {policy!r}")


@dataclass(frozen=True, slots=True)
class Truncation:
    """How the older messages of a session's views are cut; see `truncate_older`. What counts as older moves on by
    `batch` messages at a time."""

    keep_recent: int
    max_tool_output_chars: int
    max_text_chars: int
    policies: Mapping[str, Policy] | None = field(hash=False)
    max_message_bytes: int | None
    batch: int

    def cut(self, length: int) -> int:
        """How many messages at the start of a path of this length are cut."""
        return max(length - self.keep_recent, 0) // self.batch * self.batch


class _Work:
    """One message being cut: its wire shape, and whether anything in it changed."""

    def __init__(
        self, message: Message, policies: Mapping[str, Policy], names: Mapping[str, str], readable: bool
    ) -> None:
        self.message, self.policies, self.readable = message, policies, readable
        self.wire = message.to_dict()
        self.parts: list[dict[str, Any]] = self.wire["parts"]
        self.changed = False
        self.outputs: list[tuple[int, str, Policy]] = []
        for result in results(message):
            part = self.parts[result.part]
            if part.get("providerExecuted") is not True:
                key = "errorText" if part.get("state") == "output-error" and "errorText" in part else "output"
                self.outputs.append((result.part, key, self._policy(result.name or names.get(result.id, ""))))

    def done(self) -> Message:
        return Message.from_dict(self.wire) if self.changed else self.message

    def cut_each(self, max_output: int, max_text: int) -> None:
        for index, key, policy in self.outputs:
            if policy != "never" and size(self.parts[index].get(key)) > max_output:
                self._set(index, key, self._cut_output(index, key, max_output, policy))
        for index in self._texts():
            self._set(index, "text", shrink(self.parts[index]["text"], max_text, self._how(index)))

    def cut_together(self, limit: int) -> None:
        """Cut values to a little each, the first ones first, until the whole message is within `limit` bytes."""
        kept = {index for index, _, policy in self.outputs if policy == "never"}
        places = [(index, key, policy == "head_tail") for index, key, policy in self.outputs if policy != "never"]
        places += [
            (call.part, "input", False)
            for call in calls(self.message)
            if call.part not in kept and self.parts[call.part].get("providerExecuted") is not True
        ]
        places += [(index, "text", False) for index in self._texts()]
        # An input that stands as text is cut as the object it is the JSON of: half of the JSON would be none.
        objects = {call.part: call.input for call in calls(self.message) if isinstance(call.raw, str) and call.input}
        total = len(_json.encode(self.wire)[1])
        for little in _LITTLE:
            for index, key, strict in places:
                if total <= limit:
                    return
                value = self.parts[index].get(key)
                whole = objects.get(index, value) if key == "input" and isinstance(value, str) else value
                shorter = shrink(whole, little, self._how(index), strict=strict)
                if shorter is not whole:
                    total += len(_json.encode(shorter)[1]) - len(_json.encode(value)[1])
                    self._set(index, key, shorter)

    def _cut_output(self, index: int, key: str, limit: int, policy: Policy) -> Any:
        output, how = self.parts[index][key], self._how(index)
        if policy == "placeholder":
            return placeholder(output, limit, how)
        if not callable(policy):
            return shrink(output, limit, how, strict=policy == "head_tail")
        try:
            shorter = policy(_json.decode(*_json.encode(output)))
            _json.encode(shorter)
        except Exception:  # whatever a caller's function does: a history that could be shown can be shown
            return placeholder(output, limit, how)
        return shorter if isinstance(shorter, str) or key == "output" else placeholder(output, limit, how)

    def _set(self, index: int, key: str, value: Any) -> None:
        part = self.parts[index]
        if part[key] is not value and _json.text(part[key]) != _json.text(value):
            part[key] = value
            self.changed = True

    def _texts(self) -> list[int]:
        return [
            index
            for index, part in enumerate(self.parts)
            if part["type"] == "text" and isinstance(part.get("text"), str)
        ]

    def _policy(self, tool: str) -> Policy:
        if (exact := self.policies.get(tool)) is not None:
            return exact
        fitting = (policy for name, policy in self.policies.items() if "*" in name and fnmatch.fnmatchcase(tool, name))
        return next(fitting, "shape")

    def _how(self, index: int) -> str:
        how = "read the whole with read_original" if self.readable else "the rest is not shown"
        return f"{how}: {original_handle(self.message.id, index)}"
