"""BM25 over what is in scope, where the engine's own would weigh a narrow search by the whole store."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

_K1, _B = 1.2, 0.75  # the usual constants, and SQLite's


class Match(NamedTuple):
    """One index row that matched: how often each phrase occurs in it, and how many words it has."""

    frequencies: tuple[int, ...]
    length: int


def bm25(matches: Sequence[Match], documents: int, holding: Sequence[int] | None = None) -> list[float]:
    """A score for each match, higher is better. `documents` is how many index rows are in scope, `holding` how many of
    them hold each phrase; None: as many as the matches do."""
    if not matches:
        return []
    if holding is None:
        holding = [
            sum(1 for match in matches if match.frequencies[each]) for each in range(len(matches[0].frequencies))
        ]
    documents = max(documents, len(matches), *holding)
    average = sum(match.length for match in matches) / len(matches) or 1.0
    weights = [log(1 + (documents - count + 0.5) / (count + 0.5)) for count in holding]
    return [
        sum(
            weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * match.length / average))
            for weight, count in zip(weights, match.frequencies, strict=True)
        )
        for match in matches
    ]
