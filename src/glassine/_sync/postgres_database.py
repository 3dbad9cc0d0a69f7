# Generated from src/glassine/_async/postgres_database.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""One Postgres connection, and the transactions on it."""

from __future__ import annotations

import contextlib
from collections import ChainMap
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any, TypeVar, TypeVarTuple

import psycopg
from psycopg import Connection, RawCursor

from .. import _postgres
from ..exchange import Facts
from ..tree import Span
from .database import Database
from .postgres_entry_index import PostgresEntryIndex
from .postgres_index import PostgresIndex

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

FIRST_PAGE, PAGE = 32, 512
"""Rows of a range that are fetched at first, and at most at a time: many readers stop soon."""


class PostgresDatabase:
    """See `Database`. Belongs to one transaction at a time."""

    def __init__(self, connection: Connection[Any], options: _postgres.PostgresOptions, schema: str) -> None:
        self.connection = connection
        self.queries = _postgres.queries(False)
        self.namespaces: MutableMapping[str, int] = {}
        self.index = PostgresIndex(self)
        self.entry_index = PostgresEntryIndex(self)
        self.committing = False
        self._cursor = RawCursor(connection)
        self._options, self._schema = options, schema
        self._begin = _postgres.transactions(options, schema)

    @property
    def usable(self) -> bool:
        """Whether another transaction may begin here."""
        idle = psycopg.pq.TransactionStatus.IDLE
        return not self.connection.closed and self.connection.info.transaction_status == idle

    def transact(
        self,
        write: bool,
        known: dict[str, int],
        operation: Callable[[Database, *Ts], T],
        args: tuple[*Ts],
    ) -> T:
        """Run `operation` in one transaction, committed whole or not at all.

        `known` are keys of namespaces; those that the transaction meets are added. Whether an error came out of the
        commit itself, so that it may have happened, is then in `committing`.
        """
        self.queries = _postgres.queries(write)
        # Invariant: what this transaction adds is seen by others only when it has been committed.
        met: dict[str, int] = {}
        self.namespaces = ChainMap(met, known)
        self.committing = False
        self.connection.execute(self._begin.write if write else self._begin.read)
        try:
            result = operation(self, *args)
        except Exception:
            with contextlib.suppress(psycopg.Error):
                self.connection.execute("ROLLBACK")
            raise
        self.committing = True
        self.connection.execute("COMMIT")
        known.update(met)
        return result

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self.connection.close()

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        self._cursor.execute(statement, parameters, binary=True)
        return self._cursor.fetchall()

    def row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        self._cursor.execute(statement, parameters, binary=True)
        return self._cursor.fetchone()

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        self._cursor.execute(statement, parameters)
        return self._cursor.rowcount

    def span(self, key: tuple[int, int], span: Span, newest_first: bool) -> Iterator[Any]:
        statement = self.queries.span_down if newest_first else self.queries.span_up
        limit = FIRST_PAGE
        while True:
            found = self.rows(statement, (*key, *span, limit))
            for row in found:
                yield row
            if len(found) < limit:
                return
            last = found[-1][0]
            span = span._replace(high=last - 1) if newest_first else span._replace(low=last + 1)
            limit = PAGE

    def facts(self) -> Facts:
        version, size, known = self.row(self.queries.facts, (self._schema, list(_postgres.TABLES)))
        options = self._options
        return Facts(options.location.shown, "PostgreSQL", version, known, options.durability, size)

    def faults(self) -> list[str]:
        return []  # a server has tools of its own for its files (`pg_amcheck`), for those who run it
