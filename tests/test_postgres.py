"""What only a server can show: lost connections, what stands in between, what is said of trouble."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

import glassine
from glassine import (
    DriverMissingError,
    ForkedStoreError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StorePermissionError,
    StoreReadOnlyError,
    StoreUnavailableError,
    Usage,
    _postgres,
    user,
)
from glassine._async.database import AsyncDatabase
from glassine._async.postgres import AsyncPostgresDriver
from glassine._sync.database import Database
from glassine._sync.postgres import DEFEATS
from glassine._sync.postgres_database import PostgresDatabase
from glassine.testing import check_store
from tests.pg_helpers import beside, driver_of, locks_are_free, picture, waits_for_a_lock


@pytest.fixture
def store(postgres_url: str) -> Iterator[glassine.Store]:
    with glassine.open(postgres_url) as store:
        yield store
        assert store.verify().clean


# --- connections ------------------------------------------------------------------------------------------------------


def test_lost_connections_are_replaced(postgres_url: str, other: psycopg.Connection) -> None:
    with glassine.open(postgres_url + "&application_name=lost") as store:
        session = store.session("s")
        for number in range(3):
            session.append(user(str(number)))
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'")
            other.commit()
        assert [message.text for message in session.history()] == ["0", "1", "2"]


def test_an_operation_whose_connection_is_cut_is_run_again(store: glassine.Store, other: psycopg.Connection) -> None:
    store.session("s").append(user("x"))
    other.execute("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
    result = beside(lambda: store.session("s").append(user("y", id="m2")))
    waits_for_a_lock(other)
    other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"
    )
    other.commit()
    assert result().id == "m2"
    assert store.session("s").path_length() == 2


class LostAtCommit:
    """The server commits, and the answer is lost on the way: so many times."""

    def __init__(self, times: int, before: bool = False) -> None:
        self.times, self.before, self.tries = times, before, 0
        self.transact = PostgresDatabase.transact

    def __call__(self, db: PostgresDatabase, *args: Any) -> Any:
        self.tries += 1
        if self.before and self.tries <= self.times:
            db.committing = False
            raise psycopg.OperationalError("gone")
        result = self.transact(db, *args)
        if self.tries <= self.times:
            db.close()
            raise psycopg.OperationalError("the connection is lost")
        return result


def lose(monkeypatch: pytest.MonkeyPatch, lost: LostAtCommit) -> LostAtCommit:
    monkeypatch.setattr(PostgresDatabase, "transact", lambda db, *args: lost(db, *args))
    return lost


def test_an_append_that_was_committed_and_not_answered_is_stored_once(
    store: glassine.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = store.session("s")
    lost = lose(monkeypatch, LostAtCommit(2))
    session.append([user("x"), user("y")])
    assert lost.tries == 3
    session.update(session.history()[0])
    session.switch(session.history()[0])
    session.add_compaction("summary", *[session.history()[0].id] * 2)
    monkeypatch.undo()
    assert [message.text for message in session.history("y" and session.outline()[1].id, raw=True)] == ["x", "y"]
    assert session.info().messages == 2


def test_a_deletion_that_may_have_happened_says_so(store: glassine.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = store.session("s")
    session.append([user("x", id="m1"), user("y", id="m2")])
    lose(monkeypatch, LostAtCommit(1))
    with pytest.raises(StoreUnavailableError, match="during the commit"):
        session.delete("m1")
    monkeypatch.undo()
    assert [message.id for message in session.history()] == ["m2"]


def test_a_deletion_that_cannot_have_happened_is_run_again(
    store: glassine.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = store.session("s")
    session.append([user("x", id="m1"), user("y", id="m2")])
    lost = lose(monkeypatch, LostAtCommit(2, before=True))
    assert session.delete("m1") == 1
    assert lost.tries == 3


def test_a_server_that_stays_away_is_waited_for_and_then_named(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with glassine.open(postgres_url, busy_timeout=0.4) as store:
        lost = lose(monkeypatch, LostAtCommit(10**6, before=True))
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError, match="gone"):
            store.session("s").append(user("x"))
        assert 0.4 <= time.monotonic() - began < 3
        assert 3 < lost.tries < 30


def test_a_transaction_that_loses_against_others_is_run_again(
    store: glassine.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, tries = driver_of(store), 0

    def beaten(db: Database, times: int) -> str:
        nonlocal tries
        tries += 1
        if tries <= times:
            raise psycopg.errors.DeadlockDetected("deadlock detected")
        return "done"

    monkeypatch.setattr("glassine._sync.postgres.sleep", lambda seconds: None)
    assert driver.write(beaten, 4) == "done"
    assert tries == 5
    with pytest.raises(StoreBusyError, match="again and again"):
        driver.write_once(beaten, 10**6)
    assert tries == 5 + DEFEATS + 1


def test_what_a_lost_server_knew_of_namespaces_is_forgotten(
    store: glassine.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A standby that takes over may lack the newest ones, and give their numbers to others."""
    store.session("s").append(user("x"))
    driver = driver_of(store)
    assert store.namespace_name in driver._namespaces
    lose(monkeypatch, LostAtCommit(1, before=True))
    seen = []
    driver.read(lambda db: seen.append(db.namespaces.get(store.namespace_name)))
    assert seen == [None]


