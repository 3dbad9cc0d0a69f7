"""What it costs to watch over the length of a request: appending with compaction armed, and without it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import glassine
from glassine import Compactor, Session, SessionSpec, extractive_summary

from ._corpus import copy, names, stored, wires
from ._measure import Block, Figure, Side, compare
from .bench_tree import BLOCKS, LENGTHS, PER_BLOCK, watching

PLAIN = SessionSpec().with_cached_prompt()
NEVER_DUE = SessionSpec().with_compaction(Compactor(extractive_summary), after=10**9)
"""What PLAIN is, and compaction that has no cause to begin."""
FIRSTS = 30
"""Blocks of first appends."""


def run() -> Iterator[Figure]:
    for messages, sessions in LENGTHS.items():
        yield later_appends(messages, sessions)
    for messages, sessions in LENGTHS.items():
        yield first_append(messages, sessions)
    yield from statements()


def later_appends(messages: int, sessions: int) -> Figure:
    """Blocks of appends in sessions that have seen one append already."""
    shelf = stored(messages, sessions)
    with (
        glassine.open(copy(shelf, f"armed-{messages}")) as armed,
        glassine.open(copy(shelf, f"plain-{messages}")) as plain,
    ):
        ours = itertools.cycle([armed.session(name, NEVER_DUE) for name in names(sessions)])
        floors = itertools.cycle([plain.session(name, PLAIN) for name in names(sessions)])
        return compare(
            f"append with compaction armed, {messages:,} stored / without",
            1.1,
            lambda: _appends(next(ours), PER_BLOCK),
            lambda: _appends(next(floors), PER_BLOCK),
            blocks=BLOCKS,
        )


def first_append(messages: int, sessions: int) -> Figure:
    """Opening a session with a spec and appending once: what is stored is weighed then."""
    shelf = stored(messages, sessions)
    with (
        glassine.open(copy(shelf, f"armed-first-{messages}")) as armed,
        glassine.open(copy(shelf, f"plain-first-{messages}")) as plain,
    ):
        return compare(
            f"first append of a session object, compaction armed, {messages:,} stored / without",
            None,
            _firsts(armed, NEVER_DUE, names(sessions)[0]),
            _firsts(plain, PLAIN, names(sessions)[0]),
            blocks=FIRSTS,
        )


def statements() -> Iterator[Figure]:
    """SQL statements of one append; the first one of a session object shows what weighing takes."""
    counts = {spec: count_statements(spec) for spec in (NEVER_DUE, PLAIN)}
    for number, which in enumerate(("the first append", "a later append")):
        armed, plain = counts[NEVER_DUE][number], counts[PLAIN][number]
        yield Figure(f"SQL statements of {which}, compaction armed / without", armed / plain, 1.0 if number else None)


def count_statements(spec: SessionSpec) -> list[int]:
    counts = []
    with watching() as seen, glassine.open(copy(stored(10_000), "count")) as store:
        store.session(names(1)[0]).append(next(wires(1)))  # asks for the namespace's key
        store.session(names(1)[0]).leaf()  # opens a connection for reading
        session = store.session(names(1)[0], spec)
        for wire in wires(2):
            seen.clear()
            session.append(wire)
            counts.append(len(seen))
    return counts


def _appends(session: Session, count: int) -> Block:
    first, *ready = wires(count + 1)
    session.append(first)

    def block() -> None:
        for wire in ready:
            session.append(wire)

    return block


def _firsts(store: glassine.Store, spec: SessionSpec, name: str) -> Side:
    def side() -> Block:
        ready = list(wires(PER_BLOCK))

        def block() -> None:
            for wire in ready:
                store.session(name, spec).append(wire)

        return block

    return side
