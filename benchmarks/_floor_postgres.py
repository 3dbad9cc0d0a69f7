"""What glassine on Postgres is measured against: the same work on the same bytes, written by hand on psycopg.

The same tables, the same text of each statement, parameters of the same types, prepared as early, rows asked for in the
same form, one transaction for each append with the row of the session locked first. It tells the tokens and words of
a message by the same functions. It sets nothing for a transaction: no search path, no time-out (its connection has the
path from the start). It knows sessions that are there, with one unbranched strand, and trusts its caller: it does not
check the shape of a message or whether it holds media, translates no errors, and runs nothing again.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from typing import Any, cast

import msgspec
import psycopg
from psycopg import RawCursor
from psycopg.types.numeric import Int8BinaryDumper

from glassine import Message, _postgres, indexing, vectors

from ._corpus import Wire
from ._floor import ROLES, Parted

QUERIES = _postgres.queries(True)

_encode = msgspec.json.Encoder().encode


def connect(url: str, schema: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(
        url, autocommit=True, prepare_threshold=_postgres.PREPARE, options=f"-c search_path={schema}"
    )
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    return connection


def appender(connection: psycopg.Connection[Any]) -> Callable[[str, Wire], None]:
    """A function that appends one message, which has its id, below the active leaf of a session."""
    cursor = RawCursor(connection)
    execute = cursor.execute
    head_sql, node_sql, body_sql = QUERIES.session_head, QUERIES.node_add, QUERIES.body_add
    words_sql, advance_sql = QUERIES.words_add, QUERIES.session_advance
    estimator, analysis, ns = indexing.ESTIMATOR_VERSION, indexing.INDEX_VERSION, 1

    def append(name: str, wire: Wire) -> None:
        data = _encode(wire)
        size, crc, role, id = len(data), zlib.crc32(data), ROLES[wire["role"]], wire["id"]
        parted = cast("Message", Parted(wire["parts"]))
        tokens, words = indexing.tokens(parted), indexing.words(parted)
        now = time.time_ns() // 1000
        connection.execute("BEGIN")
        try:
            row = execute(head_sql, (ns, name), binary=True).fetchone()
            assert row is not None
            (session, change, seq, strands, messages, strand, parent, _, length, path_size, *path_tokens) = row
            change, length, path_size = change + 1, length + 1, path_size + size
            path_tokens = [below + own for below, own in zip(path_tokens, tokens, strict=True)]
            for number, (count, vector) in enumerate(vectors.rows((f"/{ns}", f"/{ns}/{session}"), words)):
                execute(words_sql, (ns, session, seq, number, strand, count, vector))
            execute(
                node_sql,
                (
                    *(ns, session, strand, seq, id, parent, role, 0, size, *tokens, estimator),
                    *(length, path_size, *path_tokens, change, None, now, 0 if words else None, len(words), analysis),
                ),
            )
            if not cursor.rowcount:
                raise ValueError(f"{id} is there already")
            execute(body_sql, (ns, session, seq, 0, crc, data))
            execute(
                advance_sql,
                (
                    *(ns, name, change, seq + 1, strands, messages + 1, strand, seq, True),
                    *(length, path_size, *path_tokens, now),
                ),
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    return append
