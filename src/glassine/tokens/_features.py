"""What the estimator counts in a text: pairs of neighbouring character classes, and characters per script.

Everything is a few operations in C over whole blocks (`bytes.translate`, big integers); there is no loop over
characters. Classes come from the first byte of each character in UTF-8, scripts from its UTF-16 code unit.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator

# A class is a number below 16, so that a class and the one before it share a byte.
CLASSES = (
    "newline",  # also what stands before the first character
    "space",
    "capital",
    "digit",
    "common",  # the six commonest letters of English; with `rare` it tells prose from hashes and other languages
    "rare",
    "letter",
    "quote",
    "bracket",
    "joiner",  # what holds identifiers, paths and addresses together
    "mark",
    "latin",
    "alphabet",
    "wide",
    "han",
)
_CODE = {name: code for code, name in enumerate(CLASSES)}

_ASCII_CLASSES = {
    "newline": "\r\n",
    "space": " \t",
    "capital": string.ascii_uppercase,
    "digit": string.digits,
    "common": "etaoin",
    "rare": "jkqvwxyz",
    "letter": string.ascii_lowercase,
    "quote": "\"'`",
    "bracket": "()[]{}<>",
    "joiner": "_-./:\\",
}

# The scripts that have a weight of their own: name, first and last code point. Both ends lie on the borders of a
# quarter of 256 characters. What is not listed costs its length in UTF-8, as tokenizers fall back to bytes.
SCRIPTS = (
    ("latin-1", 0x0080, 0x00FF),
    ("latin extended", 0x0100, 0x023F),
    ("greek", 0x0340, 0x03FF),
    ("cyrillic", 0x0400, 0x047F),
    ("cyrillic extended", 0x0480, 0x04FF),
    ("armenian", 0x0500, 0x057F),
    ("hebrew", 0x0580, 0x05FF),
    ("arabic", 0x0600, 0x06FF),
    ("thaana", 0x0780, 0x07BF),
    ("devanagari", 0x0900, 0x097F),
    ("bengali", 0x0980, 0x09FF),
    ("gurmukhi", 0x0A00, 0x0A7F),
    ("gujarati", 0x0A80, 0x0AFF),
    ("oriya", 0x0B00, 0x0B7F),
    ("tamil", 0x0B80, 0x0BFF),
    ("telugu", 0x0C00, 0x0C7F),
    ("kannada", 0x0C80, 0x0CFF),
    ("malayalam", 0x0D00, 0x0D7F),
    ("sinhala", 0x0D80, 0x0DFF),
    ("thai", 0x0E00, 0x0E7F),
    ("lao", 0x0E80, 0x0EFF),
    ("tibetan", 0x0F00, 0x0FFF),
    ("myanmar", 0x1000, 0x107F),
    ("georgian", 0x1080, 0x10FF),
    ("ethiopic", 0x1200, 0x13BF),
    ("khmer", 0x1780, 0x17FF),
    ("latin additional", 0x1E00, 0x1EFF),
    ("greek extended", 0x1F00, 0x1FFF),
    ("punctuation", 0x2000, 0x203F),
    ("currency", 0x2080, 0x20BF),
    ("arrows and operators", 0x2180, 0x22FF),
    ("box drawing", 0x2500, 0x257F),
    ("shapes", 0x2580, 0x25FF),
    ("pictures", 0x2600, 0x27BF),
    ("cjk punctuation", 0x3000, 0x303F),
    ("kana", 0x3040, 0x30FF),
    ("han", 0x4E00, 0x9FFF),
    ("hangul", 0xAC00, 0xD7FF),
    ("emoji", 0xD800, 0xD83F),  # the high surrogates of U+10000 to U+1FFFF
    ("rare han", 0xD840, 0xD8BF),  # the high surrogates of U+20000 to U+3FFFF
    ("low surrogates", 0xDC00, 0xDFFF),  # never counted: the high one before them stands for the character
    ("cjk compatibility", 0xF900, 0xFAFF),
    ("variation selectors", 0xFE00, 0xFE3F),
    ("full width", 0xFF00, 0xFF3F),
    ("half-width", 0xFF40, 0xFFBF),
)
UNLISTED = ("two bytes", "three bytes")
SCRIPT_NAMES = tuple(name for name, _, _ in SCRIPTS) + UNLISTED


def _scripts_of_blocks() -> list[tuple[int, ...]]:
    """For each high byte of a code unit, the scripts of its 4 × 64 characters, as numbers in SCRIPT_NAMES."""
    quarters = [SCRIPT_NAMES.index("two bytes")] * (0x800 >> 6)
    quarters += [SCRIPT_NAMES.index("three bytes")] * (0x400 - len(quarters))
    for number, (_, first, last) in enumerate(SCRIPTS):
        quarters[first >> 6 : (last >> 6) + 1] = [number] * ((last - first >> 6) + 1)
    return [tuple(quarters[block : block + 4]) for block in range(0, 0x400, 4)]


def _class_table() -> bytes:
    """The class of a character by its first byte in UTF-8."""
    table = [_CODE["mark"]] * 0x80 + [_CODE["wide"]] * 0x80
    table[0xC3:0xCC] = [_CODE["latin"]] * 9  # U+00C0 to U+02FF
    table[0xCC:0xE2] = [_CODE["alphabet"]] * 22  # U+0300 to U+1FFF
    table[0xE4:0xEA] = [_CODE["han"]] * 6  # U+4000 to U+9FFF
    # Backwards, so that the named few win over the lower-case letters as a whole.
    for name, characters in reversed(_ASCII_CLASSES.items()):
        for character in characters:
            table[ord(character)] = _CODE[name]
    return bytes(table)


_CLASS = _class_table()
_ASCII_BYTES = bytes(range(0x80))
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))

# High bytes whose quarters hold the same scripts are one group: (group << 2 | quarter) fits a byte.
_BLOCKS = _scripts_of_blocks()
_GROUPS = {quarters: number for number, quarters in enumerate(dict.fromkeys(_BLOCKS))}
_HIGH_GROUP = bytes(_GROUPS[quarters] << 2 for quarters in _BLOCKS)
_LOW_QUARTER = bytes(low >> 6 for low in range(256))
_SCRIPT = bytes(script for quarters in _GROUPS for script in quarters).ljust(256, b"\0")
_UNCOUNTED = bytes([*range(_HIGH_GROUP[0], _HIGH_GROUP[0] + 2), *range(_HIGH_GROUP[0xDC], _HIGH_GROUP[0xDC] + 4)])

_NO_SCRIPTS: dict[int, int] = {}

BLOCK = 1 << 16  # characters looked at together: bounds the memory that a long text takes

# Lines drawn with one of these are a token or two however long, and pairs would count them many times over.
RULE_CHARACTERS = "=-*#_."
RULE_LENGTH = 8
# One of these stands in the pairs of a text that has such a line, and of few others.
JOINER_RULE = bytes([_CODE["joiner"] * 0x11]) * (RULE_LENGTH - 1)
MARK_RULE = bytes([_CODE["mark"] * 0x11]) * (RULE_LENGTH - 1)


def features(text: str, previous: int = 0) -> tuple[bytes, dict[int, int]]:
    """The pairs of a text and its characters per script.

    Pairs are a byte for each character: its class, and in the upper half the class before it (of the first one:
    `previous`). Scripts are numbers in SCRIPT_NAMES; ASCII characters are in none.
    """
    if text.isascii():
        leads = text.encode("ascii")
        scripts = _NO_SCRIPTS
    else:
        raw = text.encode("utf-8", "surrogatepass")
        leads = raw.translate(None, _CONTINUATION_BYTES)
        if len(raw) < len(text) * 3 // 2:
            text = raw.translate(None, _ASCII_BYTES).decode("utf-8", "surrogatepass")
        scripts = _script_counts(text)
    number = int.from_bytes(leads.translate(_CLASS), "little")
    length = len(leads)
    return (number | number << 12 | previous << 4).to_bytes(length + 2, "little")[:length], scripts


def _script_counts(text: str) -> dict[int, int]:
    units = text.encode("utf-16-le", "surrogatepass")
    low, high = units[::2], units[1::2]
    number = int.from_bytes(high.translate(_HIGH_GROUP), "little")
    number |= int.from_bytes(low.translate(_LOW_QUARTER), "little")
    rest = number.to_bytes(len(low), "little").translate(_SCRIPT, _UNCOUNTED)
    counts: dict[int, int] = {}
    left = len(rest)
    while left:  # peeled off one by one: a text is written in few scripts
        script = rest[0]
        rest = rest.translate(None, rest[:1])
        counts[script] = left - len(rest)
        left = len(rest)
    return counts


def blocks(text: str) -> Iterable[tuple[str, bytes, dict[int, int]]]:
    """Pieces of BLOCK characters with their features. Pairs reach over the seams, so where they lie changes nothing."""
    if len(text) <= BLOCK:
        return ((text, *features(text)),)
    return _blocks(text)


def _blocks(text: str) -> Iterator[tuple[str, bytes, dict[int, int]]]:
    previous = 0
    for start in range(0, len(text), BLOCK):
        piece = text[start : start + BLOCK]
        pairs, scripts = features(piece, previous)
        previous = pairs[-1] & 15
        yield piece, pairs, scripts


def rules(text: str) -> dict[int, int]:
    """How often RULE_LENGTH of a rule character stand in a row, by the pair code of that character with itself."""
    counts: dict[int, int] = {}
    for character in RULE_CHARACTERS:
        if found := text.count(character * RULE_LENGTH):
            code = _CLASS[ord(character)] * 0x11
            counts[code] = counts.get(code, 0) + found
    return counts
