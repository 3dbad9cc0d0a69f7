"""Gemini's spellings, signatures and token counts, and parts from its parts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from ._common import ReplyUsage, storable

_SNAKE = re.compile(r"_([a-z])")
_HUMP = re.compile(r"([A-Z])")
DATA = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    }
)
"""What a part can hold; a good one holds one of them."""
UNSIGNED = "skip_thought_signature_validator"
"""What Google takes for the signature of a call that its model did not make (its docs on thought signatures)."""
_URL_SAFE = str.maketrans("-_", "+/")


def camel(name: str) -> str:
    """A name in the spelling of the wire: "functionCall" for "function_call", which the SDK writes."""
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def field(holder: Any, name: str) -> Any:
    """A field by its name on the wire, in either spelling; None when it is not there."""
    if not isinstance(holder, Mapping):
        return None
    return holder[name] if name in holder else holder.get(_HUMP.sub(lambda found: "_" + found[1].lower(), name))


def own(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a part holds for Google alone."""
    metadata = part.get("providerMetadata", part.get("callProviderMetadata"))
    found = metadata.get("google") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def base64_of(value: Any) -> str | None:
    """Bytes in base64 as the API writes them, padded and in the standard alphabet; None for what is no base64.

    The SDK turns them into the alphabet for URLs, and refuses what is cut off.
    """
    if isinstance(value, bytes):
        return base64.b64encode(value).decode() or None
    if not isinstance(value, str) or not value or value == UNSIGNED:
        return None
    text = value.translate(_URL_SAFE).rstrip("=")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return base64.b64encode(data).decode()


def part_of(part: Mapping[str, Any], made_id: str) -> dict[str, Any] | None:
    """The part for one of Gemini's, but for function responses; None for an empty one. A call without an id gets
    `made_id`."""
    signature = base64_of(field(part, "thoughtSignature"))
    made = _part_of(part, made_id, signature is not None)
    if made is None or signature is None or made["type"] == "provider-item":
        return made
    return {**made, "providerMetadata": {"google": {"thoughtSignature": signature}}}


def _part_of(part: Mapping[str, Any], made_id: str, signed: bool) -> dict[str, Any] | None:
    text, call = part.get("text"), field(part, "functionCall")
    if isinstance(text, str):
        if not text and not signed:
            return None
        return {"type": "reasoning" if part.get("thought") is True else "text", "text": text}
    if isinstance(call, Mapping) and isinstance(call.get("name"), str):
        id, args = call.get("id"), call.get("args")
        return {
            "type": "tool-call",
            "toolCallId": id if isinstance(id, str) and id else made_id,
            "toolName": call["name"],
            "input": storable(dict(args)) if isinstance(args, Mapping) else {},
        }
    inline, file = field(part, "inlineData"), field(part, "fileData")
    media = field(inline or file, "mimeType")
    data, uri = base64_of(field(inline, "data")), field(file, "fileUri")
    if data is not None:
        kind = media if isinstance(media, str) and media else "application/octet-stream"
        return {"type": "file", "mediaType": kind, "url": f"data:{kind};base64,{data}"}
    if isinstance(uri, str):
        return {"type": "file", "mediaType": media if isinstance(media, str) and media else "*/*", "url": uri}
    item = {name: value for name, value in part.items() if value is not None}
    return {"type": "provider-item", "provider": "google", "item": storable(item)} if item else None


def response_part(response: Mapping[str, Any], id: str) -> dict[str, Any]:
    """The part for a function response."""
    given, name = response.get("response"), response.get("name")
    given = dict(given) if isinstance(given, Mapping) else {}
    part = {"type": "tool-result", "toolCallId": id, "toolName": name if isinstance(name, str) else ""}
    match given:
        case {"output": output} if len(given) == 1:
            return {**part, "output": storable(output)}
        case {"error": error} if len(given) == 1:
            return {**part, "output": storable(error), "isError": True}
    return {**part, "output": storable(given) if given else ""}


def usage_of(given: Any) -> ReplyUsage:
    """The token counts of a reply. The prompt's include those from the cache; thoughts are output; what tools of the
    provider brought in is input."""
    prompt, cached = _count(given, "promptTokenCount"), _count(given, "cachedContentTokenCount")
    brought = _count(given, "toolUsePromptTokenCount")
    written = [_count(given, name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    fresh = max(0, prompt - (cached or 0)) + (brought or 0) if prompt is not None else None
    output = sum(count or 0 for count in written) if any(count is not None for count in written) else None
    counts = (fresh, output, cached)
    return ReplyUsage(*counts) if any(counts) else ReplyUsage()


def _count(usage: Any, name: str) -> int | None:
    value = field(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
