"""What tools give back, in the many shapes it is stored in, as text or as a list of text and file parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._common import json_text

_TAGGED = {"type", "value", "reason", "providerOptions"}  # the AI SDK's `output` of a tool-result part
_MCP = {"content", "isError", "structuredContent", "_meta"}


def output_parts(output: Any) -> str | list[dict[str, Any]]:
    """An output as one text, or as `text` and `file` parts where it is a list of blocks that are known.

    Known are the AI SDK's outputs (`{type: text | json | content …, value}`), what an MCP server answers, and lists of
    content blocks as Anthropic, OpenAI, MCP and the AI SDK write them. Everything else is its JSON. None is no text.
    """
    if isinstance(output, str):
        return output
    if output is None:
        return ""
    if isinstance(output, dict):
        return _object(output)
    if isinstance(output, list) and output and (parts := _blocks(output)) is not None:
        return parts
    return json_text(output)


def is_tagged(output: Any) -> bool:
    """Whether an output is one of the AI SDK's, that say by `type` what their `value` is."""
    if not isinstance(output, dict) or not output.keys() <= _TAGGED:
        return False
    match output:
        case {"type": "text" | "error-text", "value": str()} | {"type": "content", "value": list()}:
            return True
        case {"type": "json" | "error-json", "value": _} | {"type": "execution-denied"}:
            return True
    return False


def is_error_output(output: Any) -> bool:
    """Whether an output is one of the AI SDK's that says by itself that the call went wrong."""
    return is_tagged(output) and output["type"] in ("error-text", "error-json", "execution-denied")


def output_text(output: Any) -> str:
    """An output as one text; files are named only."""
    parts = output_parts(output)
    if isinstance(parts, str):
        return parts
    return "\n".join(part["text"] if part["type"] == "text" else f"[file: {part['mediaType']}]" for part in parts)


def file_of(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """The `file` part for an image or a document in the shape of any known API; None for what is none of them."""
    part: dict[str, Any] | None = None
    match block:
        case {"type": "file", "mediaType": str(media), "url": str(url)}:
            part = {"type": "file", "mediaType": media, "url": url}
        case {"type": "image" | "document", "source": {"type": "base64", "media_type": str(media), "data": str(data)}}:
            part = {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            part = {"type": "file", "mediaType": "image/*", "url": url}
        case {"type": "document", "source": {"type": "url", "url": str(url)}}:
            part = {"type": "file", "mediaType": "application/pdf", "url": url}
        case {"type": "image" | "document" as kind, "source": {"type": "file", "file_id": str(id)}}:
            part = {"type": "file", "mediaType": "image/*" if kind == "image" else "application/*", "url": id}
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(media)}:
            part = {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}
        case {"type": "media" | "image-data" | "file-data", "data": str(data), "mediaType": str(media)}:
            part = {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}
        case {"type": "image-url" | "input_image", "url": str(url)} | {"type": "input_image", "image_url": str(url)}:
            part = {"type": "file", "mediaType": "image/*", "url": url}
        case _:
            return None
    name = block.get("filename", block.get("title"))
    return {**part, "filename": name} if isinstance(name, str) and name else part


def _object(output: dict[str, Any]) -> str | list[dict[str, Any]]:
    if is_tagged(output):
        value = output.get("value")
        match output["type"]:
            case "text" | "error-text":
                return str(value)
            case "json" | "error-json":
                return json_text(value)
            case "content":
                return output_parts(value) if value else ""
        reason = output.get("reason")
        return reason if isinstance(reason, str) and reason else "The call was not permitted."
    if output.keys() <= _MCP and isinstance(output.get("content"), list):
        content = output["content"]
        if not content:
            return ""
        if (parts := _blocks(content)) is not None:
            return parts
    return json_text(output)


def _blocks(items: list[Any]) -> list[dict[str, Any]] | None:
    found = []
    for item in items:
        if not isinstance(item, dict):
            return None
        if item.get("type") in ("text", "input_text", "output_text") and isinstance(item.get("text"), str):
            found.append({"type": "text", "text": item["text"]})
        elif (file := file_of(item)) is not None:
            found.append(file)
        else:
            return None
    return found
