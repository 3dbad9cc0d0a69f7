"""Index rows as text search vectors (Postgres `tsvector`), and what is read back from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .content import KINDS
from .indexing import Words
from .searching import CHUNK_REPEATS, Form, to_tsquery, to_tsvector

LONG = "/long"
"""The scope word of messages that have several rows, so that a search can look across these."""
WEIGHTS: dict[str, str] = dict(zip(KINDS, "ABCD", strict=True))
LARGEST = 1_000_000
"""Bytes of a vector's text that Postgres takes for certain; its limit is 2^20 for what becomes of it."""

_LEXEME = re.compile(r"'((?:[^']|'')*)':([\dA-D,]+)")


class Row(NamedTuple):
    """One row of the index: how many words it has, and its vector as text."""

    size: int
    vector: str


def rows(scope: Sequence[str], words: Sequence[Words]) -> list[Row]:
    """The rows of a message. Kinds that do not fit into one vector together go into several."""
    parts = [part for row in words for part in _fitting(row)]
    if len(parts) > 1:
        scope = [*scope, LONG]
    front = " ".join(f"'{word}'" for word in scope)
    return [Row(sum(map(len, part)), f"{front} {_vector(part)}") for part in parts]


def scoped(form: Form, kinds: Sequence[str], scope: Sequence[str]) -> str:
    """The query for a form within a scope, as text."""
    weights = "" if len(kinds) == len(KINDS) else "".join(WEIGHTS[kind] for kind in kinds)
    return " & ".join([*(f"'{word}'" for word in scope), f"({to_tsquery(form, weights)})"])


def frequencies(vector: str, form: Form) -> tuple[int, ...]:
    """How often each phrase of a form occurs in a vector, given as text."""
    places = {
        lexeme.replace("''", "'"): {int(place.rstrip("ABCD")) for place in found.split(",")}
        for lexeme, found in _LEXEME.findall(vector)
    }
    counts = []
    for phrase in form.phrases:
        *first, last = phrase.tokens
        ends = places.get(last, set())
        if phrase.prefix:
            ends = set().union(*(found for lexeme, found in places.items() if lexeme.startswith(last)))
        for back, token in enumerate(reversed(first), 1):
            ends = ends & {place + back for place in places.get(token, ())}
        counts.append(len(ends))
    return tuple(counts)


def lexemes(form: Form) -> list[str] | None:
    """The words that `frequencies` needs of a vector. None: all of them, as some are only begun in the form."""
    if any(phrase.prefix for phrase in form.phrases):
        return None
    return sorted({token for phrase in form.phrases for token in phrase.tokens})


Part = tuple[Sequence[str], ...]
"""The words of a row by kind."""


def _fitting(row: Words) -> Iterator[Part]:
    kinds: Part = tuple(text.split(" ") if text else () for text in row)
    if sum(map(bool, kinds)) == 1 or _fits(kinds):
        yield kinds
        return
    for number, tokens in enumerate(kinds):
        if tokens:
            yield tuple(tokens if number == other else () for other in range(len(kinds)))


def _fits(kinds: Part) -> bool:
    """Whether Postgres keeps all positions: it drops those of a lexeme beyond CHUNK_REPEATS."""
    if sum(map(len, kinds)) <= CHUNK_REPEATS:
        return True
    most = Counter(token for tokens in kinds for token in tokens).most_common(1)[0][1]
    return most <= CHUNK_REPEATS and len(_vector(kinds).encode()) <= LARGEST


def _vector(kinds: Part) -> str:
    """The words at their positions, a gap between two kinds, as no phrase runs on from one into the next."""
    texts = []
    first = 1
    for tokens, weight in zip(kinds, WEIGHTS.values(), strict=True):
        if tokens:
            texts.append(to_tsvector(tokens, weight, first))
            first += len(tokens) + 1
    return " ".join(texts)
