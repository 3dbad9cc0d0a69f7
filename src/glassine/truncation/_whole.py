"""Where a text may be cut: between characters as people see them, never inside one."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_EXTENDING = ("Mn", "Mc", "Me")
_JAMO = (
    ("L", "\u1100", "\u115f"),
    ("V", "\u1160", "\u11a7"),
    ("T", "\u11a8", "\u11ff"),
    ("L", "\ua960", "\ua97f"),
    ("V", "\ud7b0", "\ud7c6"),
    ("T", "\ud7cb", "\ud7fb"),
)
_ONE_SYLLABLE = ("LL", "LV", "LS", "VV", "VT", "TT", "SV", "ST")


def before(text: str, index: int) -> int:
    """The nearest place at or before `index` where no character is parted."""
    index = max(0, min(index, len(text)))
    while 0 < index < len(text) and not _parts(text, index):
        index -= 1
    return index


def after(text: str, index: int) -> int:
    """The nearest place at or after `index` where no character is parted."""
    index = max(0, min(index, len(text)))
    while 0 < index < len(text) and not _parts(text, index):
        index += 1
    return index


def _parts(text: str, index: int) -> bool:
    """Whether two characters meet at `index`. The rules of UAX #29 in the main: marks, emoji, flags, Hangul, CRLF."""
    left, right = text[index - 1], text[index]
    if right < "\u0300":
        return not (left == "\r" and right == "\n") and left != _JOINER
    if left == _JOINER or right == _JOINER or _extends(right):
        return False
    if "\udc00" <= right <= "\udfff" and "\ud800" <= left <= "\udbff":
        return False
    if _is_flag_half(right) and _is_flag_half(left):
        return _halves_before(text, index) % 2 == 0
    return _hangul(left) + _hangul(right) not in _ONE_SYLLABLE


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character) in _EXTENDING
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags, in the flags of countries within countries
        or character == "\u200c"
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _halves_before(text: str, index: int) -> int:
    start = index
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return index - start


def _hangul(character: str) -> str:
    """What a character is in a syllable: L(eading), V(owel), T(railing), S(yllable, with or without a T), or "-"."""
    if "가" <= character <= "힣":
        return "S"
    for kind, first, last in _JAMO:
        if first <= character <= last:
            return kind
    return "-"
