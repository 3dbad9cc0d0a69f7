"""Index rows as text search vectors (Postgres `tsvector`), and what is read back from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .content import KINDS
from .indexing import Words
from .searching import CHUNK_REPEATS, Form, Phrase, to_tsquery, to_tsvector

LONG = "/long"
"""The scope word of messages that have several rows, so that a search can look across these."""
WEIGHTS: dict[str, str] = dict(zip(KINDS, "ABCD", strict=True))
LARGEST = 1_000_000
"""Bytes of a vector's text that Postgres takes for certain; its limit is 2^20 for what becomes of it."""

_LEXEME = re.compile(r"'([^']+)':([\dA,]+)").findall
_NOWHERE: set[int] = set()


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


def counted(form: Form) -> tuple[list[str], list[Phrase]]:
    """What `frequencies` needs to know of a row: where these words stand in it, and which of these phrases it holds."""
    whole = {token for phrase in form.phrases if not phrase.prefix for token in phrase.tokens}
    return sorted(whole), [phrase for phrase in form.phrases if phrase.prefix]


def frequencies(vector: str, begun: Sequence[bool], form: Form) -> tuple[int, ...]:
    """How often each phrase of a form occurs in a row, by what `counted` asks for.

    A phrase whose last word is only begun counts once: the words that it may stand for are not known.
    """
    places = {lexeme: {int(place.rstrip("A")) for place in found.split(",")} for lexeme, found in _LEXEME(vector)}
    present = iter(begun)
    counts = []
    for phrase in form.phrases:
        if phrase.prefix:
            counts.append(int(next(present)))
            continue
        first, *more = phrase.tokens
        found = places.get(first, _NOWHERE)
        for distance, token in enumerate(more, 1):
            found = found & {place - distance for place in places.get(token, _NOWHERE)}
        counts.append(len(found))
    return tuple(counts)


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
