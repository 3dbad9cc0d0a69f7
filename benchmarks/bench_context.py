"""Context memory: freezing a prompt of many blocks, and reading a frozen one."""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw

import glassine
from glassine import SessionSpec

from . import _floor
from ._measure import Block, Figure, Side, compare, figure, in_turn

BLOCKS = 50
TEXT = "The deploy of the billing service waits for the review; 明日の会議は三時からです。\n" * 28
"""2 KB of UTF-8, more or less."""
TIMES = 20


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from freezing(Path(folder))
        yield reading(Path(folder))


def _table(path: Path) -> apsw.Connection:
    connection = _floor.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB) STRICT")
    return connection


def freezing(folder: Path) -> Iterator[Figure]:
    """Against joining the same texts and one INSERT, in a transaction of its own like ours: the first freezing of a new
    session, with the texts at hand. Stored blocks are read from the database first."""
    fixed = stored = SessionSpec().with_cached_prompt()
    for number in range(BLOCKS):
        fixed = fixed.with_context(f"block-{number}", text=TEXT)
        stored = stored.with_context(f"block-{number}")
    with glassine.open(folder / "ours.db") as store, closing(_table(folder / "plain.db")) as connection:
        from_store = store.session("stored", stored)
        names = itertools.count()
        for number in range(BLOCKS):
            from_store.replace_block(f"block-{number}", TEXT)
        texts = [TEXT] * BLOCKS

        def floor() -> None:
            connection.execute("INSERT INTO plain (data) VALUES (?)", ("\n\n".join(texts).encode(),))

        first, second, bare = in_turn(
            _repeated(lambda: store.session(f"s{next(names)}", fixed).freeze_prompt()),
            _repeated(lambda: from_store.refresh_prompt("measured")),
            _repeated(floor),
            blocks=40,
        )
        # The mean: both sides copy their logs into the file after every so many pages, which some blocks pay for all.
        mean = statistics.mean
        yield figure("freeze 50 blocks of 2 KB / join and INSERT", 3.0, first, bare, typical=mean)
        yield figure("refresh 50 stored blocks of 2 KB / join and INSERT", None, second, bare, typical=mean)


def _repeated(work: Callable[[], object]) -> Side:
    def block() -> None:
        for _ in range(TIMES):
            work()

    return lambda: block


def reading(folder: Path) -> Figure:
    """Against one SELECT by an index, of the same text, in a transaction of its own."""
    spec = SessionSpec().with_cached_prompt()
    for number in range(5):
        spec = spec.with_context(f"block-{number}", text=TEXT)
    names = itertools.cycle([f"s{number}" for number in range(100)])
    with glassine.open(folder / "read.db") as store, closing(_table(folder / "bare.db")) as connection:
        sessions = {f"s{number}": store.session(f"s{number}", spec) for number in range(100)}
        for name, session in sessions.items():
            connection.execute("INSERT INTO plain (name, data) VALUES (?, ?)", (name, session.freeze_prompt().encode()))

        def ours() -> Block:
            def block() -> None:
                for _ in range(20 * TIMES):
                    assert sessions[next(names)].freeze_prompt()

            return block

        def floor() -> Block:
            def block() -> None:
                for _ in range(20 * TIMES):
                    [(data,)] = connection.execute("SELECT data FROM plain WHERE name = ?", (next(names),))
                    assert data.decode()

            return block

        return compare("read a frozen prompt / one SELECT by an index", 1.5, ours, floor, blocks=40)
