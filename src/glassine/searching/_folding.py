"""Folding: what two spellings have in common that a searcher takes for the same."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from unicodedata import combining, normalize

from ._characters import IGNORABLE

# Letters that Unicode does not take apart, and those of Arabic script that keyboards mix.
_LETTERS = {
    "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe", "ŧ": "t",
    "ё": "е", "ѐ": "е", "ѝ": "и",
    "آ": "ا", "أ": "ا", "إ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك",
}  # fmt: skip

# Marks that are left out in writing or search as a rule: accents; Hebrew points; Arabic vowels and the tatweel. The
# voicing of kana and the vowels of Indian and South-East Asian scripts are letters, and stay.
_OPTIONAL_MARKS = (
    (0x0300, 0x036F), (0x0483, 0x0487), (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2), (0x05C4, 0x05C5),
    (0x05C7, 0x05C7), (0x0610, 0x061A), (0x0640, 0x0640), (0x064B, 0x065F), (0x0670, 0x0670), (0x06D6, 0x06DC),
    (0x06DF, 0x06E4), (0x06E7, 0x06E8), (0x06EA, 0x06ED), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20F0),
    (0xFE20, 0xFE2F),
)  # fmt: skip


def fold(text: str) -> str:
    """The text as it is searched: compatibility forms, case and accents made equal, invisible characters left out.

    `Ａ`, `a` and `á` become `a`; `ﾊﾟ` becomes `パ`; `ß` becomes `ss`. Kana keep their voicing (`が` is not `か`), Hangul
    stays composed, and letters that only look like others with an accent (`й`, `ї`) stay what they are. Folding a
    folded text changes nothing. Takes any string.
    """
    if text.isascii():
        return text.lower()
    ignorable, changing, plain = _tables()
    text = ignorable.sub("", text).replace("゛", "\u3099").replace("゜", "\u309a")
    text = normalize("NFKC", text).casefold()
    return changing.sub(lambda found: plain[found[0]], text)


@cache
def _tables() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """What is left out; the letters that lose something, and what they become. Made when first needed."""
    plain = dict(_LETTERS)
    for first, last in _OPTIONAL_MARKS:
        plain.update((chr(code), "") for code in range(first, last + 1))
    # Latin and Greek. Cyrillic letters with marks are letters of their own, with the exceptions above.
    for code in chain(range(0x00C0, 0x0250), range(0x0370, 0x0400), range(0x1E00, 0x2000)):
        letter = chr(code)
        bare = "".join(c for c in normalize("NFD", letter) if not combining(c))
        if bare and bare != letter:
            plain[letter] = "".join(_LETTERS.get(c, c) for c in bare)
    return re.compile(f"[{IGNORABLE}]"), re.compile(f"[{''.join(plain)}]"), plain
