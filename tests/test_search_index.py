"""The search index in SQLite: damage, versions, older files, other writers. It can always be made anew."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import glassine
from glassine import Session, Store, _sqlite
from glassine._sync.ops import catching_up
from scripts import schema

MESSAGES = 300
DAMAGE = {
    "garbage in a page": "UPDATE words_data SET block = CAST('garbage' AS BLOB) WHERE id > 10",
    "a page gone": "DELETE FROM words_data WHERE id = (SELECT max(id) FROM words_data)",
    "its root gone": "DELETE FROM words_data WHERE id = 10",
    "averages overwritten": "UPDATE words_data SET block = zeroblob(30) WHERE id = 1",
    "lengths gone": "DELETE FROM words_docsize",
    "one length gone": "DELETE FROM words_docsize WHERE id = 3",
    "all pages gone": "DROP TABLE words_data",
}
# To a search the index is empty then, which it cannot know to be wrong. `verify` does.
UNSEEN = {
    "emptied": "UPDATE words_data SET block = zeroblob(30) WHERE id = 10",
    "places gone": "DELETE FROM words_content",
}


def say(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}


def run_sql(path: Path, *statements: str) -> list[Any]:
    connection = apsw.Connection(str(path))
    rows = [row for statement in statements for row in connection.execute(statement)]
    connection.close()
    return rows


def found(place: Session | Store, query: str) -> set[str]:
    return {hit.message_id for hit in place.search(query, 10_000)}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("indexed") / "store.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([say(f"m{number}", f"common 共通 only{number}x") for number in range(MESSAGES)])
        assert len(session.search("common", 1000)) == MESSAGES
    return path


@pytest.fixture
def path(indexed: Path, tmp_path: Path) -> Path:
    """A session with an index that has been written out. Every message says `common`, and its own number."""
    return Path(shutil.copy(indexed, tmp_path))


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE)
def test_a_search_makes_a_damaged_index_anew(path: Path, statement: str) -> None:
    run_sql(path, statement)
    with glassine.open(path) as store:
        assert len(found(store, "common")) == MESSAGES
        assert found(store.session("s"), "only7x") == {"m7"}
        assert store.verify().clean


def test_damage_that_shows_when_new_rows_move_in(path: Path) -> None:
    run_sql(path, UNSEEN["emptied"])
    with glassine.open(path) as store:
        store.session("s").append(say("n", "common"))
        assert len(found(store, "common")) == MESSAGES + 1


@pytest.mark.parametrize("statement", [*DAMAGE.values(), *UNSEEN.values()], ids=[*DAMAGE, *UNSEEN])
def test_verify_names_a_damaged_index_and_repair_mends_it(path: Path, statement: str) -> None:
    run_sql(path, statement)
    with glassine.open(path) as store:
        problems = store.verify().problems
        # FTS5's own check lets wrong averages pass; a search that weighs by them does not.
        expected = [] if statement == DAMAGE["averages overwritten"] else ["index"]
        assert [problem.code for problem in problems] == expected
        assert all(problem.repaired for problem in store.repair().problems)
        assert store.verify().clean
        assert len(found(store, "common")) == MESSAGES


WRITES: dict[str, Callable[[Store, Session], object]] = {
    "append": lambda store, session: [session.append(say(f"n{number}", "common")) for number in range(150)],
    "append many": lambda store, session: session.append([say(f"n{number}", "common") for number in range(150)]),
    "update": lambda store, session: [session.update(say(f"m{number}", "common")) for number in range(0, 300, 2)],
    "delete": lambda store, session: session.delete([f"m{number}" for number in range(0, 300, 2)]),
    "redact": lambda store, session: session.redact("m7"),
    "clear": lambda store, session: session.clear(),
    "delete_session": lambda store, session: store.delete_session("s"),
}


@pytest.mark.parametrize("damage", ["garbage in a page", "a page gone", "its root gone", "all pages gone", "emptied"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_goes_on_beside_a_damaged_index(
    path: Path, damage: str, write: Callable[[Store, Session], object]
) -> None:
    """her#78182, #50502, #33865"""
    run_sql(path, (DAMAGE | UNSEEN)[damage])
    with glassine.open(path) as store:
        session = store.session("s")
        write(store, session)
        if damage in DAMAGE:
            expected = {message.id for message in session.history() if "common" in message.text}
            assert found(session, "common") == found(store, "common") == expected
        store.repair()
        assert store.verify().clean


# --- versions ---------------------------------------------------------------------------------------------------------


def forget(path: Path) -> None:
    """Make the file look as another version of the analysis and the estimator left it."""
    run_sql(
        path,
        "UPDATE meta SET value = 99",
        "UPDATE node SET analysis = 99, estimator = 99, o200k = 1, path_o200k = path_length",
        "UPDATE session SET path_o200k = path_length",
    )


def test_another_version_is_caught_up_with_by_itself(path: Path) -> None:
    with glassine.open(path) as store:
        right = store.session("s").totals()
    forget(path)
    with glassine.open(path) as store:
        session = store.session("s")
        assert session.totals() == right._replace(o200k=MESSAGES)
        assert found(session, "only7x") == {"m7"}
        assert len(found(store, "共通")) == MESSAGES
        assert session.totals() == session.totals("m299") == right
        assert store.verify().clean
        calls: list[tuple[int, int]] = []
        store.catch_up(progress=lambda *numbers: calls.append(numbers))
        assert calls == []
    assert run_sql(path, "SELECT count(*) FROM words") == [(MESSAGES,)]


