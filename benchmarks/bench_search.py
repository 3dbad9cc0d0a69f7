"""Searching, against the bare full-text query; and what the index costs in an append and in the file."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import apsw
import msgspec

import glassine
from glassine.content import KINDS
from glassine.searching import parse_query, to_fts5

from . import _floor
from ._corpus import SESSION, Wire, copy, stored, wires, workdir
from ._measure import Block, Figure, Side, Times, compare, figure, in_turn, p95
from ._vocabulary import EVERYWHERE

LIMIT = 20
ROUNDS = 12
SIZES = (10_000, 100_000)
OTHERS = 20
SHORT, NARROW = "short", 200
"""A session that is searched by itself, and how many messages it has."""

EVERY = "a word of every message"
QUERIES = {
    EVERY: EVERYWHERE,
    "a word of every message and a common one": f"{EVERYWHERE} deployment",
    "a common word": "deployment",
    "two common words": "server migration",
    "three words": "production lock failed",
    "a phrase": '"the server"',
    "a word and a phrase": 'replica "the test"',
    "a rare word": "kolumlum",
    "a rare word and a common one": "stagragrastation error",
    "a name in code": "migration_36",
    "a number": "9358",
    "a question": "why did the migration of the replica fail in production?",
    "a common Japanese word": "データ",
    "two characters": "環境",
    "one character": "境",
    "a noun and its particle": "サーバーの",
    "two Japanese words": "バックアップ 設定",
    "a Japanese question": "デプロイのエラーの原因は何ですか",
    "both languages": "deployment デプロイ",
    "nothing to be found": "xylophone",
}
"""What is looked for, by what it is an example of."""


def run() -> Iterator[Figure]:
    yield insert("agents' messages", wires)
    yield insert("short messages", lines)
    for messages in SIZES:
        yield from everywhere(messages)
    yield from narrow()
    yield from file()


def insert(what: str, make: Callable[[int], Iterator[Wire]]) -> Figure:
    """Appends, with all that they keep, in inserts of the same bytes into a database of a single table."""
    with (
        glassine.open(copy(stored(10_000), "inserted")) as store,
        closing(apsw.Connection(str(workdir() / f"bare-{make.__name__}.db"))) as connection,
    ):
        append, execute = store.session(SESSION).append, connection.execute
        execute("PRAGMA journal_mode=WAL").fetchall()
        execute("PRAGMA synchronous=NORMAL")
        execute("CREATE TABLE message (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")

        def ours() -> Block:
            ready = list(make(_floor.FOLD))
            return lambda: [append(wire) for wire in ready]

        def floor() -> Block:
            ready = [msgspec.json.encode(wire) for wire in make(_floor.FOLD)]
            return lambda: [execute("INSERT INTO message (data) VALUES (?)", (data,)) for data in ready]

        return compare(
            f"append {what} / bare INSERT of their bytes", 9.0, ours, floor, blocks=200, typical=statistics.mean
        )


def lines(count: int) -> Iterator[Wire]:
    """Messages of one line, as people type them."""
    for wire in itertools.islice(wires(4 * count), 0, None, 4):
        yield {**wire, "parts": [{"type": "text", "text": wire["parts"][0]["text"][:60]}]}


def everywhere(messages: int) -> Iterator[Figure]:
    """Searching all sessions, in the engine's query for the same expressions and fetching the rows that it names."""
    path = library(messages)
    with glassine.open(path) as store, closing(_floor.connect(path)) as connection:
        expressions = {query: expressed(query) for query in QUERIES.values()}

        def ours(query: str) -> int:
            return len(store.search(query, LIMIT))

        def floor(query: str) -> int:
            return len(_floor.search(connection, expressions[query], LIMIT))

        for name, query in QUERIES.items():
            assert ours(query) == floor(query), name
        taken = in_turn(each(ours), each(floor), blocks=ROUNDS * len(QUERIES))
    what = f"search of {messages:,}"
    yield figure(f"{what} / bare", 2.0, *taken)
    yield figure(f"{what}, slowest (p95) / bare", 2.0, *taken, typical=p95)
    single = by_query(taken)
    yield single[EVERY]._replace(name=f"{what}, {EVERY} / bare", bar=2.0)
    worst = max(single, key=lambda name: single[name].ratio)
    yield single[worst]._replace(name=f"{what}, of {len(QUERIES)} queries the worst: {worst} / bare")


