"""One SQLite connection, opened as the store wants it, and the way its errors become ours."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar, TypeVarTuple

import apsw

from . import _queries
from ._sqlite_entry_index import SQLiteEntryIndex
from ._sqlite_index import SQLiteIndex
from .errors import (
    GlassineError,
    NotADatabaseError,
    SchemaVersionError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from .exchange import Facts
from .tree import Span

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Durability = Literal["normal", "full"]

APPLICATION_ID = 0x676C7373
"""`glss`: marks a file as ours, so that another program's database is refused rather than written into."""
MIGRATIONS = ("0001_tree", "0002_search", "0003_copied", "0004_context", "0005_entries", "0006_calibration")
PAGE_SIZE = 8192
_CACHE_KIB = 16 * 1024


class Options(NamedTuple):
    """How a connection is opened. `busy_timeout` is in seconds."""

    path: str
    durability: Durability = "normal"
    busy_timeout: float = 30.0
    migrate: bool = True

    @property
    def memory(self) -> bool:
        return self.path == ":memory:"


class SQLiteDatabase:
    """An open connection with its statements, and the namespace keys it has seen (these never change)."""

    __slots__ = ("connection", "entry_index", "execute", "index", "namespaces", "options", "queries")

    # What a row holds is known by its statement, not by the driver's types.
    execute: Callable[..., Any]

    def __init__(self, options: Options) -> None:
        self.options = options
        self.queries = _queries.load("sqlite")
        self.namespaces: MutableMapping[str, int] = {}
        self.index = SQLiteIndex(self)
        self.entry_index = SQLiteEntryIndex(self)
        if not options.migrate and not options.memory and not Path(options.path).exists():
            raise_unmigrated(0, options.path)
        try:
            self.connection = apsw.Connection(options.path)
        except apsw.Error as error:
            raise_translated(error, options.path)
        self.execute = self.connection.execute
        try:
            self._prepare()
        except BaseException as error:
            self.connection.close()
            if isinstance(error, apsw.Error):
                raise_translated(error, options.path)
            raise

    def _prepare(self) -> None:
        connection, execute, options = self.connection, self.execute, self.options
        connection.set_busy_handler(_patience(options.busy_timeout))
        execute(f"PRAGMA page_size={PAGE_SIZE}")
        version = self._known_version()
        if not options.memory:
            _eventually(lambda: execute("PRAGMA journal_mode=WAL").fetchall(), options.busy_timeout)
        execute(f"PRAGMA synchronous={'FULL' if options.durability == 'full' else 'NORMAL'}")
        execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        execute("PRAGMA temp_store=MEMORY")
        # Freed bytes are overwritten at once, so that `redact` need not wonder where earlier states of a message lie.
        # Appends pay nothing for it.
        execute("PRAGMA secure_delete=ON")
        # Otherwise a statement may be planned anew for each value that is bound to it, which takes longer than it does.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        if version < len(MIGRATIONS):
            if not options.migrate:
                raise_unmigrated(version, options.path)
            self._migrate()

    def _known_version(self) -> int:
        """The schema version, of a database that is new or ours. Others are refused, before anything is changed."""
        execute, location = self.execute, self.options.path
        version: int = execute("PRAGMA user_version").fetchall()[0][0]
        used = version or execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        # Invariant: our mark is read last. Whoever sees that another process has made the tables sees its mark too.
        if execute("PRAGMA application_id").fetchall()[0][0] != APPLICATION_ID and used:
            raise NotADatabaseError("this SQLite database belongs to another program", location=location)
        if version > len(MIGRATIONS):
            raise SchemaVersionError(
                f"the database has schema version {version}, this glassine knows up to {len(MIGRATIONS)}; upgrade it",
                location=location,
                actual=version,
                limit=len(MIGRATIONS),
            )
        return version

    def _migrate(self) -> None:
        # Invariant: all migrations in one write transaction. Whoever comes second finds the version already there.
        self.execute("BEGIN IMMEDIATE")
        try:
            version = self.execute("PRAGMA user_version").fetchall()[0][0]
            for name in MIGRATIONS[version:]:
                self.execute(_queries.read(f"sqlite/migrations/{name}.sql"))
            self.execute(f"PRAGMA user_version={max(version, len(MIGRATIONS))}")
            self.execute(f"PRAGMA application_id={APPLICATION_ID}")
            self.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        found: list[Any] = self.execute(statement, parameters).fetchall()
        return found

    def row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        # Not `fetchone`, which leaves the statement open.
        found = self.execute(statement, parameters).fetchall()
        return found[0] if found else None

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        self.execute(statement, parameters)
        return self.connection.changes()

    def span(self, key: tuple[int, int], span: Span, newest_first: bool) -> Iterator[Any]:
        queries = self.queries
        found: Iterator[Any] = self.execute(queries.span_down if newest_first else queries.span_up, (*key, *span))
        return found

    def facts(self) -> Facts:
        pages, page_size = (self.rows(f"PRAGMA {name}")[0][0] for name in ("page_count", "page_size"))
        version = self.row("SELECT sqlite_version()")[0]
        options = self.options
        return Facts(options.path, "SQLite", version, len(MIGRATIONS), options.durability, pages * page_size)

    def faults(self) -> list[str]:
        self.index.refresh()
        self.entry_index.refresh()
        # The index has a check of its own, and can be made anew; what is said of it here is left out.
        return [text for (text,) in self.rows("PRAGMA quick_check(20)") if text != "ok" and "fts5" not in text]

    def close(self) -> None:
        self.connection.close()


