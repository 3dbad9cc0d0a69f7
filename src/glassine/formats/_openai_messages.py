"""The messages of Chat Completions from the pieces of a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Message, ToolCall, ToolResult
from ._common import CallIds, Note, data_url, placeholder, sendable
from ._openai_gemini import is_gemini, signed
from ._openai_shared import (
    IN_RESULTS,
    arguments,
    file_id,
    image_url,
    inline_file,
    media_of,
    output_of,
    own,
    tool_name,
)
from ._openai_sound import is_transcribed, sound_id
from ._pieces import Piece, pieces

# Kept to what every server that speaks this format takes, though OpenAI's own asks for less.
_CALL_ID = r"[a-zA-Z0-9_-]{1,40}"
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


class ChatMessages:
    """The messages of a history, in order, and the notes made on the way."""

    def __init__(self, messages: Sequence[Message], model: str | None) -> None:
        self.messages = messages
        self._signing = is_gemini(model)
        self.found: list[dict[str, Any]] = []
        self.notes: list[Note] = []
        self._ids = CallIds(_CALL_ID)
        self._at = -1  # the message that the last one of `found` comes from
        self._files: list[dict[str, Any]] = []  # of results, until all results of the step are there

    def read(self) -> None:
        for piece in pieces(self.messages):
            if piece.result is not None:
                self._result(piece, piece.result)
                continue
            self._show_files()
            if piece.call is not None:
                self._call(piece, piece.call)
            else:
                self._part(piece)
        self._show_files()
        for message in self.found:
            _simplify(message)

    def _part(self, piece: Piece) -> None:
        part = piece.part
        # Most parts are texts; they are told apart without matching, which takes longer than all else does for one.
        if part["type"] == "text" and isinstance(text := part.get("text"), str):
            if text.strip():
                self._add(piece, _text(piece, sendable(text)))
            return
        match part:
            case {"type": "reasoning"}:
                self._note(piece, "reasoning_dropped", "Chat Completions has no place for reasoning")
            case {"type": "file"}:
                if piece.role != "assistant" or not self._said_aloud(piece):
                    self._add(piece, self._file(piece, part))
            case {"type": "step-start"}:
                pass
            case {"type": "provider-item", "provider": str(provider)}:
                self._note(piece, "dropped", f"an item of {provider} has no place in Chat Completions")
            case {"type": kind}:
                self._note(piece, "unknown_part", f"a part of type {kind!r} was left out")

    def _add(self, piece: Piece, part: dict[str, Any]) -> None:
        content: list[Any] = self._message(piece)["content"]
        content.append(part)

    def _message(self, piece: Piece) -> dict[str, Any]:
        """The message that a piece belongs to: that of the pieces before it, or a new one."""
        if not self.found or self._at != piece.message or self.found[-1]["role"] != piece.role:
            self.found.append({"role": piece.role, "content": []})
            self._at = piece.message
        return self.found[-1]

    def _file(self, piece: Piece, part: Mapping[str, Any]) -> dict[str, Any]:
        made = file_content(part) if piece.role == "user" else None
        if made is None:
            self._note(piece, "file_not_sent", "a file of this type or place cannot be sent; a text stands for it")
        return made or {"type": "text", "text": placeholder(part)}

    def _said_aloud(self, piece: Piece) -> bool:
        """Whether a file of the assistant is its voice and needs no text in its place: it goes back by its id, or its
        transcript does. The provider forgets a sound (`expires_at`), so where a transcript is, that is what is sent."""
        if is_transcribed(piece.part, self.messages[piece.message].parts):
            self._note(piece, "file_not_sent", "what the model said aloud goes back as its transcript")
            return True
        id = sound_id(piece.part)
        if id is None or "audio" in self._message(piece):
            return False
        self._message(piece)["audio"] = {"id": id}
        return True

    def _call(self, piece: Piece, call: ToolCall) -> None:
        name = tool_name(call.name)
        if name != call.name:
            self._note(piece, "tool_renamed", f"the API does not take the tool name {call.name!r}")
        id = self._ids.call(call.id)
        if id != call.id:
            self._note(piece, "call_id_mapped", f"the call id {call.id!r} was replaced")
        made: dict[str, Any]
        text = call.input.get("input")
        if own(piece.part).get("customTool") is True and isinstance(text, str):
            made = {"id": id, "type": "custom", "custom": {"name": name, "input": sendable(text)}}
        else:
            made = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments(call)}}
        if self._signing:
            made = signed(made, piece.part)
        self._message(piece).setdefault("tool_calls", []).append(made)

    def _result(self, piece: Piece, result: ToolResult) -> None:
        content: Any = output_of(result)
        if not isinstance(content, str):
            content = [self._inside(piece, part) for part in content if part["type"] != "text" or part["text"].strip()]
        self.found.append({"role": "tool", "tool_call_id": self._ids.result(result.id), "content": content})
        self._at = -1

    def _inside(self, piece: Piece, part: dict[str, Any]) -> dict[str, Any]:
        if part["type"] == "text":
            return {"type": "text", "text": sendable(part["text"])}
        made = file_content(part)
        if made is None:
            self._note(piece, "file_not_sent", "a file in a result cannot be sent; a text stands for it")
            return {"type": "text", "text": placeholder(part)}
        self._note(piece, "file_moved", "a result is text only; its file stands in a user's message behind it")
        self._files.append(made)
        return {"type": "text", "text": f"[file {len(self._files)} of these results, in the next message]"}

    def _show_files(self) -> None:
        if self._files:
            self.found.append({"role": "user", "content": [{"type": "text", "text": IN_RESULTS}, *self._files]})
            self._files = []
            self._at = -1

    def _note(self, piece: Piece, code: str, text: str) -> None:
        self.notes.append(Note(code, self.messages[piece.message].id or None, piece.at, text))


def file_content(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The content part for a file in a user's message; None where it cannot be sent."""
    if (url := image_url(part)) is not None:
        return {"type": "image_url", "image_url": {"url": url}}
    if (id := file_id(part)) is not None:
        return {"type": "file", "file": {"file_id": id}}
    if (file := inline_file(part)) is not None:
        return {"type": "file", "file": file}
    inline = data_url(part.get("url"))
    sound = _SOUNDS.get(media_of(part, inline.media)) if inline is not None else None
    if inline is not None and sound is not None:
        return {"type": "input_audio", "input_audio": {"data": inline.data, "format": sound}}
    return None


def _text(piece: Piece, text: str) -> dict[str, Any]:
    if piece.role == "assistant" and own(piece.part).get("refusal") is True:
        return {"type": "refusal", "refusal": text}
    return {"type": "text", "text": text}


def _simplify(message: dict[str, Any]) -> None:
    """One text alone is sent as a text: so all servers take it."""
    content = message["content"]
    if isinstance(content, list):
        if not content:
            message["content"] = None if message.keys() & {"audio", "tool_calls"} else ""
        elif len(content) == 1 and content[0]["type"] == "text":
            message["content"] = content[0]["text"]
