"""The AI SDK: `ModelMessage`s for `generateText`, and histories in them or in `UIMessage`s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidMessageError
from ..messages import ROLES, Message, ToolResult
from ._common import CallIds, Marks, Note, Request, sendable, sendable_value
from ._outputs import is_tagged, output_parts
from ._pieces import Piece, pieces

__all__ = ["from_request", "to_request"]

_NO_MARKS = Marks()


def to_request(
    messages: Sequence[Message],
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    marks: Marks = _NO_MARKS,
) -> Request:
    """`system` (when there is any), `messages` as ModelMessages, `tools` as name → `{description, inputSchema}`.

    `inputSchema` is the JSON Schema itself: wrap it in `jsonSchema(…)`. `model` is left out, as the AI SDK wants an
    object there, and so are `marks`: how a provider behind it caches is set in its own options.
    """
    arguments: dict[str, Any] = {}
    if system:
        arguments["system"] = sendable(system)
    made = _Messages(messages)
    for piece in pieces(messages):
        made.add(piece)
    arguments["messages"] = made.found
    if tools:
        arguments["tools"] = {
            sendable(str(tool.get("name"))): sendable_value(
                {"description": tool.get("description") or "", "inputSchema": tool.get("input_schema") or {}}
            )
            for tool in tools
        }
    return Request(arguments, tuple(made.notes))


def from_request(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in `messages`, as ModelMessages or UIMessages (or both); ids are "".

    Each result of a tool is a `tool` message of its own; UIMessages stay as they are. Content that is not known is
    kept as parts. Raises InvalidMessageError, with the place, when `messages` is no list, or one is no message.
    """
    given = arguments.get("messages")
    if not isinstance(given, list | tuple):
        raise InvalidMessageError("a request has a list of messages", path=("messages",))
    found: list[Message] = []
    for number, entry in enumerate(given):
        role = entry.get("role") if isinstance(entry, Mapping) else None
        if role not in ROLES:
            raise InvalidMessageError(f"role {role!r} is none of {', '.join(ROLES)}", path=("messages", number))
        if isinstance(entry.get("parts"), list):
            parts = [dict(part) for part in entry["parts"] if isinstance(part, Mapping) and _typed(part)]
            if parts:
                found.append(Message(role=role, parts=parts))
            continue
        found += _read(role, entry.get("content"))
    return found


