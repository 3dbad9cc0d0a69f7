"""What a view shows of a text that is too long for a row, and how the whole of it is read."""

from __future__ import annotations

import json
from typing import Any

from . import _json
from .content import PREVIEW_CHARS
from .handles import way_to_whole
from .messages import Message, calls, results
from .representation import TEXT_LIMIT, is_media


def preview(message: Message, *, readable: bool) -> Message:
    """The message with every text over TEXT_LIMIT bytes cut to its first PREVIEW_CHARS characters, and a note with the
    handle to the whole; itself if it has none. `readable`: the model has a tool that reads the whole.

    A value of a tool keeps its shape when cutting the texts in it is enough. Reasoning is never cut: a provider takes
    it back whole or not at all.
    """
    if len(message.encoded()[1]) <= TEXT_LIMIT:
        return message
    wire = message.to_dict()
    changed = False
    for index, part in enumerate(wire["parts"]):
        kind = part["type"]
        note = way_to_whole(message.id, index, readable)
        if kind == "text" and isinstance(part.get("text"), str):
            names = ["text"]
        elif kind.startswith("tool-") or kind == "dynamic-tool":
            names = ["input", "output", "errorText"]
        else:
            continue
        for name in names:
            value = part.get(name)
            if value is not None and _too_long(value):
                given = _parsed(value) if name == "input" else value
                part[name] = _cut(given, note, whole=name == "input")
                changed = True
    return Message.from_dict(wire) if changed else message


def excerpt(message: Message, part: int, start: int, length: int) -> str | None:
    """Characters of the original of one part, with a line that says which; None when there is no such part."""
    text = text_of(message, part)
    if text is None:
        return None
    end = min(start + length, len(text))
    if start >= len(text) and text:
        return f"[the text has {len(text)} characters; there is nothing from {start} on]"
    more = f"; go on with start={end}" if end < len(text) else ""
    return f"{text[start:end]}\n[characters {start} to {end} of {len(text)}{more}]"


def text_of(message: Message, part: int) -> str | None:
    """The text of a part: of a tool's result its output, of a call its input, values as JSON. None: no such part."""
    if not 0 <= part < len(message.parts):
        return None
    for result in results(message):
        if result.part == part and result.output is not None:
            return _text(result.output)
    for call in calls(message):
        if call.part == part:
            return _text(call.raw)
    whole: dict[str, Any] = message.parts[part]  # type: ignore[assignment]
    return _text(whole["text"] if isinstance(whole.get("text"), str) else whole)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json.text(value)


def _parsed(value: Any) -> Any:
    """The arguments of a call that stand there as JSON text: cut as text, they would be none."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {"text": value}


def _too_long(value: Any) -> bool:
    text = _text(value)
    return len(text) * 4 > TEXT_LIMIT and len(text.encode("utf-8", "surrogatepass")) > TEXT_LIMIT


def _cut(value: Any, note: str, *, whole: bool) -> Any:
    if isinstance(value, str):
        return _cut_text(value, note)
    shorter = _inside(value, note, None)
    if not _too_long(shorter):
        return shorter
    text = _cut_text(_text(value), note)
    return {"shortened": text} if whole else text


def _inside(value: Any, note: str, owner: Any) -> Any:
    if isinstance(value, dict):
        return {key: _inside(item, note, value) for key, item in value.items()}
    if isinstance(value, list):
        return [_inside(item, note, value) for item in value]
    if isinstance(value, str) and len(value) > PREVIEW_CHARS and not is_media(value, owner):
        return _cut_text(value, note)
    return value


def _cut_text(text: str, note: str) -> str:
    return f"{text[:PREVIEW_CHARS]}\n[shortened: {PREVIEW_CHARS} of {len(text)} characters; {note}]"
