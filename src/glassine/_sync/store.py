# Generated from src/glassine/_async/store.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""A store: an opened database. It hands out sessions, and owns the clock and the source of ids."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from .._drivers import Opening, SQLiteDriver
from .._ids import check_id
from .._sqlite import Durability, Options
from ..content import KINDS, Kind
from ..copying import CopyReport
from ..errors import DriverMissingError, StoreError
from ..exchange import Asked, Cursor
from ..hits import hit
from ..messages import ROLES, Role
from ..moments import to_micros
from ..records import Check, Hits, Problem, Ref, SessionInfo, StoreInfo
from ..searching import parse_query
from ..urls import Location, is_postgres, parse
from .copying import Copying
from .database import Driver
from .engine import Engine
from .session import Session

if TYPE_CHECKING:
    from ..spec import SessionSpec

T = TypeVar("T")


class Store(Opening):
    """An opened database, seen from one namespace. Use it as a context manager, or `close()` it.

    Made by `glassine.open`. `namespace_name` is the tenant or user that everything here belongs to.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: str,
        clock: Callable[[], datetime] | None,
        new_id: Callable[[], str] | None,
    ) -> None:
        self.namespace_name: Final = check_id("namespace", namespace)
        self._engine = engine
        self._clock = clock
        self._new_id = new_id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.location!r} namespace {self.namespace_name!r}>"

    def __enter__(self) -> Self:
        self.ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        """The file or URL, without secrets."""
        return self._engine.location

    def ready(self) -> None:
        """Make sure that the database is open, so that what is wrong with it shows here."""
        self._engine.connect()

    def close(self) -> None:
        """Close the database, for all namespaces of this store. Closing again does nothing."""
        self._engine.close()

    def session(self, id: str, spec: SessionSpec | None = None) -> Session:
        """The session of this id: resumed if it is there, else created on its first write.

        With a `spec` it has a system prompt, context memory and tools. One spec serves any number of sessions.
        """
        return Session(self, id, spec)

    def namespace(self, name: str) -> Store:
        """The same database seen from another namespace. Nothing ever crosses between two of them."""
        return type(self)(self._engine, name, self._clock, self._new_id)

    def sessions(self, *, limit: int | None = None) -> list[SessionInfo]:
        """The sessions of this namespace, the one written to last first; at most `limit` of them (None: all)."""
        if limit is not None and limit < 0:
            raise ValueError(f"limit must not be negative, got {limit}")
        return self._engine.listing(self.namespace_name, limit)

    def search(
        self,
        query: str,
        limit: int = 20,
        *,
        roles: Iterable[Role] | None = None,
        kinds: Iterable[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Hits:
        """Full-text search in all sessions of this namespace; see `Session.search`.

        A message that forks hold copies of is one hit, of the session it comes from.
        """
        return self._look(query, limit, None, False, roles, kinds, since, until)

    def _look(
        self,
        query: str,
        limit: int,
        session_id: str | None,
        on_path: bool,
        roles: Iterable[Role] | None,
        kinds: Iterable[Kind] | None,
        since: datetime | None,
        until: datetime | None,
    ) -> Hits:
        """What both searches do. `session_id` None: all sessions."""
        if limit < 0:
            raise ValueError(f"limit must not be negative, got {limit}")
        parsed = parse_query(query)
        wanted = KINDS if kinds is None else tuple(_one_of("kind", kind, KINDS) for kind in kinds)
        if not parsed.searchable or not limit or not wanted:
            return Hits((), parsed.searchable)
        asked = Asked(
            namespace=self.namespace_name,
            session=session_id,
            query=parsed,
            limit=limit,
            on_path=on_path,
            kinds=wanted,
            roles=None if roles is None else tuple(ROLES.index(_one_of("role", role, ROLES)) for role in roles),
            since=None if since is None else to_micros(since),
            until=None if until is None else to_micros(until),
        )
        found = self._engine.search(asked, True)
        for _ in range(2):  # what waited is indexed first; and damage may show only when that has been done
            if found is None:
                self.catch_up()
                found = self._engine.search(asked, False)
        if found is None:
            raise StoreError("the search index is damaged, and so was a new one", location=self.location)
        return Hits(
            tuple(
                hit(
                    item.session_id,
                    item.message,
                    parsed,
                    wanted,
                    time=item.time,
                    score=item.score,
                    strict=item.strict,
                    active=item.active,
                    summarised=item.summarised,
                    copies=item.copies,
                )
                for item in found
            ),
            True,
        )

    def catch_up(self, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Index what is not indexed yet, in short transactions. A search does this by itself when it must: after a
        new version of the text analysis, or when the index was found damaged, it can take a while.

        `progress` is called with (messages done, messages in all), and not at all when nothing waits.
        """
        if self._engine.search_waits():
            self._catch_up(False, progress)
        self._engine.catch_up_entries(False)

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Make the whole index and all token totals anew from the messages, for all namespaces."""
        self._catch_up(True, progress)
        self._engine.catch_up_entries(True)

    def _catch_up(self, anew: bool, progress: Callable[[int, int], None] | None) -> None:
        step = self._engine.catch_up(anew, Cursor(), 0)
        while step.cursor is not None:
            if progress is not None:
                progress(step.done, step.total)
            step = self._engine.catch_up(False, step.cursor, step.done)
        if progress is not None:
            progress(step.total, step.total)

    def delete_session(self, id: str) -> bool:
        """Delete a session and all that belongs to it. False if there is none."""
        return self._engine.delete_session(Ref(self.namespace_name, id), self.now())

    def was_deleted(self, id: str) -> bool:
        """Whether a session of this id was deleted, and not made again since. Imports ask this."""
        return self._engine.was_deleted(Ref(self.namespace_name, id))

    def info(self) -> StoreInfo:
        """Where and what this store is, and how much is in it."""
        return self._engine.store_info(self.namespace_name)

    def verify(self, *, progress: Callable[[int, int], None] | None = None) -> Check:
        """Look at every row of this namespace and at the database itself, and name what is wrong.

        `progress` is called with (sessions looked at, sessions in all).
        """
        return self._check(False, progress)

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> Check:
        """Mend what `verify` finds. Messages that cannot be read go to quarantine, with their bytes kept."""
        return self._check(True, progress)

    def copy_to(
        self,
        target: Store,
        *,
        namespaces: Iterable[str] | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> CopyReport:
        """Copy all sessions of `namespaces` (None: of all there are) to another store, and compare what it then holds.

        What a copy made, and nobody wrote to since, is brought up to date, by change numbers; sessions deleted here
        are deleted there. Whatever else the target has is left alone, and is a problem of the report where it stands
        in the way. An interrupted copy is gone on with by calling again. A session is written in one transaction.
        `dry_run` changes nothing. `progress` is called with (sessions done, sessions in all).
        """
        return Copying(self._engine, target._engine, target.now, dry_run).run(
            self.info().namespaces if namespaces is None else tuple(namespaces), progress
        )

    def now(self) -> int:
        """The time by this store's clock, in microseconds since 1970, UTC."""
        return time.time_ns() // 1000 if self._clock is None else to_micros(self._clock())

    def new_id(self) -> str:
        """A fresh id. By default it begins with the time, so that ids sort roughly by age and index well."""
        if self._new_id is not None:
            return self._new_id()
        return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"

    def _check(self, mend: bool, progress: Callable[[int, int], None] | None) -> Check:
        problems: list[Problem] = self._engine.check_database()
        if mend and any(problem.code == "index" for problem in problems):
            self.reindex()
            left = self._engine.check_database()
            problems = [replace(problem, repaired=problem not in left) for problem in problems]
        shared = self.namespace_name
        problems += self._engine.repair_shared(shared, self.now()) if mend else self._engine.verify_shared(shared)
        ids = self._engine.session_ids(self.namespace_name)
        messages = 0
        for number, id in enumerate(ids, 1):
            ref = Ref(self.namespace_name, id)
            count, found = self._engine.repair(ref, self.now()) if mend else self._engine.verify(ref)
            messages += count
            problems += found
            if progress is not None:
                progress(number, len(ids))
        return Check(len(ids), messages, tuple(problems))


