"""Entries: what a model is shown of them, and how their index in a SQLite file keeps up and is mended.

What every store does is in tests/_async/test_entries.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassine
from glassine import indexing
from glassine.blocks import SCOPES, Scope
from glassine.entries import Entry, EntryHit, EntryInfo, drafted, is_key, listing, passage, results_text, words
from glassine.records import Ref
from glassine.searching import CHUNK_TOKENS, parse_query

NOW = datetime(2026, 1, 31, tzinfo=UTC)
REF = Ref("default", "s")
PLACE: tuple[Ref, Scope, str] = (REF, "session", "knowledge")


def hit(content: str, query: str, description: str | None = None) -> EntryHit:
    entry = Entry("key", description, content, len(content), None, NOW)
    return EntryHit(entry, 1.0, True, passage(content, parse_query(query)))


# --- pure -------------------------------------------------------------------------------------------------------------


def test_a_short_entry_is_shown_whole() -> None:
    assert results_text([]) == ""
    assert results_text([hit("one\ntwo", "two"), hit("三", "三", "What\n it  is")]) == (
        "[key]\none\ntwo\n\n[key] What it is\n三"
    )


def test_of_a_long_entry_the_passage_with_the_answer_is_shown() -> None:
    content = "filler " * 3000 + "the needle lies here " + "filler " * 3000
    shown = results_text([hit(content, "needle")])
    assert "the needle lies here" in shown
    assert shown.startswith("[key] (")
    assert "of 42,021 characters" in shown
    assert len(shown) < 2000
    assert "«" not in shown
    japanese = "埋草" * 3000 + "針はここ" + "埋草" * 3000
    assert "針はここ" in results_text([hit(japanese, "針はここ")])


def test_a_listing_is_in_the_order_of_the_keys() -> None:
    assert listing([]) == ""
    found = [EntryInfo("b", None, 1, None, NOW), EntryInfo("a", "First\nof all", 1, None, NOW)]
    assert listing(found) == "- a: First of all\n- b"


def test_what_may_be_a_key() -> None:
    assert all(map(is_key, ("a", "鍵", "a b", "x" * 512)))
    assert not any(map(is_key, ("", " a", "a\0", "\ud800", "x" * 513, None, 7)))


def test_index_rows_are_bounded_and_hold_key_and_description() -> None:
    assert words("deploy-now", "A description", "") == ("deploi now a descript",)
    assert words("鍵", None, "") == ("鍵",)
    assert words("!", None, "…") == ()
    rows = words("k", None, " ".join(f"w{number}" for number in range(3 * CHUNK_TOKENS)))
    assert len(rows) > 3
    assert max(len(row.split(" ")) for row in rows) <= CHUNK_TOKENS


@given(st.text(), st.none() | st.text())
def test_any_text_can_be_an_entry(content: str, description: str | None) -> None:
    draft = drafted("key", description, content, None)
    assert draft.data.decode("utf-8", "surrogatepass") == content
    for row in draft.words:
        assert all(row.split(" "))


# --- a file -----------------------------------------------------------------------------------------------------------


class Stored:
    """Entries in a file, and another client that may do harm to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = glassine.open(path)
        self.engine = self.store._engine

    def put(self, key: str, content: str, scope: Scope = "session") -> bool:
        return self.engine.put_entry(REF, scope, "knowledge", key, None, content, None, 1)

    def remove(self, key: str) -> bool:
        return self.engine.remove_entry(*PLACE, key, 1)

    def found(self, query: str, limit: int = 100_000) -> list[str]:
        return [hit.entry.key for hit in self.engine.search_entries(*PLACE, parse_query(query), limit)]

    def harm(self, statement: str, parameters: tuple[object, ...] = ()) -> None:
        connection = apsw.Connection(str(self.path))
        connection.execute(statement, parameters)
        connection.close()


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Stored]:
    found = Stored(tmp_path / "entries.db")
    with found.store:
        yield found


KEYS = st.sampled_from(["a", "b", "c", "鍵"])
WORDS = st.sampled_from(["zebra", "quagga", "okapi", "縞馬", "縞", "zebra okapi", "", "okapi " * 700 + "gnu"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(KEYS, st.none() | WORDS), max_size=12))
def test_the_index_finds_what_is_there_and_nothing_else(steps: list[tuple[str, str | None]]) -> None:
    there: dict[str, str] = {}
    with glassine.open(":memory:") as store:
        for key, content in steps:
            if content is None:
                assert store._engine.remove_entry(*PLACE, key, 1) == (there.pop(key, None) is not None)
            else:
                replaced = store._engine.put_entry(*PLACE, key, None, content, None, 1)
                assert replaced == (key in there)
                there[key] = content
        for word in ("zebra", "okapi", "gnu", "縞", "縞馬"):
            hits = store._engine.search_entries(*PLACE, parse_query(word), 10)
            assert {hit.entry.key for hit in hits} == {key for key, content in there.items() if word in content}
        assert store.verify().clean


