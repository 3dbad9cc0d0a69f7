"""One Postgres connection, and the transactions on it."""

from __future__ import annotations

import contextlib
from collections import ChainMap
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeVar, TypeVarTuple

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor

from .. import _postgres
from ..exchange import Facts
from ..tree import Span
from .database import AsyncDatabase
from .postgres_entry_index import AsyncPostgresEntryIndex
from .postgres_index import AsyncPostgresIndex

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

FIRST_PAGE, PAGE = 32, 512
"""Rows of a range that are fetched at first, and at most at a time: many readers stop soon."""


class AsyncPostgresDatabase:
    """See `AsyncDatabase`. Belongs to one transaction at a time."""

    def __init__(self, connection: AsyncConnection[Any], options: _postgres.PostgresOptions, schema: str) -> None:
        self.connection = connection
        self.queries = _postgres.queries(False)
        self.namespaces: MutableMapping[str, int] = {}
        self.index = AsyncPostgresIndex(self)
        self.entry_index = AsyncPostgresEntryIndex(self)
        self.committing = False
        self._cursor = AsyncRawCursor(connection)
        self._options, self._schema = options, schema
        self._begin = _postgres.transactions(options, schema)

    @property
    def usable(self) -> bool:
        """Whether another transaction may begin here."""
        idle = psycopg.pq.TransactionStatus.IDLE
        return not self.connection.closed and self.connection.info.transaction_status == idle

    async def transact(
        self,
        write: bool,
        known: dict[str, int],
        operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]],
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
        await self.connection.execute(self._begin.write if write else self._begin.read)
        try:
            result = await operation(self, *args)
        except Exception:
            with contextlib.suppress(psycopg.Error):
                await self.connection.execute("ROLLBACK")
            raise
        self.committing = True
        await self.connection.execute("COMMIT")
        known.update(met)
        return result

    async def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            await self.connection.close()

    async def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        await self._cursor.execute(statement, parameters, binary=True)
        return await self._cursor.fetchall()

    async def row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        await self._cursor.execute(statement, parameters, binary=True)
        return await self._cursor.fetchone()

    async def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        await self._cursor.execute(statement, parameters)
        return self._cursor.rowcount

    async def span(self, key: tuple[int, int], span: Span, newest_first: bool) -> AsyncIterator[Any]:
        statement = self.queries.span_down if newest_first else self.queries.span_up
        limit = FIRST_PAGE
        while True:
            found = await self.rows(statement, (*key, *span, limit))
            for row in found:
                yield row
            if len(found) < limit:
                return
            last = found[-1][0]
            span = span._replace(high=last - 1) if newest_first else span._replace(low=last + 1)
            limit = PAGE

    async def facts(self) -> Facts:
        version, size, known = await self.row(self.queries.facts, (self._schema, list(_postgres.TABLES)))
        options = self._options
        return Facts(options.location.shown, "PostgreSQL", version, known, options.durability, size)

    async def faults(self) -> list[str]:
        return []  # a server has tools of its own for its files (`pg_amcheck`), for those who run it
