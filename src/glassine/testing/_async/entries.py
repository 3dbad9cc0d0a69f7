"""Entries: kept by their keys, found in any language, and gone with what they came from."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import glassine
from glassine import AsyncSession, AsyncStore

from .._expecting import equal, say, true
from .._together import together_async

SPEC = (
    glassine.SessionSpec(token_counter=len)
    .with_context("knowledge", provider=glassine.SearchableEntries())
    .with_context("知識", provider=glassine.SearchableEntries())
    .with_context("shared", provider=glassine.SearchableEntries(), scope="namespace")
    .with_context("skills", provider=glassine.SkillTable(writable=True))
)
_KEY = re.compile(r"^\[(.+?)\]", re.MULTILINE)


async def _search(session: AsyncSession, query: str, label: str = "knowledge") -> str:
    tools = {tool.name: tool for tool in await session.tools()}
    return await tools["search_context"].call({"label": label, "query": query})


async def _found(session: AsyncSession, query: str, label: str = "knowledge") -> list[str]:
    """The keys of the results, in order."""
    return _KEY.findall(await _search(session, query, label))


async def entries_are_found_in_any_language(store: AsyncStore) -> None:
    session = store.session("s", SPEC)
    entries: dict[str, Any] = {
        "zh": "明天下午三点开项目评审会议",
        "mixed": "修改youer服务端的计划",
        "ja": "コンピューターの設定をﾊﾞｯｸｱｯﾌﾟする",
        "ko": "데이터베이스를 백업합니다",
        "deploy-checklist": "Run the migrations, then say so",
        "鍵": "\0 \ud800",
    }
    for key, content in entries.items():
        await session.put_entry("knowledge", key, content)
    await session.put_entry("knowledge", "described", "x", description="Who may release")
    for query, key in {
        "项目": "zh",
        "议": "zh",
        "youer": "mixed",
        "バックアップ": "ja",
        "백업": "ko",
        "MIGRATION": "deploy-checklist",
        "checklists": "deploy-checklist",
        "鍵": "鍵",
        "releases": "described",
    }.items():
        equal(await _found(session, query), [key], f"search({query!r})")
    for query in ("nothing", "NEAR(a", "a* OR -b"):
        equal(await _search(session, query), "No results found.", f"search({query!r})")
    for query in ("😀", '"', "!!! ???"):
        true((await _search(session, query)).startswith("Error: there is nothing in this query"), f"search({query!r})")
    equal((await session.block("knowledge")).content, "7 entries indexed.", "the block")


async def the_best_entry_comes_first_and_a_long_one_is_cut(store: AsyncStore) -> None:
    session = store.session("s", SPEC)
    await session.put_entry("knowledge", "both", "The billing run failed")
    await session.put_entry("knowledge", "one", "billing, billing, billing")
    await session.put_entry("knowledge", "long", "filler " * 6000 + "billing " + "filler " * 6000 + "failed")
    equal(await _found(session, "failed billing"), ["both", "long", "one"], "the order")
    true(len(await _search(session, "failed billing")) < 10_000, "the result is short")
    for number in range(12):
        await session.put_entry("knowledge", f"k{number}", f"common number{number}")
    equal(len(await _found(session, "common")), 10, "at most ten results")


async def an_entry_is_replaced_by_its_key(store: AsyncStore) -> None:
    session = store.session("s", SPEC)
    await session.put_entry("skills", "deploy", "zebra", description="How to deploy")
    await session.put_entry("skills", "deploy", "quagga")
    await session.put_entry("skills", "b", "okapi", description="漢字")
    equal(await session.load_skill("skills", "deploy"), "quagga", "the entry")
    equal(await session.load_skill("skills", "none"), None, "an entry that is not there")
    equal(await session.load_skill("skills", "\ud800\0"), None, "what cannot be a key")
    equal((await session.block("skills")).content, "- b: 漢字\n- deploy: How to deploy", "the listing")
    await session.put_entry("knowledge", "a", "zebra")
    await session.put_entry("knowledge", "a", "quagga")
    equal((await _found(session, "zebra"), await _found(session, "quagga")), ([], ["a"]), "what is found")


async def entries_stay_where_they_belong(store: AsyncStore) -> None:
    names = ("one", "two")
    for namespace in names:
        for id in names:
            session = store.namespace(namespace).session(id, SPEC)
            for label in ("knowledge", "知識"):
                await session.put_entry(label, "key", f"zebra of {label} in {namespace}-{id}")
            await session.put_entry("shared", f"by-{id}", f"zebra of {namespace}")
    for namespace in names:
        for id in names:
            session = store.namespace(namespace).session(id, SPEC)
            for label in ("knowledge", "知識"):
                equal(
                    await _search(session, "zebra", label),
                    f"[key]\nzebra of {label} in {namespace}-{id}",
                    f"what {namespace}-{id} finds in {label}",
                )
            equal(sorted(await _found(session, "zebra", "shared")), ["by-one", "by-two"], "what is shared")
    plain = store.namespace("one").session("one")
    await plain.append(say("m1", "zebra"))
    equal([hit.message_id for hit in await plain.search("zebra")], ["m1"], "a search for messages")
    true((await store.namespace("one").verify()).clean, "verify is clean")


async def entries_go_with_their_session_or_message(store: AsyncStore) -> None:
    session = store.session("s", SPEC)
    await session.append(say("m1", "write it down"))
    tools = {tool.name: tool for tool in await session.tools()}
    for label in ("knowledge", "shared"):
        given = {"label": label, "action": "replace", "content": "zebra", "metadata": {"title": "from m1"}}
        await tools["set_context"].call(given, message_id="m1")
        await session.put_entry(label, "mine", "zebra")
    await session.clear()
    equal(sorted(await _found(session, "zebra")), ["from-m1", "mine"], "after `clear`")
    await session.append(say("m1", "again"))
    await session.redact("m1")
    for label in ("knowledge", "shared"):
        equal(await _found(session, "zebra", label), ["mine"], f"{label} after the message was redacted")
    await store.delete_session("s")
    await session.append(say("m1"))
    equal(await _found(session, "zebra"), [], "after the session was deleted")
    equal(await _found(session, "zebra", "shared"), ["mine"], "what belongs to the namespace")
    true((await store.verify()).clean, "verify is clean")


async def many_may_write_the_same_entry(store: AsyncStore) -> None:
    async def write(number: int) -> None:
        session = store.session("s", SPEC)
        for label in ("knowledge", "shared"):
            await session.put_entry(label, "same", f"zebra number{number} " + "filler " * 300)
            await session.put_entry(label, f"k{number}", f"zebra alone{number}")

    await together_async([partial(write, number) for number in range(6)])
    session = store.session("s", SPEC)
    for label in ("knowledge", "shared"):
        equal(len(await _found(session, "zebra", label)), 7, f"what is found in {label}")
        last = [number for number in range(6) if await _found(session, f"number{number}", label)]
        equal(len(last), 1, f"whose write counts in {label}")
    true((await store.verify()).clean, "verify is clean")