def narrow() -> Iterator[Figure]:
    """Searching a short session whose rows lie scattered in a big store, in the same session alone in its store."""
    with glassine.open(library(SIZES[-1])) as large, glassine.open(library(NARROW)) as small:
        ours, floor = (store.session(SHORT).search for store in (large, small))
        for name, query in QUERIES.items():
            assert len(ours(query, LIMIT)) == len(floor(query, LIMIT)), name
        taken = in_turn(each(ours), each(floor), blocks=ROUNDS * len(QUERIES))
    what = f"search of a session of {NARROW} among {SIZES[-1]:,} / alone"
    yield figure(what, 2.0, *taken)
    yield figure(f"{what}, slowest (p95)", 2.0, *taken, typical=p95)


def file() -> Iterator[Figure]:
    """Database files of the same messages, appended one by one; both optimised."""
    given = list(wires(10_000))
    first = workdir() / "file.db"
    with glassine.open(first) as store:
        store.session(SESSION).append(given[0])
    ours, floor = copy(first, "file-ours"), copy(first, "file-floor")
    with glassine.open(ours) as store:
        append = store.session(SESSION).append
        for wire in given[1:]:
            append(wire)
    with closing(_floor.connect(floor)) as connection:
        by_hand = _floor.appender(connection)
        for wire in given[1:]:
            by_hand(wire)
    size = optimised(ours)
    yield Figure("file of 10,000 / apsw", size / optimised(floor), 1.1)
    yield Figure(
        "file of 10,000 / bytes of its messages", size / sum(len(msgspec.json.encode(wire)) for wire in given), None
    )


def optimised(path: Path) -> int:
    """The bytes of a file whose index is one segment, without a free page."""
    with closing(_floor.connect(path)) as connection:
        for statement in (_floor.QUERIES.words_fold, _floor.QUERIES.pending_clear, _floor.QUERIES.words_optimize):
            connection.execute(statement)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.stat().st_size


@cache
def library(messages: int) -> Path:
    """A database of `messages` messages that have one word in common, all of them indexed.

    `NARROW` of them are the session `SHORT`, scattered evenly among the others, which are in `OTHERS` sessions.
    """
    path = workdir() / f"library-{messages}.db"
    few, others = marked(NARROW), marked(messages - NARROW)
    with glassine.open(path) as store:
        for number in range(NARROW):
            store.session(SHORT).append(next(few))
            store.session(f"other-{number % OTHERS}").append(list(itertools.islice(others, messages // NARROW - 1)))
        assert len(store.search(EVERYWHERE, LIMIT)) == LIMIT
    return path


def marked(count: int) -> Iterator[Wire]:
    for wire in wires(count):
        first, *others = wire["parts"]
        if "text" in first:
            first = {**first, "text": f"{first['text']} {EVERYWHERE}"}
        else:
            first = {**first, "output": {"exitCode": 0, "stdout": f"{first['output']['stdout']}\n{EVERYWHERE}"}}
        yield {**wire, "parts": [first, *others]}


def expressed(query: str) -> list[str]:
    """What glassine asks the engine for: the strict form, and the loose one to fill up with."""
    parsed = parse_query(query)
    forms = [form for form in (parsed.strict, parsed.loose) if form.phrases]
    return [f'{to_fts5(form, KINDS)} AND scope : "n{_floor.NS}"' for form in forms]


def each(search: Callable[[str], object]) -> Side:
    """One query after the other, in turn."""
    queries = itertools.cycle(QUERIES.values())

    def side() -> Block:
        query = next(queries)
        return lambda: search(query)

    return side


def by_query(taken: list[Times]) -> dict[str, Figure]:
    """A figure for each query. The first block of all, which warmed up, had the first query."""
    found = {}
    for number, name in enumerate(QUERIES):
        start = (number - 1) % len(QUERIES)
        sides = [Times(*(clock[start :: len(QUERIES)] for clock in times)) for times in taken]
        found[name] = figure(name, None, *sides)
    return found
