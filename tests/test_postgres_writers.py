"""Many writers on one server: those of a session take turns, and nobody else waits, or loses anything."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

import glassine
from glassine import (
    SessionSpec,
    StoreBusyError,
    user,
)
from glassine._sync.database import Database
from glassine._sync.ops.bodies import _add_blob
from tests.pg_helpers import IMAGE, beside, driver_of, picture, waits_for_a_lock


@pytest.fixture
def store(postgres_url: str) -> Iterator[glassine.Store]:
    with glassine.open(postgres_url) as store:
        yield store
        assert store.verify().clean


# --- many writers -----------------------------------------------------------------------------------------------------


def test_two_writers_that_name_no_parent_make_one_chain(store: glassine.Store, postgres_url: str) -> None:
    """CF provider on Postgres: two connections, 50 appends each."""

    def write(name: str) -> None:
        with glassine.open(postgres_url) as mine:
            for number in range(50):
                mine.session("s").append(user(f"{name}{number}"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    session = store.session("s")
    texts = [message.text for message in session.history()]
    assert len(texts) == session.path_length() == 100
    for name in "ab":
        assert [text for text in texts if text[0] == name] == [f"{name}{number}" for number in range(50)]


WRITERS = """
import os, sys, glassine
ready, children = os.pipe(), []
for name in map(str, range(8)):
    if not (pid := os.fork()):
        os.close(ready[1])
        code = 1
        try:
            with glassine.open(sys.argv[1]) as store:
                os.read(ready[0], 1)  # until the last of them is there
                for number in range(25):
                    store.session("shared").append(glassine.user(f"{name} {number}"))
                    store.session(name).append(glassine.user(str(number)))
            code = 0
        finally:
            os._exit(code)
    children.append(pid)
