"""The token estimator against the formula that others use, `max(chars / 4, words * 1.3)`: it may cost 5 times that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from glassine.tokens import estimate_all, estimate_tokens

from ._measure import Block, Figure, compare
from ._texts import texts

BLOCKS = 60
SIZES = {200: 400, 2300: 60, 50_000: 3}
"""Characters, and how many times a text of this size is estimated in a block."""


def formula(text: str) -> float:
    return max(len(text) / 4, len(text.split()) * 1.3)


def run() -> list[Figure]:
    mixed, rows = [], []
    for size, times in SIZES.items():
        kinds = texts(size)
        every = [text for text in kinds.values() for _ in range(times)]
        mixed.append(against(f"estimate {size:,} characters of every kind / chars and words", 5.0, estimate_all, every))
        for kind, text in kinds.items():
            for name, function in (("all families", estimate_all), ("one family", estimate_tokens)):
                rows.append(against(f"{name}, {size:,} characters of {kind}", None, function, [text] * times))
    return [*mixed, *rows]


def against(name: str, bar: float | None, function: Callable[[str], object], subjects: Sequence[str]) -> Figure:
    def side(work: Callable[[str], object]) -> Callable[[], Block]:
        return lambda: lambda: [work(text) for text in subjects]

    return compare(name, bar, side(function), side(formula), blocks=BLOCKS)
