"""English word stems by Porter's algorithm, so that `deployed` finds `deploys`.

Stems are made here and not by the search engines: SQLite and Postgres ship different stemmers, and a snippet has to
find the words that the engine matched. The algorithm is that of M. F. Porter, "An algorithm for suffix stripping",
Program 14 (1980), with the two corrections that its author made later (`bli` for `abli`, and `logi`).
"""

from __future__ import annotations

_SHAPE = str.maketrans({letter: "v" if letter in "aeiou" else "c" for letter in "abcdefghijklmnopqrstuvwxz"})

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    ),
    "",
)  # fmt: skip
# The last letters of words that some step may change.
_ENDINGS = frozenset("cdegilmnrstuy")


def stem(word: str) -> str:
    """The stem of a word in lower-case ASCII letters."""
    if len(word) < 3 or word[-1] not in _ENDINGS:
        return word
    word = _plurals(word)
    word = _participles(word)
    if word[-1] == "y" and "v" in _shape(word)[:-1]:
        word = word[:-1] + "i"
    word = _suffixes(word, _STEP_2, 7, 1)
    word = _suffixes(word, _STEP_3, 5, 1)
    word = _suffixes(word, _STEP_4, 5, 2)
    return _final_letters(word)


def _shape(word: str) -> str:
    """The word with `v` for each vowel and `c` for each consonant; a y after a consonant is a vowel.

    The number of times that `vc` stands in it is what Porter calls the measure of a word.
    """
    shape = word.translate(_SHAPE)
    if "y" in shape:
        letters = list(shape)
        for i, letter in enumerate(letters):
            if letter == "y":
                letters[i] = "v" if i and letters[i - 1] == "c" else "c"
        shape = "".join(letters)
    return shape


def _ends_short(word: str, shape: str) -> bool:
    """Whether it ends consonant, vowel, consonant, as `hop` does, and the last is none of w, x, y."""
    return shape.endswith("cvc") and word[-1] not in "wxy"


def _plurals(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _participles(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if "vc" in _shape(word[:-3]) else word
    base = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    shape = _shape(base)
    if "v" not in shape:
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and shape[-1] == "c":
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if shape.count("vc") == 1 and _ends_short(base, shape) else base


def _suffixes(word: str, table: dict[str, str], longest: int, measure: int) -> str:
    """Replace the longest suffix that is in the table, if the word before it has at least this measure."""
    for length in range(min(longest, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix in table:
            base = word[:-length]
            if _shape(base).count("vc") >= measure and (suffix != "ion" or base[-1] in "st"):
                return base + table[suffix]
            return word
    return word


def _final_letters(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        shape = _shape(base)
        measure = shape.count("vc")
        if measure > 1 or (measure == 1 and not _ends_short(base, shape)):
            word = base
    if word.endswith("ll") and _shape(word).count("vc") > 1:
        word = word[:-1]
    return word