def test_a_namespace_of_a_transaction_that_failed_is_not_known(store: glassine.Store) -> None:
    with pytest.raises(glassine.ConflictError):
        store.namespace("new").session("s").append([user("x", id="m1"), user("y", id="m1")])
    assert "new" not in driver_of(store)._namespaces
    store.namespace("new").session("s").append(user("x"))
    assert store.namespace("new").session("s").path_length() == 1


def test_all_connections_in_use(postgres_url: str, store: glassine.Store, other: psycopg.Connection) -> None:
    with glassine.open(postgres_url, connections=1, busy_timeout=0.5) as small:
        small.session("s").append(user("x"))
        other.execute("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
        result = beside(lambda: small.session("s").append(user("y")))
        waits_for_a_lock(other)
        with glassine.open(postgres_url, connections=1, busy_timeout=0.1) as hasty:
            driver_of(hasty)._places.take(1)
            with pytest.raises(StoreBusyError, match="1 connections"):
                hasty.session("s").leaf()
            driver_of(hasty)._places.leave()
        with pytest.raises(StoreBusyError):
            result()
        other.rollback()
        assert small.session("s").path_length() == 1  # and its connection is in order
        assert len(driver_of(small)._idle) == 1


def test_no_more_connections_than_asked_for(postgres_url: str, other: psycopg.Connection) -> None:
    with glassine.open(postgres_url + "&application_name=few", connections=3) as store:
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda number: store.session(str(number % 5)).append(user("x")), range(120)))
        count = other.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'few'").fetchone()
        assert count is not None
        assert 0 < count[0] <= 3
        assert sum(info.messages for info in store.sessions()) == 120


def test_a_server_that_gives_no_more_connections(postgres_url: str, other: psycopg.Connection) -> None:
    """Those that are there are shared; an own one that comes back is as good as a new one."""
    schema = postgres_url.rpartition("=")[2]
    other.execute(f"DROP ROLE IF EXISTS {schema}; CREATE ROLE {schema} LOGIN CONNECTION LIMIT 2")
    other.execute(f"GRANT USAGE ON SCHEMA {schema} TO {schema}; GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {schema}")
    other.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {schema}")
    other.commit()
    try:
        url = postgres_url.replace("postgres@", f"{schema}@")
        with glassine.open(url, connections=8) as store:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda number: store.session(str(number % 4)).append(user("x")), range(80)))
            assert sum(info.messages for info in store.sessions()) == 80
            assert len(driver_of(store)._idle) == 2
            with pytest.raises(StoreUnavailableError, match="too many connections"):
                glassine.open(url)
    finally:
        other.rollback()
        other.execute(f"DROP OWNED BY {schema}; DROP ROLE {schema}")
        other.commit()


def test_somebody_elses_temporary_table_is_not_ours(store: glassine.Store) -> None:
    store.session("s").append(user("x"))
    (db,) = driver_of(store)._idle
    db.connection.execute("CREATE TEMPORARY TABLE session (id int)")
    assert store.session("s").path_length() == 1


