"""The shapes of content blocks and of cache marks, each judged by itself."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from ._findings import Findings
from ._values import dicts

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_MARK = "cache_control"
_TYPE_NAMES = {str: "string", dict: "dictionary", list: "list", bool: "boolean"}


class _Shape(NamedTuple):
    required: Mapping[str, type]
    optional: Mapping[str, type | tuple[type, ...]] = {}
    roles: tuple[str, ...] = ("user", "assistant", "system")


_SHAPES = {
    "text": _Shape({"text": str}, {_MARK: dict, "citations": list}),
    "thinking": _Shape({"thinking": str, "signature": str}, roles=("assistant",)),
    "redacted_thinking": _Shape({"data": str}, roles=("assistant",)),
    "image": _Shape({"source": dict}, {_MARK: dict, "transformations": dict}, ("user",)),
    "document": _Shape({"source": dict}, {_MARK: dict, "citations": dict, "context": str, "title": str}, ("user",)),
    "search_result": _Shape(
        {"source": str, "title": str, "content": list}, {_MARK: dict, "citations": dict}, ("user",)
    ),
    "tool_use": _Shape(
        {"id": str, "name": str, "input": dict}, {_MARK: dict, "caller": dict, "toolset_name": str}, ("assistant",)
    ),
    "tool_result": _Shape(
        {"tool_use_id": str},
        {_MARK: dict, "content": (str, list), "is_error": bool, "toolset_name": str},
        ("user",),
    ),
}
# Made by the server and sent back as they came: what is in them is not judged.
_SERVER_MADE = """
    server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
    bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result
    advisor_tool_result container_upload mcp_tool_use mcp_tool_result mcp_tool_listing compaction tool_addition
    tool_removal fallback
