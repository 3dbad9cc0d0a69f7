"""Tool calls and results as they stand in the parts of a message, in each of the shapes that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _json


class ToolCall(NamedTuple):
    """A tool call inside a message; `part` is the index of its part.

    `input` is always an object, for no provider takes anything else: what the model wrote is read as JSON where it is
    text, and is `{}` where no object comes of it. `raw` is what stands in the message.
    """

    id: str
    name: str
    input: dict[str, Any]
    part: int
    raw: Any


class ToolResult(NamedTuple):
    """A tool result inside a message; `part` is the index of its part, `name` None when the part has none."""

    id: str
    name: str | None
    output: Any
    is_error: bool
    part: int


ToolsIn = tuple[tuple[ToolCall, ...], tuple[ToolResult, ...]]
"""The calls in a message, and the results."""


def read_tools(parts: Any) -> ToolsIn:
    """What of tools stands in the parts of a message."""
    asked: list[ToolCall] = []
    given: list[ToolResult] = []
    for index, part in enumerate(parts):
        kind = part.get("type")
        if kind == "text" or not isinstance(kind, str) or not isinstance(call_id := part.get("toolCallId"), str):
            continue
        name = part.get("toolName")
        if kind == "tool-result":
            given.append(ToolResult(call_id, name if isinstance(name, str) and name else None, *_outcome(part), index))
            continue
        if kind != "dynamic-tool" and not kind.startswith("tool-"):
            continue
        if kind == "dynamic-tool" and "state" not in part:
            continue
        if not isinstance(name, str):
            name = "" if kind == "tool-call" else kind.removeprefix("tool-")
        asked.append(ToolCall(call_id, name, _object(part.get("input")), index, part.get("input")))
        if str(part.get("state", "")).startswith("output-"):
            # A part without a state is a call that has only just begun.
            given.append(ToolResult(call_id, name or None, *_outcome(part), index))
    return tuple(asked), tuple(given)


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = _json.decode(_json.CODEC_STDLIB, value.encode("utf-8", "surrogatepass"))
            _json.encode(value)
        except (ValueError, RecursionError):
            return {}  # no JSON, or what Python alone takes for it: NaN, or a number beyond all
    return value if isinstance(value, dict) else {}


def _outcome(part: Mapping[str, Any]) -> tuple[Any, bool]:
    if part.get("state") == "output-error":
        return part.get("errorText", part.get("output")), True
    return part.get("output"), part.get("isError") is True
