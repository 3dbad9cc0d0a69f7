"""OpenAI's Responses API: `client.responses.create(**to_request(…).arguments)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidMessageError
from ..messages import Message, Role
from ._common import Marks, Reply, Request, plain, sendable
from ._openai_item_parts import item_parts, message_parts, output_part
from ._openai_items import Items
from ._openai_items_stream import ItemStream as Stream
from ._openai_items_stream import reply_of
from ._openai_shared import function

__all__ = ["Stream", "from_request", "read_reply", "to_request"]

_ROLES: dict[str, Role] = {"developer": "system", "system": "system", "user": "user", "assistant": "assistant"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_NO_MARKS = Marks()


def to_request(
    messages: Sequence[Message],
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    marks: Marks = _NO_MARKS,
) -> Request:
    """Keyword arguments for `responses.create`: `model`, `instructions`, `input`, `tools`.

    Reasoning goes back with its encrypted content, and only when something of its message follows; items get their ids
    only behind such reasoning. Tools are not strict, for that asks more of a schema than others do. The cache is the
    provider's affair here, and `marks` set nothing.
    """
    items = Items(messages)
    arguments: dict[str, Any] = {}
    if model is not None:
        arguments["model"] = model
    text = sendable(system)
    if text.strip():
        arguments["instructions"] = text
    arguments["input"] = items.read()
    if tools:
        arguments["tools"] = [{"type": "function", **function(tool), "strict": False} for tool in tools]
    return Request(arguments, tuple(items.notes))


def from_request(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in a request's `input`. What the model wrote between two messages of others is one message; ids
    are "".

    Items that glassine does not know become `provider-item` parts of the assistant. Raises InvalidMessageError, with
    the place, when `input` is neither text nor a list, or something in it is no item.
    """
    given = arguments.get("input")
    if isinstance(given, str):
        return [Message(role="user", parts=[{"type": "text", "text": given}])] if given else []
    if not isinstance(given, list | tuple):
        raise InvalidMessageError("a request has `input`, a text or a list of items", path=("input",))
    found: list[tuple[Role, list[Any]]] = []
    names: dict[str, str] = {}
    for number, entry in enumerate(given):
        item = plain(entry)
        if not isinstance(item, Mapping):
            raise InvalidMessageError("an item is an object", path=("input", number))
        kind = item.get("type", "message" if "role" in item else None)
        if kind in _OUTPUTS:
            found.append(("tool", [output_part(item, names)]))
            continue
        name = item.get("role") if kind == "message" else "assistant"
        role = _ROLES.get(name) if isinstance(name, str) else None
        if role is None or not isinstance(kind, str):
            raise InvalidMessageError(f"an item of type {kind!r} and role {name!r} is none", path=("input", number))
        parts = message_parts(item) if kind == "message" else item_parts(item)
        names.update({part["toolCallId"]: part["toolName"] for part in parts if part["type"] == "tool-call"})
        if role == "assistant" and found and found[-1][0] == "assistant":
            found[-1][1].extend(parts)
        elif parts:
            found.append((role, parts))
    return [Message(role=role, parts=parts) for role, parts in found]


def read_reply(response: Any) -> Reply:
    """A reply from what `responses.create` returned, or from a dict of the same shape.

    `stop` is the reason of an incomplete answer, else its status. Token counts that are all zero mean that nothing was
    counted, and become None. Raises InvalidMessageError when there is no `output`.
    """
    given = plain(response)
    if not isinstance(given, Mapping) or not isinstance(given.get("output"), list):
        raise InvalidMessageError("a reply of the Responses API has a list `output`", path=("output",))
    return reply_of(given, given["output"])
