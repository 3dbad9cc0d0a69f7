"""Gemini's contents from the pieces of a history."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..messages import Message, ToolCall, ToolResult
from ._common import (
    CONTINUES,
    NO_OUTPUT,
    CallIds,
    Note,
    data_url,
    placeholder,
    sendable,
    sendable_value,
    system_as_user,
)
from ._gemini_values import DATA, UNSIGNED, base64_of, camel, own
from ._outputs import is_tagged, output_parts
from ._pieces import Piece, pieces

_CALL_ID = r"[a-zA-Z0-9_-]{1,64}"
_NO_NAME = re.compile(r"[^a-zA-Z0-9_.-]")
_IMAGES = {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
}
_FILES = {"application/pdf", "application/json", "application/x-javascript", "application/x-python"}
_ADDRESS = re.compile(r"(https?|gs)://", re.IGNORECASE)
_SIGNING = re.compile(r"gemini-(?:[3-9]|\d\d)")


class Part(NamedTuple):
    """A part on one side of the conversation."""

    role: Literal["user", "model"]
    data: dict[str, Any]


class Contents:
    """The contents of a history, and the notes made on the way."""

    def __init__(self, messages: Sequence[Message], model: str | None) -> None:
        self.messages = messages
        self.notes: list[Note] = []
        self._signing = model is not None and _SIGNING.search(model) is not None
        self._ids = CallIds(_CALL_ID)
        self._names: dict[str, str] = {}  # of tools, by call id, both as they are sent
        self._found: list[Part] = []
        self._files: list[dict[str, Any]] = []  # of results, until all results of the step are there

    def read(self) -> list[dict[str, Any]]:
        for piece in pieces(self.messages):
            if piece.result is not None:
                self._result(piece, piece.result)
                continue
            self._show_files()
            data = self._call(piece, piece.call) if piece.call is not None else self._part(piece)
            if data is not None:
                self._found.append(Part("model" if piece.role == "assistant" else "user", data))
        self._show_files()
        return self._merged()

    def _merged(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        if self._found and self._found[0].role != "user":
            made.append({"role": "user", "parts": [{"text": CONTINUES}]})
            self.notes.append(Note("user_first", None, None, "the API wants a user's content first"))
        step = False  # whether the step of the model has had a call
        for role, data in self._found:
            if not made or made[-1]["role"] != role:
                made.append({"role": role, "parts": []})
                step = False
            if "function_call" in data:
                if self._signing and not step and "thought_signature" not in data:
                    data = {**data, "thought_signature": UNSIGNED}
                step = True
            made[-1]["parts"].append(data)
        return made

    def _part(self, piece: Piece) -> dict[str, Any] | None:
        part = piece.part
        # Most parts are texts; they are told apart without matching, which takes longer than all else does for one.
        if part["type"] == "text" and isinstance(text := part.get("text"), str):
            return self._text(piece, sendable(text))
        match part:
            case {"type": "reasoning"}:
                return self._thought(piece)
            case {"type": "file"}:
                return self._signed(piece, self._file(piece))
            case {"type": "step-start"}:
                return None
            case {"type": "provider-item", "provider": "google", "item": {} as item} if _is_part(item):
                return dict(sendable_value(item))
            case {"type": "provider-item", "provider": str(provider)}:
                self._note(piece, "dropped", f"this item of {provider} cannot be sent here")
            case {"type": kind}:
                self._note(piece, "unknown_part", f"a part of type {kind!r} was left out")
        return None

    def _text(self, piece: Piece, text: str) -> dict[str, Any] | None:
        if piece.role == "system" and text.strip():
            self._note(piece, "system_as_user", "a system message is shown as a user's text")
            return {"text": system_as_user(text)}
        made = self._signed(piece, {"text": text})
        return made if text.strip() or "thought_signature" in made else None

    def _thought(self, piece: Piece) -> dict[str, Any] | None:
        text = piece.part.get("text")
        signature = base64_of(own(piece.part).get("thoughtSignature"))
        if piece.role == "assistant" and signature and isinstance(text, str) and sendable(text) == text:
            return {"text": text, "thought": True, "thought_signature": signature}
        self._note(piece, "reasoning_dropped", "reasoning without a signature of Google was left out")
        return None

    def _signed(self, piece: Piece, made: dict[str, Any]) -> dict[str, Any]:
        signature = base64_of(own(piece.part).get("thoughtSignature")) if piece.role == "assistant" else None
        return made if signature is None else {**made, "thought_signature": signature}

    def _file(self, piece: Piece) -> dict[str, Any]:
        made = file_data(piece.part)
        if made is None:
            self._note(piece, "file_not_sent", "a file of this type or place cannot be sent; a text stands for it")
        return made or {"text": placeholder(piece.part)}

    def _call(self, piece: Piece, call: ToolCall) -> dict[str, Any]:
        name = function_name(call.name)
        if name != call.name:
            self._note(piece, "tool_renamed", f"the API does not take the tool name {call.name!r}")
        id = self._ids.call(call.id)
        if id != call.id:
            self._note(piece, "call_id_mapped", f"the call id {call.id!r} was replaced")
        self._names[id] = name
        return self._signed(piece, {"function_call": {"id": id, "name": name, "args": sendable_value(call.input)}})

    def _result(self, piece: Piece, result: ToolResult) -> None:
        id = self._ids.result(result.id)
        # The name is that of the call, whatever the result says.
        name = self._names.get(id) or function_name(result.name or "")
        said = {"error" if result.is_error else "output": self._output(piece, result)}
        self._found.append(Part("user", {"function_response": {"id": id, "name": name, "response": said}}))

    def _output(self, piece: Piece, result: ToolResult) -> Any:
        output = result.output
        parts = output_parts(output)
        if isinstance(parts, str):
            if isinstance(output, str) or output is None or (is_tagged(output) and "json" not in output["type"]):
                text = sendable(parts)
                return NO_OUTPUT if result.is_error and not text.strip() else text
            return sendable_value(output["value"] if is_tagged(output) else output)
        texts = []
        for part in parts:
            if part["type"] == "text":
                texts.append(sendable(part["text"]))
                continue
            made = file_data(part)
            if made is None:
                self._note(piece, "file_not_sent", "a file in a result cannot be sent; a text stands for it")
                texts.append(placeholder(part))
                continue
            self._note(piece, "file_moved", "a result holds no files; its file stands behind the results")
            self._files.append(made)
            texts.append(f"[file {len(self._files)} behind these results]")
        return "\n".join(texts)

    def _show_files(self) -> None:
        self._found += [Part("user", file) for file in self._files]
        self._files = []

    def _note(self, piece: Piece, code: str, text: str) -> None:
        self.notes.append(Note(code, self.messages[piece.message].id or None, piece.at, text))


def function_name(name: str) -> str:
    """The name of a function as Gemini takes it: up to 64 letters, digits, `_`, `.`, `-`, the first no digit."""
    made = _NO_NAME.sub("_", name) or "unknown"
    return (made if made[0].isalpha() or made[0] == "_" else f"_{made}")[:64]


def file_data(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part for a file; None where it cannot be sent."""
    url, media = part.get("url"), part.get("mediaType")
    kind = media if isinstance(media, str) and "/" in media and "*" not in media else ""
    if (inline := data_url(url)) is not None:
        kind = kind or inline.media
        plain = kind.lower()
        kind = _ALIASES.get(plain, plain if plain in _IMAGES or plain in _FILES else kind)
        known = kind in _IMAGES or kind in _FILES or plain.startswith(("audio/", "video/", "text/"))
        return {"inline_data": {"mime_type": sendable(kind), "data": inline.data}} if known else None
    if not isinstance(url, str) or not _ADDRESS.match(url):
        return None
    return {"file_data": {"file_uri": sendable(url), **({"mime_type": sendable(kind)} if kind else {})}}


def _is_part(item: Mapping[str, Any]) -> bool:
    return len([name for name, value in item.items() if camel(name) in DATA and value is not None]) == 1