def transact(
    database: SQLiteDatabase, write: bool, operation: Callable[[SQLiteDatabase, *Ts], T], args: tuple[*Ts]
) -> T:
    """Run `operation(database, *args)` in one transaction; it is committed whole or not at all.

    Errors of the driver come out as ours; those of the operation pass through.
    """
    execute = database.execute
    try:
        execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            result = operation(database, *args)
            execute("COMMIT")
        except BaseException as error:
            # Invariant: no statement outlives its transaction. One that the traceback kept alive would hold on to its
            # snapshot, and everything read on this connection afterwards would be old.
            traceback.clear_frames(error.__traceback__)
            # SQLite itself has ended the transaction after some errors (a full disk is one).
            if database.connection.in_transaction:
                execute("ROLLBACK")
            if write:
                database.namespaces.clear()  # a namespace added by this transaction is gone with it
            raise
    except apsw.Error as error:
        raise_translated(error, database.options.path)
    return result


def raise_unmigrated(version: int, location: str) -> NoReturn:
    """Raise the error for a database that is older than this code (0: empty, or absent), and is not to be changed."""
    known = len(MIGRATIONS)
    reason = f"the database has schema version {version}, this glassine needs {known}: run `glassine migrate`"
    raise SchemaVersionError(reason, location=location, actual=version, limit=known)


def raise_translated(error: apsw.Error, location: str) -> NoReturn:
    """Raise the StoreError that an error of the driver means, with the driver's as its cause."""
    raise _translated(error, location) from error


def _translated(error: apsw.Error, location: str) -> GlassineError:
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusyError("another process kept the write lock too long; nothing was written", location=location)
    if isinstance(error, apsw.FullError):
        return StoreFullError("the disk is full; nothing was written", location=location)
    if isinstance(error, apsw.ReadOnlyError):
        return StoreReadOnlyError("the database cannot be written to", location=location)
    if isinstance(error, apsw.NotADBError):
        return NotADatabaseError("the file is not a SQLite database", location=location)
    if isinstance(error, apsw.CantOpenError):
        folder = Path(location).absolute().parent
        missing = not folder.is_dir()
        return StoreError(
            f"the folder {folder} is not there" if missing else "the file cannot be opened", location=location
        )
    return StoreError(str(error) or type(error).__name__, location=location)


def _patience(timeout: float) -> Any:
    started = 0.0

    def wait(tries: int) -> bool:
        # Jitter: waiters that sleep in step would collide in step, and a steady loser would starve.
        nonlocal started
        now = time.monotonic()
        if tries == 0:
            started = now
        if now - started >= timeout:
            return False
        time.sleep(random.uniform(0.0005, 0.005))
        return True

    return wait


def _eventually(action: Any, timeout: float) -> None:
    """Repeat `action` while the database is locked: a switch of the journal mode asks no busy handler."""
    end = time.monotonic() + timeout
    while True:
        try:
            action()
        except apsw.BusyError:
            if time.monotonic() >= end:
                raise
            time.sleep(random.uniform(0.0005, 0.005))
        else:
            return
