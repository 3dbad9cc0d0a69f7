# Generated from src/glassine/testing/_async/entries.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Entries: kept by their keys, found in any language, and gone with what they came from."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import glassine
from glassine import Session, Store

from .._expecting import equal, say, true
from .._together import together

SPEC = (
    glassine.SessionSpec(token_counter=len)
    .with_context("knowledge", provider=glassine.SearchableEntries())
    .with_context("知識", provider=glassine.SearchableEntries())
    .with_context("shared", provider=glassine.SearchableEntries(), scope="namespace")
    .with_context("skills", provider=glassine.SkillTable(writable=True))
)
_KEY = re.compile(r"^\[(.+?)\]", re.MULTILINE)


def _search(session: Session, query: str, label: str = "knowledge") -> str:
    tools = {tool.name: tool for tool in session.tools()}
    return tools["search_context"].call({"label": label, "query": query})


def _found(session: Session, query: str, label: str = "knowledge") -> list[str]:
    """The keys of the results, in order."""
    return _KEY.findall(_search(session, query, label))


def entries_are_found_in_any_language(store: Store) -> None:
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
        session.put_entry("knowledge", key, content)
    session.put_entry("knowledge", "described", "x", description="Who may release")
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
        equal(_found(session, query), [key], f"search({query!r})")
    for query in ("nothing", "NEAR(a", "a* OR -b"):
        equal(_search(session, query), "No results found.", f"search({query!r})")
    for query in ("😀", '"', "!!! ???"):
        true(_search(session, query).startswith("Error: there is nothing in this query"), f"search({query!r})")
    equal(session.block("knowledge").content, "7 entries indexed.", "the block")


def the_best_entry_comes_first_and_a_long_one_is_cut(store: Store) -> None:
    session = store.session("s", SPEC)
    session.put_entry("knowledge", "both", "The billing run failed")
    session.put_entry("knowledge", "one", "billing, billing, billing")
    session.put_entry("knowledge", "long", "filler " * 6000 + "billing " + "filler " * 6000 + "failed")
    equal(_found(session, "failed billing"), ["both", "long", "one"], "the order")
    true(len(_search(session, "failed billing")) < 10_000, "the result is short")
    for number in range(12):
        session.put_entry("knowledge", f"k{number}", f"common number{number}")
    equal(len(_found(session, "common")), 10, "at most ten results")


def an_entry_is_replaced_by_its_key(store: Store) -> None:
    session = store.session("s", SPEC)
    session.put_entry("skills", "deploy", "zebra", description="How to deploy")
    session.put_entry("skills", "deploy", "quagga")
    session.put_entry("skills", "b", "okapi", description="漢字")
    equal(session.load_skill("skills", "deploy"), "quagga", "the entry")
    equal(session.load_skill("skills", "none"), None, "an entry that is not there")
    equal(session.load_skill("skills", "\ud800\0"), None, "what cannot be a key")
    equal(session.block("skills").content, "- b: 漢字\n- deploy: How to deploy", "the listing")
    session.put_entry("knowledge", "a", "zebra")
    session.put_entry("knowledge", "a", "quagga")
    equal((_found(session, "zebra"), _found(session, "quagga")), ([], ["a"]), "what is found")


def entries_stay_where_they_belong(store: Store) -> None:
    names = ("one", "two")
    for namespace in names:
        for id in names:
            session = store.namespace(namespace).session(id, SPEC)
            for label in ("knowledge", "知識"):
                session.put_entry(label, "key", f"zebra of {label} in {namespace}-{id}")
            session.put_entry("shared", f"by-{id}", f"zebra of {namespace}")
    for namespace in names:
        for id in names:
            session = store.namespace(namespace).session(id, SPEC)
            for label in ("knowledge", "知識"):
                equal(
                    _search(session, "zebra", label),
                    f"[key]\nzebra of {label} in {namespace}-{id}",
                    f"what {namespace}-{id} finds in {label}",
                )
            equal(sorted(_found(session, "zebra", "shared")), ["by-one", "by-two"], "what is shared")
    plain = store.namespace("one").session("one")
    plain.append(say("m1", "zebra"))
    equal([hit.message_id for hit in plain.search("zebra")], ["m1"], "a search for messages")
    true(store.namespace("one").verify().clean, "verify is clean")


def entries_go_with_their_session_or_message(store: Store) -> None:
    session = store.session("s", SPEC)
    session.append(say("m1", "write it down"))
    tools = {tool.name: tool for tool in session.tools()}
    for label in ("knowledge", "shared"):
        given = {"label": label, "action": "replace", "content": "zebra", "metadata": {"title": "from m1"}}
        tools["set_context"].call(given, message_id="m1")
        session.put_entry(label, "mine", "zebra")
    session.clear()
    equal(sorted(_found(session, "zebra")), ["from-m1", "mine"], "after `clear`")
    session.append(say("m1", "again"))
    session.redact("m1")
    for label in ("knowledge", "shared"):
        equal(_found(session, "zebra", label), ["mine"], f"{label} after the message was redacted")
    store.delete_session("s")
    session.append(say("m1"))
    equal(_found(session, "zebra"), [], "after the session was deleted")
    equal(_found(session, "zebra", "shared"), ["mine"], "what belongs to the namespace")
    true(store.verify().clean, "verify is clean")


def many_may_write_the_same_entry(store: Store) -> None:
    def write(number: int) -> None:
        session = store.session("s", SPEC)
        for label in ("knowledge", "shared"):
            session.put_entry(label, "same", f"zebra number{number} " + "filler " * 300)
            session.put_entry(label, f"k{number}", f"zebra alone{number}")

    together([partial(write, number) for number in range(6)])
    session = store.session("s", SPEC)
    for label in ("knowledge", "shared"):
        equal(len(_found(session, "zebra", label)), 7, f"what is found in {label}")
        last = [number for number in range(6) if _found(session, f"number{number}", label)]
        equal(len(last), 1, f"whose write counts in {label}")
    true(store.verify().clean, "verify is clean")
