"""JSON as it is stored: what comes back is what was given, or it is refused by name.

msgspec reads and writes nearly everything, at several times the speed of the standard library. The rest (lone
surrogates) goes through `json`; the codec says which of the two reads a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NoReturn

from .errors import InvalidMessageError

CODEC_MSGSPEC = 0
"""UTF-8 JSON, non-ASCII unescaped."""
CODEC_STDLIB = 1
"""The same, except that lone surrogates stand as their three surrogate bytes (`surrogatepass`), which
strict UTF-8 readers refuse."""
DEPTH_LIMIT = 500
"""Levels of lists and dicts in a message: half of what the interpreter's own limit would stand."""


def _load() -> None:
    # Importing msgspec takes longer than all of this package, so it waits for the first message. Call what this sets
    # through the module: a name imported from here stays bound to the loader.
    global _encode, _encode_sorted, decode_msgspec, _REFUSED
    import msgspec

    _encode = msgspec.json.Encoder().encode
    _encode_sorted = msgspec.json.Encoder(order="deterministic").encode
    decode_msgspec = msgspec.json.Decoder().decode
    _REFUSED = (msgspec.MsgspecError, UnicodeError, TypeError, ValueError, RecursionError, OverflowError)


def _load_and_encode(value: Any) -> bytes:
    _load()
    return _encode(value)


def _load_and_decode(data: bytes) -> Any:
    _load()
    return decode_msgspec(data)


_encode: Callable[[Any], bytes] = _load_and_encode
_encode_sorted: Callable[[Any], bytes] = _load_and_encode
decode_msgspec: Callable[[bytes], Any] = _load_and_decode
_REFUSED: tuple[type[Exception], ...] = ()


def encode(value: Any) -> tuple[int, bytes]:
    """Return (codec, bytes) such that `decode(codec, bytes) == value`.

    Raises InvalidMessageError, with the path to the culprit, for what JSON cannot give back as it was: NaN and
    the infinities, keys that are not text, tuples, sets, bytes, dates, integers beyond 4,300 digits, nesting
    beyond DEPTH_LIMIT.
    """
    # Invariant: the check is the round trip itself. A walk over the value would be slower, and would be a second
    # opinion about what the encoder does.
    try:
        data = _encode(value)
        if decode_msgspec(data) == value:
            _check_depth(value, data)
            return CODEC_MSGSPEC, data
    except InvalidMessageError:
        raise
    except _REFUSED:
        pass
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )
        if decode(CODEC_STDLIB, data) == value:
            _check_depth(value, data)
            return CODEC_STDLIB, data
    except InvalidMessageError:
        raise
    except _REFUSED as error:
        _explain(value, error)
    _explain(value, None)


def _check_depth(value: Any, data: bytes) -> None:
    # What decodes on this stack must decode on any: readers may stand far deeper than the writer did.
    if data.count(b"[") + data.count(b"{") <= DEPTH_LIMIT:
        return
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEPTH_LIMIT:
            raise InvalidMessageError(f"nested more than {DEPTH_LIMIT} levels deep", limit=DEPTH_LIMIT)
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, (dict, list))
        ]


def canonical(value: Any) -> bytes:
    """A stored value in a form that is the same for the same JSON, whatever the order of its keys."""
    try:
        return _encode_sorted(value)
    except _REFUSED:
        return json.dumps(value, sort_keys=True).encode()


def text(value: Any) -> str:
    """A value that was stored, as JSON text for reading and counting."""
    try:
        return _encode(value).decode()
    except _REFUSED:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode(codec: int, data: bytes) -> Any:
    """The value that `encode` was given. Raises ValueError for bytes that are not what the codec says."""
    if codec == CODEC_MSGSPEC:
        return decode_msgspec(data)
    if codec == CODEC_STDLIB:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    raise ValueError(f"unknown codec {codec}")


_TOO_BIG: Final = 10**4300


def _explain(value: Any, error: BaseException | None) -> NoReturn:
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if (reason := _unstorable(item)) is not None:
            raise InvalidMessageError(reason, path=path) from error
        if isinstance(item, dict):
            stack.extend(((*path, key), child) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend(((*path, index), child) for index, child in enumerate(item))
        if len(path) > 5_000:
            break
    raise InvalidMessageError("nested too deeply to be written as JSON") from error


def _unstorable(item: Any) -> str | None:
    if item is None or isinstance(item, (str, bool, list)):
        return None
    if isinstance(item, float):
        return f"{item!r} is not a number in JSON" if item != item or item in (float("inf"), -float("inf")) else None
    if isinstance(item, int):
        return "an integer beyond 4,300 digits" if abs(item) >= _TOO_BIG else None
    if isinstance(item, dict):
        bad = [key for key in item if not isinstance(key, str)]
        return f"the key {bad[0]!r} is not text" if bad else None
    return f"a {type(item).__name__} would not come back as one from JSON"
