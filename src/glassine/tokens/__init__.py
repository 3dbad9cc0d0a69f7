"""How many tokens a text takes, estimated without a tokenizer and for several families of models at once.

`estimate_tokens(text, family)` gives one number, `estimate_all(text)` one for each of `FAMILIES` in a single pass:

    o200k     OpenAI's GPT-4o and later, the o-series, gpt-oss
    claude3   Claude 3 to 4.6
    claude48  Claude 4.7 and later
    gemma3    Gemini and Gemma
    safe      a model that is not known: what the least thrifty of the common tokenizers would take, and never less
              than o200k, claude3 and gemma3

An estimate is the sum of a weight per pair of neighbouring character classes and a weight per character of each script
beyond ASCII, fitted on 24 kinds of prose, code, data and logs (`scripts/fit_tokens.py`). Over a few kilobytes it is
mostly within 10 % of the true count, over a single line within 20 %; languages it was not fitted on can be 25 % off.
"""

from __future__ import annotations

from math import ceil
from zlib import adler32

from ._exact import TokenCounter, o200k_counter
from ._families import family_of
from ._features import JOINER_RULE, MARK_RULE, RULE_LENGTH, blocks, rules
from ._weights import PAIR_UNITS, RULE_UNITS, SCRIPT_UNITS, UNITS

__all__ = [
    "ESTIMATOR_VERSION",
    "FAMILIES",
    "TokenCounter",
    "estimate_all",
    "estimate_tokens",
    "family_of",
    "o200k_counter",
]

FAMILIES = ("o200k", "claude3", "claude48", "gemma3", "safe")

# Stored beside every kept estimate. Raise it whenever a text may get another number than before.
ESTIMATOR_VERSION = 1

_FITTED = FAMILIES[:4]
_TABLES = tuple(bytes.fromhex(PAIR_UNITS[family]) for family in _FITTED)

# adler32 started from 0 leaves the sum of the bytes in its lower half, modulo 65,521. A table's weights stay below
# 64, so that a slice of this length cannot reach the modulus, whatever the text.
_SLICE = 1024


def estimate_tokens(text: str, family: str = "o200k") -> int:
    """The estimated number of tokens of `text`: 0 for an empty one, else at least 1.

    Takes any string, lone surrogates included. Raises ValueError for a family that is not one of `FAMILIES`.
    """
    if family not in FAMILIES:
        raise ValueError(f"unknown token family {family!r}; known are {', '.join(FAMILIES)}")
    number = FAMILIES.index(family)
    if number >= len(_FITTED):
        return estimate_all(text)[number]
    table = _TABLES[number]
    units = 0.0
    for piece, pairs, scripts in blocks(text):
        units += _weigh(pairs, table)
        for script, n in scripts.items():
            units += n * SCRIPT_UNITS[script][number]
        if JOINER_RULE in pairs or MARK_RULE in pairs:
            units += _rule_units(rules(piece), number)
    return ceil(units / UNITS)


def estimate_all(text: str) -> tuple[int, int, int, int, int]:
    """The estimates for all of `FAMILIES`, in that order, from one pass over `text`."""
    first, second, third, fourth = _TABLES
    extra = o200k = claude3 = claude48 = gemma3 = 0.0
    for piece, pairs, scripts in blocks(text):
        o200k += _weigh(pairs, first)
        claude3 += _weigh(pairs, second)
        claude48 += _weigh(pairs, third)
        gemma3 += _weigh(pairs, fourth)
        for script, n in scripts.items():
            a, b, c, d, e = SCRIPT_UNITS[script]
            o200k += n * a
            claude3 += n * b
            claude48 += n * c
            gemma3 += n * d
            extra += n * e
        if JOINER_RULE in pairs or MARK_RULE in pairs:
            found = rules(piece)
            o200k += _rule_units(found, 0)
            claude3 += _rule_units(found, 1)
            claude48 += _rule_units(found, 2)
            gemma3 += _rule_units(found, 3)
    safe = max(o200k, claude3, gemma3) + extra
    return (
        ceil(o200k / UNITS),
        ceil(claude3 / UNITS),
        ceil(claude48 / UNITS),
        ceil(gemma3 / UNITS),
        ceil(safe / UNITS),
    )


def _weigh(pairs: bytes, table: bytes) -> int:
    weights = pairs.translate(table)
    if len(weights) <= _SLICE:
        return adler32(weights, 0) & 0xFFFF
    view = memoryview(weights)
    total = 0
    for start in range(0, len(weights), _SLICE):
        total += adler32(view[start : start + _SLICE], 0) & 0xFFFF
    return total


def _rule_units(found: dict[int, int], number: int) -> float:
    """What drawn lines cost, less what their pairs have been counted for."""
    table = _TABLES[number]
    return sum([n * (RULE_UNITS[number] - RULE_LENGTH * table[code]) for code, n in found.items()])
