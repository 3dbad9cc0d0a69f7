"""What glassine is measured against: the same work on the same bytes, written by hand on apsw.

The same schema, the same pragmas, the same text of each statement, the same rows written and read, in transactions of
the same kind, with the JSON written by msgspec. It keeps ids unique (a second one is refused), counts the totals of
the path, takes the write lock first, estimates tokens, and indexes what it writes, by the same functions and in batches
of the same size. It knows one unbranched session and trusts its caller: it does not check the shape of a message,
whether its JSON gives back what was given, or whether it holds media; it translates no error, hands out nothing, cannot
append below an inner message, and does not survive a damaged index.
"""

from __future__ import annotations

import asyncio
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, cast

import apsw
import msgspec

from glassine import Message, _queries, indexing
from glassine._sqlite import PAGE_SIZE

from ._corpus import SESSION, Wire

QUERIES = _queries.load("sqlite")
ROLES = {"system": 0, "user": 1, "assistant": 2, "tool": 3}
NS = 1
RANKED = """SELECT session, strand, seq FROM words
WHERE words MATCH ? AND rank MATCH 'bm25(0.0, 1.0, 1.0, 1.0, 1.0)' ORDER BY rank LIMIT ?"""
FOLD = 64
"""Index rows that are moved into FTS5 at once, as glassine does."""

_encode = msgspec.json.Encoder().encode


class Parted(NamedTuple):
    """What the text analysis looks at of a message, for wire shapes that need no check."""

    parts: list[Any]


def connect(path: Path) -> apsw.Connection:
    """Open a database that is there, with the settings that glassine makes for `durability="normal"`."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(30_000)
    execute = connection.execute
    execute(f"PRAGMA page_size={PAGE_SIZE}")
    execute("PRAGMA journal_mode=WAL").fetchall()
    execute("PRAGMA synchronous=NORMAL")
    execute("PRAGMA cache_size=-16384")
    execute("PRAGMA temp_store=MEMORY")
    execute("PRAGMA secure_delete=ON")
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def appender(connection: apsw.Connection, name: str = SESSION) -> Callable[[Wire], None]:
    """A function that appends one message, which has its id, below the active leaf."""
    execute: Callable[..., Any] = connection.execute
    changes, last_rowid = connection.changes, connection.last_insert_rowid
    head_sql, node_sql = QUERIES.session_head, QUERIES.node_add
    body_sql, advance_sql = QUERIES.body_add, QUERIES.session_advance
    pending_sql, fold_sql, clear_sql = QUERIES.pending_add, QUERIES.words_fold, QUERIES.pending_clear
    estimator, analysis = indexing.ESTIMATOR_VERSION, indexing.INDEX_VERSION

    def append(wire: Wire) -> None:
        data = _encode(wire)
        size, crc, role, id = len(data), zlib.crc32(data), ROLES[wire["role"]], wire["id"]
        parted = cast("Message", Parted(wire["parts"]))
        tokens, words = indexing.tokens(parted), indexing.words(parted)
        now = time.time_ns() // 1000
        execute("BEGIN IMMEDIATE")
        try:
            (session, change, seq, strands, messages, strand, parent, _, length, path_size, *path_tokens) = execute(
                head_sql, (NS, name)
            ).fetchone()
            change, length, path_size = change + 1, length + 1, path_size + size
            path_tokens = [below + own for below, own in zip(path_tokens, tokens, strict=True)]
            doc = None
            if words:
                scope = f"n{NS} n{NS}s{session}" if len(words) == 1 else f"n{NS} n{NS}s{session} long"
                for row in words:
                    execute(pending_sql, (scope, *row, NS, session, strand, seq))
                last = last_rowid()
                doc = last - len(words) + 1
                if doc // FOLD != (last + 1) // FOLD:
                    execute(fold_sql)
                    execute(clear_sql)
            execute(
                node_sql,
                (
                    *(NS, session, strand, seq, id, parent, role, 0, size, *tokens, estimator),
                    *(length, path_size, *path_tokens, change, None, now, doc, len(words), analysis),
                ),
            )
            if not changes():
                raise ValueError(f"{id} is there already")
            execute(body_sql, (NS, session, seq, 0, crc, data))
            execute(
                advance_sql,
                (
                    *(NS, name, change, seq + 1, strands, messages + 1, strand, seq, 1),
                    *(length, path_size, *path_tokens, now),
                ),
            )
            execute("COMMIT")
        except BaseException:
            execute("ROLLBACK")
            raise

    return append


def read(
    connection: apsw.Connection, decode: Callable[[bytes], Any], newest: int | None = None
) -> list[tuple[str, int, Any]]:
    """Id, role and decoded JSON of a session's path in one read transaction; the newest so many, or all."""
    execute: Callable[..., Any] = connection.execute
    execute("BEGIN")
    session, *_, strand, seq, _, _, _, _, _, _, _, _ = execute(QUERIES.session_head, (NS, SESSION)).fetchone()
    key = (NS, session, strand, 1, seq)
    if newest is None:
        found = [(id, role, decode(data)) for _, id, role, _, _, _, data in execute(QUERIES.span_up, key)]
    else:
        # Rows are made as they are asked for: the rest of the path is never read.
        rows = execute(QUERIES.span_down, key)
        found = [(id, role, decode(data)) for _, (_, id, role, _, _, _, data) in zip(range(newest), rows, strict=False)]
        rows.close()
        found.reverse()
    execute("COMMIT")
    return found


def search(connection: apsw.Connection, expressions: Sequence[str], limit: int) -> list[Any]:
    """The rows of the best matches, undecoded, in one read transaction; each expression fills up what is missing."""
    execute: Callable[..., Any] = connection.execute
    execute("BEGIN")
    places: dict[tuple[int, int, int], None] = {}
    for expression in expressions:
        if len(places) < limit:
            places.update(dict.fromkeys(execute(RANKED, (expression, limit)).fetchall()))
    rows = [execute(QUERIES.hit, (NS, *place)).fetchall() for place in list(places)[:limit]]
    execute("COMMIT")
    return rows


class Hopper:
    """The least that carries a function to a thread and its result back to the event loop."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[asyncio.Future[Any], Callable[..., Any], Sequence[Any]] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        future = self._loop.create_future()
        self._queue.put((future, function, args))
        return await future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            future, function, args = job
            self._loop.call_soon_threadsafe(future.set_result, function(*args))
