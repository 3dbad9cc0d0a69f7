"""The file under a store: whose it is, where it is, when it cannot be written, and what is left in it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

import glassine
from glassine import NotADatabaseError, SchemaVersionError, StoreBusyError, StoreClosedError, StoreError
from glassine._drivers import SQLiteDriver


def say(id: str, text: str | None = None) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": text or id}]}


def script(code: str, *args: object) -> str:
    """Run a piece of Python on its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- whose file it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 99])
def test_a_foreign_database_is_refused_and_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "foreign.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (a)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NotADatabaseError, match="another program") as caught:
        glassine.open(path)
    assert caught.value.location == str(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["foreign.db"]


@pytest.mark.parametrize("content", [b"not a database, but a letter\n" * 100, b"short", b"\0" * 5000])
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    with pytest.raises(NotADatabaseError):
        glassine.open(path)
    assert path.read_bytes() == content


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with glassine.open(path) as store:
        store.session("s").append(say("m1"))
        known = store.info().schema_version
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version = {known + 1}")
    connection.close()
    with pytest.raises(SchemaVersionError, match="upgrade") as caught:
        glassine.open(path)
    assert (caught.value.actual, caught.value.limit) == (known + 1, known)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with glassine.open(path) as store:
        store.session("s").append(say("m1"))
    with glassine.open(path) as store:
        assert len(store.session("s").history()) == 1


# --- where it is ------------------------------------------------------------------------------------------------------


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere") as caught:
        glassine.open(tmp_path / "nowhere" / "store.db")
    assert type(caught.value) is StoreError
    assert caught.value.__cause__ is not None
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(StoreError):
        glassine.open(tmp_path)


def test_a_relative_path_holds_when_the_working_directory_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(tmp_path)
    with glassine.open("store.db") as store:
        store.session("s").append(say("m1"))
        monkeypatch.chdir(other)
        assert len(store.session("s").history()) == 1
    assert list(other.iterdir()) == []


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with glassine.open("~/会議 録.db") as store:
        assert store.info().location == str(tmp_path / "会議 録.db")
    assert (tmp_path / "会議 録.db").exists()


# --- closing, locking, limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [":memory:", "file"])
def test_a_closed_store_says_so(url: str, tmp_path: Path) -> None:
    store = glassine.open(tmp_path / "store.db" if url == "file" else url)
    session = store.session("s")
    session.append(say("m1"))
    paused = session.iter_history()
    store.close()
    store.close()
    for call in (session.history, store.info, lambda: session.append(say("m2")), store.verify):
        with pytest.raises(StoreClosedError):
            call()
    with pytest.raises(StoreClosedError):
        next(paused)


def test_no_log_is_left_beside_a_closed_store(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "store.db") as store:
        store.session("s").append(say("m1"))
        store.session("s").history()
    assert [item.name for item in tmp_path.iterdir()] == ["store.db"]


def test_a_lock_that_is_kept_too_long_is_said(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "store.db", busy_timeout=0.2) as store:
        session = store.session("s")
        session.append(say("m1"))
        holder = apsw.Connection(str(tmp_path / "store.db"))
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            session.append(say("m2"))
        assert [message.id for message in session.history()] == ["m1"]  # readers never wait
        holder.execute("ROLLBACK")
        session.append(say("m2"))
        assert [message.id for message in session.history()] == ["m1", "m2"]


def test_an_error_that_is_kept_pins_no_snapshot(tmp_path: Path) -> None:
    # An exception holds its traceback, that its frames, and they the statements of an interrupted read.
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        session.append([say(f"m{number}") for number in range(10)])

        def interrupted(database: Any) -> None:
            rows = database.execute("SELECT * FROM node")
            raise ValueError(next(rows))

        kept = []
        for _ in range(5):
            with pytest.raises(ValueError) as caught:
                store._engine._driver.read(interrupted)
            kept.append(caught.value)
        session.append(say("m10"))
        for _ in range(5):
            assert len(session.history()) == 11
        other = apsw.Connection(str(tmp_path / "store.db"))
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)], "a reader holds on to it"


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    # A limit on the size of files is the same to SQLite as a full disk.
    printed = script(
        """
        import resource, signal, sys
        import glassine

        store = glassine.open(sys.argv[1])
        session = store.session("s")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
        stored = 0
        try:
            for number in range(1000):
                session.append({"id": f"m{number}", "role": "user", "parts": [{"type": "text", "text": "x" * 2000}]})
                stored += 1
        except glassine.StoreError as error:
            failure = type(error).__name__
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        session.append(glassine.user("there is room again", id="after"))
        print(stored, failure, len(session.history()), store.verify().clean)
        """,
        tmp_path / "store.db",
    )
    stored, failure, length, clean = printed.split()
    assert 10 < int(stored) < 1000
    assert failure in ("StoreFullError", "StoreError")
    assert (int(length), clean) == (int(stored) + 1, "True")