def open(
    url: str | os.PathLike[str],
    *,
    namespace: str = "default",
    durability: Durability = "normal",
    busy_timeout: float = 30.0,
    connections: int = 8,
    migrate: bool = True,
    clock: Callable[[], datetime] | None = None,
    new_id: Callable[[], str] | None = None,
) -> Store:
    """Open a store: a SQLite file (made if it is not there), `":memory:"`, or a Postgres database by its URL
    (`postgresql://…`, with all that libpq takes in one). Enter it, to have it closed.

    With `durability="normal"` a write that returned survives a crash of the process, and after a power loss a SQLite
    file is whole but may lack the last writes; with `"full"` they are on the disk when the call returns. On Postgres,
    "normal" is what the server is set to (as it comes, that is on the disk), "full" sets `synchronous_commit = on`.
    `busy_timeout` is how many seconds a write waits for others before StoreBusyError, and on Postgres how long a lost
    connection is tried anew. `clock` (an aware datetime) and `new_id` replace the sources of time and ids, for tests
    and replays.

    On Postgres at most `connections` are open at a time, and the tables stand in the schema that the URL names
    (`?schema=`), else in the first of the role's search path if that is not `public`, else in `glassine`. They are
    made, and brought up to date, when the store is opened; with `migrate=False` an empty or older database, of either
    kind, is a SchemaVersionError. Needs the extra `glassine[postgres]`, else raises DriverMissingError.
    """
    if durability not in ("normal", "full"):
        raise ValueError(f"durability must be 'normal' or 'full', not {durability!r}")
    if connections < 1:
        raise ValueError(f"connections must be at least 1, got {connections}")
    check_id("namespace", namespace)
    location = os.fspath(url)
    driver: Driver
    if is_postgres(location):
        driver = _postgres(parse(location), durability, busy_timeout, connections, migrate)
    else:
        if location != ":memory:":
            # Absolute: connections are opened later too, when the working directory may be another one.
            location = str(Path(location).expanduser().absolute())
        driver = SQLiteDriver(Options(location, durability, busy_timeout, migrate))
    return Store(Engine(driver), namespace, clock, new_id).opened()


def _postgres(location: Location, *options: Any) -> Driver:
    try:
        # Imported here: the driver is an extra, and takes longer to load than all of this package.
        from .._postgres import PostgresOptions
        from .postgres import PostgresDriver
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise
        reason = "the driver for Postgres is not installed; `pip install glassine[postgres]` brings it"
        raise DriverMissingError(reason, location=location.shown) from error
    return PostgresDriver(PostgresOptions(location, *options))


def _one_of(what: str, value: T, known: Sequence[T]) -> T:
    if value not in known:
        raise ValueError(f"{what} {value!r} is none of {', '.join(map(str, known))}")
    return value