@pytest.mark.parametrize("again", [Store.reindex, Store.catch_up])
def test_progress_is_told_step_by_step(path: Path, again: Callable[..., None]) -> None:
    forget(path)
    calls: list[tuple[int, int]] = []
    with glassine.open(path) as store:
        again(store, progress=lambda *numbers: calls.append(numbers))
    assert calls == [(catching_up.STEP, MESSAGES), (MESSAGES, MESSAGES)]


def test_a_catching_up_that_was_interrupted_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catching_up, "STEP", 50)
    with glassine.open(path) as store:
        right = store.session("s").totals()
    forget(path)

    def stop(done: int, total: int) -> None:
        if done >= 100:
            raise KeyboardInterrupt

    with glassine.open(path) as store, pytest.raises(KeyboardInterrupt):
        store.reindex(progress=stop)
    with glassine.open(path) as store:
        store.session("s").append(say("n", "common, meanwhile"))
        store.session("s").delete("n")
        assert len(found(store, "common")) == MESSAGES
        assert store.session("s").totals() == right
        assert store.verify().clean
    assert run_sql(path, "SELECT count(*) FROM words") == [(MESSAGES,)]


def test_an_older_file_is_indexed_when_it_is_first_searched(path: Path, tmp_path: Path) -> None:
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([say("x1", "枝分かれ"), say("x2", "branch")], parent="m10")
        session.switch("m299")
        right = {leaf: session.totals(leaf) for leaf in ("m299", "x2")}
    old = tmp_path / "old.db"
    connection = apsw.Connection(str(old))
    connection.execute(schema.migrations()[0])
    connection.execute(f"PRAGMA user_version = 1; PRAGMA application_id = {_sqlite.APPLICATION_ID}")
    connection.execute("ATTACH ? AS new", (str(path),))
    for (table,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
        uncounted = {"o200k", "claude3", "claude48", "gemma3", "safe", "estimator"}
        values = ["0" if column.removeprefix("path_") in uncounted else column for column in columns]
        connection.execute(
            f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM new.{table}"
        )
    connection.close()
    with glassine.open(old) as store:
        session = store.session("s")
        assert [message.id for message in session.history()] == [f"m{number}" for number in range(MESSAGES)]
        session.append(say("n", "appended before the first search"))
        session.delete("n")
        assert found(store, "枝分") == {"x1"}
        assert len(found(session, "common")) == MESSAGES
        assert {leaf: session.totals(leaf) for leaf in right} == right
        assert store.verify().clean


# --- what is written --------------------------------------------------------------------------------------------------


def test_a_changed_flag_costs_the_index_nothing() -> None:
    """her#68858: 10,000 rows, no index write."""
    with glassine.open(":memory:") as store:
        sessions = [store.session(f"s{number}") for number in range(100)]
        for session in sessions:
            session.append([say(f"m{number}", f"common {number}") for number in range(100)])
        store.search("common")
        written: list[str] = []
        store._engine._driver._writer.connection.set_update_hook(  # type: ignore[attr-defined]
            lambda kind, database, table, rowid: written.append(table)
        )
        for session in sessions:
            for number in range(100):
                session.update({**say(f"m{number}", f"common {number}"), "metadata": {"read": True}})
        assert not any(table.startswith(("words", "pending")) for table in written)
        session.update(say("m1", "other words"))
        assert {"pending", "words_docsize"} <= set(written)
        assert found(session, "other") == {"m1"}


def test_no_word_of_a_redacted_message_is_left_in_the_files(path: Path) -> None:
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([say("secret", "qzxvhunter zwjkotter"), say("n", "common")])
        assert found(store, "qzxvhunter") == {"secret"}
        files = [path, path.with_name("store.db-wal")]
        assert any(b"qzxvhunter" in file.read_bytes() for file in files)
        session.redact("secret")
        assert not any(b"qzxvhunter" in file.read_bytes() or b"zwjkotter" in file.read_bytes() for file in files)
        assert found(store, "qzxvhunter") == set()


# --- any text ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def memory() -> Iterator[Session]:
    with glassine.open(":memory:") as store:
        yield store.session("s")


ANY_TEXT = st.text(st.characters() | st.sampled_from("\"'*:-^()«»AND 語のア한ก\u3099\u200d\ud800\0"), max_size=60)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
@example('«"AND" NOT NEAR(', "a")
@example("か\u3099", "が")
def test_any_text_finds_itself(memory: Session, text: str, other: str) -> None:
    memory.clear()
    memory.append([say("m1", text), say("m2", other)])
    hits = memory.search(text)
    assert hits.searchable == any(map(str.isalnum, text)) or not text.isascii()
    strict = {hit.message_id for hit in hits if hit.strict}
    assert "m1" in strict or not hits.searchable
    assert memory.store.search(other).searchable in (True, False)
    assert memory.store.verify().clean


# --- others -----------------------------------------------------------------------------------------------------------

WRITER = """
import sys
import glassine

path, name = sys.argv[1:]
with glassine.open(path) as store:
    session = store.session(name)
    for number in range(100):
        session.append({"id": f"{name}{number}", "role": "user", "parts": [{"type": "text", "text": f"racing {name}"}]})
"""


def test_searching_while_processes_and_threads_write(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE) for name in ("a", "b")
    ]
    with glassine.open(path) as store:

        def look(_: int) -> None:
            while any(writer.poll() is None for writer in writers):
                for name in ("a", "b"):
                    seen = sorted(int(id[1:]) for id in found(store.session(name), "racing"))
                    assert seen == list(range(len(seen)))
                assert store.verify().clean

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(look, range(2)))
        assert [(writer.wait(), writer.communicate()[1]) for writer in writers] == [(0, b"")] * 2
        assert len(found(store, "racing")) == 200
        store.reindex()
        assert len(found(store, "racing")) == 200
        assert store.verify().clean
