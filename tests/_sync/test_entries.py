# Generated from tests/_async/test_entries.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Stored entries on every store: written, found, replaced, removed, copied, and gone with what they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassine
from glassine import InvalidIdError, Store, user
from glassine.blocks import SCOPES, Scope
from glassine.entries import EntryHit, results_text
from glassine.records import Ref
from glassine.searching import parse_query


@pytest.fixture(params=["memory", "file", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place = {"memory": ":memory:", "file": str(tmp_path / "store.db")}.get(request.param)
    place = place or request.getfixturevalue("postgres_url")
    with glassine.open(place) as opened:
        yield opened


class Entries:
    """The entries of one label, as a block would use them."""

    def __init__(self, store: Store, scope: Scope = "session", label: str = "knowledge", session: str = "s") -> None:
        self.engine = store._engine
        self.ref, self.scope, self.label = Ref(store.namespace_name, session), scope, label
        self.place = (self.ref, scope, label)
        self.now = store.now

    def put(self, key: str, content: str, description: str | None = None, message_id: str | None = None) -> bool:
        return self.engine.put_entry(*self.place, key, description, content, message_id, self.now())

    def put_if(self, when: Any, key: str, content: str) -> str:
        return self.engine.put_entry_if(*self.place, when, key, None, content, None, self.now())

    def get(self, key: str) -> str | None:
        entry = self.engine.get_entry(*self.place, key)
        return None if entry is None else entry.content

    def remove(self, key: str) -> bool:
        return self.engine.remove_entry(*self.place, key, self.now())

    def keys(self) -> list[str]:
        return [item.key for item in self.engine.list_entries(*self.place)]

    def count(self) -> int:
        return self.engine.count_entries(*self.place)

    def hits(self, query: str, limit: int = 10) -> list[EntryHit]:
        return self.engine.search_entries(*self.place, parse_query(query), limit)

    def found(self, query: str, limit: int = 10) -> list[str]:
        """The keys in order; `~` stands before what has only some of the words."""
        return [("" if hit.strict else "~") + hit.entry.key for hit in self.hits(query, limit)]


@pytest.mark.parametrize("scope", SCOPES)
def test_an_entry_is_written_read_replaced_and_removed(store: Store, scope: Scope) -> None:
    entries = Entries(store, scope)
    assert (entries.get("a"), entries.keys(), entries.count()) == (None, [], 0)
    assert entries.found("anything") == []
    assert not entries.remove("a")
    assert not entries.put("a", "first", "about \0 it \ud800", "m1")
    assert not entries.put("b", "")
    entry = entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.size, entry.message_id) == ("first", "about \0 it \ud800", 5, "m1")
    before = entry.updated_at
    assert entries.put("a", "second")
    entry = entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.message_id) == ("second", "about \0 it \ud800", None)
    assert entries.found("about") == ["a"]
    assert entries.put("a", "second \0 \ud800 漢字", "")
    entry = entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.size, entry.message_id) == (
        *("second \0 \ud800 漢字", None),
        *(len("second \0 \ud800 漢字".encode("utf-8", "surrogatepass")), None),
    )
    assert entry.updated_at >= before
    assert (entries.keys(), entries.count(), entries.get("b")) == (["a", "b"], 2, "")
    assert entries.remove("a")
    assert (entries.keys(), entries.get("a"), entries.remove("a")) == (["b"], None, False)
    assert store.verify().clean


def test_a_write_may_ask_that_the_key_is_new_or_there(store: Store) -> None:
    for scope in SCOPES:
        entries = Entries(store, scope)
        assert entries.put_if("present", "a", "one") == "kept"
        assert (entries.count(), entries.found("one")) == (0, [])
        assert entries.put_if("absent", "a", "one") == "created"
        assert entries.put_if("absent", "a", "two") == "kept"
        assert (entries.get("a"), entries.found("two")) == ("one", [])
        assert entries.put_if("present", "a", "three") == "replaced"
        assert entries.put_if("any", "a", "four") == "replaced"
        assert (entries.found("one"), entries.found("three"), entries.found("four")) == (
            [],
            [],
            ["a"],
        )


def test_keys_are_listed_in_one_order_on_every_store(store: Store) -> None:
    entries = Entries(store)
    keys = ["b", "B", "a-1", "a_1", "é", "漢字", "字", "😀", "\uffee", "鍵 " + "長" * 160, "x" * 512]
    for key in keys:
        entries.put(key, key)
    assert entries.keys() == sorted(keys, key=str.encode)
    for bad in ("", " a", "a\nb", "x" * 513, "\ud800"):
        with pytest.raises(InvalidIdError):
            entries.put(bad, "text")
        assert (entries.get(bad), entries.remove(bad)) == (None, False)