"""
_OPAQUE = frozenset(_SERVER_MADE.split())
_IN_RESULT = ("text", "image", "search_result", "document", "tool_reference", "browser_state")


def check_content(content: Any, role: str, path: str, findings: Findings) -> None:
    """Judge the content of a message: a text or a list of blocks."""
    if isinstance(content, str):
        if content and not content.strip():
            findings.add("empty_text", path, "text content blocks must contain non-whitespace text")
    elif not isinstance(content, list):
        findings.add("shape", path, "Input should be a valid string or list")
    else:
        for number, block in enumerate(content):
            _check_block(block, (*_SHAPES, *_OPAQUE), role, f"{path}.{number}", findings)


def check_texts(content: Any, path: str, findings: Findings) -> None:
    """Judge what may only be a text or a list of text blocks (a system prompt). An empty text is none."""
    if isinstance(content, list):
        for number, block in enumerate(content):
            _check_block(block, ("text",), "system", f"{path}.{number}", findings)
    elif not isinstance(content, str):
        findings.add("shape", path, "Input should be a valid string or list")


def _check_block(block: Any, known: Collection[str], role: str, path: str, findings: Findings) -> None:
    if not isinstance(block, dict):
        findings.add("shape", path, "Input should be an object")
        return
    kind = block.get("type")
    if kind is None:
        findings.add("required", f"{path}.type", "Field required")
        return
    if not isinstance(kind, str) or kind not in known:
        findings.add(
            "block_type", path, f"Input tag {kind!r} found using 'type' does not match any of the expected tags"
        )
        return
    shape = _SHAPES.get(kind)
    if shape is None:
        return
    if role not in shape.roles:
        where = " or ".join(f"`{name}`" for name in shape.roles)
        findings.add("block_role", path, f"`{kind}` blocks can only be in {where} messages")
    if _check_fields(block, shape, f"{path}.{kind}", findings):
        _check_inside(kind, block, path, findings)


def _check_fields(block: Mapping[str, Any], shape: _Shape, path: str, findings: Findings) -> bool:
    """Judge which fields there are and of what type; True when what is required is as it should be."""
    whole = True
    for name, wanted in shape.required.items():
        if name not in block:
            findings.add(
                "thinking_signature" if name == "signature" else "required", f"{path}.{name}", "Field required"
            )
            whole = False
        elif not isinstance(block[name], wanted):
            findings.add("shape", f"{path}.{name}", f"Input should be a valid {_TYPE_NAMES[wanted]}")
            whole = False
    for name, value in block.items():
        if name in shape.optional:
            if value is not None and not isinstance(value, shape.optional[name]):
                findings.add("shape", f"{path}.{name}", "Input has the wrong type")
                whole = False
        elif name != "type" and name not in shape.required:
            findings.add("extra", f"{path}.{name}", "Extra inputs are not permitted")
    return whole


def _check_inside(kind: str, block: Mapping[str, Any], path: str, findings: Findings) -> None:
    match kind:
        case "text":
            _check_text(block, path, findings)
        case "thinking" if not block["signature"]:
            findings.add("thinking_signature", path, "Invalid `signature` in `thinking` block")
        case "redacted_thinking" if not block["data"]:
            findings.add("thinking_signature", path, "Invalid `data` in `redacted_thinking` block")
        case "image" | "document":
            _check_source(kind, block["source"], f"{path}.{kind}.source", findings)
        case "search_result":
            check_texts(block["content"], f"{path}.search_result.content", findings)
        case "tool_use":
            check_name(block["name"], f"{path}.tool_use.name", findings)
            if not _CALL_ID.match(block["id"]):
                findings.add(
                    "call_id", f"{path}.tool_use.id", "String should match pattern '^[a-zA-Z0-9_-]+$' (1 to 64 long)"
                )
        case "tool_result":
            _check_result(block, path, findings)


def _check_text(block: Mapping[str, Any], path: str, findings: Findings) -> None:
    text = block["text"]
    if text.strip():
        return
    if not text and block.get(_MARK):
        findings.add("cache_empty", f"{path}.text", "cache_control cannot be set for empty text blocks")
    wrong = "must contain non-whitespace text" if text else "must be non-empty"
    findings.add("empty_text", path, f"text content blocks {wrong}")


def _check_result(block: Mapping[str, Any], path: str, findings: Findings) -> None:
    content = block.get("content")
    if not isinstance(content, list):
        return
    for number, inner in enumerate(content):
        _check_block(inner, _IN_RESULT, "user", f"{path}.tool_result.content.{number}", findings)
    if block.get("is_error") and any(inner.get("type") != "text" for _, inner in dicts(content)):
        findings.add("error_result", path, "all content must be type `text` if `is_error` is true")


def _check_source(kind: str, source: Mapping[str, Any], path: str, findings: Findings) -> None:
    media = source.get("media_type")
    match source.get("type"):
        case "base64":
            allowed = _IMAGES if kind == "image" else ("application/pdf",)
            if media not in allowed:
                findings.add("media_type", f"{path}.base64.media_type", f"Input should be {' or '.join(allowed)}")
            if not _is_base64(source.get("data")):
                findings.add("base64", f"{path}.base64.data", "invalid base64 data")
        case "url":
            url = source.get("url")
            if not isinstance(url, str) or not url.lower().startswith(("https://", "http://")):
                findings.add("url", f"{path}.url.url", "Only HTTP and HTTPS URLs are supported")
        case "file":
            if not isinstance(source.get("file_id"), str):
                findings.add("required", f"{path}.file.file_id", "Field required")
        case "text" if kind == "document":
            if media != "text/plain":
                findings.add("media_type", f"{path}.text.media_type", "Input should be text/plain")
            if not isinstance(source.get("data"), str):
                findings.add("required", f"{path}.text.data", "Field required")
        case "content" if kind == "document":
            inner = source.get("content")
            if isinstance(inner, list):
                for number, block in enumerate(inner):
                    _check_block(block, ("text", "image"), "user", f"{path}.content.content.{number}", findings)
            elif not isinstance(inner, str):
                findings.add("required", f"{path}.content.content", "Field required")
        case other:
            findings.add("block_type", path, f"Input tag {other!r} found using 'type' is no source of {kind}")


def _is_base64(data: Any) -> bool:
    if not isinstance(data, str) or not data:
        return False
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def check_name(name: str, path: str, findings: Findings) -> None:
    """Judge the name of a tool."""
    if not NAME.match(name):
        findings.add("tool_name", path, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")


def check_marks(request: Mapping[str, Any], findings: Findings) -> None:
    """Judge the cache marks of a whole request, in the order in which the server processes them."""
    found = 0
    short: str | None = None
    for path, mark in _marks(request):
        found += 1
        ttl = mark.get("ttl") or "5m" if isinstance(mark, dict) else "5m"
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or ttl not in ("5m", "1h"):
            findings.add("cache_mark", path, "Input should be {'type': 'ephemeral'}, with a ttl of '5m' or '1h' if any")
        elif ttl == "1h" and short is not None:
            findings.add(
                "cache_order",
                path,
                f"a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block ({short})",
            )
        elif ttl == "5m" and short is None:
            short = path
    if found > 4:
        findings.add("cache_marks", "", f"A maximum of 4 blocks with cache_control may be provided. Found {found}.")


def _marks(request: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for place in ("tools", "system"):
        for number, item in dicts(request.get(place)):
            yield from _mark_of(item, f"{place}.{number}")
    for number, message in dicts(request.get("messages")):
        for position, block in dicts(message.get("content")):
            path = f"messages.{number}.content.{position}"
            for inner_position, inner in dicts(block.get("content")):
                yield from _mark_of(inner, f"{path}.content.{inner_position}")
            yield from _mark_of(block, path)
    yield from _mark_of(request, "")


def _mark_of(item: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    if item.get(_MARK) is not None:
        yield f"{path}.{_MARK}".lstrip("."), item[_MARK]
