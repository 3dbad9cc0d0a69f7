"""Stored entries on every store: written, found, replaced, removed, copied, and gone with what they came from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import glassine
from glassine import AsyncStore, InvalidIdError, user
from glassine.blocks import SCOPES, Scope
from glassine.entries import EntryHit, results_text
from glassine.records import Ref
from glassine.searching import parse_query

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "file", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AsyncStore]:
    place = {"memory": ":memory:", "file": str(tmp_path / "store.db")}.get(request.param)
    place = place or request.getfixturevalue("postgres_url")
    async with glassine.open_async(place) as opened:
        yield opened


class Entries:
    """The entries of one label, as a block would use them."""

    def __init__(
        self, store: AsyncStore, scope: Scope = "session", label: str = "knowledge", session: str = "s"
    ) -> None:
        self.engine = store._engine
        self.ref, self.scope, self.label = Ref(store.namespace_name, session), scope, label
        self.place = (self.ref, scope, label)
        self.now = store.now

    async def put(self, key: str, content: str, description: str | None = None, message_id: str | None = None) -> bool:
        return await self.engine.put_entry(*self.place, key, description, content, message_id, self.now())

    async def put_if(self, when: Any, key: str, content: str) -> str:
        return await self.engine.put_entry_if(*self.place, when, key, None, content, None, self.now())

    async def get(self, key: str) -> str | None:
        entry = await self.engine.get_entry(*self.place, key)
        return None if entry is None else entry.content

    async def remove(self, key: str) -> bool:
        return await self.engine.remove_entry(*self.place, key, self.now())

    async def keys(self) -> list[str]:
        return [item.key for item in await self.engine.list_entries(*self.place)]

    async def count(self) -> int:
        return await self.engine.count_entries(*self.place)

    async def hits(self, query: str, limit: int = 10) -> list[EntryHit]:
        return await self.engine.search_entries(*self.place, parse_query(query), limit)

    async def found(self, query: str, limit: int = 10) -> list[str]:
        """The keys in order; `~` stands before what has only some of the words."""
        return [("" if hit.strict else "~") + hit.entry.key for hit in await self.hits(query, limit)]


@pytest.mark.parametrize("scope", SCOPES)
async def test_an_entry_is_written_read_replaced_and_removed(store: AsyncStore, scope: Scope) -> None:
    entries = Entries(store, scope)
    assert (await entries.get("a"), await entries.keys(), await entries.count()) == (None, [], 0)
    assert await entries.found("anything") == []
    assert not await entries.remove("a")
    assert not await entries.put("a", "first", "about \0 it \ud800", "m1")
    assert not await entries.put("b", "")
    entry = await entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.size, entry.message_id) == ("first", "about \0 it \ud800", 5, "m1")
    before = entry.updated_at
    assert await entries.put("a", "second")
    entry = await entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.message_id) == ("second", "about \0 it \ud800", None)
    assert await entries.found("about") == ["a"]
    assert await entries.put("a", "second \0 \ud800 漢字", "")
    entry = await entries.engine.get_entry(*entries.place, "a")
    assert entry is not None
    assert (entry.content, entry.description, entry.size, entry.message_id) == (
        *("second \0 \ud800 漢字", None),
        *(len("second \0 \ud800 漢字".encode("utf-8", "surrogatepass")), None),
    )
    assert entry.updated_at >= before
    assert (await entries.keys(), await entries.count(), await entries.get("b")) == (["a", "b"], 2, "")
    assert await entries.remove("a")
    assert (await entries.keys(), await entries.get("a"), await entries.remove("a")) == (["b"], None, False)
    assert (await store.verify()).clean


async def test_a_write_may_ask_that_the_key_is_new_or_there(store: AsyncStore) -> None:
    for scope in SCOPES:
        entries = Entries(store, scope)
        assert await entries.put_if("present", "a", "one") == "kept"
        assert (await entries.count(), await entries.found("one")) == (0, [])
        assert await entries.put_if("absent", "a", "one") == "created"
        assert await entries.put_if("absent", "a", "two") == "kept"
        assert (await entries.get("a"), await entries.found("two")) == ("one", [])
        assert await entries.put_if("present", "a", "three") == "replaced"
        assert await entries.put_if("any", "a", "four") == "replaced"
        assert (await entries.found("one"), await entries.found("three"), await entries.found("four")) == (
            [],
            [],
            ["a"],
        )


async def test_keys_are_listed_in_one_order_on_every_store(store: AsyncStore) -> None:
    entries = Entries(store)
    keys = ["b", "B", "a-1", "a_1", "é", "漢字", "字", "😀", "\uffee", "鍵 " + "長" * 160, "x" * 512]
    for key in keys:
        await entries.put(key, key)
    assert await entries.keys() == sorted(keys, key=str.encode)
    for bad in ("", " a", "a\nb", "x" * 513, "\ud800"):
        with pytest.raises(InvalidIdError):
            await entries.put(bad, "text")
        assert (await entries.get(bad), await entries.remove(bad)) == (None, False)


async def test_labels_sessions_and_namespaces_are_apart(store: AsyncStore) -> None:
    places = [
        Entries(there, scope, label, session)
        for there in (store, store.namespace("other"))
        for scope in SCOPES
        for label in ("knowledge", "知識", "know")
        for session in (("s", "t") if scope == "session" else ("s",))
    ]
    for number, entries in enumerate(places):
        await entries.put("same", f"common text number{number}")
    for number, entries in enumerate(places):
        assert await entries.get("same") == f"common text number{number}"
        assert await entries.found("common text") == ["same"]
        assert await entries.found(f"number{number}") == ["same"]
        assert await entries.found(f"number{(number + 1) % len(places)}") == []
    assert await Entries(store, "namespace", "knowledge", "u").found("common") == ["same"]


async def test_search_finds_any_language_in_keys_descriptions_and_contents(store: AsyncStore) -> None:
    entries = Entries(store)
    await entries.put("zh", "明天下午三点开项目评审会议")
    await entries.put("mixed", "修改youer服务端的计划")
    await entries.put("ja", "コンピューターの設定をﾊﾞｯｸｱｯﾌﾟする", "手順書")
    await entries.put("deploy-checklist", "Run the migrations first", "How we release")
    await entries.put("鍵の名前", "x")
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
        assert await entries.found(query) == [key], query
    for query in ("", "!!!", "😀", "AND", "nothing*", "a:b", '"', "x" * 10_000):
        await entries.found(query)


async def test_strict_hits_come_before_loose_ones_and_the_best_first(store: AsyncStore) -> None:
    entries = Entries(store)
    await entries.put("both-far", "billing " + "filler " * 200 + "failed")
    await entries.put("both", "The billing run failed")
    await entries.put("one", "A billing page, billing, billing")
    await entries.put("other", "It failed")
    await entries.put("none", "Deploy")
    assert await entries.found("billing failed") == ["both", "both-far", "~one", "~other"]
    assert await entries.found("billing failed", 3) == ["both", "both-far", "~one"]
    assert await entries.found("billing failed", 1) == ["both"]
    assert await entries.found("billing failed", 0) == []
    assert await entries.found('"billing run"') == ["both"]
    scores = [hit.score for hit in await entries.hits("billing failed")]
    assert scores[0] > scores[1]
    assert scores[2] > 0
    for key in ("c", "a", "b"):
        await entries.put(key, "equal words")
    assert await entries.found("equal") == ["a", "b", "c"]


async def test_a_long_entry_is_found_whole(store: AsyncStore) -> None:
    entries = Entries(store)
    text = "aardvark " + " ".join(f"word{number} filler" for number in range(6000)) + " zebra 最後の言葉"
    await entries.put("long", text, "the long one")
    await entries.put("short", "zebra")
    assert await entries.found("zebra") == ["short", "long"]
    assert await entries.found("aardvark zebra") == ["long", "~short"]
    assert await entries.found("最後") == ["long"]
    assert await entries.found('"word5999 filler zebra"') == ["long"]
    [hit] = await entries.hits("最後")
    assert "最後の言葉" in hit.passage.text
    assert len(hit.passage.text) < 2000
    assert results_text([hit]).startswith("[long] the long one (")
    assert await entries.put("long", "now short")
    assert (await entries.found("aardvark"), await entries.found("short")) == ([], ["short", "long"])
    assert (await store.verify()).clean


async def test_messages_and_entries_are_searched_apart(store: AsyncStore) -> None:
    entries = Entries(store)
    await entries.put("a", "zebra in an entry")
    session = store.session("s")
    await session.append(user("a zebra in a message", id="m1"))
    assert [hit.message_id for hit in await session.search("zebra")] == ["m1"]
    assert [hit.message_id for hit in await store.search("zebra")] == ["m1"]
    assert await entries.found("zebra") == ["a"]
    assert await entries.found("message") == []


async def test_clear_keeps_entries_and_a_deleted_session_takes_its_own(store: AsyncStore) -> None:
    own, shared, other = Entries(store), Entries(store, "namespace"), Entries(store, session="t")
    for entries in (own, shared, other):
        await entries.put("a", "zebra " * 5000)
    session = store.session("s")
    await session.append(user("hello"))
    await session.clear()
    assert await own.found("zebra") == ["a"]
    await store.delete_session("s")
    assert (await own.found("zebra"), await own.keys()) == ([], [])
    assert (await shared.found("zebra"), await other.found("zebra")) == (["a"], ["a"])
    await own.put("b", "quagga")
    assert (await own.found("zebra"), await own.found("quagga")) == ([], ["b"])
    assert (await store.verify()).clean


async def test_a_write_moves_the_change_number_of_its_session(store: AsyncStore) -> None:
    session, own, shared = store.session("s"), Entries(store), Entries(store, "namespace")
    await session.append(user("hello"))

    async def change() -> int:
        return (await session.info()).change

    before = await change()
    await own.put("a", "x")
    await own.put("a", "y")
    await own.remove("a")
    assert await change() == before + 3
    await own.remove("a")
    await own.put_if("present", "a", "z")
    await shared.put("a", "x")
    await shared.remove("a")
    assert await change() == before + 3


async def test_what_a_redacted_message_wrote_goes(store: AsyncStore) -> None:
    own, shared = Entries(store), Entries(store, "namespace")
    neighbour = Entries(store, "namespace", session="t")
    for session in ("s", "t"):
        await store.session(session).append([user("secret", id="m1"), user("other", id="m2")])
    await own.put("a", "zebra secret", None, "m1")
    await own.put("b", "zebra other", None, "m2")
    await shared.put("c", "zebra shared", None, "m1")
    await neighbour.put("d", "zebra of a message of the same id", None, "m1")
    await own.put("e", "zebra of nobody")
    await store.session("s").redact("m1")
    assert await own.keys() == ["b", "e"]
    assert await shared.keys() == ["d"]
    assert sorted(await own.found("zebra")) == ["b", "e"]
    assert (await own.found("secret"), await shared.found("shared")) == ([], [])
    assert (await store.verify()).clean


async def test_the_index_is_made_anew_from_the_entries(store: AsyncStore) -> None:
    entries, shared = Entries(store), Entries(store, "namespace")
    for number in range(120):
        await entries.put(f"k{number}", f"zebra number{number}")
    await shared.put("shared", "zebra")
    await entries.engine.catch_up_entries(True)
    assert len(await entries.found("zebra", 200)) == 120
    assert (await entries.found("number77"), await shared.found("zebra")) == (["k77"], ["shared"])
    await store.reindex()
    assert (await entries.found("number119"), await shared.found("zebra")) == (["k119"], ["shared"])
    assert (await store.verify()).clean


async def test_entries_are_copied_with_their_session(store: AsyncStore) -> None:
    own = Entries(store)
    await store.session("s").append(user("hello", id="m1"))
    await own.put("a", "zebra \0 \ud800", "described", "m1")
    await own.put("b", "quagga " + "filler " * 5000)
    await Entries(store, label="知識").put("a", "okapi")
    async with glassine.open_async(":memory:") as target:
        for _ in range(2):
            report = await store.copy_to(target)
            assert report.clean, report.problems
        assert (report.copied, report.same) == (0, 1)
        there = Entries(target)
        entry = await there.engine.get_entry(*there.place, "a")
        assert entry == await own.engine.get_entry(*own.place, "a")
        assert (await there.found("described"), await there.found("quagga")) == (["a"], ["b"])
        assert await Entries(target, label="知識").found("okapi") == ["a"]
        await own.put("a", "changed")
        await own.remove("b")
        assert (await store.copy_to(target)).updated == 1
        assert (await there.keys(), await there.found("zebra"), await there.found("changed")) == (["a"], [], ["a"])
        assert (await target.verify()).clean


async def test_entries_of_a_namespace_are_copied_one_by_one(store: AsyncStore) -> None:
    own = Entries(store, "namespace")
    await store.session("s").append(user("hello", id="m1"))
    await own.put("a", "zebra", "described", "m1")
    await own.put("b", "quagga")
    await own.put("c", "okapi")
    await own.put("gone", "dodo")
    await own.remove("gone")
    async with glassine.open_async(":memory:") as target:
        there = Entries(target, "namespace")
        assert (await store.copy_to(target, dry_run=True)).clean
        assert await there.count() == 0
        for _ in range(2):
            assert (await store.copy_to(target)).clean
        entry = await there.engine.get_entry(*there.place, "a")
        assert entry == await own.engine.get_entry(*own.place, "a")
        assert (await there.found("described"), await there.keys()) == (["a"], ["a", "b", "c"])
        await own.put("a", "changed in the source")
        await own.remove("b")
        await own.put("c", "changed here")
        await there.put("c", "changed there")
        await there.put("d", "only in the target")
        report = await store.copy_to(target)
        [problem] = report.problems
        assert (problem.namespace, problem.session_id, problem.code) == (store.namespace_name, "", "diverged")
        assert "'c'" in problem.detail
        assert (await there.keys(), await there.found("zebra"), await there.found("quagga")) == (
            ["a", "c", "d"],
            [],
            [],
        )
        assert await there.get("c") == "changed there"
        await own.put("c", "changed there")
        await own.remove("a")
        await there.put("a", "written since")
        [problem] = (await store.copy_to(target)).problems
        assert ("'a'" in problem.detail, await there.get("a")) == (True, "written since")
        assert (await target.verify()).clean
        # What a message wrote is known as its own in the target too.
        await own.put("e", "secret", None, "m1")
        await own.put("a", "written since", "described")
        assert (await store.copy_to(target)).clean
        await target.session("s").redact("m1")
        assert (await there.found("secret"), await there.keys()) == ([], ["a", "c", "d"])
