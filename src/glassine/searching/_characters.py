"""Sets of characters that folding, segmenting and snippets share, written for use inside `[…]` of a pattern."""

from __future__ import annotations

from functools import cache
from itertools import chain
from unicodedata import category

# Scripts written without spaces between words: they are searched by pairs of characters. Kana with its marks of
# length, iteration and voicing, Bopomofo, ideographs, Hangul and jamo; Thai, Lao, Myanmar and Khmer with their vowels.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u1049\u1050-\u109f\uaa60-\uaa7f\u1780-\u17d3\u17d7\u17dc-\u17e9"
    "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\uac00-\ud7a3"
    "\u3005-\u3007\u3031-\u3035\u303b\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)

# Characters without a width that only steer how others are shown or joined; searching looks through them.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)


@cache
def marks() -> str:
    """Combining characters, of the blocks in which there are any. Made when first needed, as most text is ASCII."""
    codes = chain(
        range(0x0300, 0x1E00), range(0x20D0, 0x2100), range(0x2CE0, 0x2E00), range(0x3020, 0x30A0),
        range(0xA660, 0xAC00), range(0xFB1E, 0xFB1F), range(0xFE20, 0xFE30),
    )  # fmt: skip
    return "".join(chr(code) for code in codes if category(chr(code)).startswith("M"))


# What normalisation may join to the character before it, besides marks: invisible characters, the voicing marks of
# kana, and jamo. Beyond the BMP, where marks are few and far between, the blocks that hold any.
JOINING = (
    IGNORABLE
    + "\u309b\u309c\uff9e\uff9f\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff\uffa1-\uffdc"
    + "\U000101fd\U000102e0\U00010376-\U0001037a\U00010a00-\U00011fff\U00016af0-\U00016b36\U0001bc9d\U0001bc9e"
    + "\U0001d100-\U0001d24f\U0001e000-\U0001e95f"
)
