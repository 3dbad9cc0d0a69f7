"""Reading paths: whole, streamed, their end, and under an overlay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import glassine

from . import _floor
from ._corpus import SESSION, copy, stored, wires
from ._measure import Figure, Side, compare, figure, in_turn

SHOWN = 50
NEWEST = 20
LONG, SHORT = 100_000, 100


def run() -> list[Figure]:
    return [*whole(), complete(), *recent(), under_overlay()]


def repeated(work: Callable[[], object], times: int = 1) -> Side:
    def block() -> None:
        for _ in range(times):
            work()

    return lambda: block


def whole() -> Iterator[Figure]:
    """Against reading the same rows in one transaction and `json.loads` for each."""
    shelf = stored(10_000)
    with glassine.open(shelf) as store, closing(_floor.connect(shelf)) as connection:
        session = store.session(SESSION)

        def floor() -> None:
            assert len(_floor.read(connection, json.loads)) == 10_000

        def decoded() -> None:
            assert len(session.history()) == 10_000

        def streamed() -> None:
            assert sum(1 for message in session.iter_history() if message.id and message.role) == 10_000

        decoding, streaming, loads = in_turn(repeated(decoded), repeated(streamed), repeated(floor), blocks=30)
        yield figure("history of 10,000 / rows and json.loads", 0.8, decoding, loads)
        yield figure("stream 10,000 (id, role) / rows and json.loads", 0.5, streaming, loads)


def complete() -> Figure:
    """Messages of 100,000 that do not come back as they were given."""
    path = copy(stored(SHORT), "complete")
    given = list(wires(LONG))
    with glassine.open(path) as store:
        session = store.session("whole")
        for start in range(0, LONG, 1_000):
            session.append(given[start : start + 1_000])
        back = session.history()
        wrong = sum(1 for wire, message in zip(given, back, strict=False) if message.to_dict() != wire)
    return Figure("of 100,000, not given back as they were", (abs(LONG - len(back)) + wrong) / LONG, 0.0)


def recent() -> Iterator[Figure]:
    with glassine.open(stored(LONG)) as long, glassine.open(stored(SHORT)) as short:
        ours, floor = long.session(SESSION), short.session(SESSION)
        yield compare(
            "recent(20) of 100,000 / of 100",
            1.5,
            repeated(lambda: ours.recent(NEWEST), 50),
            repeated(lambda: floor.recent(NEWEST), 50),
            blocks=60,
        )
    yield compare(
        "open, recent(20), close of 100,000 / of 100",
        1.5,
        repeated(lambda: opened(stored(LONG)), 10),
        repeated(lambda: opened(stored(SHORT)), 10),
        blocks=60,
    )


def opened(path: Path) -> None:
    with glassine.open(path) as store:
        assert len(store.session(SESSION).recent(NEWEST)) == NEWEST


def under_overlay() -> Figure:
    """One summary over all but the last 49 of 100,000, in a history of 50 without any."""
    with (
        glassine.open(copy(stored(LONG), "overlaid")) as long,
        glassine.open(stored(SHOWN)) as short,
    ):
        ours, floor = long.session(SESSION), short.session(SESSION)
        first, last = next(iter(ours.iter_history())), ours.recent(SHOWN)[0]
        ours.add_compaction("What was said before: a deployment failed, and was rolled back. " * 5, first, last)
        assert len(ours.history()) == len(floor.history()) == SHOWN
        return compare(
            "history of 100,000, 50 visible / plain history of 50",
            1.5,
            repeated(ours.history, 20),
            repeated(floor.history, 20),
            blocks=60,
        )