def test_an_older_analysis_is_brought_up_to_date(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(130):
        stored.put(f"k{number}", f"zebra number{number}")
    stored.harm("UPDATE entry SET analysis = 0 WHERE key <> 'k7'")
    assert len(stored.found("zebra")) == 130
    assert stored.store.verify().clean
    stored.harm("UPDATE entry SET analysis = 0")
    stored.store.catch_up()
    connection = apsw.Connection(str(stored.path))
    assert connection.execute("SELECT DISTINCT analysis FROM entry").fetchall() == [(indexing.INDEX_VERSION,)]
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry_words_data SET block = zeroblob(8) WHERE id > 1",
        "DELETE FROM entry_words_data",
        "DELETE FROM entry_words_docsize",
        "DELETE FROM entry_words_content",
        "DELETE FROM entry_words",
    ],
)
@pytest.mark.parametrize("then", ["search", "write", "repair"])
def test_a_damaged_index_is_made_anew(stored: Stored, statement: str, then: str) -> None:
    for number in range(20):
        stored.put(f"k{number:02}", f"zebra number{number}")
    stored.store.close()
    stored.harm(statement)
    stored = Stored(stored.path)
    with stored.store:
        if then == "write":
            stored.put("k20", "zebra at last")
            assert stored.remove("k00")
            assert stored.engine.get_entry(*PLACE, "k20") is not None
        else:
            assert not stored.store.verify().clean
            if then == "search":
                stored.found("zebra")
        check = stored.store.repair()
        assert all(problem.repaired for problem in check.problems)
        expected = [f"k{number:02}" for number in (range(1, 21) if then == "write" else range(20))]
        assert sorted(stored.found("zebra")) == expected
        assert stored.store.verify().clean


def test_what_is_wrong_with_an_entry_is_told_and_mended(stored: Stored) -> None:
    for scope in SCOPES:
        for key in ("lost", "changed", "sound"):
            stored.put(key, f"zebra {key}", scope)
    assert stored.store.verify().clean
    stored.harm("DELETE FROM entry_body WHERE key = 'lost'")
    stored.harm("UPDATE entry_body SET data = CAST('zebra changef' AS BLOB) WHERE key = 'changed'")
    stray = "SELECT ns, session, label, 'stray', 0, data FROM entry_body WHERE key = 'sound'"
    stored.harm(f"INSERT INTO entry_body {stray}")
    with pytest.raises(glassine.StoreError, match="lost"):
        stored.engine.get_entry(*PLACE, "lost")
    assert set(stored.found("zebra")) == {"lost", "changed", "sound"}
    problems = stored.store.verify().problems
    assert [problem.session_id for problem in problems] == [None, None, None, "s", "s", "s"]
    assert {problem.code for problem in problems} == {"entry"}
    mended = stored.store.repair().problems
    assert [problem.repaired for problem in mended] == ["checksum" not in problem.detail for problem in mended]
    left = stored.store.verify().problems
    assert ["checksum" in problem.detail for problem in left] == [True, True]
    assert set(stored.found("zebra")) == {"changed", "sound"}


def test_a_redacted_entry_leaves_no_word_in_the_file(stored: Stored) -> None:
    stored.store.session("s").append(glassine.user("hello", id="m1"))
    stored.engine.put_entry(*PLACE, "key-of-mine", "xylotomous", "quizzaciously", "m1", 1)
    stored.put("other", "something")
    assert stored.found("quizzaciously") == ["key-of-mine"]
    stored.store.session("s").redact("m1")
    data = b"".join(path.read_bytes() for path in stored.path.parent.iterdir())
    assert not [word for word in (b"xylotom", b"quizzaci", b"key-of-mine") if word in data]


def test_search_is_fast_among_thousands_of_entries() -> None:
    with glassine.open(":memory:") as source:
        for number in range(2000):
            text = f"entry number{number} about group{number % 50}, and common words besides"
            source._engine.put_entry(*PLACE, f"k{number}", None, text, None, 1)
        began = time.perf_counter()
        for query, many in (("number77", 1), ("group7 common", 10), ("common", 10), ("common nothing", 10)):
            assert len(source._engine.search_entries(*PLACE, parse_query(query), 10)) == many
        assert time.perf_counter() - began < 2
