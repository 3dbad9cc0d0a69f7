"""Tolerant reading of JSON lines: what can be read is read, what cannot is noted, and nothing raises but OSError."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from ._notes import Notes

__all__ = ["objects", "opened"]

_GZIP_MAGIC = b"\x1f\x8b"
_SHOWN = 60
_decode_strictly = msgspec.json.Decoder().decode


def opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    """The file, decompressed if it is gzip, whatever its name."""
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
    return gzip.open(path) if compressed else path.open("rb")


def objects(lines: Iterable[bytes], notes: Notes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects in lines of JSON, each with its line, counted from 1.

    A file that is one object `{"loglines": [...]}`, on one line or many, gives the objects of that list; their
    "line" is their place in it. One line at a time is held in memory.
    """
    for line, value in _values(lines, notes):
        if not isinstance(value, dict):
            notes.problem(line, "not-an-object", f"a JSON {type(value).__name__}")
        elif isinstance(inner := value.get("loglines"), list):
            for place, item in enumerate(inner, 1):
                if isinstance(item, dict):
                    notes.objects += 1
                    yield place, item
                else:
                    notes.problem(place, "not-an-object", f"a JSON {type(item).__name__}")
        else:
            notes.objects += 1
            yield line, value


def _values(lines: Iterable[bytes], notes: Notes) -> Iterator[tuple[int, Any]]:
    unread: tuple[int, str] | None = None
    numbered = _numbered(lines, notes)
    for line, raw in numbered:
        data = raw.strip()
        if b"\0" in data:
            notes.problem(line, "nul-bytes", f"{data.count(0)} bytes")
            data = data.replace(b"\0", b"")
        if not data:
            continue
        if unread is not None:
            notes.problem(unread[0], "bad-json", unread[1])
            unread = None
        if data == b"{" and line == 1:
            # A document spread over lines: no line of it is JSON by itself.
            data += b"".join(rest for _, rest in numbered)
        try:
            yield line, _decode_strictly(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            values, unreadable = _decode_loosely(_text(data, line, notes), line, notes)
            if len(values) > 1:
                notes.problem(line, "joined-line", f"{len(values)} objects")
            for value in values:
                yield line, value
            if unreadable:
                for excerpt in unreadable[:-1]:
                    notes.problem(line, "bad-json", excerpt)
                # Whether the line is bad or only cut off depends on whether another one follows.
                unread = (line, unreadable[-1])
    if unread is not None:
        notes.problem(unread[0], "truncated-line", unread[1])


def _numbered(lines: Iterable[bytes], notes: Notes) -> Iterator[tuple[int, bytes]]:
    try:
        for raw in lines:
            notes.lines += 1
            yield notes.lines, raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        notes.problem(notes.lines, "truncated-gzip", str(error))


def _text(data: bytes, line: int, notes: Notes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        notes.problem(line, "invalid-utf8", f"first at byte {error.start} of the line")
        return data.decode(errors="replace")


def _decode_loosely(text: str, line: int, notes: Notes) -> tuple[list[Any], list[str]]:
    """The values on one line that is not exactly one JSON value, and an excerpt of each stretch that is none."""

    def constant(name: str) -> None:
        notes.problem(line, "non-finite-number", name)

    def number(digits: str) -> float | None:
        if math.isfinite(value := float(digits)):
            return value
        constant(digits)
        return None

    decoder = json.JSONDecoder(parse_constant=constant, parse_float=number)
    values: list[Any] = []
    unreadable: list[str] = []
    at = _skip_space(text, 0)
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = _resume(text, at + 1, decoder)
            unreadable.append(text[at : min(end, at + _SHOWN)])
        else:
            values.append(value)
        at = _skip_space(text, end)
    return values, unreadable


def _resume(text: str, start: int, decoder: json.JSONDecoder) -> int:
    """Where reading can go on after damage at `start`: the first object from which the line is whole objects to its
    end, else the end. An object inside the damaged one is none, because it is followed by the rest of its parent.

    Nested damage makes every level scan the same text again, so the work is bounded by a multiple of the line.
    """
    budget = 8 * len(text)
    candidate = text.find('{"', start)
    while candidate >= 0 and budget > 0:
        at = candidate
        try:
            while at < len(text) and text[at] == "{":
                at = _skip_space(text, decoder.raw_decode(text, at)[1])
        except json.JSONDecodeError as error:
            budget -= error.pos - candidate
        except (ValueError, RecursionError):
            budget -= len(text) - candidate
        else:
            if at == len(text):
                return candidate
            budget -= at - candidate
        candidate = text.find('{"', candidate + 1)
    return len(text)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] == "\ufeff"):
        at += 1
    return at
