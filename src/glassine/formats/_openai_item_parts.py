"""Parts from the items of the Responses API, as requests and replies hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._common import storable
from ._openai_shared import file_part, image_part, input_of, with_own
from ._openai_sound import heard_part, sound_parts

_TEXTS = ("input_text", "output_text", "text", "summary_text")


def message_parts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts for a message item."""
    content = item.get("content")
    held = {"itemId": item.get("id"), "phase": item.get("phase")} if item.get("role") == "assistant" else {}
    if isinstance(content, str):
        return [with_own({"type": "text", "text": content}, held)] if content else []
    return _contents(content, held)


def item_parts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts for what a model wrote: a message, reasoning, a call; another item is kept whole."""
    match item:
        case {"type": "message"}:
            return message_parts({"role": "assistant", **item})
        case {"type": "reasoning"}:
            return _reasoning(item)
        case {"type": "function_call", "call_id": str(id), "name": str(name)}:
            part = {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input_of(item.get("arguments"))}
            return [with_own(part, {"itemId": item.get("id")})]
        case {"type": "custom_tool_call", "call_id": str(id), "name": str(name), "input": str(text)}:
            part = {"type": "tool-call", "toolCallId": id, "toolName": name, "input": {"input": text}}
            return [with_own(part, {"itemId": item.get("id"), "customTool": True})]
    return [{"type": "provider-item", "provider": "openai", "item": storable(dict(item))}]


def output_part(item: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The part for the output of a call. `names` are the names of the tools by call id."""
    id, output = item.get("call_id"), item.get("output")
    id = id if isinstance(id, str) else ""
    if isinstance(output, list):
        output = _contents(output, {})
    return {
        "type": "tool-result",
        "toolCallId": id,
        "toolName": names.get(id, ""),
        "output": "" if output is None else storable(output),
    }


def _reasoning(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    encrypted = item.get("encrypted_content")
    held = {"itemId": item.get("id"), "reasoningEncryptedContent": encrypted}
    # The text itself is told by open models only; it does not go back, so it must not pass for a summary.
    shown = item.get("summary") or (None if encrypted else item.get("content"))
    texts = [
        block["text"]
        for block in (shown if isinstance(shown, list) else ())
        if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    ]
    return [with_own({"type": "reasoning", "text": text}, held) for text in texts or [""]]


def _contents(content: Any, held: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = content if isinstance(content, list | tuple) else ()
    parts: list[dict[str, Any]] = []
    for block in items:
        if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
            continue
        said = sound_parts(block) if block["type"] == "output_audio" else []
        parts += said or [_content(block, held)]
    return parts


def _content(block: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] | None = None
    match block:
        case {"type": kind, "text": str(text)} if kind in _TEXTS:
            part = with_own({"type": "text", "text": text}, {**held, "annotations": block.get("annotations")})
        case {"type": "refusal", "refusal": str(text)}:
            part = with_own({"type": "text", "text": text}, {**held, "refusal": True})
        case {"type": "input_image", "image_url": str(url)}:
            part = image_part(url)
        case {"type": "input_image", "file_id": str(id)}:
            part = {"type": "file", "mediaType": "image/*", "url": id}
        case {"type": "input_file"}:
            part = file_part(block)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            part = heard_part(data, kind)
    return part or {"type": "provider-item", "provider": "openai", "item": storable(dict(block))}
