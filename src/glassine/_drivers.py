"""How an operation reaches a connection: the one place where the two colours differ.

An operation on SQLite is a plain function of a `SQLiteDatabase`. The sync driver calls it; the async driver sends its
plain form whole to the connection's thread, in one hop, so that no transaction is open across an `await` and a
cancelled call cannot split a write.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable
from functools import cache
from importlib import import_module
from queue import LifoQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, TypeVarTuple

from ._sqlite import Options, SQLiteDatabase, transact
from .errors import ForkedStoreError, StoreClosedError

if TYPE_CHECKING:
    import asyncio

    from ._async.database import AsyncDatabase

    _Job: TypeAlias = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], bool | None, Any, tuple[Any, ...]]
    _Done: TypeAlias = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Any, BaseException | None]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READERS = 4
"""Connections that read at the same time; further readers wait their turn."""
_DRAIN = 64
"""Operations that a thread runs at most before it tells the loop."""


class SQLiteDriver:
    """One writer and a few readers, usable from many threads.

    `:memory:` is one connection for all. After `fork()` a child neither uses nor closes what it inherited: a file
    is opened again, a memory store raises ForkedStoreError.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._start()

    @property
    def location(self) -> str:
        return self.options.path

    def ready(self) -> None:
        self._check()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.RLock()
        self._all: list[SQLiteDatabase] = []
        self._idle: LifoQueue[SQLiteDatabase | None] = LifoQueue()
        self._writer = self._open()
        for _ in range(0 if self.options.memory else READERS):
            self._idle.put(None)

    def _open(self) -> SQLiteDatabase:
        database = SQLiteDatabase(self.options)
        self._all.append(database)
        return database

    def write(self, operation: Callable[[SQLiteDatabase, *Ts], T], *args: *Ts) -> T:
        """Run `operation` in a write transaction, one at a time."""
        self._check()
        with self._lock:
            self._check_open()
            return transact(self._writer, True, operation, args)

    def read(self, operation: Callable[[SQLiteDatabase, *Ts], T], *args: *Ts) -> T:
        """Run `operation` in a read transaction, on a snapshot."""
        self._check()
        if self.options.memory:
            with self._lock:
                self._check_open()
                return transact(self._writer, False, operation, args)
        database = self._idle.get()
        try:
            self._check_open()
            database = database or self._open()
            return transact(database, False, operation, args)
        finally:
            self._idle.put(database)

    write_once = write

    def scrub(self) -> None:
        """Take what was deleted out of the index and out of the write-ahead log."""
        self.write(_squeeze)
        with self._lock:
            self._check_open()
            _empty_log(self._writer)

    def close(self) -> None:
        if os.getpid() != self._pid:
            self._abandon()
            self._closed = True
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            readers = 0 if self.options.memory else READERS
            for _ in range(readers):
                self._idle.get()  # whoever reads may finish
            for database in self._all:
                database.close()
            self._all.clear()
            for _ in range(readers):
                self._idle.put(None)

    def _check(self) -> None:
        if os.getpid() == self._pid:
            return
        if self._closed:
            self._check_open()
        if self.options.memory:
            raise ForkedStoreError("a memory store lives in the process that opened it", location=":memory:")
        self._abandon()
        self._start()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosedError("the store is closed", location=self.options.path)

    def _abandon(self) -> None:
        abandon(database.connection for database in self._all)
        self._all = []


def abandon(connections: Iterable[Any]) -> None:
    """Keep inherited connections alive for ever: even closing one in a child would touch what is the parent's."""
    import ctypes

    for connection in connections:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def survive_fork(start: Callable[[], None], connections: Iterable[Any], location: str) -> None:
    """Begin anew in a child, without what it inherited."""
    abandon(connections)
    start()


def survive_fork_async(start: Callable[[], None], connections: Iterable[Any], location: str) -> None:
    """The loop, and all that waits in it, stayed with the parent."""
    raise ForkedStoreError("an async store lives in the process that opened it", location=location)


class Opening:
    """What `open` returns is open already."""

    def opened(self) -> Self:
        self.ready()
        return self

    def ready(self) -> None:
        raise NotImplementedError


class AsyncOpening:
    """What `open_async` returns opens when it is entered or awaited, or at the latest when it is first used."""

    def __await__(self) -> Generator[Any, None, Self]:
        yield from self.ready().__await__()
        return self

    def opened(self) -> Self:
        return self

    async def ready(self) -> None:
        raise NotImplementedError


