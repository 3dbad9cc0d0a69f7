"""How a message is laid down: one row of JSON, and beside it what is too big or too often repeated for a row.

Media leaves the row and is stored once per namespace by its content; long text is kept whole in side rows.
`restore` puts both back, so that a message read is the message appended.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from . import _json

MEDIA_MIN = 1024
"""Base64 of this many characters or fewer stays in the row."""
TEXT_LIMIT = 256 * 1024
"""Bytes of UTF-8 above which a single text leaves the row."""
ROW_LIMIT = 1024 * 1024
"""Bytes above which whole parts leave the row, oldest first (many small texts can make one huge row)."""
CHUNK = 1024 * 1024
"""Bytes of one side row, so that a bounded read of a huge text stays bounded."""

ExternalKind = Literal["media", "text", "json"]
EXTERNAL_KINDS: tuple[ExternalKind, ...] = ("media", "text", "json")
_MEDIA_TYPE_KEYS = ("mediaType", "media_type", "mimeType", "mime_type")
MEDIA_HINTS = (";base64,", *(f'"{key}"' for key in _MEDIA_TYPE_KEYS))
"""JSON that holds media holds one of these."""
_HINTS = tuple(hint.encode() for hint in MEDIA_HINTS)
_TEXT_TYPES = ("text", "reasoning")

Step = str | int


class External(NamedTuple):
    """A value that left the row: where it belongs, what it is, its bytes and their SHA-256.

    For media, `prefix` is what stood before the base64 (`data:image/png;base64,` or nothing) and `data` the
    decoded bytes. For text it is UTF-8 (lone surrogates as `surrogatepass`), for json an encoded value.
    """

    path: tuple[Step, ...]
    kind: ExternalKind
    prefix: str
    data: bytes
    digest: bytes


def lay_down(codec: int, whole: bytes) -> tuple[int, bytes, tuple[External, ...]]:
    """Part the encoded wire shape of a message into its row (codec, bytes) and what leaves it."""
    if len(whole) <= MEDIA_MIN or (len(whole) <= TEXT_LIMIT and not any(hint in whole for hint in _HINTS)):
        return codec, whole, ()
    return _split(codec, whole)


def restore(kind: ExternalKind, prefix: str, data: bytes) -> Any:
    """The value that `External` was made from. Raises ValueError when the bytes are not what they should be."""
    if kind == "media":
        return prefix + base64.b64encode(data).decode("ascii")
    if kind == "text":
        return data.decode("utf-8", "surrogatepass")
    return _json.decode(_json.CODEC_STDLIB, data)


def is_media(value: Any, owner: Any) -> bool:
    """Whether a value looks like media: long, and a base64 data URL or beside a media type in its dict."""
    if not isinstance(value, str) or len(value) <= MEDIA_MIN:
        return False
    if value.startswith("data:") and value.find(";base64,", 0, 200) > 0:
        return True
    return isinstance(owner, dict) and any(hint in owner for hint in _MEDIA_TYPE_KEYS)


def _split(codec: int, whole: bytes) -> tuple[int, bytes, tuple[External, ...]]:
    wire: dict[str, Any] = _json.decode(codec, whole)
    externals = [external for index, part in enumerate(wire["parts"]) for external in _media(part, ("parts", index))]
    if len(whole) > TEXT_LIMIT:
        externals += _texts(wire)
    if not externals and len(whole) <= ROW_LIMIT:
        return codec, whole, ()
    codec, body = _json.encode(wire)
    outer: list[External] = []
    if len(body) > ROW_LIMIT:
        left = len(body)
        places = [("parts", index) for index in range(len(wire["parts"]))]
        for path in [*places, *((key,) for key in wire if key not in ("id", "role", "parts"))]:
            outer.append(_take_whole(wire, path))
            left -= len(outer[-1].data) - len("null")
            if left <= ROW_LIMIT:
                break
        codec, body = _json.encode(wire)
    # Invariant: `restore` runs in this order, and a value is put back before anything inside it.
    return codec, body, tuple(outer + externals)


def _media(part: Any, path: tuple[Step, ...]) -> Iterator[External]:
    if part.get("type") in _TEXT_TYPES:
        return
    for owner, key, place in _walk(part, path):
        value = owner[key]
        if not is_media(value, owner):
            continue
        comma = value.find(";base64,", 0, 200) if value.startswith("data:") else -1
        prefix = value[: comma + len(";base64,")] if comma > 0 else ""
        if not (prefix.isascii() and prefix.isprintable()):
            continue  # it stands in a column of text, which cannot hold everything
        try:
            raw = base64.b64decode(value[len(prefix) :], validate=True)
        except (binascii.Error, ValueError):
            continue
        if prefix + base64.b64encode(raw).decode("ascii") == value:
            owner[key] = ""
            yield External(place, "media", prefix, raw, hashlib.sha256(raw).digest())


def _texts(wire: dict[str, Any]) -> Iterator[External]:
    for owner, key, place in _walk(wire, ()):
        value = owner[key]
        if not isinstance(value, str) or len(value) * 4 <= TEXT_LIMIT or place in (("id",), ("role",)):
            continue
        data = value.encode("utf-8", "surrogatepass")
        if len(data) > TEXT_LIMIT:
            owner[key] = ""
            yield External(place, "text", "", data, hashlib.sha256(data).digest())


def _take_whole(wire: dict[str, Any], path: tuple[Step, ...]) -> External:
    owner: Any = wire
    for step in path[:-1]:
        owner = owner[step]
    _, data = _json.encode(owner[path[-1]])
    owner[path[-1]] = None
    return External(path, "json", "", data, hashlib.sha256(data).digest())


def _walk(root: Any, path: tuple[Step, ...]) -> Iterator[tuple[Any, Any, tuple[Step, ...]]]:
    """Every (owner, key, path) below `root`, in document order. The value may be replaced while walking."""
    stack: list[tuple[Any, tuple[Step, ...]]] = [(root, path)]
    while stack:
        owner, place = stack.pop()
        keys: Any = owner if isinstance(owner, dict) else range(len(owner))
        below = []
        for key in list(keys):
            here = (*place, key)
            yield owner, key, here
            if isinstance(owner[key], (dict, list)):
                below.append((owner[key], here))
        stack.extend(reversed(below))