class _Messages:
    """ModelMessages in the making: neighbours of one role from one message go together."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.found: list[dict[str, Any]] = []
        self.notes: list[Note] = []
        self._ids = CallIds(r"(?s).+")
        self._source: tuple[str, int] | None = None
        self._names: dict[str, str] = {}

    def add(self, piece: Piece) -> None:
        part = self._part(piece)
        if part is None:
            return
        if piece.role == "system":
            self.found.append({"role": "system", "content": part["text"]})
            self._source = None
            return
        # All results of one step make one message, whichever messages they came in.
        source = (piece.role, -1 if piece.role == "tool" else piece.message)
        if source != self._source:
            self.found.append({"role": piece.role, "content": []})
            self._source = source
        self.found[-1]["content"].append(part)

    def _part(self, piece: Piece) -> dict[str, Any] | None:
        if piece.call is not None:
            id = self._ids.call(piece.call.id)
            name = sendable(piece.call.name) or "unknown"
            self._names[id] = name
            made = {"type": "tool-call", "toolCallId": sendable(id), "toolName": name}
            return _with_options({**made, "input": sendable_value(piece.call.input)}, piece.part)
        if piece.result is not None:
            return self._result(piece.result)
        match piece.part:
            case {"type": "text", "text": str(text)}:
                return _with_options({"type": "text", "text": sendable(text)}, piece.part) if text else None
            case {"type": "reasoning", "text": str(text)} if piece.role == "assistant":
                return _with_options({"type": "reasoning", "text": sendable(text)}, piece.part)
            case {"type": "file", "mediaType": str(media), "url": str(url)} if piece.role in ("user", "assistant"):
                made = {"type": "file", "data": sendable(url), "mediaType": media}
                filename = piece.part.get("filename")
                if isinstance(filename, str) and filename:
                    made["filename"] = sendable(filename)
                return _with_options(made, piece.part)
            case {"type": "step-start"}:
                return None
            case {"type": "provider-item"}:
                self._note(piece, "dropped", "a provider's own item has no place in the AI SDK")
            case {"type": kind}:
                self._note(piece, "unknown_part", f"a part of type {kind!r} was left out")
        return None

    def _result(self, result: ToolResult) -> dict[str, Any]:
        id = self._ids.result(result.id)
        name = result.name or self._names.get(id) or "unknown"
        output = _output(result.output, result.is_error)
        return {"type": "tool-result", "toolCallId": sendable(id), "toolName": sendable(name), "output": output}

    def _note(self, piece: Piece, code: str, text: str) -> None:
        self.notes.append(Note(code, self.messages[piece.message].id or None, piece.at, text))


def _with_options(made: dict[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    options = part.get("providerMetadata", part.get("callProviderMetadata"))
    return {**made, "providerOptions": sendable_value(options)} if isinstance(options, dict) and options else made


def _output(output: Any, is_error: bool) -> dict[str, Any]:
    if is_tagged(output) and (not is_error or output["type"] not in ("text", "json", "content")):
        return dict(sendable_value(output))
    parts = output_parts(output)
    if isinstance(parts, list) and not is_error:
        return {"type": "content", "value": [_inside(part) for part in parts]}
    if isinstance(parts, str) and (output is None or isinstance(output, str) or is_tagged(output)):
        return {"type": "error-text" if is_error else "text", "value": sendable(parts)}
    return {"type": "error-json" if is_error else "json", "value": sendable_value(output)}


def _inside(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "text", "text": sendable(part["text"])}
    head, _, data = part["url"].partition(";base64,")
    if head.startswith("data:") and data:
        return {"type": "media", "data": sendable(data), "mediaType": part["mediaType"]}
    return {"type": "text", "text": f"[file: {sendable(part['url'])}]"}


def _read(role: Any, content: Any) -> list[Message]:
    if isinstance(content, str):
        return [Message(role=role, parts=[{"type": "text", "text": content}])] if content else []
    found: list[Message] = []
    parts: list[Any] = []
    for item in content if isinstance(content, list | tuple) else ():
        if not isinstance(item, Mapping) or not _typed(item):
            continue
        if item["type"] == "tool-result":
            if parts:
                found.append(Message(role="user" if role == "tool" else role, parts=parts))
                parts = []
            found.append(Message(role="tool", parts=[_result_part(item)]))
        else:
            parts.append(_read_part(item))
    if parts:
        found.append(Message(role="user" if role == "tool" else role, parts=parts))
    return found


def _typed(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("type"), str)


def _read_part(item: Mapping[str, Any]) -> dict[str, Any]:
    part = {key: value for key, value in item.items() if key != "providerOptions"}
    match item:
        case {"type": "image", "image": str(data)}:
            part = _file(data, item.get("mediaType") or "image/*")
        case {"type": "file", "mediaType": str(media), "data": str(data)}:
            part = _file(data, media)
            if isinstance(item.get("filename"), str):
                part["filename"] = item["filename"]
    if isinstance(options := item.get("providerOptions"), dict) and options:
        part["providerMetadata"] = options
    return part


def _file(data: str, media: str) -> dict[str, Any]:
    is_url = data.startswith(("data:", "http://", "https://")) or len(data) < 64
    return {"type": "file", "mediaType": media, "url": data if is_url else f"data:{media};base64,{data}"}


def _result_part(item: Mapping[str, Any]) -> dict[str, Any]:
    id, name, output = item.get("toolCallId"), item.get("toolName"), item.get("output")
    part: dict[str, Any] = {
        "type": "tool-result",
        "toolCallId": id if isinstance(id, str) else "",
        "toolName": name if isinstance(name, str) else "",
        "output": output,
    }
    match output:
        case {"type": "text" | "json", "value": value}:
            part["output"] = value
        case {"type": "error-text" | "error-json", "value": value}:
            part |= {"output": value, "isError": True}
        case {"type": "content", "value": list(value)}:
            part["output"] = output_parts(value) if value else value
    return part
