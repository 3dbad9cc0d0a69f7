"""The input items of the Responses API from the pieces of a history."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Message, ToolCall, ToolResult
from ._common import CallIds, Note, placeholder, sendable, sendable_value
from ._openai_linking import Entry, link
from ._openai_shared import (
    arguments,
    file_id,
    image_url,
    inline_file,
    output_of,
    own,
    tool_name,
    web_file,
)
from ._pieces import Piece, pieces

_CALL_ID = r"[a-zA-Z0-9_-]{1,64}"
_ITEM_ID = re.compile(r"(msg|rs|fc|ctc)[a-zA-Z0-9_-]{1,61}")
_PHASES = ("commentary", "final_answer")
_CALLS = ("function_call", "custom_tool_call")
_WITH_PARTS = ("message", "reasoning", "item_reference", *_CALLS, *(f"{kind}_output" for kind in _CALLS))
"""Items that have parts of their own: as an item of the provider such a one is broken."""


class Items:
    """The items of a history, in order, and the notes made on the way."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.notes: list[Note] = []
        self._ids = CallIds(_CALL_ID)
        self._custom: set[str] = set()  # ids of calls to custom tools, as they are sent
        self._entries: list[Entry] = []

    def read(self) -> list[dict[str, Any]]:
        for piece in pieces(self.messages):
            if piece.call is not None:
                self._call(piece, piece.call)
            elif piece.result is not None:
                self._result(piece, piece.result)
            else:
                self._part(piece)
        return link(self._entries, self._note)

    def _part(self, piece: Piece) -> None:
        part = piece.part
        # Most parts are texts; they are told apart without matching, which takes longer than all else does for one.
        if part["type"] == "text" and isinstance(text := part.get("text"), str):
            if text.strip():
                self._say(piece, self._text(piece, sendable(text)))
            return
        match part:
            case {"type": "reasoning"}:
                self._reasoning(piece)
            case {"type": "file"}:
                self._say(piece, self._file(piece, part))
            case {"type": "step-start"}:
                pass
            case {"type": "provider-item", "provider": "openai", "item": {"type": str(kind)} as item}:
                if kind in _WITH_PARTS:
                    self._note(piece.message, piece.at, "unknown_part", f"an item of type {kind!r} is no item here")
                else:
                    self._entries.append(Entry(piece, dict(sendable_value(item)), None))
            case {"type": "provider-item", "provider": str(provider)} if provider != "openai":
                self._note(piece.message, piece.at, "dropped", f"an item of {provider} goes back to that provider only")
            case {"type": kind}:
                self._note(piece.message, piece.at, "unknown_part", f"a part of type {kind!r} was left out")

    def _say(self, piece: Piece, content: dict[str, Any]) -> None:
        """Put content into the message item of the piece: the last item, if that is of the same message. What the model
        wrote is an item for each text, but for texts with the id of one."""
        held = own(piece.part)
        id = _item_id(held, "msg")
        if self._entries:
            last = self._entries[-1]
            same = last.piece.message == piece.message and last.item.get("role") == piece.role
            if same and (piece.role != "assistant" or (id is not None and last.id == id)):
                last.item["content"].append(content)
                return
        item: dict[str, Any] = {"type": "message", "role": piece.role, "content": [content]}
        if piece.role == "assistant" and held.get("phase") in _PHASES:
            item["phase"] = held["phase"]
        self._entries.append(Entry(piece, item, id if piece.role == "assistant" else None))

    def _text(self, piece: Piece, text: str) -> dict[str, Any]:
        if piece.role != "assistant":
            return {"type": "input_text", "text": text}
        if own(piece.part).get("refusal") is True:
            return {"type": "refusal", "refusal": text}
        notes = own(piece.part).get("annotations")
        return {"type": "output_text", "text": text, "annotations": sendable_value(notes) if _are(notes) else []}

    def _reasoning(self, piece: Piece) -> None:
        held, text = own(piece.part), piece.part.get("text")
        content, id = held.get("reasoningEncryptedContent"), _item_id(held, "rs")
        text = text if isinstance(text, str) else ""
        last = self._entries[-1] if self._entries else None
        is_more = last is not None and last.item.get("type") == "reasoning" and last.piece.message == piece.message
        if is_more and last is not None and id is not None and last.id == id:
            # One item with several summaries has one part for each.
            last.item["summary"] += _summary(text)
            if isinstance(content, str) and content:
                last.item.setdefault("encrypted_content", content)
            return
        if piece.role != "assistant" or sendable(text) != text:
            self._note(piece.message, piece.at, "reasoning_dropped", "reasoning cannot be sent back from here")
            return
        item: dict[str, Any] = {"type": "reasoning", "summary": _summary(text)}
        if isinstance(content, str) and content.isascii() and content:
            item["encrypted_content"] = content
        self._entries.append(Entry(piece, item, id))

    def _file(self, piece: Piece, part: Mapping[str, Any]) -> dict[str, Any]:
        made = file_content(part) if piece.role == "user" else None
        if made is not None:
            return made
        self._note(piece.message, piece.at, "file_not_sent", "a file cannot be sent from here; a text stands for it")
        return self._text(piece, placeholder(part))

    def _call(self, piece: Piece, call: ToolCall) -> None:
        name = tool_name(call.name)
        if name != call.name:
            self._note(piece.message, piece.at, "tool_renamed", f"the API does not take the tool name {call.name!r}")
        id = self._ids.call(call.id)
        if id != call.id:
            self._note(piece.message, piece.at, "call_id_mapped", f"the call id {call.id!r} was replaced")
        held = own(piece.part)
        text = call.input.get("input")
        if held.get("customTool") is True and isinstance(text, str):
            self._custom.add(id)
            item = {"type": "custom_tool_call", "call_id": id, "name": name, "input": sendable(text)}
            self._entries.append(Entry(piece, item, _item_id(held, "ctc")))
            return
        item = {"type": "function_call", "call_id": id, "name": name, "arguments": arguments(call)}
        self._entries.append(Entry(piece, item, _item_id(held, "fc")))

    def _result(self, piece: Piece, result: ToolResult) -> None:
        id, content = self._ids.result(result.id), output_of(result)
        output: Any = content
        if not isinstance(content, str):
            output = [self._inside(piece, part) for part in content if part["type"] != "text" or part["text"].strip()]
        kind = "custom_tool_call_output" if id in self._custom else "function_call_output"
        self._entries.append(Entry(piece, {"type": kind, "call_id": id, "output": output or ""}, None))

    def _inside(self, piece: Piece, part: dict[str, Any]) -> dict[str, Any]:
        if part["type"] == "text":
            return {"type": "input_text", "text": sendable(part["text"])}
        made = file_content(part)
        if made is None:
            text = "a file in a result cannot be sent; a text stands for it"
            self._note(piece.message, piece.at, "file_not_sent", text)
        return made or {"type": "input_text", "text": placeholder(part)}

    def _note(self, message: int, part: int, code: str, text: str) -> None:
        self.notes.append(Note(code, self.messages[message].id or None, part, text))


def file_content(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The content for a file in a message or an output; None where it cannot be sent."""
    if (url := image_url(part)) is not None:
        return {"type": "input_image", "detail": "auto", "image_url": url}
    if (id := file_id(part)) is not None:
        media = part.get("mediaType")
        if isinstance(media, str) and media.startswith("image/"):
            return {"type": "input_image", "detail": "auto", "file_id": id}
        return {"type": "input_file", "file_id": id}
    if (file := inline_file(part)) is not None:
        return {"type": "input_file", **file}
    if (address := web_file(part)) is not None:
        return {"type": "input_file", "file_url": address}
    return None


def _item_id(held: Mapping[str, Any], prefix: str) -> str | None:
    id = held.get("itemId")
    return id if isinstance(id, str) and _ITEM_ID.fullmatch(id) and id.startswith(prefix) else None


def _summary(text: str) -> list[dict[str, Any]]:
    return [{"type": "summary_text", "text": text}] if text else []


def _are(notes: Any) -> bool:
    return isinstance(notes, list) and all(isinstance(note, dict) for note in notes)