def test_a_full_database_is_named(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        session.append(say("m1"))
        driver = store._engine._driver
        assert isinstance(driver, SQLiteDriver)
        connection = driver._writer.connection
        connection.execute("PRAGMA max_page_count = 40")
        with pytest.raises(glassine.StoreFullError):
            session.append([say(f"n{number}", "x" * 1000) for number in range(1000)])
        length = len(session.history())
        assert store.verify().clean
        connection.execute("PRAGMA max_page_count = 100000")
        session.append(say("m2"))
        assert len(session.history()) == length + 1


@pytest.fixture
def readonly(tmp_path: Path) -> Iterator[Path]:
    """A store whose file and folder cannot be written to."""
    folder = tmp_path / "locked"
    folder.mkdir()
    with glassine.open(folder / "store.db") as store:
        store.session("s").append(say("m1"))
    (folder / "store.db").chmod(0o444)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
        if parent == Path("/tmp"):
            break
    yield folder / "store.db"
    folder.chmod(0o755)


def test_a_file_that_cannot_be_written_is_named(readonly: Path) -> None:
    printed = script(
        """
        import os, sys
        from glassine import GlassineError, open, user

        with open(":memory:") as store:  # what is imported late must be imported before
            store.session("s").append(user("x"))
        if os.geteuid() == 0:  # who may write everywhere: become nobody
            os.setegid(65534)
            os.seteuid(65534)
        try:
            with open(sys.argv[1]) as store:
                store.session("s").append(user("x"))
        except GlassineError as error:
            print(type(error).__name__)
        """,
        readonly,
    )
    assert printed.strip() in ("StoreReadOnlyError", "StoreError")


# --- what is left in it -----------------------------------------------------------------------------------------------


def test_redacting_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    secrets = {"row": "hunter2-row", "long": "hunter2-long", "early": "hunter2-early", "title": "hunter2-title"}
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([say("m1"), say("secret", f"{secrets['row']} 鍵"), say("m2")])
        session.append(say("long", secrets["long"] * 50_000))
        session.append(say("early", secrets["early"] * 3000))
        session.update(say("early", secrets["early"]))  # the longer state lies in freed pages now
        session.append(say("m3", secrets["title"]))
        session.add_compaction("hunter2-summary", "m1", "m2")
        session.describe(title=secrets["title"])
        session.append([say(f"n{number}") for number in range(50)])

        def bytes_on_disk() -> bytes:
            return b"".join(item.read_bytes() for item in tmp_path.iterdir())

        assert bytes_on_disk().count(b"hunter2") > 5
        for id in ("secret", "long", "early", "m3"):
            session.redact(id)
        assert b"hunter2" not in bytes_on_disk()
        assert store.verify().clean
        assert len(session.history()) == 56
    assert b"hunter2" not in path.read_bytes()


def test_redacting_does_not_wait_for_readers(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "store.db", busy_timeout=0.3) as store:
        session = store.session("s")
        session.append([say("m1"), say("m2")])
        reader = apsw.Connection(str(tmp_path / "store.db"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM node").fetchall()
        session.redact("m1")
        assert session.history()[0].text == "[redacted]"


def test_media_is_stored_once_per_namespace_and_goes_with_its_last_owner(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    picture = os.urandom(300_000)
    url = "data:image/png;base64," + base64.b64encode(picture).decode()

    def show(id: str) -> dict[str, Any]:
        return {"id": id, "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": url}]}

    def copies() -> int:
        connection = apsw.Connection(str(path))
        found = len(connection.execute("SELECT DISTINCT ns FROM blob").fetchall())
        size = connection.execute("SELECT coalesce(sum(length(data)), 0) FROM blob").fetchall()[0][0]
        connection.close()
        assert size == found * len(picture)
        return found

    with glassine.open(path) as store:
        one, two = store.session("one"), store.session("two")
        one.append([show("m1"), show("m2")])
        two.append(show("m1"))
        assert copies() == 1
        other = store.namespace("other").session("one")
        other.append(show("m1"))
        assert copies() == 2
        one.delete("m1")
        one.redact("m2")
        assert copies() == 2
        two.clear()
        assert copies() == 1
        assert other.history()[0].to_dict() == show("m1")
        store.namespace("other").delete_session("one")
        assert copies() == 0


# --- what it costs ----------------------------------------------------------------------------------------------------


def statements(session: glassine.Session, action: Any) -> list[str]:
    seen: list[str] = []
    driver = session.store._engine._driver
    assert isinstance(driver, SQLiteDriver)
    databases = driver._all

    def trace(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        seen.append(sql)
        return True

    for database in databases:
        database.connection.exec_trace = trace
    try:
        action()
    finally:
        for database in databases:
            database.connection.exec_trace = None
    return seen


def test_an_append_takes_as_many_statements_at_every_length() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        counts = []
        for length in (10, 1_000, 10_000):
            have = session.path_length()
            session.append([say(f"m{number}") for number in range(have, length)])
            counts.append(len(statements(session, lambda: session.append(say(f"x{length}", "text")))))  # noqa: B023
            counts.append(len(statements(session, lambda: session.recent(5))))
            counts.append(len(statements(session, lambda: session.update(say(f"x{length}", "other")))))  # noqa: B023
        assert counts[:3] == counts[3:6] == counts[6:]
        assert counts[0] <= 8, "BEGIN, session, node, body, what is searched for, session, COMMIT"


def test_opening_takes_no_memory_for_what_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with glassine.open(path) as store:
        session = store.session("s")
        for number in range(40):
            session.append(say(f"m{number}", "x" * 200_000))
    tracemalloc.start()
    try:
        with glassine.open(path) as store:
            assert store.session("s").path_length() == 40
            assert len(store.session("s").recent(1)) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_eight_threads_open_a_new_file_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        barrier.wait()
        with glassine.open(tmp_path / "store.db") as store:
            store.session("s").append(say(f"m{number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    with glassine.open(tmp_path / "store.db") as store:
        assert len(store.session("s").history()) == 8
        assert store.verify().clean
