"""Anthropic's Messages API: `client.messages.create(max_tokens=…, **to_request(…).arguments)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidMessageError
from ..messages import Message
from ._anthropic_blocks import Blocks, part_of, result_part
from ._anthropic_steps import begins_without_thinking, thinks_by_hand
from ._anthropic_stream import CUT_SHORT, Stream, usage_of
from ._common import CONTINUES, Marks, Note, Reply, Request, plain, sendable, sendable_value

__all__ = ["Stream", "from_request", "read_reply", "to_request"]

MOST_MARKS = 4
_MARKABLE = frozenset({"text", "image", "document", "tool_use", "tool_result"})
_NO_MARKS = Marks()


def to_request(
    messages: Sequence[Message],
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    marks: Marks = _NO_MARKS,
) -> Request:
    """Keyword arguments for `messages.create`: `model`, `system` (a list of one text block), `tools`, `messages`.

    Neighbours of one role become one message; results of calls come first in theirs. System messages become a user's
    text in `<system>`. At most four cache marks are set: the prefix's, and of those for messages the newest; a mark
    goes to the last block, up to its message, that can bear one.

    A request that goes on from results of tools, in a turn that begins without thinking, is refused with `thinking` of
    type `enabled`. For models that have it, the note `thinking_off` says so: send this one without.
    """
    mark = {"type": "ephemeral"} if marks.ttl == "5m" else {"type": "ephemeral", "ttl": "1h"}
    blocks = Blocks(messages)
    blocks.read()
    arguments: dict[str, Any] = {}
    if model is not None:
        arguments["model"] = model
    text = sendable(system)
    if text.strip():
        arguments["system"] = [{"type": "text", "text": text}]
    if tools:
        arguments["tools"] = [_tool(tool) for tool in tools]
    if marks.prefix and (last := arguments.get("system") or arguments.get("tools")):
        last[-1]["cache_control"] = dict(mark)
    left = MOST_MARKS - (1 if marks.prefix and ("system" in arguments or "tools" in arguments) else 0)
    _set_marks(blocks, sorted(set(marks.messages))[-left:], mark)
    arguments["messages"] = _merged(blocks)
    if model is not None and thinks_by_hand(model) and (block := begins_without_thinking(blocks.found)) is not None:
        text = "this turn of the model begins without thinking: the request is refused with thinking enabled"
        blocks.notes.append(Note("thinking_off", messages[block.message].id or None, None, text))
    return Request(arguments, tuple(blocks.notes))


def from_request(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in a request. Each result of a tool is a `tool` message of its own; ids are "".

    Blocks that glassine does not know become `provider-item` parts. Raises InvalidMessageError, with the place, when
    `messages` is no list, or something in it is no message.
    """
    given = arguments.get("messages")
    if not isinstance(given, list | tuple):
        raise InvalidMessageError("a request has a list of messages", path=("messages",))
    found: list[Message] = []
    names: dict[str, str] = {}
    for number, entry in enumerate(given):
        entry = plain(entry)
        role = entry.get("role") if isinstance(entry, Mapping) else None
        if role not in ("user", "assistant", "system"):
            raise InvalidMessageError(f"role {role!r} is none of user, assistant, system", path=("messages", number))
        parts: list[Any] = []
        for block in _blocks(entry.get("content")):
            if block.get("type") == "tool_result" and role == "user":
                if parts:
                    found.append(Message(role=role, parts=parts))
                    parts = []
                found.append(Message(role="tool", parts=[result_part(block, names)]))
                continue
            part = part_of(block)
            if part["type"] == "tool-call":
                names[part["toolCallId"]] = part["toolName"]
            parts.append(part)
        if parts and not (number == 0 and parts == [{"type": "text", "text": CONTINUES}]):
            found.append(Message(role=role, parts=parts))
    return found


def read_reply(response: Any) -> Reply:
    """A reply from what `messages.create` returned, or from a dict of the same shape.

    Token counts that are all zero mean that nothing was counted, and become None. Raises InvalidMessageError when
    there is no `content`.
    """
    given = plain(response)
    if not isinstance(given, Mapping) or not isinstance(given.get("content"), list):
        raise InvalidMessageError("a reply of Anthropic has a list `content`", path=("content",))
    blocks = _blocks(given["content"])
    if given.get("stop_reason") in CUT_SHORT and blocks and blocks[-1]["type"] in ("tool_use", "server_tool_use"):
        blocks.pop()  # as in a stream: the model was cut short, and this call is not what it meant
    message = Message(role="assistant", parts=[part_of(block) for block in blocks])
    model, stop, id = given.get("model"), given.get("stop_reason"), given.get("id")
    return Reply(message, usage_of(given.get("usage")), model, stop, id)


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    made = {"name": tool.get("name")}
    if tool.get("description"):
        made["description"] = tool["description"]
    made["input_schema"] = tool.get("input_schema") or {"type": "object", "properties": {}}
    return dict(sendable_value(made))


def _set_marks(blocks: Blocks, wanted: Sequence[int], mark: dict[str, Any]) -> None:
    for number in wanted:
        for block in reversed(blocks.found):
            if block.message <= number and block.data["type"] in _MARKABLE:
                block.data["cache_control"] = dict(mark)
                break


def _merged(blocks: Blocks) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    if blocks.found and blocks.found[0].role != "user":
        made.append({"role": "user", "content": [{"type": "text", "text": CONTINUES}]})
        blocks.notes.append(Note("user_first", None, None, "the API wants a user's message first"))
    for block in blocks.found:
        if not made or made[-1]["role"] != block.role:
            made.append({"role": block.role, "content": []})
        made[-1]["content"].append(block.data)
    last = made[-1]["content"][-1] if made and made[-1]["role"] == "assistant" else {}
    if last.get("type") == "text":
        kept = last["text"].rstrip()  # the API refuses to continue a text that ends in white space
        if kept != last["text"]:
            last["text"] = kept
            last.pop("cache_control", None)  # with more behind it, it will be another text
            blocks.notes.append(Note("text_trimmed", None, None, "white space at the very end was left out"))
    return made


def _blocks(content: Any) -> list[dict[str, Any]]:
    """Content as blocks; a text is one, and what is neither is left out."""
    items = [content] if isinstance(content, str) else content if isinstance(content, list | tuple) else []
    found = []
    for item in items:
        item = plain(item)
        if isinstance(item, str) and item:
            found.append({"type": "text", "text": item})
        elif isinstance(item, Mapping) and isinstance(item.get("type"), str):
            found.append({key: value for key, value in item.items() if key != "cache_control"})
    return found
