"""Anthropic's content blocks from the parts of messages, and parts from the blocks."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from .. import _json
from ..errors import InvalidMessageError
from ..messages import Message, ToolCall, ToolResult, calls
from ._common import (
    NO_OUTPUT,
    CallIds,
    Note,
    data_url,
    placeholder,
    sendable,
    sendable_value,
    system_as_user,
)
from ._outputs import file_of, output_parts
from ._pieces import Piece, pieces

_CALL_ID = r"[a-zA-Z0-9_-]{1,64}"
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_ALIASES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
_TEXTS = {"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript"}
_FILE_FIELDS = {"type", "source", "title"}
_CALL_FIELDS = ("caller", "toolset_name")
_FILE_ID = re.compile(r"file_[\w-]+")

SERVER_RESULTS = frozenset(
    {
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "advisor_tool_result",
        "mcp_tool_result",
    }
)
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_WITH_PARTS = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result"})
"""Blocks that have parts of their own: as an item such a block is a broken one."""
OPAQUE = SERVER_RESULTS | SERVER_CALLS | {"container_upload", "mcp_tool_listing", "compaction", "search_result"}
"""Blocks that go back as they came. As parts of an imported transcript they may stand bare."""

_PLAIN = frozenset({"text", "reasoning", "tool-call", "tool-result", "file"})
"""The types of parts that are no items of a provider."""


class Block(NamedTuple):
    """A block on one side of the conversation, and the index of the message it comes from."""

    role: Literal["user", "assistant"]
    data: dict[str, Any]
    message: int


class Blocks:
    """The blocks of a history, in order, and the notes made on the way."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.found: list[Block] = []
        self.notes: list[Note] = []
        self._ids = CallIds(_CALL_ID)

    def read(self) -> None:
        for piece in pieces(self.messages):
            data = self._block(piece)
            if data is not None:
                self.found.append(Block("assistant" if piece.role == "assistant" else "user", data, piece.message))

    def _block(self, piece: Piece) -> dict[str, Any] | None:
        if piece.call is not None:
            return self._call(piece, piece.call)
        if piece.result is not None:
            return self._result(piece, piece.result)
        part = piece.part
        # Most parts are texts; they are told apart without matching, which takes longer than all else does for one.
        if part["type"] == "text" and isinstance(text := part.get("text"), str):
            return self._text(piece, sendable(text))
        match part:
            case {"type": "reasoning"}:
                return self._thinking(piece)
            case {"type": "file"}:
                return self._file(piece)
            case {"type": "step-start"}:
                return None
            case {"type": "provider-item", "provider": provider} if provider != "anthropic":
                self._note(piece, "dropped", f"an item of {provider} goes back to that provider only")
            case {"type": kind} if (item := _item_of(part)) is not None:
                return self._item(piece, item)
            case {"type": kind}:
                self._note(piece, "unknown_part", f"a part of type {kind!r} was left out")
        return None

    def _note(self, piece: Piece, code: str, text: str) -> None:
        self.notes.append(Note(code, self.messages[piece.message].id or None, piece.at, text))

    def _text(self, piece: Piece, text: str) -> dict[str, Any] | None:
        if not text.strip():
            return None
        if piece.role == "system":
            self._note(piece, "system_as_user", "a system message is shown as a user's text")
            return {"type": "text", "text": system_as_user(text)}
        if piece.role == "assistant" and (kept := _citations(piece.part)):
            return {"type": "text", "text": text, "citations": kept}
        return {"type": "text", "text": text}

    def _thinking(self, piece: Piece) -> dict[str, Any] | None:
        own = _own(piece.part)
        signature, data, text = own.get("signature"), own.get("redactedData"), piece.part.get("text")
        if piece.role != "assistant" or not self._has_more(piece):
            self._note(piece, "reasoning_dropped", "thinking that nothing follows cannot be sent back")
        elif isinstance(data, str) and data:
            return {"type": "redacted_thinking", "data": data}
        elif isinstance(signature, str) and signature and isinstance(text, str) and sendable(text) == text:
            return {"type": "thinking", "thinking": text, "signature": signature}
        else:
            self._note(piece, "reasoning_dropped", "reasoning without a signature of Anthropic was left out")
        return None

    def _has_more(self, piece: Piece) -> bool:
        """Whether something follows in the same message: whatever comes later must not decide what is sent of it."""
        message = self.messages[piece.message]
        if any(call.part > piece.at for call in calls(message)):
            return True
        rest: list[Any] = message.parts[piece.at + 1 :]
        return any(
            part["type"] == "file"
            or (part["type"] == "text" and isinstance(part.get("text"), str) and part["text"].strip())
            or self._is_sent_item(part)
            for part in rest
        )

    @cached_property
    def _whole(self) -> set[str]:
        return _whole_server_calls(self.messages)

    def _is_sent_item(self, part: Mapping[str, Any]) -> bool:
        item = _item_of(part)
        return item is not None and (_server_id(item) is None or _server_id(item) in self._whole)

    def _file(self, piece: Piece) -> dict[str, Any]:
        made = _file_block(piece.part) if piece.role != "assistant" else None
        if made is None:
            self._note(piece, "file_not_sent", "a file of this type or place cannot be sent; a text stands for it")
            return {"type": "text", "text": placeholder(piece.part)}
        return made

    def _item(self, piece: Piece, item: dict[str, Any]) -> dict[str, Any] | None:
        if (id := _server_id(item)) is not None and id not in self._whole:
            self._note(piece, "dropped", f"the server's tool call {id} is not whole")
            return None
        return dict(sendable_value(item))

    def _call(self, piece: Piece, call: ToolCall) -> dict[str, Any]:
        name = _NO_NAME.sub("_", call.name)[:128] or "unknown"
        if name != call.name:
            self._note(piece, "tool_renamed", f"the API does not take the tool name {call.name!r}")
        id = self._ids.call(call.id)
        if id != call.id:
            self._note(piece, "call_id_mapped", f"the call id {call.id!r} was replaced")
        made = {"type": "tool_use", "id": id, "name": name, "input": sendable_value(call.input)}
        if own := _own(piece.part):
            made.update({key: value for key, value in own.items() if key in _CALL_FIELDS})
        return made

    def _result(self, piece: Piece, result: ToolResult) -> dict[str, Any]:
        content = output_parts(result.output)
        made: dict[str, Any] = {"type": "tool_result", "tool_use_id": self._ids.result(result.id)}
        if isinstance(content, str):
            text = sendable(content)
            made["content"] = NO_OUTPUT if result.is_error and not text.strip() else text
        else:
            made["content"] = self._inside(piece, result, content) or (NO_OUTPUT if result.is_error else "")
        if result.is_error:
            made["is_error"] = True
        return made

    def _inside(self, piece: Piece, result: ToolResult, parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for part in parts:
            if part["type"] == "text":
                text = sendable(part["text"])
                if text.strip():
                    found.append({"type": "text", "text": text})
                continue
            block = None if result.is_error else _file_block(part)  # an error holds text only
            if block is None:
                self._note(piece, "file_not_sent", "a file in a result cannot be sent; a text stands for it")
            found.append(block or {"type": "text", "text": placeholder(part)})
        return found


def _own(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a part holds for Anthropic alone."""
    metadata = part.get("providerMetadata", part.get("callProviderMetadata"))
    own = metadata.get("anthropic") if isinstance(metadata, dict) else None
    return own if isinstance(own, dict) else {}


def _citations(part: Mapping[str, Any]) -> list[Any]:
    found = _own(part).get("citations")
    return [_citation(item) for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _citation(citation: Any) -> Any:
    # The API sends a file's id with a citation, and refuses it in a request.
    kept = {key: value for key, value in citation.items() if key != "file_id"}
    return sendable_value(kept)


def _file_block(part: Mapping[str, Any]) -> dict[str, Any] | None:
    url, media = part.get("url"), part.get("mediaType")
    if not isinstance(url, str):
        return None
    media = media.lower() if isinstance(media, str) else ""
    name = part.get("filename")
    title = {"title": sendable(name)} if isinstance(name, str) and name.strip() else {}
    if (inline := data_url(url)) is not None:
        kind = media if "/" in media and "*" not in media else inline.media
        kind = _ALIASES.get(kind, kind)
        if kind in _IMAGES:
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": inline.data}}
        if kind == "application/pdf":
            source = {"type": "base64", "media_type": kind, "data": inline.data}
            return {"type": "document", "source": source, **title}
        if kind.startswith("text/") or kind in _TEXTS:
            text = inline.bytes.decode("utf-8", "replace")
            source = {"type": "text", "media_type": "text/plain", "data": text}
            return {"type": "document", "source": source, **title} if text.strip() else None
        return None
    if re.match(r"https?://", url, re.IGNORECASE):
        source = {"type": "url", "url": sendable(url)}
    elif _FILE_ID.fullmatch(url):
        source = {"type": "file", "file_id": url}
    else:
        return None
    if media.startswith("image/"):
        return {"type": "image", "source": source}
    if media == "application/pdf" or source["type"] == "file":
        return {"type": "document", "source": source, **title}
    return None


def _item_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    match part:
        case {"type": "provider-item", "provider": "anthropic", "item": {"type": str(kind)} as item}:
            return None if kind in _WITH_PARTS else dict(item)
        case {"type": kind} if kind in OPAQUE:
            return dict(part)
    return None


def _server_id(item: Mapping[str, Any]) -> str | None:
    """The id that ties a call of a server's tool to its result; None for other items."""
    kind = item.get("type")
    id = item.get("id") if kind in SERVER_CALLS else item.get("tool_use_id") if kind in SERVER_RESULTS else None
    return id if isinstance(id, str) else None


def _whole_server_calls(messages: Sequence[Message]) -> set[str]:
    """The calls of servers' tools that have their results, and those that the last message waits for."""
    asked, whole = set(), set()
    for number, message in enumerate(messages):
        parts: list[Any] = message.parts
        for item in [item for part in parts if part["type"] not in _PLAIN and (item := _item_of(part)) is not None]:
            id = _server_id(item)
            if id is None:
                continue
            if item["type"] in SERVER_CALLS:
                asked.add(id)
                if number == len(messages) - 1:
                    whole.add(id)
            elif id in asked:
                whole.add(id)
    return whole


def part_of(block: Mapping[str, Any]) -> dict[str, Any]:
    """The part for a block of a request or a reply, but for results. A block that is not known is kept whole."""
    match block:
        case {"type": "text", "text": str(text)}:
            return _with({"type": "text", "text": text}, "citations", block.get("citations"))
        case {"type": "thinking", "thinking": str(text)}:
            return _with({"type": "reasoning", "text": text}, "signature", block.get("signature"))
        case {"type": "redacted_thinking", "data": str(data)}:
            return _with({"type": "reasoning", "text": ""}, "redactedData", data)
        case {"type": "tool_use", "id": str(id), "name": str(name)}:
            part = {"type": "tool-call", "toolCallId": id, "toolName": name, "input": _storable(block.get("input"))}
            own = {key: block[key] for key in _CALL_FIELDS if block.get(key) not in (None, {"type": "direct"})}
            return {**part, "providerMetadata": {"anthropic": own}} if own else part
        case {"type": "document", "source": {"type": "text", "data": str(data)}} if block.keys() <= _FILE_FIELDS:
            return _document(block, data)
    if block.keys() <= _FILE_FIELDS and (file := file_of(block)) is not None:
        return file
    return {"type": "provider-item", "provider": "anthropic", "item": _storable(dict(block))}


def result_part(block: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The part for a `tool_result` block. `names` are the names of the tools by call id."""
    id, content = block.get("tool_use_id"), block.get("content")
    id = id if isinstance(id, str) else ""
    if isinstance(content, list):
        content = [part_of(item) if isinstance(item, Mapping) else item for item in content]
    part = {
        "type": "tool-result",
        "toolCallId": id,
        "toolName": names.get(id, ""),
        "output": "" if content is None else _storable(content),
    }
    return {**part, "isError": True} if block.get("is_error") is True else part


def _with(part: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    return {**part, "providerMetadata": {"anthropic": {name: value}}} if value else part


def _document(block: Mapping[str, Any], data: str) -> dict[str, Any]:
    encoded = base64.b64encode(data.encode("utf-8", "surrogatepass")).decode()
    part = {"type": "file", "mediaType": "text/plain", "url": f"data:text/plain;base64,{encoded}"}
    title = block.get("title")
    return {**part, "filename": title} if isinstance(title, str) and title else part


def _storable(value: Any) -> Any:
    """A value that a message can hold: itself, or its text when JSON could not give it back."""
    try:
        _json.encode(value)
    except InvalidMessageError:
        return str(value)
    return value
