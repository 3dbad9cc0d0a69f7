"""What OpenAI's two APIs have in common: names of tools, files, arguments of calls, token counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..messages import ToolCall, ToolResult
from ._common import ReplyUsage, data_url, json_text, parsed, sendable, sendable_value
from ._outputs import output_parts

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_ALIASES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
_DOCUMENTS = {"application/pdf": "file.pdf", "application/json": "file.json", "text/plain": "file.txt"}
_WEB = re.compile(r"https?://", re.IGNORECASE)
_FILE_ID = re.compile(r"file-[\w-]+")

EMPTY_SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}
IN_RESULTS = "(Files from the tool results above:)"
"""What a user's message begins with that holds the files of results, where results can be text only."""


def tool_name(name: str) -> str:
    """The name of a function as OpenAI takes it: up to 64 letters, digits, `_` and `-`."""
    return _NO_NAME.sub("_", name)[:64] or "unknown"


def function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's `name`, `description`, `parameters`."""
    made: dict[str, Any] = {"name": tool.get("name")}
    if tool.get("description"):
        made["description"] = tool["description"]
    made["parameters"] = tool.get("input_schema") or dict(EMPTY_SCHEMA)
    return dict(sendable_value(made))


def arguments(call: ToolCall) -> str:
    """The input of a call as JSON text."""
    return json_text(call.input)


def input_of(text: Any) -> Any:
    """The input that a model wrote: an object if it is one, nothing written being an empty one, else the text."""
    if not isinstance(text, str):
        return text if isinstance(text, dict) else {}
    value = parsed(text) if text.strip() else {}
    return value if isinstance(value, dict) else text


def output_of(result: ToolResult) -> str | list[dict[str, Any]]:
    """A result as one text, or as text and file parts. Neither API can mark an error: a text begins with `Error:`."""
    content = output_parts(result.output)
    if not result.is_error:
        return sendable(content) if isinstance(content, str) else content
    if isinstance(content, str):
        return error_text(sendable(content))
    first = next((part for part in content if part["type"] == "text"), None)
    if first is None:
        return [{"type": "text", "text": "Error:"}, *content]
    return [{**part, "text": error_text(part["text"])} if part is first else part for part in content]


def error_text(text: str) -> str:
    return text if text.startswith("Error") else f"Error: {text}".rstrip()


def image_url(part: Mapping[str, Any]) -> str | None:
    """The address of an image that OpenAI takes, or None."""
    url, media = part.get("url"), part.get("mediaType")
    if not isinstance(url, str):
        return None
    if (inline := data_url(url)) is not None:
        kind = media_of(part, inline.media)
        return f"data:{kind};base64,{inline.data}" if kind in _IMAGES else None
    if _WEB.match(url) and isinstance(media, str) and media.lower().startswith("image/"):
        return sendable(url)
    return None


def inline_file(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """`filename` and `file_data` of a document that stands in its part, or None."""
    inline = data_url(part.get("url"))
    if inline is None:
        return None
    kind = media_of(part, inline.media)
    if kind not in _DOCUMENTS and not kind.startswith("text/"):
        return None
    name = part.get("filename")
    name = sendable(name) if isinstance(name, str) and name.strip() else _DOCUMENTS.get(kind, "file.txt")
    return {"filename": name, "file_data": f"data:{kind};base64,{inline.data}"}


def file_id(part: Mapping[str, Any]) -> str | None:
    """The id of a file that was uploaded to OpenAI, or None."""
    url = part.get("url")
    return url if isinstance(url, str) and _FILE_ID.fullmatch(url) else None


def web_file(part: Mapping[str, Any]) -> str | None:
    """The address in the web of a PDF, or None."""
    url = part.get("url")
    return (
        sendable(url) if isinstance(url, str) and _WEB.match(url) and media_of(part, "") == "application/pdf" else None
    )


def media_of(part: Mapping[str, Any], otherwise: str) -> str:
    """The media type that a part names, else the one given."""
    media = part.get("mediaType")
    kind = media.lower() if isinstance(media, str) and "/" in media and "*" not in media else otherwise
    return _ALIASES.get(kind, kind)


def image_part(url: str) -> dict[str, Any]:
    """The part for an image at an address."""
    inline = data_url(url)
    return {"type": "file", "mediaType": inline.media if inline is not None else "image/*", "url": url}


def file_part(file: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part for a file with `file_data`, `file_url` or `file_id`; None when it has none of them."""
    match file:
        case {"file_data": str(url)} if (inline := data_url(url)) is not None:
            part = {"type": "file", "mediaType": inline.media, "url": url}
        case {"file_url": str(url)}:
            part = {"type": "file", "mediaType": "application/pdf", "url": url}
        case {"file_id": str(url)}:
            part = {"type": "file", "mediaType": "application/*", "url": url}
        case _:
            return None
    name = file.get("filename")
    made_up = _DOCUMENTS.get(part["mediaType"], "file.txt")
    return {**part, "filename": name} if isinstance(name, str) and name and name != made_up else part


def own(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a part holds for OpenAI alone."""
    metadata = part.get("providerMetadata", part.get("callProviderMetadata"))
    found = metadata.get("openai") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def with_own(part: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A part with what it holds for OpenAI alone; without values it stays as it is."""
    kept = {name: value for name, value in values.items() if value not in (None, [], "")}
    return {**part, "providerMetadata": {"openai": kept}} if kept else part


def usage_of(given: Any, prompt: str, output: str) -> ReplyUsage:
    """The token counts of a reply; `prompt` and `output` are the names of its totals.

    What was read from the cache or written to it is part of the prompt, reasoning is part of the output. The cache
    keeps what is written for half an hour or for half a day: the one counts as five minutes', the other as an hour's.
    """
    if not isinstance(given, Mapping):
        return ReplyUsage()
    total, details = _count(given, prompt), given.get(f"{prompt}_details")
    if not isinstance(details, Mapping):
        details = {}
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    split = details.get("cache_write_tokens_details")
    long = _count(split, "ttl_12h_tokens") if isinstance(split, Mapping) else None
    short = written - min(long or 0, written) if written is not None else None
    fresh = max(0, total - (read or 0) - (written or 0)) if total is not None else None
    counts = (fresh, _count(given, output), read, short, long)
    return ReplyUsage(*counts) if any(counts) else ReplyUsage()


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