def test_a_closed_store_says_so(postgres_url: str) -> None:
    store = glassine.open(postgres_url)
    store.session("s").append(user("x"))
    store.close()
    store.close()
    for action in (store.info, store.ready, lambda: store.session("s").append(user("y"))):
        with pytest.raises(StoreClosedError):
            action()


def test_a_child_opens_connections_of_its_own(store: glassine.Store, postgres_url: str) -> None:
    code = """
    import os, sys, glassine
    store = glassine.open(sys.argv[1])
    session = store.session("s")
    session.append(glassine.user("parent"))
    if not (pid := os.fork()):
        try:
            session.append(glassine.user("child"))
            store.close()
            store.close()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    session.append(glassine.user("parent again"))
    print([message.text for message in session.history()])
    store.close()
    """
    code = "\n".join(line[4:] for line in code.splitlines())
    said = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code, postgres_url], capture_output=True, text=True, check=True
    )
    assert (said.stdout, said.stderr) == ("['parent', 'child', 'parent again']\n", "")


@pytest.mark.anyio
async def test_an_async_store_stays_with_its_process(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with glassine.open_async(postgres_url) as store:
        await store.session("s").append(user("x"))
        pid = os.getpid()
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: pid + 1)
            with pytest.raises(ForkedStoreError):
                await store.session("s").append(user("y"))
        assert await store.session("s").path_length() == 1


@pytest.mark.anyio
async def test_cancelled_calls_leave_the_connections_in_order(postgres_url: str) -> None:
    chance = random.Random(7)
    async with glassine.open_async(postgres_url, connections=3) as store:
        await store.session("warm").append(user("x"))

        async def call(number: int) -> None:
            await store.session(str(number % 4)).append(user("x", id=f"m{number}"))

        for round in range(12):
            tasks = [asyncio.create_task(call(round * 10 + number)) for number in range(10)]
            await asyncio.sleep(chance.uniform(0, 0.02))
            for task in tasks[::2]:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert not [error for error in outcomes if isinstance(error, Exception)]
        driver = store._engine._driver
        assert isinstance(driver, AsyncPostgresDriver)
        assert all(db.usable for db in driver._idle)
        await asyncio.gather(*(call(number) for number in range(120)))  # no place among the connections was lost
        assert (await store.verify()).clean
        assert sum([info.messages for info in await store.sessions()]) == 121


