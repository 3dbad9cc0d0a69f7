"""Rows of the search index in SQLite: their numbers, which never come twice, and those whose message is gone."""

from pathlib import Path

import apsw
import pytest

import glassine
from glassine import user
from glassine._sqlite_index import FEW, FOLD

ANY_TWICE = "SELECT doc FROM pending WHERE scope <> '' AND doc IN (SELECT id FROM words_docsize)"


def check(path: Path, store: glassine.Store, *, moved: int, waiting: int) -> None:
    assert store.verify().clean
    connection = apsw.Connection(str(path))
    counts = "SELECT (SELECT count(*) FROM words_docsize), (SELECT count(*) FROM pending WHERE scope <> '')"
    assert connection.execute(counts).fetchall() == [(moved, waiting)]
    assert connection.execute(ANY_TWICE).fetchall() == []
    connection.close()


@pytest.mark.parametrize("how", ["delete", "redact", "update"])
def test_numbers_go_on_when_the_newest_row_goes(tmp_path: Path, how: str) -> None:
    path = tmp_path / "numbers.db"
    with glassine.open(path) as store:
        session = store.session("s")
        *_, newest = session.append([user(f"first{number}") for number in range(FOLD - 1)])
        check(path, store, moved=FOLD - 1, waiting=0)
        if how == "delete":
            session.delete(newest)
        elif how == "redact":
            session.redact(newest)
        else:
            session.update(user("other", id=newest.id))
        assert store.verify().clean
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([user(f"second{number}") for number in range(2 * FOLD)])
        assert store.verify().clean
        assert len(session.search("second1")) == 1
        assert not session.search(f"first{FOLD - 2}")
        kept = FOLD - 2 + 2 * FOLD + (how != "delete")
        check(path, store, moved=kept, waiting=0)


def test_a_row_that_never_moved_leaves_its_number(tmp_path: Path) -> None:
    path = tmp_path / "numbers.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([user(f"first{number}") for number in range(FOLD + 3)])
        check(path, store, moved=FOLD - 1, waiting=4)
        session.delete(session.history()[-1])
        session.append(user("second"))
        check(path, store, moved=FOLD - 1, waiting=4)
        assert [hit.snippet for hit in session.search("second")] == ["«second»"]


def test_a_search_writes_nothing_when_nothing_waits(tmp_path: Path) -> None:
    path = tmp_path / "numbers.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append(user("alpha"))
        assert len(session.search("alpha")) == 1
        connection = apsw.Connection(str(path))
        before = connection.execute("PRAGMA data_version").fetchall()
        assert len(session.search("alpha")) == 1
        assert connection.execute("PRAGMA data_version").fetchall() == before
        connection.close()


def test_words_of_a_message_that_is_gone_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "gone.db"
    with glassine.open(path) as store:
        session = store.session("s")
        messages = session.append([user("alpha") for _ in range(2 * FEW)])
        assert len(session.search("alpha", 100)) == 2 * FEW
        connection = apsw.Connection(str(path))
        connection.execute("DELETE FROM node WHERE seq < ?", (FEW,))
        connection.close()
        found = [hit.message_id for hit in session.search("alpha", 100)]
        assert sorted(found) == sorted(message.id for message in messages[FEW - 1 :])
