"""Parts from the messages of Chat Completions, as requests and replies hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._common import storable
from ._openai_gemini import with_signature
from ._openai_shared import file_part, image_part, input_of, with_own
from ._openai_sound import heard_part, sound_parts

MakeId = Callable[[int, str, Any], str]
"""Makes the id of a call that has none, from its place among the calls of its message, its name and its input."""

_REASONING = ("reasoning_content", "reasoning")
"""Where servers that speak this format put what the model thought; OpenAI's own does not tell."""


def user_part(content: Any) -> list[dict[str, Any]]:
    """The parts for the content of a user's or the system's message."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    items = content if isinstance(content, list | tuple) else ()
    return [_content(item) for item in items if isinstance(item, Mapping) and isinstance(item.get("type"), str)]


def message_parts(message: Mapping[str, Any], make_id: MakeId) -> list[dict[str, Any]]:
    """The parts for an assistant message: reasoning if the server tells it, texts, what was said aloud, then calls."""
    parts: list[dict[str, Any]] = []
    thought = next((text for name in _REASONING if isinstance(text := message.get(name), str) and text), None)
    if thought is not None:
        parts.append({"type": "reasoning", "text": thought})
    parts += user_part(message.get("content"))
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        parts.append(with_own({"type": "text", "text": refusal}, {"refusal": True}))
    if isinstance(audio := message.get("audio"), Mapping):
        parts += sound_parts(audio)
    calls = message.get("tool_calls")
    # Before there were several calls in a message, the one that it could have stood in a field of its own.
    legacy = {"function": message.get("function_call")}
    for call in [*(calls if isinstance(calls, list) else ()), legacy]:
        if (part := _call_part(call)) is not None:
            if not part["toolCallId"]:
                place = sum(other["type"] == "tool-call" for other in parts)
                part["toolCallId"] = make_id(place, part["toolName"], part["input"])
            parts.append(part)
    return parts


def _call_part(call: Any) -> dict[str, Any] | None:
    """The part for a call, of a function or of a custom tool, with the id "" if it has none; None for what is none."""
    part: dict[str, Any] = {"type": "tool-call"}
    match call:
        case {"function": {"name": str(name)} as called}:
            input = input_of(called.get("arguments"))
        case {"custom": {"name": str(name), "input": str(text)}}:
            input = {"input": text}
            part = with_own(part, {"customTool": True})
        case _:
            return None
    id = call.get("id")
    part |= {"toolCallId": id if isinstance(id, str) else "", "toolName": name, "input": input}
    return with_signature(part, call)


def result_part(message: Mapping[str, Any], id: str, name: str) -> dict[str, Any]:
    """The part for a tool's or a function's message, the result of the call `id` of the tool `name`."""
    content = message.get("content")
    output = "" if content is None else content if isinstance(content, str) else user_part(content)
    return {"type": "tool-result", "toolCallId": id, "toolName": name, "output": output}


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
            part = heard_part(data, kind)
    return part or {"type": "provider-item", "provider": "openai", "item": storable(dict(item))}
