"""What a message says, by kind: the text that search looks through, and the text that costs tokens.

The four kinds are kept apart because people look for different things in them: what was said, what a tool was asked,
what it answered, and what the model thought.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from . import _json
from .messages import Message
from .representation import MEDIA_HINTS, MEDIA_MIN, TEXT_LIMIT, is_media

Kind = Literal["text", "tool_input", "tool_output", "reasoning"]
KINDS: tuple[Kind, ...] = ("text", "tool_input", "tool_output", "reasoning")

PREVIEW_CHARS = 4000
"""Characters that a view shows of a text over TEXT_LIMIT; only these cost tokens."""

# Fields of a part that carry no words: names of things, and what is meant for a provider alone.
_SILENT = frozenset({"type", "id", "toolCallId", "providerMetadata", "callProviderMetadata", "mediaType", "state"})


class Piece(NamedTuple):
    """One searchable text of a message: which part it stands in, and as what kind."""

    part: int
    kind: Kind
    text: str


def pieces(message: Message) -> list[Piece]:
    """The searchable texts of a message, in the order of its parts. Media has none, but for a file's name."""
    found: list[Piece] = []
    parts: list[dict[str, Any]] = message.parts  # type: ignore[assignment]
    for index, part in enumerate(parts):
        kind = part["type"]
        if kind == "text" or kind == "reasoning":
            text = part.get("text")
            if isinstance(text, str) and text:
                found.append(Piece(index, kind, text))
        elif kind == "tool-result":
            _add(found, index, "tool_output", part.get("output"))
        elif kind.startswith("tool-") or kind == "dynamic-tool":
            name = part.get("toolName") or (kind.removeprefix("tool-") if kind != "tool-call" else "")
            _add(found, index, "tool_input", [name, part.get("input")])
            _add(found, index, "tool_output", [part.get("output"), part.get("errorText")])
        else:
            _add(found, index, "text", {key: value for key, value in part.items() if key not in _SILENT})
    return found


def counted(message: Message) -> tuple[str, int]:
    """The text of a message that costs tokens, as one string, and how many media items it has.

    Inputs and outputs count as the JSON a model is sent; of a huge text only what a view shows of it.
    """
    texts: list[str] = []
    media = 0
    parts: list[dict[str, Any]] = message.parts  # type: ignore[assignment]
    for part in parts:
        kind = part["type"]
        if kind == "text" or kind == "reasoning":
            texts.append(_shown(str(part.get("text", ""))))
            continue
        if kind.startswith("tool-") or kind == "dynamic-tool":
            name = part.get("toolName")
            texts.append(name if isinstance(name, str) else kind)
            values = [part[key] for key in ("input", "output", "errorText") if part.get(key) is not None]
        else:
            values = [{key: value for key, value in part.items() if key not in _SILENT}]
        for value in values:
            if isinstance(value, str) and not is_media(value, None):
                texts.append(_shown(value))
                continue
            text = _json.text(value)
            if len(text) > MEDIA_MIN and any(hint in text for hint in MEDIA_HINTS):
                value, count = _without_media(value)
                media += count
                text = _json.text(value)
            texts.append(_shown(text))
    return "\n".join(texts), media


def _add(found: list[Piece], part: int, kind: Kind, value: Any) -> None:
    text = "\n".join(_words(value))
    if text:
        found.append(Piece(part, kind, text))


def _words(value: Any) -> Iterator[str]:
    """The words in a value: its strings and numbers in document order, without keys and without media."""
    if isinstance(value, str):
        if value and not is_media(value, None):
            yield value
        return
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item:
                yield item
        elif isinstance(item, dict):
            block = "type" in item and ("text" in item or "source" in item)
            stack.extend(
                child
                for key, child in reversed(item.items())
                if not (block and key == "type") and not is_media(child, item)
            )
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            yield str(item)


def _without_media(value: Any) -> tuple[Any, int]:
    if isinstance(value, list):
        pairs = [_without_media(item) for item in value]
        return [bare for bare, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        bare, media = {}, 0
        for key, item in value.items():
            if is_media(item, value):
                media += 1
            else:
                bare[key], count = _without_media(item)
                media += count
        return bare, media
    return value, 0


def _shown(text: str) -> str:
    if len(text) * 4 <= TEXT_LIMIT or len(text.encode("utf-8", "surrogatepass")) <= TEXT_LIMIT:
        return text
    return text[:PREVIEW_CHARS]
