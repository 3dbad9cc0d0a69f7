"""The Postgres store beside psycopg by hand: one append, eight processes, and a store that has grown a hundredfold."""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg

import glassine
from glassine import _queries
from tests import pg

from . import _floor_postgres
from ._corpus import Wire, fresh_id, names, wires
from ._measure import Block, Figure, Side, figure, in_turn, quick

BLOCKS = 60
PER_BLOCK = 20
PROCESSES, SESSIONS = 8, 200
TURNS, SECONDS = 8, 1.0
LENGTH = 1000
"""Messages of each session in the stores that are compared by their size."""
COMMON = "and"
"""A word of every third message."""


Work = Callable[[glassine.Session], Side]


def run() -> Iterator[Figure]:
    with pg.server() as server:
        yield one_append(server.url)
        yield partitioned_append(server.url)
        yield many_processes(server.url)
        yield from growth(server.url)


def one_append(url: str) -> Figure:
    made(url, "alone", 1)
    with opened(url, "alone") as store, _floor_postgres.connect(url, "alone") as connection:
        (name,) = names(1)
        append = _floor_postgres.appender(connection)
        ours, floor = in_turn(
            appends(store.session(name).append), appends(lambda wire: append(name, wire)), blocks=2 * BLOCKS
        )
    return figure("Postgres: append a dict / psycopg", 1.5, ours, floor, clock="wall")


def partitioned_append(url: str) -> Figure:
    for schema in ("plain", "parts"):
        made(url, schema, SESSIONS)
    with psycopg.connect(url, autocommit=True, options="-c search_path=parts") as connection:
        connection.execute(_queries.read("postgres/partitioned.sql").encode())
    with opened(url, "parts") as parts, opened(url, "plain") as plain:
        sides = [taking([store.session(name) for name in names(SESSIONS)], appending) for store in (parts, plain)]
        ours, floor = in_turn(*sides, blocks=BLOCKS)
    return figure("Postgres: append a dict, 16 partitions / none", None, ours, floor, clock="wall")


def many_processes(url: str) -> Figure:
    """Rates are told from all processes together; the sides take turns of a second."""
    made(url, "many", SESSIONS)
    command = [sys.executable, "-m", "benchmarks._clients", url, "many", str(SESSIONS)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    clients = [subprocess.Popen([*command, str(seed)], **pipes) for seed in range(PROCESSES)]
    pairs = [(client.stdin, client.stdout) for client in clients if client.stdin and client.stdout]
    rates: dict[str, list[int]] = {"glassine": [], "psycopg": []}
    try:
        if any(said.readline() != "ready\n" for _, said in pairs):
            raise RuntimeError("a client did not start; the reason stands above")
        order = list(rates)
        for turn in range(1 + (TURNS // 2 if quick() else TURNS)):
            for how in order:
                for told, _ in pairs:
                    told.write(f"{how} {SECONDS}\n")
                    told.flush()
                done = sum(int(said.readline()) for _, said in pairs)
                if turn:  # the first is to warm up
                    rates[how].append(done)
            order.reverse()
    finally:
        for client in clients:
            client.communicate()
    with opened(url, "many") as store:
        assert store.verify().clean
    low, _, high = statistics.quantiles([b / a for a, b in zip(*rates.values(), strict=True)], n=4)
    ratio = sum(rates["psycopg"]) / sum(rates["glassine"])
    name = f"Postgres: appends per second of psycopg / ours, {PROCESSES} processes, {SESSIONS} sessions"
    return Figure(name, ratio, 1 / 0.6, low, high, ratio)


def growth(url: str) -> Iterator[Figure]:
    sizes = {"small": 10, "large": 1000}
    for schema, sessions in sizes.items():
        grown(url, schema, sessions)
    with ExitStack() as stack:
        stores = [stack.enter_context(opened(url, schema)) for schema in sizes]
        # A few sessions, the same number in both, so that what differs is what lies beside them.
        few = [[store.session(name) for name in names(10)] for store in stores]
        works: dict[str, Work] = {
            "append a dict": appending,
            "recent(20)": lambda session: reads(lambda: session.recent(20)),
            "search in a session": lambda session: reads(lambda: session.search(COMMON, limit=10)),
        }
        for title, work in works.items():
            small, large = in_turn(*(taking(sessions, work) for sessions in few), blocks=BLOCKS)
            name = f"Postgres: {title}, 1,000,000 stored / 10,000"
            yield figure(name, 1.5, large, small, clock="wall")


def taking(sessions: list[glassine.Session], work: Work) -> Side:
    """A side whose blocks go to one session after the other."""
    turns = itertools.cycle([work(session) for session in sessions])
    return lambda: next(turns)()


def appends(append: Callable[[Wire], object]) -> Side:
    def side() -> Block:
        ready = list(wires(PER_BLOCK))

        def block() -> None:
            for wire in ready:
                append(wire)

        return block

    return side


def appending(session: glassine.Session) -> Side:
    return appends(session.append)


def reads(read: Callable[[], object]) -> Side:
    def block() -> None:
        for _ in range(5):
            read()

    return lambda: block


@contextmanager
def opened(url: str, schema: str) -> Iterator[glassine.Store]:
    with glassine.open(f"{url}&schema={schema}", connections=1) as store:
        yield store


def made(url: str, schema: str, sessions: int) -> None:
    """A store of sessions with one message each."""
    with opened(url, schema) as store:
        for name, wire in zip(names(sessions), wires(sessions), strict=True):
            store.session(name).append(wire)


def grown(url: str, schema: str, sessions: int) -> None:
    """A store of sessions with LENGTH messages each: one is appended, the others are copies made in bulk by SQL."""
    (first, *others) = names(sessions)
    with opened(url, schema) as store:
        ready = [{"id": fresh_id(), "role": "user", "parts": wire["parts"]} for wire in short(LENGTH)]
        store.session(first).append(ready)
        with psycopg.connect(url, autocommit=True, options=f"-c search_path={schema}") as connection:
            definition = connection.execute("SELECT pg_get_indexdef('words_found'::regclass)").fetchone()
            assert definition is not None
            connection.execute("DROP INDEX words_found")
            for table, own in (
                ("session", {"id": "name"}),
                ("strand", {}),
                ("node", {}),
                ("body", {}),
                ("words", SCOPE),
            ):
                connection.execute(copying(connection, table, {"session": "key", **own}).encode(), (others,))
            connection.execute(f"SELECT setval('session_key', {sessions})")
            connection.execute(definition[0])
            connection.execute("VACUUM (ANALYZE)")
        assert store.info().messages == sessions * LENGTH
        assert store.session(others[-1]).verify().clean


SCOPE = {"words": "ts_delete(words, '/1/1') || ('''/1/' || key || '''')::tsvector"}
"""In the index of a copy stands the session that it belongs to."""


def copying(connection: psycopg.Connection[Any], table: str, own: dict[str, str]) -> str:
    """The statement that copies the rows of session 1 for each of a list of names; the columns in `own` differ."""
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", (table,)
    ).fetchall()
    columns = ", ".join(own.get(name, f"t.{name}") for (name,) in found)
    return (
        f"INSERT INTO {table} SELECT {columns} FROM {table} t, unnest(%s::text[]) WITH ORDINALITY n (name, number), "
        "LATERAL (SELECT number + 1 AS key) k WHERE t.session = 1"
    )


def short(count: int) -> Iterator[Wire]:
    """What users say: a million of the long messages would be gigabytes."""
    return itertools.islice((wire for wire in wires(8 * count) if wire["role"] == "user"), count)
