"""The handle in a preview: it names the stored original, for the model, for tools, and for whoever gets it back."""

from __future__ import annotations

import json
import re
from typing import Any

_HANDLE = re.compile(r'\[glassine original: message ("(?:[^"\\]|\\.)*"), part (\d+)\]')


def original_handle(message_id: str, part: int) -> str:
    """The text that stands in a preview for the whole of one part."""
    return f"[glassine original: message {json.dumps(message_id, ensure_ascii=False)}, part {part}]"


def way_to_whole(message_id: str, part: int, readable: bool) -> str:
    """How the whole of a part is had that is shown short. `readable`: the model has a tool that reads originals."""
    how = "read the whole with read_original" if readable else "run the tool again for the rest"
    return f"{how}: {original_handle(message_id, part)}"


def names_original(value: Any, message_id: str) -> bool:
    """Whether any text inside `value` carries a handle to a part of this message."""
    if isinstance(value, str):
        return any(json.loads(match[1]) == message_id for match in _HANDLE.finditer(value))
    if isinstance(value, dict):
        return any(names_original(item, message_id) for item in value.values())
    return isinstance(value, list) and any(names_original(item, message_id) for item in value)
