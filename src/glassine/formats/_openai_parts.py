"""Parts from the messages of Chat Completions, as requests and replies hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._common import storable
from ._openai_shared import file_part, image_part, input_of, with_own

_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_REASONING = ("reasoning_content", "reasoning")
"""Where servers that speak this format put what the model thought; OpenAI's own does not tell."""


def user_part(content: Any) -> list[dict[str, Any]]:
    """The parts for the content of a user's or the system's message."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    items = content if isinstance(content, list | tuple) else ()
    return [_content(item) for item in items if isinstance(item, Mapping) and isinstance(item.get("type"), str)]


def message_parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts for an assistant message: reasoning if the server tells it, texts, then calls."""
    parts: list[dict[str, Any]] = []
    thought = next((text for name in _REASONING if isinstance(text := message.get(name), str) and text), None)
    if thought is not None:
        parts.append({"type": "reasoning", "text": thought})
    parts += user_part(message.get("content"))
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        parts.append(with_own({"type": "text", "text": refusal}, {"refusal": True}))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if (part := call_part(call)) is not None:
            parts.append(part)
    return parts


def call_part(call: Any) -> dict[str, Any] | None:
    """The part for a call, of a function or of a custom tool; None for what is none."""
    match call:
        case {"id": str(id), "function": {"name": str(name)} as called}:
            return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input_of(called.get("arguments"))}
        case {"id": str(id), "custom": {"name": str(name), "input": str(text)}}:
            return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": {"input": text}}
    return None


def result_part(message: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The part for a tool message. `names` are the names of the tools by call id."""
    id, content = message.get("tool_call_id"), message.get("content")
    id = id if isinstance(id, str) else ""
    output = content if isinstance(content, str) else user_part(content)
    return {"type": "tool-result", "toolCallId": id, "toolName": names.get(id, ""), "output": output}


def _content(item: Mapping[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] | None = None
    match item:
        case {"type": "text", "text": str(text)}:
            part = {"type": "text", "text": text}
        case {"type": "refusal", "refusal": str(text)}:
            part = with_own({"type": "text", "text": text}, {"refusal": True})
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            part = image_part(url)
        case {"type": "file", "file": {} as file}:
            part = file_part(file)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            media = _SOUNDS.get(kind, f"audio/{kind}")
            part = {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}
    return part or {"type": "provider-item", "provider": "openai", "item": storable(dict(item))}