@cache
def plain(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The sync form of one of the operations in `_async.ops`, which is what runs on a SQLite connection."""
    module = import_module(operation.__module__.replace("._async.", "._sync."))
    found: Callable[..., Any] = getattr(module, operation.__name__)
    return found


class AsyncSQLiteDriver:
    """The same for asyncio: one thread per connection. The store belongs to the process that opened it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._pid = os.getpid()
        self._closed = False
        self._writer = _Worker(options)
        self._readers: list[_Worker] = []

    @property
    def location(self) -> str:
        return self.options.path

    async def ready(self) -> None:
        self._check()
        await self._writer.submit(None, _nothing, ())

    async def write(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` in a write transaction. If the call is cancelled, it may have been committed or not."""
        self._check()
        result: T = await self._writer.submit(True, plain(operation), args)
        return result

    write_once = write

    async def read(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` in a read transaction, on a snapshot."""
        self._check()
        result: T = await self._reader().submit(False, plain(operation), args)
        return result

    async def scrub(self) -> None:
        """Take what was deleted out of the index and out of the write-ahead log."""
        self._check()
        await self._writer.submit(True, _squeeze, ())
        await self._writer.submit(None, _empty_log, ())

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        workers = [self._writer, *self._readers]
        if os.getpid() != self._pid:
            abandon(worker.database.connection for worker in workers if worker.database is not None)
            return
        for worker in workers:
            worker.stop()
        for worker in workers:
            await worker.ended()

    def _reader(self) -> _Worker:
        if self.options.memory:
            return self._writer
        least = min(self._readers, key=lambda worker: worker.waiting, default=None)
        if least is None or (least.waiting and len(self._readers) < READERS):
            least = _Worker(self.options)
            self._readers.append(least)
        return least

    def _check(self) -> None:
        if os.getpid() != self._pid:
            survive_fork_async(lambda: None, (), self.location)
        if self._closed:
            raise StoreClosedError("the store is closed", location=self.options.path)


class _Worker:
    """A thread that owns one connection, runs what is queued, and wakes each loop once per drained batch."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.database: SQLiteDatabase | None = None
        self.waiting = 0
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        # asyncio is slow to import, and who uses the sync store never needs it.
        from asyncio import get_running_loop, sleep

        self._running_loop, self._sleep = get_running_loop, sleep
        self._thread = threading.Thread(target=self._run, name="glassine-sqlite", daemon=True)
        self._thread.start()

    async def submit(self, write: bool | None, operation: Any, args: tuple[Any, ...]) -> Any:
        loop = self._running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self.waiting += 1
        self._queue.put((loop, future, write, operation, args))
        try:
            return await future
        finally:
            self.waiting -= 1

    def stop(self) -> None:
        """End the thread after everything that was queued before, so that nothing is left half done."""
        self._queue.put(None)

    async def ended(self) -> None:
        while self._thread.is_alive():
            await self._sleep(0.001)

    def _run(self) -> None:
        running = True
        while running:
            done: list[_Done] = []
            job = self._queue.get()
            for _ in range(_DRAIN):
                if job is None:
                    running = False
                    break
                loop, future, write, operation, args = job
                # A call that was cancelled while it queued is not begun.
                if not future.cancelled():
                    done.append((loop, future, *self._perform(write, operation, args)))
                if self._queue.empty():
                    break
                job = self._queue.get()
            _deliver(done)
        if self.database is not None:
            self.database.close()

    def _perform(self, write: bool | None, operation: Any, args: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
        try:
            if self.database is None:
                self.database = SQLiteDatabase(self.options)
            if write is None:
                return operation(self.database, *args), None
            return transact(self.database, write, operation, args), None
        except BaseException as error:
            return None, error


def _deliver(done: list[_Done]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[_Done]] = {}
    for item in done:
        loops.setdefault(item[0], []).append(item)
    for loop, batch in loops.items():
        # A closed loop has nobody left to be told; what was written stays written.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, batch)


def _settle(batch: list[_Done]) -> None:
    for _, future, result, error in batch:
        if future.done():
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def _nothing(db: SQLiteDatabase) -> None:
    """A connection that answers is open, and migrated."""


def _squeeze(db: SQLiteDatabase) -> None:
    db.index.squeeze()
    db.entry_index.squeeze()


def _empty_log(db: SQLiteDatabase) -> None:
    """Empty the write-ahead log, which still holds pages from before. Does what it can while others read."""
    db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
