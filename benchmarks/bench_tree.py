"""Writing to the tree: appending at every length, in batches, and updating an inner message."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from statistics import mean
from typing import Any

import apsw

import glassine

from . import _floor
from ._corpus import SESSION, Wire, copy, fresh_id, names, stored, wires
from ._measure import Block, Figure, Side, compare

BLOCKS = 120
PER_BLOCK = _floor.FOLD
"""So that each block moves what it appended into the index once."""
LENGTHS = {100: 2 * (BLOCKS + 1), 10_000: 1, 100_000: 1}
"""Messages stored, and in how many sessions each: a short one serves for one block, so that it is still short."""

Append = Callable[[Any], object]


def run() -> list[Figure]:
    return [*appends(), *statements(), batches(), inner_update()]


def appends() -> Iterator[Figure]:
    for messages, sessions in LENGTHS.items():
        shelf = stored(messages, sessions)
        with (
            glassine.open(copy(shelf, f"ours-{messages}")) as store,
            closing(_floor.connect(copy(shelf, f"floor-{messages}"))) as connection,
        ):
            ours = itertools.cycle([store.session(name).append for name in names(sessions)])
            floors = itertools.cycle([_floor.appender(connection, name) for name in names(sessions)])
            yield compare(
                f"append a dict, {messages:,} stored / apsw",
                1.5,
                taking(ours, dicts),
                taking(floors, dicts),
                blocks=BLOCKS,
                typical=mean,
            )
            yield compare(
                f"append user(text) and make its id, {messages:,} stored / apsw",
                1.5,
                taking(ours, lambda append: texts(append, glassine.user)),
                taking(floors, lambda append: texts(append, user_by_hand)),
                blocks=BLOCKS,
                typical=mean,
            )


def taking(appenders: Iterator[Append], block: Callable[[Append], Block]) -> Side:
    return lambda: block(next(appenders))


def dicts(append: Append) -> Block:
    """Append messages that lie ready."""
    ready = list(wires(PER_BLOCK))

    def block() -> None:
        for wire in ready:
            append(wire)

    return block


def texts(append: Append, make: Callable[[str], Any]) -> Block:
    """Make messages of texts that lie ready, and append them."""
    ready = [wire["parts"][0]["text"] for wire in wires(4 * PER_BLOCK) if wire["role"] == "user"]

    def block() -> None:
        for text in ready:
            append(make(text))

    return block


def user_by_hand(text: str) -> Wire:
    return {"id": fresh_id(), "role": "user", "parts": [{"type": "text", "text": text}]}


def statements() -> Iterator[Figure]:
    counts = {messages: count_statements(messages, sessions) for messages, sessions in LENGTHS.items()}
    for messages in (10_000, 100_000):
        name = f"SQL statements of an append, {messages:,} stored / 100 stored"
        yield Figure(name, counts[messages] / counts[100], 1.0)
    with watching() as seen, closing(_floor.connect(copy(stored(10_000), "floor-count"))) as connection:
        append = _floor.appender(connection)
        seen.clear()
        append(next(wires(1)))
    yield Figure("SQL statements of an append / apsw", counts[10_000] / len(seen), 1.0)


def count_statements(messages: int, sessions: int) -> int:
    """How many statements the second append of a session takes (the first also asks for the namespace's key)."""
    with watching() as seen, glassine.open(copy(stored(messages, sessions), "ours-count")) as store:
        session = store.session(names(sessions)[0])
        first, second = wires(2)
        session.append(first)
        seen.clear()
        session.append(second)
        return len(seen)


@contextmanager
def watching() -> Iterator[list[str]]:
    """The statements run on connections that are opened in here."""
    seen: list[str] = []

    def note(_cursor: object, sql: str, _bindings: object) -> bool:
        seen.append(sql)
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = note

    apsw.connection_hooks.append(watch)
    try:
        yield seen
    finally:
        apsw.connection_hooks.remove(watch)


def batches() -> Figure:
    """A batch of 100 in messages appended one by one."""
    shelf = stored(10_000)

    def batch(append: Append) -> Block:
        ready = list(wires(100))
        return lambda: append(ready)

    def singly(append: Append) -> Block:
        ready = list(wires(100))

        def block() -> None:
            for wire in ready:
                append(wire)

        return block

    with glassine.open(copy(shelf, "batch")) as many, glassine.open(copy(shelf, "single")) as one:
        return compare(
            "append 100 at once / one by one",
            0.75,
            lambda: batch(many.session(SESSION).append),
            lambda: singly(one.session(SESSION).append),
            blocks=BLOCKS,
        )


def inner_update() -> Figure:
    """Every update changes the size of its message, so that the totals of all 1,000 that follow change too."""
    shelf = stored(10_000)
    numbers = itertools.count()
    updates = 8  # so that both blocks take about as long, and are disturbed as often

    with glassine.open(copy(shelf, "update")) as changed, glassine.open(copy(shelf, "grow")) as grown:
        session = changed.session(SESSION)
        target = session.recent(1_001)[0].id

        def update() -> Block:
            sizes = itertools.islice(numbers, updates)
            ready = [glassine.user("x" * (200 + number % 100), id=target) for number in sizes]

            def block() -> None:
                for message in ready:
                    session.update(message)

            return block

        return compare(
            "update 1,000 from the leaf / append",
            10.0,
            update,
            lambda: dicts(grown.session(SESSION).append),
            blocks=BLOCKS,
            scale=PER_BLOCK / updates,
        )
