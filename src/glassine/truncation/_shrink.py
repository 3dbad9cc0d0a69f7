"""One JSON value made smaller: the same kind of value, with less in it.

Sizes are characters: of a text itself at the top, of the JSON everywhere below.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

from .. import _json
from ._whole import after, before

MARK = "__truncated"
"""The key of a mark in an object."""

_SMALL = 34
"""JSON of this many characters is never touched: it is an id, a state, a number, a short name."""
_ITEM = 100
"""Characters that an item of a list is given before fewer items are shown."""
_LEFT_OUT = 60
"""Characters that a mark about keys or items left out takes at most."""
_DEEP = 8
"""Levels of lists and objects; what lies deeper and is too long shows as empty."""
_OPEN = re.compile(r"\n?\[shortened: \d+ of (\d{1,15}) characters(?:; [^\n]*)?\]\Z")
"""The note of a cut, here or in a preview."""
_MEDIA_TYPE = ("mediaType", "media_type", "mimeType", "mime_type")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_SHORT_KIND = re.compile(r"(?=.{3,20}\Z)[\w.+-]+/[\w.+-]+", re.ASCII)
_BLOCKS = frozenset(
    (
        *("image", "image_url", "input_image", "image-data", "image-url", "media", "document", "resource"),
        *("file", "input_file", "file-data", "file-url", "audio", "input_audio", "video"),
    )
)
"""Types of content blocks that hold media, as providers, MCP and the AI SDK name them."""
_WRAPPERS = ("text", "json", "error-text", "error-json", "content")


def size(value: Any) -> int:
    """Characters of a text, or of the JSON of anything else."""
    return len(value) if isinstance(value, str) else _json_size(value)


class _Note(NamedTuple):
    """What a cut says: how long the value was, and how the whole is read (`rest` closes the note)."""

    original: int
    rest: str

    def text(self, kept: int) -> str:
        return f"[shortened: {kept} of {self.original} characters{self.rest}"

    @property
    def room(self) -> int:
        """Characters of the longest form, as JSON."""
        return _json_size(self.text(self.original))


def shrink(value: Any, limit: int, how: str, *, strict: bool = False) -> Any:
    """`value` within `limit` characters, of the same kind; itself if it fits already, or is a number, a bool or null.

    A text keeps its beginning and end. An object keeps its keys and a list its first items, each with a fair share of
    the room; where even that is too much, the last keys go. A note with the sizes and `how` to read the whole stands at
    the end of a text, in an object's `__truncated`, or as a list's last item.

    `strict` is for closed schemas: no key and no item is added, no key goes (so that the limit may not be kept), and
    the note stands behind the first text that was cut.
    """
    if _is_wrapper(value):
        return _rewrapped(value, lambda inner, room: _shrink(inner, room, how, strict), limit)
    return _shrink(value, limit, how, strict)


def placeholder(value: Any, limit: int, how: str) -> Any:
    """Nothing of `value` but a note, as the same kind of value, within `limit` characters where any can be; `value`
    itself if it fits already, or is a number, a bool or null."""
    if _is_wrapper(value):
        return _rewrapped(value, lambda inner, room: _placeholder(inner, room, how), limit)
    return _placeholder(value, limit, how)


def _shrink(value: Any, limit: int, how: str, strict: bool) -> Any:
    if size(value) <= limit or not isinstance(value, (str, list, dict)):
        return value
    bare, original = (value, size(value)) if strict and not isinstance(value, str) else _without_note(value)
    for note in _notes(original, how):
        if note.room + _SMALL <= limit and size(shorter := _with_note(bare, limit, note, strict)) <= limit:
            return shorter
    if isinstance(bare, str):
        shorter = _cut(bare, limit, len, "…")[0]
    else:
        shorter = _fit(bare, limit, strict, 0)
    if size(shorter) <= limit:
        return shorter
    return _fit(bare, 0, True, 0) if strict and not isinstance(bare, str) else _placeholder(bare, limit, how)


def _placeholder(value: Any, limit: int, how: str) -> Any:
    if size(value) <= limit or not isinstance(value, (str, list, dict)):
        return value
    bare, original = _without_note(value)
    for note in _notes(original, how):
        shown: Any = note.text(0) if isinstance(bare, str) else _mark(bare, note.text(0))
        if size(shown) <= limit:
            return shown
    return _empty(bare)


def _empty(value: Any) -> Any:
    return "" if isinstance(value, str) else [] if isinstance(value, list) else {}


def _rewrapped(value: dict[str, Any], cut: Callable[[Any, int], Any], limit: int) -> dict[str, Any]:
    """A wrapper around a shorter value. A text inside is measured bare, and in the wrapper it is JSON: so try again."""
    if _json_size(value) <= limit:
        return value
    room = limit - (_json_size(value) - _json_size(value["value"]))
    while True:
        shorter = {**value, "value": cut(value["value"], max(room, 0))}
        excess = _json_size(shorter) - limit
        if excess <= 0 or room <= 0:
            return shorter
        room -= excess


def _notes(original: int, how: str) -> tuple[_Note, _Note]:
    return _Note(original, f"; {how}]"), _Note(original, "]")


def _without_note(value: Any) -> tuple[Any, int]:
    """The value without the note of an earlier cut, and how long the original was."""
    note = value
    if isinstance(value, dict):
        note = value.get(MARK)
    elif isinstance(value, list):
        last = value[-1] if value else None
        note = last.get(MARK, last.get("text")) if isinstance(last, dict) else last
    found = _OPEN.search(note) if isinstance(note, str) else None
    if found is None:
        return value, size(value)
    original = int(found[1])
    if isinstance(value, str):
        return value[: found.start()], original
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != MARK}, original
    return value[:-1], original


def _with_note(value: Any, limit: int, note: _Note, strict: bool) -> Any:
    if isinstance(value, str):
        shorter, kept = _cut(value, limit - len(note.text(note.original)) - 1, len, "\n…\n")
        return f"{shorter}\n{note.text(kept)}"
    room = limit - note.room - len(MARK) - 12  # a key or a typed item around it, and a comma
    if strict or (isinstance(value, dict) and MARK in value):
        shorter = _fit(value, room, strict, 0)
        _put_in_first_cut(value, shorter, "\n" + note.text(_json_size(shorter)))
        return shorter
    shorter = _fit(value, room, False, 0)
    mark = _mark(value, note.text(_json_size(shorter)))
    return {**shorter, **mark} if isinstance(value, dict) else [*shorter, *mark]


def _put_in_first_cut(value: Any, shorter: Any, note: str) -> bool:
    """Put the note behind the first text in `shorter` that was cut."""
    places: Any = shorter.items() if isinstance(shorter, dict) else enumerate(shorter)
    for key, item in list(places):
        whole = value.get(key) if isinstance(value, dict) else value[key]
        if isinstance(item, str) and item != whole and isinstance(whole, str):
            shorter[key] = item + note
            return True
        if type(item) is type(whole) and isinstance(item, (dict, list)) and _put_in_first_cut(whole, item, note):
            return True
    return False


def _mark(value: Any, text: str) -> Any:
    """What says `text` in an object (to be merged in), or in a list (to be appended) in the manner of its items."""
    if isinstance(value, dict):
        return {MARK: text}
    if value and all(isinstance(item, dict) for item in value):
        typed = all(isinstance(item.get("type"), str) for item in value)
        return [{"type": "text", "text": text} if typed else {MARK: text}]
    return [text]


def _fit(value: Any, room: int, strict: bool, depth: int) -> Any:
    """`value` with JSON of about `room` characters; as near to it as its kind can come."""
    if not isinstance(value, (str, list, dict)) or _json_size(value) <= max(room, _SMALL):
        return value
    if isinstance(value, str):
        return _cut(value, room, _json_size, "…")[0]
    if depth >= _DEEP:
        return _empty(value)
    if isinstance(value, list):
        return _fit_list(value, room, strict, depth)
    if isinstance(value.get("type"), str) and value["type"] in _BLOCKS and (kind := _media_type(value)) is not None:
        return {"type": "text", "text": _media_left_out(kind)}
    return _fit_dict(value, room, strict, depth)


def _fit_dict(value: dict[str, Any], room: int, strict: bool, depth: int) -> dict[str, Any]:
    overhead = [_json_size(key) + 2 for key in value]
    sizes = [_json_size(item) for item in value.values()]
    items = list(value.items())
    left = ""
    if not strict:
        # What a value takes at least: all of a small one, `"…"` of another.
        wanted = [a + (b if b <= _SMALL else 3) for a, b in zip(overhead, sizes, strict=True)]
        keep = _fitting(wanted, room - 2)
        if keep < len(items) and depth:
            keep = _fitting(wanted, room - 2 - _LEFT_OUT)
            left = f"{len(items) - keep} of {len(items)} keys left out"
        items, sizes, overhead = items[:keep], sizes[:keep], overhead[:keep]
    shares = _shares(sizes, room - 2 - sum(overhead))
    media = _media_key(value)
    shorter = {
        key: _media_left_out(_media_type(value))
        if key == media and _json_size(item) > max(share, _SMALL)
        else _fit(item, share, strict, depth + 1)
        for (key, item), share in zip(items, shares, strict=True)
    }
    if left and room >= _LEFT_OUT:
        shorter.setdefault(MARK, left)
    return shorter


def _fit_list(value: list[Any], room: int, strict: bool, depth: int) -> list[Any]:
    sizes = [_json_size(item) for item in value]
    wanted = [min(each, _ITEM) + 1 for each in sizes]
    keep = _fitting(wanted, room - 2)
    marked = keep < len(value) and depth > 0 and not strict
    if marked:
        keep = _fitting(wanted, room - 2 - _LEFT_OUT)
    shares = _shares(sizes[:keep], room - 2 - keep - (_LEFT_OUT if marked else 0))
    shorter = [_fit(item, share, strict, depth + 1) for item, share in zip(value, shares, strict=False)]
    if marked and room >= _LEFT_OUT:
        shorter += _mark(value, f"{len(value) - keep} of {len(value)} items left out")
    return shorter


def _fitting(sizes: list[int], room: int) -> int:
    """How many of the first `sizes` fit into `room`."""
    for index, each in enumerate(sizes):
        room -= each
        if room < 0:
            return index
    return len(sizes)


def _shares(sizes: list[int], room: int) -> list[int]:
    """`room` shared out: small values get what they take, then the shorter what they need, the rest alike."""
    shares = [each if each <= _SMALL else 0 for each in sizes]
    room -= sum(shares)
    order = sorted((each, index) for index, each in enumerate(sizes) if each > _SMALL)
    for done, (each, index) in enumerate(order):
        shares[index] = min(each, max(room, 0) // (len(order) - done))
        room -= shares[index]
    return shares


def _cut(text: str, room: int, measure: Callable[[str], int], gap: str) -> tuple[str, int]:
    """The beginning and end of `text` with a gap between them, within `room`, and how many characters of it that is."""
    keep = min(room, len(text)) - len(gap)
    while keep > 0:
        head = before(text, keep - keep // 3)
        tail = after(text, len(text) - keep // 3)
        shorter = text[:head] + gap + text[tail:]
        if (excess := measure(shorter) - room) <= 0:
            return shorter, head + len(text) - tail
        # A character may take up to six in JSON: take away what is certainly too much, and look again.
        keep -= max(1, excess // 6)
    return "…", 0


def _media_key(value: dict[str, Any]) -> str | None:
    """The key of a text in an object that is media: a base64 data URL, or base64 beside a media type."""
    typed = any(isinstance(value.get(name), str) for name in _MEDIA_TYPE)
    for key, item in value.items():
        if isinstance(item, str) and len(item) > _SMALL:
            if item.startswith("data:") and ";base64," in item[:200]:
                return key
            if typed and _BASE64.fullmatch(item):
                return key
    return None


def _media_type(value: dict[str, Any]) -> str | None:
    """What media an object holds, itself or in an object just below (`source`, `image_url`); None if it holds none."""
    for holder in [value, *(item for item in value.values() if isinstance(item, dict))]:
        if (key := _media_key(holder)) is not None:
            named = next((holder[name] for name in _MEDIA_TYPE if isinstance(holder.get(name), str)), None)
            return str(named or holder[key][5:80].partition(";")[0])
    return None


def _media_left_out(kind: str | None) -> str:
    # Invariant: no longer than what is never touched, so that it stays when it is cut again.
    return f"[{kind if kind and _SHORT_KIND.fullmatch(kind) else 'media'} left out]"


def _is_wrapper(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether this is an output as the AI SDK's model messages have it: `{type: "text", value: …}`."""
    return isinstance(value, dict) and set(value) == {"type", "value"} and value["type"] in _WRAPPERS


def _json_size(value: Any) -> int:
    return len(_json.text(value))