os.close(ready[1])
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
"""


def test_eight_processes(store: glassine.Store, postgres_url: str) -> None:
    said = subprocess.run([sys.executable, "-c", WRITERS, postgres_url], capture_output=True, text=True, check=True)
    assert said.stdout == f"{[0] * 8}\n", said.stderr
    texts = [message.text for message in store.session("shared").history()]
    assert len(texts) == store.session("shared").info().messages == 200
    for name in map(str, range(8)):
        assert [text for text in texts if text.startswith(name)] == [f"{name} {number}" for number in range(25)]
        assert [message.text for message in store.session(name).history()] == [str(number) for number in range(25)]


def test_a_session_that_all_make_at_once_is_made_once(postgres_url: str, store: glassine.Store) -> None:
    stores = [glassine.open(postgres_url, namespace="new") for _ in range(6)]
    gate = threading.Barrier(len(stores))

    def write(mine: glassine.Store) -> None:
        for number in range(5):
            gate.wait()
            mine.session(f"s{number}").append(user("x"))

    with ThreadPoolExecutor(len(stores)) as pool:
        list(pool.map(write, stores))
    for mine in stores:
        mine.close()
    found = store.namespace("new").sessions()
    assert sorted((info.id, info.messages, info.path_length) for info in found) == [
        (f"s{number}", 6, 6) for number in range(5)
    ]


def test_different_sessions_never_wait_for_each_other(
    store: glassine.Store, postgres_url: str, other: psycopg.Connection
) -> None:
    for id in ("held", "free"):
        store.session(id).append(user("x", id="m1"))
    store.delete_session("gone")
    other.execute("SELECT 1 FROM session WHERE id = 'held' FOR UPDATE")
    other.execute(
        "UPDATE node SET change = change WHERE (ns, session) IN (SELECT ns, session FROM session WHERE id = 'held')"
    )
    with glassine.open(postgres_url, busy_timeout=0.2) as hasty:
        free = hasty.session("free")
        free.append([user("y", id="m2"), user("z", id="m3")])
        free.update(user("why", id="m2"))
        free.delete("m1")
        free.redact("m3")
        free.describe(title="t")
        assert [hit.message_id for hit in hasty.search("why")] == ["m2"]
        hasty.session("fresh").append(user("new"))
        hasty.namespace("fresh").session("held").append(user("new"))
        assert hasty.delete_session("free")
        assert [message.text for message in hasty.session("held").history()] == ["x"]  # a reader waits for nobody
        with pytest.raises(StoreBusyError):
            hasty.session("held").append(user("y"))
    other.rollback()
    assert store.session("held").path_length() == 1


def test_a_writer_that_waited_goes_on(store: glassine.Store, other: psycopg.Connection) -> None:
    store.session("s").append(user("x"))
    other.execute("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
    result = beside(lambda: store.session("s").append(user("y")))
    waits_for_a_lock(other)
    other.commit()
    assert result().text == "y"
    assert store.session("s").path_length() == 2


def test_a_session_deleted_under_a_waiting_writer_is_made_anew(
    store: glassine.Store, postgres_url: str, other: psycopg.Connection
) -> None:
    store.session("s").append(user("x"))
    other.execute("DELETE FROM session WHERE id = 's'")
    result = beside(lambda: store.session("s").append(user("y")))
    waits_for_a_lock(other)
    for table in ("node", "body", "words"):
        other.execute(f"DELETE FROM {table}")
    other.commit()
    result()
    assert [message.text for message in store.session("s").history()] == ["y"]


def test_media_that_another_session_begins_to_use_stay(store: glassine.Store, other: psycopg.Connection) -> None:
    """A deletion must see the user that had not committed when it began."""
    store.session("one").append(picture("m1"))
    other.execute("SELECT 1 FROM blob FOR KEY SHARE")
    other.execute(
        "INSERT INTO external SELECT ns, session + 1000, seq, ordinal, path, kind, prefix, size, digest FROM external"
    )
    result = beside(lambda: store.session("one").delete("m1"))
    waits_for_a_lock(other)
    other.commit()
    assert result() == 1
    assert other.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    other.execute("DELETE FROM external; DELETE FROM blob")
    other.commit()


def test_media_that_go_while_a_session_begins_to_use_them_come_back(
    store: glassine.Store, other: psycopg.Connection
) -> None:
    store.session("one").append(picture("m1"))
    other.execute("DELETE FROM blob")
    result = beside(lambda: store.session("two").append(picture("m1")))
    waits_for_a_lock(other)
    other.commit()
    result()
    found = store.session("two").message("m1")
    assert found is not None
    assert found.to_dict()["parts"][0]["url"] == IMAGE


def test_media_that_two_sessions_bring_at_once_are_held_by_both(
    store: glassine.Store, other: psycopg.Connection
) -> None:
    store.session("one").append(picture("m1"))
    kept = other.execute("SELECT ns, digest, chunk, data FROM blob").fetchall()
    other.execute("DELETE FROM blob")
    other.commit()
    with other.cursor() as cursor:
        cursor.executemany("INSERT INTO blob VALUES (%s, %s, %s, %s)", kept)
    result = beside(lambda: store.session("two").append(picture("m1")))
    waits_for_a_lock(other)
    other.commit()
    result()
    assert other.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    assert store.verify().clean

    def bring(db: Database) -> None:
        ((ns, digest, _, data),) = kept
        _add_blob(db, ns, digest, data)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("SELECT 1 FROM blob FOR UPDATE NOWAIT")
        other.rollback()

    driver_of(store).write(bring)


def test_catching_up_never_indexes_what_was_changed_meanwhile(
    store: glassine.Store, other: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = store.session("s")
    session.append([user("early", id="m1"), user("stays", id="m2")])
    other.execute("SELECT 1 FROM session WHERE id = 's' FOR UPDATE")
    result = beside(store.reindex)
    waits_for_a_lock(other)
    # What `update` does, by hand: the reindexing has chosen its messages, and not read them yet.
    with glassine.open(":memory:") as draft:
        draft.session("s").append(user("later", id="m1"))
        body = draft._engine._driver.read(lambda db: db.row(db.queries.body_get, (1, 1, 1)))
    other.execute("UPDATE body SET data = %s, crc = %s WHERE seq = 1", (body[1], __import__("zlib").crc32(body[1])))
    other.commit()
    result()
    assert [len(store.search(word)) for word in ("early", "later", "stays")] == [0, 1, 1]


# --- what a namespace shares ------------------------------------------------------------------------------------------


@pytest.fixture
def own_database(postgres: str) -> Iterator[tuple[str, psycopg.Connection]]:
    """The URL of a database that no other test uses, which tells of its deadlocks alone, and a connection beside."""
    name = f"alone_{os.getpid()}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres.replace("@/postgres?", f"@/{name}?"), connection
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def deadlocks(connection: psycopg.Connection, url: str) -> int:
    """How many there were in a database. A session tells of its own when it ends."""
    name = url.partition("@/")[2].partition("?")[0]
    for _ in range(400):
        if not connection.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", (name,)).fetchall():
            row = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = %s", (name,)).fetchone()
            assert row is not None
            return int(row[0])
        time.sleep(0.01)
    raise AssertionError("somebody is still connected")


def test_redactions_that_share_blocks_take_turns(own_database: tuple[str, psycopg.Connection]) -> None:
    """Six sessions, whose messages all wrote into the same two blocks and some entries, redact at once."""
    url, connection = own_database
    spec = SessionSpec().with_cached_prompt().with_context("notes", scope="namespace", when_changed="remind")
    spec = spec.with_context("規則", scope="namespace")
    spec = spec.with_context("facts", provider=glassine.SearchableEntries(), scope="namespace")
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(glassine.open(url)) for _ in range(6)]
        sessions = [store.session(f"s{number}", spec) for number, store in enumerate(stores)]
        for number, session in enumerate(sessions):
            session.append([user("x", id="m0"), user("y", id="m1"), user("z")])
            write = next(tool for tool in session.tools() if tool.name == "set_context")
            for id in ("m0", "m1"):
                for label in ("notes", "規則"):
                    line = {"label": label, "content": f"{number} {id} 🙂", "action": "append"}
                    assert write.call(line, message_id=id).startswith("Written")
                entry = {"label": "facts", "content": "x", "metadata": {"title": f"{number} {id}"}}
                assert write.call(entry, message_id=id).startswith("Indexed")
            session.append_block("notes", f"{number} by hand")
        gate = threading.Barrier(len(sessions), timeout=60)

        def redact(session: glassine.Session) -> None:
            for id in ("m0", "m1"):
                session.freeze_prompt()
                session.view()
                gate.wait()
                session.redact(id)

        with ThreadPoolExecutor(len(sessions)) as pool:
            list(pool.map(redact, sessions))
        content = sessions[0].block("notes").content
        assert sorted(content.split("\n")) == [f"{number} by hand" for number in range(6)]
        assert sessions[0].block("規則").content == ""
        assert sessions[0].entries("facts") == []
        assert "🙂" not in sessions[5].freeze_prompt()
        assert stores[0].verify().clean
    assert deadlocks(connection, url) == 0


def test_a_redaction_waits_for_another_before_it_touches_other_sessions(
    store: glassine.Store, other: psycopg.Connection
) -> None:
    spec = SessionSpec().with_cached_prompt().with_context("notes", scope="namespace")
    for name in ("one", "two"):
        session = store.session(name, spec)
        session.append([user("x", id="m1"), user("y")])
        next(iter(session.tools())).call({"label": "notes", "content": name, "action": "append"}, message_id="m1")
        session.freeze_prompt()
    store.namespace("apart").session("s").append(user("x", id="m1"))
    other.execute("SELECT 1 FROM namespace FOR UPDATE")
    store.namespace("apart").session("s").redact("m1")  # which shares nothing, and waits for nobody
    result = beside(lambda: store.session("one", spec).redact("m1"))
    waits_for_a_lock(other)
    other.execute("SELECT 1 FROM block FOR UPDATE NOWAIT")
    other.execute("SELECT 1 FROM prompt FOR UPDATE NOWAIT")
    other.rollback()
    assert result() == ()
    assert store.session("two", spec).block("notes").content == "two"