def test_labels_sessions_and_namespaces_are_apart(store: Store) -> None:
    places = [
        Entries(there, scope, label, session)
        for there in (store, store.namespace("other"))
        for scope in SCOPES
        for label in ("knowledge", "知識", "know")
        for session in (("s", "t") if scope == "session" else ("s",))
    ]
    for number, entries in enumerate(places):
        entries.put("same", f"common text number{number}")
    for number, entries in enumerate(places):
        assert entries.get("same") == f"common text number{number}"
        assert entries.found("common text") == ["same"]
        assert entries.found(f"number{number}") == ["same"]
        assert entries.found(f"number{(number + 1) % len(places)}") == []
    assert Entries(store, "namespace", "knowledge", "u").found("common") == ["same"]


def test_search_finds_any_language_in_keys_descriptions_and_contents(store: Store) -> None:
    entries = Entries(store)
    entries.put("zh", "明天下午三点开项目评审会议")
    entries.put("mixed", "修改youer服务端的计划")
    entries.put("ja", "コンピューターの設定をﾊﾞｯｸｱｯﾌﾟする", "手順書")
    entries.put("deploy-checklist", "Run the migrations first", "How we release")
    entries.put("鍵の名前", "x")
    for query, key in {
        "项目评审": "zh",
        "项": "zh",
        "youer": "mixed",
        "设 计划": "~mixed",
        "コンピュータ": "ja",
        "手順": "ja",
        "バックアップ": "ja",
        "migration": "deploy-checklist",
        "CHECKLIST": "deploy-checklist",
        "releases migrations": "deploy-checklist",
        "名前": "鍵の名前",
    }.items():
        assert entries.found(query) == [key], query
    for query in ("", "!!!", "😀", "AND", "nothing*", "a:b", '"', "x" * 10_000):
        entries.found(query)


def test_strict_hits_come_before_loose_ones_and_the_best_first(store: Store) -> None:
    entries = Entries(store)
    entries.put("both-far", "billing " + "filler " * 200 + "failed")
    entries.put("both", "The billing run failed")
    entries.put("one", "A billing page, billing, billing")
    entries.put("other", "It failed")
    entries.put("none", "Deploy")
    assert entries.found("billing failed") == ["both", "both-far", "~one", "~other"]
    assert entries.found("billing failed", 3) == ["both", "both-far", "~one"]
    assert entries.found("billing failed", 1) == ["both"]
    assert entries.found("billing failed", 0) == []
    assert entries.found('"billing run"') == ["both"]
    scores = [hit.score for hit in entries.hits("billing failed")]
    assert scores[0] > scores[1]
    assert scores[2] > 0
    for key in ("c", "a", "b"):
        entries.put(key, "equal words")
    assert entries.found("equal") == ["a", "b", "c"]


def test_a_long_entry_is_found_whole(store: Store) -> None:
    entries = Entries(store)
    text = "aardvark " + " ".join(f"word{number} filler" for number in range(6000)) + " zebra 最後の言葉"
    entries.put("long", text, "the long one")
    entries.put("short", "zebra")
    assert entries.found("zebra") == ["short", "long"]
    assert entries.found("aardvark zebra") == ["long", "~short"]
    assert entries.found("最後") == ["long"]
    assert entries.found('"word5999 filler zebra"') == ["long"]
    [hit] = entries.hits("最後")
    assert "最後の言葉" in hit.passage.text
    assert len(hit.passage.text) < 2000
    assert results_text([hit]).startswith("[long] the long one (")
    assert entries.put("long", "now short")
    assert (entries.found("aardvark"), entries.found("short")) == ([], ["short", "long"])
    assert store.verify().clean


def test_messages_and_entries_are_searched_apart(store: Store) -> None:
    entries = Entries(store)
    entries.put("a", "zebra in an entry")
    session = store.session("s")
    session.append(user("a zebra in a message", id="m1"))
    assert [hit.message_id for hit in session.search("zebra")] == ["m1"]
    assert [hit.message_id for hit in store.search("zebra")] == ["m1"]
    assert entries.found("zebra") == ["a"]
    assert entries.found("message") == []


def test_clear_keeps_entries_and_a_deleted_session_takes_its_own(store: Store) -> None:
    own, shared, other = Entries(store), Entries(store, "namespace"), Entries(store, session="t")
    for entries in (own, shared, other):
        entries.put("a", "zebra " * 5000)
    session = store.session("s")
    session.append(user("hello"))
    session.clear()
    assert own.found("zebra") == ["a"]
    store.delete_session("s")
    assert (own.found("zebra"), own.keys()) == ([], [])
    assert (shared.found("zebra"), other.found("zebra")) == (["a"], ["a"])
    own.put("b", "quagga")
    assert (own.found("zebra"), own.found("quagga")) == ([], ["b"])
    assert store.verify().clean


