"""Stored text on a terminal: nothing in it can act on the terminal, and nothing in it breaks a line or a column."""

from __future__ import annotations

import re
from typing import Final

# Controls, C1 (some terminals obey them in UTF-8 too), what reorders text or breaks lines, and lone surrogates.
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ANSI: Final = re.compile("\x1b\\[[0-9;:]*m")
_BREAKS: Final = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
TAB: Final = 4
_UNITS: Final = ("kB", "MB", "GB")


def visible(text: str) -> str:
    """`text` with lines of their own, tabs as spaces, and every other control shown as a picture of itself.

    Colours that a program printed (`ESC [ … m`) are left out, as its output is unreadable with them spelled out.
    """
    text = _BREAKS.sub("\n", _ANSI.sub("", text))
    if "\t" in text:
        text = text.expandtabs(TAB)
    return _UNSAFE.sub(_picture, text)


def line(text: str) -> str:
    """`text` as one line: white space folded, every control shown as a picture of itself."""
    return " ".join(visible(text).split())


def escape_json(text: str) -> str:
    """JSON text in which the characters that could act on a terminal are escaped. They stand in strings only."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def size(count: int) -> str:
    """Bytes for people: 812 B, 4.1 kB, 23 MB (powers of ten)."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    unit = -1
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    return f"{value:.1f} {_UNITS[unit]}" if value < 9.95 else f"{value:.0f} {_UNITS[unit]}"


def count(number: int, noun: str, plural: str = "") -> str:
    """1 message, 2,000 messages."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "�" if 0xD800 <= code < 0xE000 else f"<U+{code:04X}>"
