"""Search analysis against the least that could be done: lower-case the text and split it at spaces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unicodedata import normalize

from glassine.searching import parse_query, segment, snippet

from ._measure import Block, Figure, compare
from ._texts import texts

BLOCKS = 60
TIMES = 30


def folded_words(text: str) -> list[str]:
    return normalize("NFKC", text).casefold().split()


def run() -> list[Figure]:
    rows = []
    for kind, text in texts(2300).items():
        query = parse_query("設定 バックアップ" if kind == "Japanese" else "settings invoices return weightKg")
        rows.append(
            compare(f"segment, {kind} / fold and split", None, repeated(segment, text), floor(text), blocks=BLOCKS)
        )
        shown = repeated(partial(snippet, query=query), text)
        rows.append(compare(f"snippet, {kind} / fold and split", None, shown, floor(text), blocks=BLOCKS))
    return rows


def floor(text: str) -> Callable[[], Block]:
    return repeated(folded_words, text)


def repeated(work: Callable[[str], object], text: str) -> Callable[[], Block]:
    return lambda: lambda: [work(text) for _ in range(TIMES)]