def test_a_write_moves_the_change_number_of_its_session(store: Store) -> None:
    session, own, shared = store.session("s"), Entries(store), Entries(store, "namespace")
    session.append(user("hello"))

    def change() -> int:
        return session.info().change

    before = change()
    own.put("a", "x")
    own.put("a", "y")
    own.remove("a")
    assert change() == before + 3
    own.remove("a")
    own.put_if("present", "a", "z")
    shared.put("a", "x")
    shared.remove("a")
    assert change() == before + 3


def test_what_a_redacted_message_wrote_goes(store: Store) -> None:
    own, shared = Entries(store), Entries(store, "namespace")
    neighbour = Entries(store, "namespace", session="t")
    for session in ("s", "t"):
        store.session(session).append([user("secret", id="m1"), user("other", id="m2")])
    own.put("a", "zebra secret", None, "m1")
    own.put("b", "zebra other", None, "m2")
    shared.put("c", "zebra shared", None, "m1")
    neighbour.put("d", "zebra of a message of the same id", None, "m1")
    own.put("e", "zebra of nobody")
    store.session("s").redact("m1")
    assert own.keys() == ["b", "e"]
    assert shared.keys() == ["d"]
    assert sorted(own.found("zebra")) == ["b", "e"]
    assert (own.found("secret"), shared.found("shared")) == ([], [])
    assert store.verify().clean


def test_the_index_is_made_anew_from_the_entries(store: Store) -> None:
    entries, shared = Entries(store), Entries(store, "namespace")
    for number in range(120):
        entries.put(f"k{number}", f"zebra number{number}")
    shared.put("shared", "zebra")
    entries.engine.catch_up_entries(True)
    assert len(entries.found("zebra", 200)) == 120
    assert (entries.found("number77"), shared.found("zebra")) == (["k77"], ["shared"])
    store.reindex()
    assert (entries.found("number119"), shared.found("zebra")) == (["k119"], ["shared"])
    assert store.verify().clean


def test_entries_are_copied_with_their_session(store: Store) -> None:
    own = Entries(store)
    store.session("s").append(user("hello", id="m1"))
    own.put("a", "zebra \0 \ud800", "described", "m1")
    own.put("b", "quagga " + "filler " * 5000)
    Entries(store, label="知識").put("a", "okapi")
    with glassine.open(":memory:") as target:
        for _ in range(2):
            report = store.copy_to(target)
            assert report.clean, report.problems
        assert (report.copied, report.same) == (0, 1)
        there = Entries(target)
        entry = there.engine.get_entry(*there.place, "a")
        assert entry == own.engine.get_entry(*own.place, "a")
        assert (there.found("described"), there.found("quagga")) == (["a"], ["b"])
        assert Entries(target, label="知識").found("okapi") == ["a"]
        own.put("a", "changed")
        own.remove("b")
        assert store.copy_to(target).updated == 1
        assert (there.keys(), there.found("zebra"), there.found("changed")) == (["a"], [], ["a"])
        assert target.verify().clean


def test_entries_of_a_namespace_are_copied_one_by_one(store: Store) -> None:
    own = Entries(store, "namespace")
    store.session("s").append(user("hello", id="m1"))
    own.put("a", "zebra", "described", "m1")
    own.put("b", "quagga")
    own.put("c", "okapi")
    own.put("gone", "dodo")
    own.remove("gone")
    with glassine.open(":memory:") as target:
        there = Entries(target, "namespace")
        assert store.copy_to(target, dry_run=True).clean
        assert there.count() == 0
        for _ in range(2):
            assert store.copy_to(target).clean
        entry = there.engine.get_entry(*there.place, "a")
        assert entry == own.engine.get_entry(*own.place, "a")
        assert (there.found("described"), there.keys()) == (["a"], ["a", "b", "c"])
        own.put("a", "changed in the source")
        own.remove("b")
        own.put("c", "changed here")
        there.put("c", "changed there")
        there.put("d", "only in the target")
        report = store.copy_to(target)
        [problem] = report.problems
        assert (problem.namespace, problem.session_id, problem.code) == (store.namespace_name, "", "diverged")
        assert "'c'" in problem.detail
        assert (there.keys(), there.found("zebra"), there.found("quagga")) == (
            ["a", "c", "d"],
            [],
            [],
        )
        assert there.get("c") == "changed there"
        own.put("c", "changed there")
        own.remove("a")
        there.put("a", "written since")
        [problem] = store.copy_to(target).problems
        assert ("'a'" in problem.detail, there.get("a")) == (True, "written since")
        assert target.verify().clean
        # What a message wrote is known as its own in the target too.
        own.put("e", "secret", None, "m1")
        own.put("a", "written since", "described")
        assert store.copy_to(target).clean
        target.session("s").redact("m1")
        assert (there.found("secret"), there.keys()) == ([], ["a", "c", "d"])