@pytest.mark.anyio
async def test_a_cancelled_call_holds_no_lock(postgres_url: str, other: psycopg.Connection) -> None:
    async with glassine.open_async(postgres_url) as store:
        await store.session("s").append(user("x"))
        driver = store._engine._driver
        holding = asyncio.Event()

        async def hold(db: AsyncDatabase) -> None:
            await db.row("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
            holding.set()
            await asyncio.sleep(60)

        task = asyncio.create_task(driver.write(hold))
        await holding.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        locks_are_free(other)


def test_an_interrupted_call_holds_no_lock(store: glassine.Store, other: psycopg.Connection) -> None:
    store.session("s").append(user("x"))

    def interrupted(db: Database) -> None:
        db.row("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        driver_of(store).write(interrupted)
    locks_are_free(other)
    store.session("s").append(user("y"))


@pytest.mark.anyio
async def test_tasks_write_at_the_same_time(postgres_url: str) -> None:
    async with glassine.open_async(postgres_url) as store:
        await asyncio.gather(*(store.session(f"s{number % 3}").append(user(str(number))) for number in range(60)))
        assert sorted([info.path_length for info in await store.sessions()]) == [20, 20, 20]


# --- a pooler in between ----------------------------------------------------------------------------------------------


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pooler in transaction mode: after each transaction the connection is somebody else's, so that all
    that a session keeps is gone; and the process that the server tells of is not the one that serves."""
    settle, transact = _postgres.settle, PostgresDatabase.transact

    def discarding(db: PostgresDatabase, *args: Any) -> Any:
        try:
            return transact(db, *args)
        finally:
            if db.usable:
                db.connection.execute("DISCARD ALL")

    monkeypatch.setattr(_postgres, "settle", lambda connection, pid: settle(connection, pid + 1))
    monkeypatch.setattr(PostgresDatabase, "transact", discarding)


@pytest.mark.parametrize("theme", ["appending", "changing", "owning", "searching", "summarising"])
def test_nothing_is_kept_between_transactions(postgres_url: str, pooled: None, theme: str) -> None:
    numbers = iter(range(1000))
    check_store(lambda: glassine.open(postgres_url, namespace=f"{theme}{next(numbers)}"), only=f"{theme}.*")


def test_statements_are_prepared_only_where_nobody_stands_in_between(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    def prepared() -> int:
        with glassine.open(postgres_url, connections=1) as store:
            for number in range(8):
                store.session("s").append(user(str(number)))
            (db,) = driver_of(store)._idle
            row = db.connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
            return int(row[0]) if row else 0

    assert prepared() > 3
    request.getfixturevalue("pooled")
    assert prepared() == 0


def test_nothing_is_set_for_longer_than_a_transaction(postgres_url: str) -> None:
    with glassine.open(postgres_url, durability="full", connections=1) as store:
        (db,) = driver_of(store)._idle
        names = ("search_path", "lock_timeout", "synchronous_commit", "transaction_isolation", "transaction_read_only")

        def settings() -> list[object]:
            return [db.connection.execute(f"SHOW {name}".encode()).fetchone() for name in names]

        before = settings()
        store.session("s").append(user("x"))
        assert store.session("s").path_length() == 1
        assert settings() == before


def test_statements_that_the_server_forgot_are_prepared_again(store: glassine.Store) -> None:
    for number in range(8):
        store.session("s").append(user(str(number)))
    (db,) = driver_of(store)._idle
    db.connection.pgconn.exec_(b"DEALLOCATE ALL")  # psycopg does not notice
    for number in range(8):
        store.session("s").append(user(str(number)))
    assert store.session("s").path_length() == 16


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("55P03", StoreBusyError),
        ("57014", StoreBusyError),
        ("40001", StoreBusyError),
        ("40P01", StoreBusyError),
        ("53100", StoreFullError),
        ("25006", StoreReadOnlyError),
        ("42501", StorePermissionError),
        ("57P01", StoreUnavailableError),
        ("57P03", StoreUnavailableError),
        ("08006", StoreUnavailableError),
        ("53300", StoreUnavailableError),
        ("53200", StoreError),
        ("XX000", StoreError),
    ],
)
def test_errors_of_the_server_become_ours(postgres: str, state: str, expected: type[StoreError]) -> None:
    with psycopg.connect(postgres) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(f"DO $$ BEGIN RAISE EXCEPTION 'the reason' USING ERRCODE = '{state}'; END $$")
    error = _postgres.translated(caught.value, "the place")
    assert type(error) is expected
    assert error.location == "the place"
    assert str(error).startswith("the place: ")


def test_a_standby_takes_no_writes(store: glassine.Store, postgres_url: str) -> None:
    store.session("s").append(user("x"))
    with glassine.open(postgres_url + "&options=-cdefault_transaction_read_only%3Don") as standby:
        assert standby.session("s").path_length() == 1
        with pytest.raises(StoreReadOnlyError):
            standby.session("s").append(user("y"))


def test_a_statement_that_takes_too_long(postgres_url: str, store: glassine.Store, other: psycopg.Connection) -> None:
    store.session("s").append(user("x"))
    other.execute("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
    with glassine.open(postgres_url + "&options=-cstatement_timeout%3D100") as hasty:
        with pytest.raises(StoreBusyError, match="statement timeout"):
            hasty.session("s").append(user("y"))
        other.rollback()
        hasty.session("s").append(user("y"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://someone:hunter2@localhost:1/db",
        "postgres://someone@localhost:1/db?password=hunter2",
        "postgresql://someone:hunter2@localhost:1/db?nonsense=1",
        "postgresql://someone:a/hunter2@localhost:1/db",
        "postgresql://someone:hunter2@localhost:port/db",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        glassine.open(url)
    error: BaseException | None = caught.value
    while error is not None:
        assert "hunter2" not in f"{error} {error!r} {getattr(error, 'location', '')}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_a_password_is_not_in_what_a_store_says(store: glassine.Store, postgres_url: str) -> None:
    with glassine.open(postgres_url.replace("postgres@", "postgres:hunter2@")) as mine:
        assert mine.location == store.location == mine.info().location == postgres_url
        assert "hunter2" not in repr(mine) + repr(mine.session("s"))


def test_a_server_that_is_not_there_is_named_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="localhost"):
        glassine.open("postgresql://localhost:1/db")
    assert time.monotonic() - began < 5


def test_an_unknown_database_is_named(postgres: str) -> None:
    with pytest.raises(StoreUnavailableError, match="nowhere"):
        glassine.open(postgres.replace("/postgres?", "/nowhere?"))


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("psycopg", "glassine._postgres"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "glassine._sync.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DriverMissingError, match=r"glassine\[postgres\]"):
        glassine.open("postgresql://localhost/db")


def test_info(store: glassine.Store) -> None:
    store.session("s").append(user("x" * 100_000))
    info = store.info()
    assert (info.engine, info.durability, info.sessions, info.messages) == ("PostgreSQL", "normal", 1, 1)
    assert info.engine_version[0].isdigit()
    assert info.bytes > 100_000


def test_durability_and_patience_are_set_for_each_transaction(postgres_url: str) -> None:
    def settings(db: Database) -> list[str]:
        names = ("synchronous_commit", "lock_timeout", "transaction_isolation")
        return [db.row(f"SELECT current_setting('{name}')")[0] for name in names]

    for durability, commit in (("normal", "off"), ("full", "on")):
        with glassine.open(postgres_url, durability=durability, busy_timeout=1.5) as store:  # type: ignore[arg-type]
            assert store.info().durability == durability
            assert driver_of(store).write(settings) == [commit, "1500ms", "read committed"]
            assert driver_of(store).read(settings) == ["off", "1500ms", "repeatable read"]
    with glassine.open(postgres_url, busy_timeout=0) as store:
        assert driver_of(store).write(settings)[1] == "1ms"


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="connections"):
        glassine.open("postgresql://localhost/db", connections=0)


# --- the same on both engines -----------------------------------------------------------------------------------------


def test_histories_are_the_same_to_the_byte(postgres_url: str) -> None:
    values = [
        "",
        "a\0b",
        "\ud800 alone",
        "山の中" * 1000,
        1.5,
        10**30,
        [None, {"k": "日本"}],
        "x" * 300_000,
        -0.0,
        1e300,
    ]
    messages = [
        {"id": f"m{number}", "role": "tool", "parts": [{"type": "x", "value": v}]} for number, v in enumerate(values)
    ]
    times: dict[str, Any] = {"clock": lambda: datetime(2026, 3, 4, tzinfo=UTC)}
    with glassine.open(":memory:", **times) as sqlite, glassine.open(postgres_url, **times) as store:
        for place in (store, sqlite):
            place.session("s").append([*messages, picture("p1"), picture("p2")])
            place.session("s").add_compaction("要約", "m1", "m3", id="o1")
            place.session("s").add_usage(Usage("u1", input_tokens=2**40, cost=0.1))
        for raw in (False, True):
            here, there = (place.session("s").history(raw=raw) for place in (store, sqlite))
            assert [message.encoded() for message in here] == [message.encoded() for message in there]
        assert store.session("s").usage() == sqlite.session("s").usage()
        assert store.session("s").recent(3).total_bytes == sqlite.session("s").recent(3).total_bytes

        def bodies(db: Database) -> Any:
            rows = db.rows("SELECT seq, codec, crc, data FROM body ORDER BY seq")
            return rows, db.rows(
                "SELECT seq, ordinal, path, kind, prefix, size, digest FROM external ORDER BY seq, ordinal"
            )

        assert driver_of(store).read(bodies) == sqlite._engine._driver.read(bodies)


def test_a_reader_of_the_newest_does_not_read_it_all(store: glassine.Store) -> None:
    session = store.session("s")
    session.append([user(f"{number} " + "x" * 2000) for number in range(1500)])
    fetched: list[int] = []
    rows = PostgresDatabase.rows

    def counted(db: PostgresDatabase, *args: Any) -> list[Any]:
        found = rows(db, *args)
        fetched.append(len(found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresDatabase, "rows", counted)
        assert len(session.recent(10)) == 10
        assert sum(fetched) < 50
        fetched.clear()
        assert len(session.history()) == 1500
        assert len(fetched) < 10
