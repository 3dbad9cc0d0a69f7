"""The Postgres driver: a few connections, one transaction for each operation, and another try when one is lost."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, TypeVarTuple

import psycopg
from psycopg import AsyncConnection

from .. import _postgres
from .._drivers import survive_fork_async
from .._waiting import AsyncPlaces, sleep_async
from ..errors import StoreBusyError, StoreClosedError, StoreUnavailableError
from .database import AsyncDatabase
from .postgres_database import AsyncPostgresDatabase
from .postgres_schema import prepared

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

DEFEATS = 10
"""How often a transaction that lost against another one is run again."""


class AsyncPostgresDriver:
    """Connections are opened when they are needed, at most as many as `options` says, and kept.

    A connection that is lost costs no caller anything: the operation is run again on another one, for as long as
    `busy_timeout`. Not so when it was lost during the commit, and the operation would answer otherwise the second time.
    """

    def __init__(self, options: _postgres.PostgresOptions) -> None:
        self._options = options
        self._parameters = _postgres.connecting(options)
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._schema: str | None = None
        self._places = AsyncPlaces(self._options.connections)
        self._idle: list[AsyncPostgresDatabase] = []
        self._namespaces: dict[str, int] = {}

    @property
    def location(self) -> str:
        return self._options.location.shown

    async def ready(self) -> None:
        self._check()
        try:
            await self._give_back(await self._borrow())
        except psycopg.Error as error:
            raise _postgres.translated(error, self.location) from error

    async def read(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` on one state of the database."""
        return await self._run(False, True, operation, args)

    async def write(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` in a transaction that writes. A cancelled call may have been committed or not."""
        return await self._run(True, True, operation, args)

    async def write_once(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """The same for an operation that answers otherwise the second time."""
        return await self._run(True, False, operation, args)

    async def scrub(self) -> None:
        """Nothing: old states of rows go when the server vacuums, which is not ours to order."""

    async def close(self) -> None:
        """Close what is not in use; what is in use is closed when it comes back."""
        self._closed = True
        if os.getpid() == self._pid:
            await self._drop_idle()

    async def _run(
        self, write: bool, again: bool, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], args: tuple[*Ts]
    ) -> T:
        self._check()
        end = time.monotonic() + self._options.busy_timeout
        tries = 0
        while True:
            db = None
            try:
                db = await self._borrow()
                return await db.transact(write, self._namespaces, operation, args)
            except psycopg.Error as error:
                doubtful = db is not None and db.committing and not again
                tries += 1
                if _postgres.is_lost(error) or (db is not None and db.connection.closed):
                    if db is not None:
                        # Invariant: what was known of a server that went away is forgotten; its stand-in may lack the
                        # newest namespaces, and give their numbers to others.
                        self._namespaces.clear()
                        await self._drop_idle()
                    if doubtful:
                        raise StoreUnavailableError(
                            "the connection was lost during the commit; whether it was written, a read will tell",
                            location=self.location,
                        ) from error
                    if self._schema is None or time.monotonic() >= end:
                        raise _postgres.translated(error, self.location) from error
                elif not (_postgres.is_beaten(error) and tries <= DEFEATS):
                    raise _postgres.translated(error, self.location) from error
            finally:
                if db is not None:
                    await self._give_back(db)
            await sleep_async(random.uniform(0.5, 1) * min(1.0, 0.02 * 2 ** min(tries, 10)))

    # -- connections ------------------------------------------------------------------------------------------------

    async def _borrow(self) -> AsyncPostgresDatabase:
        """A connection with no transaction on it, the one used last if any is free."""
        if not await self._places.take(self._options.busy_timeout):
            count = self._options.connections
            raise StoreBusyError(f"all {count} connections were in use for too long", location=self.location)
        try:
            self._check()
            while (db := self._spare()) is not None:
                if db.usable:
                    return db
                await db.close()
            return await self._connect()
        except BaseException:
            self._places.leave()
            raise

    async def _give_back(self, db: AsyncPostgresDatabase) -> None:
        if db.usable and not self._closed:
            self._idle.append(db)
        else:
            await db.close()
        self._places.leave()

    def _spare(self) -> AsyncPostgresDatabase | None:
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        return None

    async def _connect(self) -> AsyncPostgresDatabase:
        connection: AsyncConnection[Any] = await AsyncConnection.connect(**self._parameters)
        try:
            cursor = await connection.execute("SELECT pg_backend_pid()")
            _postgres.settle(connection, (await cursor.fetchall())[0][0])
            if self._schema is None:
                self._schema = await prepared(connection, self._options)
        except BaseException:
            await connection.close()
            raise
        return AsyncPostgresDatabase(connection, self._options, self._schema)

    async def _drop_idle(self) -> None:
        while (db := self._spare()) is not None:
            await db.close()

    def _check(self) -> None:
        if os.getpid() != self._pid:
            survive_fork_async(self._start, [db.connection for db in self._idle], self.location)
        if self._closed:
            raise StoreClosedError("the store is closed", location=self.location)
