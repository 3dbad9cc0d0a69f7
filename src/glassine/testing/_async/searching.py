"""Searching: what was said is found, in any language, and what is gone is not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from glassine import AsyncStore, Hit, Hits, InvalidError, Lineage, tool_call, tool_result

from .._expecting import equal, raises, say, true
from .._together import together_async

_NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def _found(hits: Iterable[Hit]) -> list[str]:
    """The ids in order; `~` stands before what contains only some of the words."""
    return [("" if hit.strict else "~") + hit.message_id for hit in hits]


async def any_language_is_found(store: AsyncStore) -> None:
    session = store.session("s")
    texts = {
        "zh": "明天下午三点开项目评审会议",
        "mixed": "修改youer服务端的计划",
        "ja": "コンピューターの設定をﾊﾞｯｸｱｯﾌﾟする",
        "ko": "데이터베이스를 백업합니다",
        "th": "ฉันชอบกินข้าว",
        "fr": "Le Café de l’Été, straße",
        "wide": "ＳＱＬｉｔｅ３の行を追加",
        "he": "שלום עולם",
        "ru": "Быстрая проверка",
    }
    await session.append([say(id, text) for id, text in texts.items()])
    for query, id in {
        "项目评审": "zh",
        "项目": "zh",
        "项": "zh",
        "议": "zh",
        "youer": "mixed",
        "YOUER服务端": "mixed",
        "计划": "mixed",
        "コンピュータ": "ja",
        "バックアップ": "ja",
        "設定": "ja",
        "데이터": "ko",
        "백업": "ko",
        "ข้าว": "th",
        "cafe": "fr",
        "ÉTÉ": "fr",
        "STRASSE": "fr",
        "sqlite3": "wide",
        "追加": "wide",
        "行": "wide",
        "עולם": "he",
        "проверка": "ru",
    }.items():
        equal(_found(await session.search(query)), [id], f"search({query!r})")
    equal(_found(await session.search("ガ")), [], "a voiced kana is another letter")


async def every_message_with_a_word_is_found(store: AsyncStore) -> None:
    session = store.session("s")
    names = [f"m{number}" for number in range(16)]
    await session.append([say(name, f"第{number}回の会議は{'評価' * 3}です") for number, name in enumerate(names)])
    for query in ("会議", "評", "の"):
        equal(sorted(_found(await session.search(query))), sorted(names), f"search({query!r})")


async def all_words_must_occur(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(
        [
            say("both", "Deploy of the billing service failed"),
            say("one", "The billing page"),
            say("other", "It failed"),
            say("none", "Deploy again"),
        ]
    )
    for search in (session.search, store.search):
        equal(_found(await search("billing failed"))[:1], ["both"], "apart from each other")
        equal(sorted(_found(await search("failed BILLING"))), ["both", "~one", "~other"], "in any order")
        equal(_found(await search('"billing service" fails')), ["both", "~other"], "a phrase, and another form")
        equal("both" in _found(await search('"billing failed"')), False, "a phrase means side by side")
    strict = [hit.strict for hit in await session.search("the billing deploy")]
    equal(strict, sorted(strict, reverse=True), "what has all words comes first")


async def any_text_is_a_query(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1", "alpha beta"))
    queries = [
        '"alpha',
        'alpha"',
        "alpha*",
        "-alpha",
        "^alpha",
        "(alpha",
        "text:alpha",
        "alpha AND",
        "NOT alpha",
        "al'",
    ]
    queries += ["NEAR(alpha beta)", "{text} : alpha", "alpha\0beta", "\\alpha", "alpha:*", "alpha <-> beta", "alpha|x"]
    for query in queries:
        hits = await session.search(query)
        true(hits.searchable, f"{query!r} can be searched")
        equal(_found(hits) in (["m1"], ["~m1"]), query != "al'", f"search({query!r}) finds it")
    equal(_found(await session.search("alpha " * 20_000)), ["m1"], "a query of 100 KB")


async def nothing_searchable_is_no_miss(store: AsyncStore) -> None:
    session = store.session("s")
    for query in ("", " \n", "!?", "👍🏽", '""', "***", "\0", "\ud800", "、。"):
        hits = await session.search(query)
        equal((len(hits), hits.searchable), (0, False), f"search({query!r}) without a session")
    equal((await session.search("absent")).searchable, True, "a word that is not there")
    await session.append(say("m1", "a 👍"))
    equal((await store.search("👍")).searchable, False, "an emoji that is there")
    equal((await store.search("👍 a")).searchable, True, "an emoji beside a letter")


async def what_is_gone_is_not_found(store: AsyncStore) -> None:
    async def looked_for(word: str) -> list[str]:
        here = [hit for id in ("s", "t") for hit in await store.session(id).search(word)]
        apart = await store.namespace("another").search(word)
        return _found([*here, *await store.search(word), *apart])

    session, other = store.session("s"), store.session("t")
    words = ["春雨", "夏祭り", "秋刀魚", "冬至", "正月"]
    await session.append([say(f"m{number}", word) for number, word in enumerate(words)])
    await other.append(say("t1", "七夕"))
    for word in words:
        equal(len(await looked_for(word)), 2, f"{word!r} before")
    await session.update(say("m0", "改めた"))
    equal(await looked_for("春雨"), [], "what was updated")
    equal(await looked_for("改めた"), ["m0", "m0"], "the new text")
    await session.delete("m1")
    equal(await looked_for("夏祭り"), [], "what was deleted")
    await session.redact("m2")
    equal(await looked_for("秋刀魚"), [], "what was redacted")
    await store.reindex()
    for word in words[:3]:
        equal(await looked_for(word), [], f"{word!r} after reindex")
    equal(await looked_for("冬至"), ["m3", "m3"], "what stayed, after reindex")
    await session.clear()
    equal(await looked_for("冬至"), [], "what was cleared")
    await session.append(say("m1", "花見"))
    equal(await looked_for("花見"), ["m1", "m1"], "what came after clear")
    await store.delete_session("t")
    equal(await looked_for("七夕"), [], "what went with its session")
    await other.append(say("t1", "別の話"))
    equal(await looked_for("七夕"), [], "a session made anew")
    equal((await store.verify()).problems, (), "what verify finds")


async def namespaces_are_apart(store: AsyncStore) -> None:
    apart = store.namespace("apart")
    await store.session("s").append(say("m1", "alpha ours"))
    await apart.session("s").append(say("m1", "alpha theirs"))
    for where, mine in ((store, "ours"), (apart, "theirs")):
        for hits in (await where.search("alpha"), await where.session("s").search("alpha")):
            equal([hit.snippet for hit in hits], [f"«alpha» {mine}"], "snippets")
    await apart.delete_session("s")
    equal(_found(await store.search("alpha")), ["m1"], "after the other is gone")


async def a_hit_says_where_it_stands(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append([say("q", "alpha question"), say("a1", "alpha first", "assistant")])
    await session.append(say("a2", "alpha second", "assistant"), parent="q")

    async def standing(**options: Any) -> dict[str, tuple[bool, bool]]:
        return {hit.message_id: (hit.active, hit.summarised) for hit in await session.search("alpha", **options)}

    equal(await standing(), {"q": (True, False), "a1": (False, False), "a2": (True, False)}, "all branches")
    equal(await standing(scope="path"), {"q": (True, False), "a2": (True, False)}, "the active path")
    await session.switch("a1")
    equal(await standing(scope="path"), {"q": (True, False), "a1": (True, False)}, "after a switch")
    await session.add_compaction("summary", "q", "a1", id="o1")
    equal(await standing(), {"q": (True, True), "a1": (True, True), "a2": (False, False)}, "under a summary")
    await session.undo("o1")
    equal((await standing())["q"], (True, False), "after undo")
    with raises(ValueError):
        await session.search("alpha", scope="branch")  # type: ignore[arg-type]
    hit = (await store.search("second"))[0]
    equal((hit.session_id, hit.role, hit.kind, hit.part), ("s", "assistant", "text", 0), "the rest of a hit")


async def kinds_and_roles_are_told_apart(store: AsyncStore) -> None:
    session = store.session("s")
    step = [{"type": "reasoning", "text": "kiwi"}, {"type": "text", "text": "kiwi"}]
    await session.append(say("ask", "kiwi?"))
    await session.append({"id": "step", "role": "assistant", "parts": [*step, tool_call("look", {"q": "桃"}, id="c1")]})
    await session.append(tool_result("c1", [{"type": "text", "text": "梨 kiwi"}], name="look", id="got"))
    equal(sorted(_found(await session.search("kiwi"))), ["ask", "got", "step"], "kiwi")
    for kinds, ids in {
        ("text",): ["ask", "step"],
        ("reasoning",): ["step"],
        ("tool_output",): ["got"],
        ("tool_input",): [],
        ("reasoning", "tool_output"): ["got", "step"],
        (): [],
    }.items():
        hits = await session.search("kiwi", kinds=kinds)  # type: ignore[arg-type]
        equal(sorted(_found(hits)), ids, f"kiwi in {kinds}")
        true(all(hit.kind in kinds for hit in hits), f"hits say so for {kinds}")
    for query, kind in (("桃", "tool_input"), ("梨", "tool_output"), ("look", "tool_input")):
        equal([hit.kind for hit in await session.search(query)], [kind], f"the kind of {query!r}")
    equal((await session.search("桃"))[0].part, 2, "the part")
    equal(_found(await store.search("kiwi", roles=["tool", "user"])).count("step"), 0, "roles")
    equal(_found(await session.search("kiwi", roles=["assistant"])), ["step"], "one role")
    equal(_found(await session.search("kiwi", roles=[])), [], "no role")
    with raises(ValueError):
        await session.search("kiwi", kinds=["title"])  # type: ignore[list-item]
    with raises(ValueError):
        await store.search("kiwi", roles=["developer"])  # type: ignore[list-item]


async def times_bound_a_search(store: AsyncStore) -> None:
    session = store.session("s")
    hour = timedelta(hours=1)
    for number in range(4):
        await session.append({**say(f"m{number}", "alpha"), "createdAt": (_NOON + number * hour).isoformat()})
    await session.append(say("undated", "alpha"))

    async def between(since: datetime | None = None, until: datetime | None = None) -> list[str]:
        return sorted(_found(await session.search("alpha", since=since, until=until)))

    equal(await between(until=_NOON + 4 * hour), ["m0", "m1", "m2", "m3"], "until then")
    equal(await between(_NOON + hour, _NOON + 2 * hour), ["m1"], "from the one on, not to the other")
    true("undated" in await between(_NOON + 10 * hour), "one without a time has that of its storing")
    with raises(InvalidError):
        await session.search("alpha", since=datetime(2026, 1, 1))  # noqa: DTZ001  that is what is refused


async def a_limit_keeps_the_best(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append([say(f"m{number}", f"alpha {'pad ' * number}") for number in range(30)])
    await session.append(say("two", "alpha beta"))
    equal(len(await session.search("alpha")), 20, "the default")
    equal(len(await session.search("alpha", 100)), 31, "all")
    equal(_found(await session.search("alpha beta", 1)), ["two"], "the best")
    equal(_found(await session.search("alpha beta", 3))[0], "two", "the best first")
    empty = await session.search("alpha", 0)
    equal((len(empty), empty.searchable), (0, True), "a limit of 0")
    with raises(ValueError):
        await store.search("alpha", -1)
    scores = [hit.score for hit in await store.search("alpha", 100)]
    equal(scores, sorted(scores, reverse=True), "scores")


async def a_forks_copies_are_one_hit(store: AsyncStore) -> None:
    for id, parent in (("a", ""), ("b", "a"), ("c", "b"), ("alone", ""), ("side", "a")):
        session = store.session(id)
        await session.append([say("m1", "alpha said"), say("m2", f"beta in {id}")])
        if parent:
            kind: Any = "sidechain" if id == "side" else "fork"
            await session.describe(lineage=Lineage(kind, parent, "m1"))

    async def groups(query: str, limit: int = 20) -> list[tuple[str, list[str]]]:
        return sorted((hit.session_id, sorted(hit.copies)) for hit in await store.search(query, limit))

    equal(await groups("alpha"), [("a", ["b", "c"]), ("alone", []), ("side", [])], "one text")
    equal([found for found in await groups("alpha", 1) if found[0] in "abc"] in ([], [("a", ["b", "c"])]), True, "one")
    equal(len(await groups("beta")), 5, "an id that has another text in each")
    equal(len(await store.session("b").search("alpha")), 1, "within the fork")
    await store.session("a").update(say("m1", "alpha said, and more"))
    equal(
        [found for found in await groups("alpha") if found[0] in "abc"], [("a", []), ("b", ["c"])], "an edited origin"
    )
    await store.session("a").delete("m1")
    equal([found for found in await groups("alpha") if found[0] in "abc"], [("b", ["c"])], "a deleted one")


async def a_long_message_is_found_by_any_of_its_words(store: AsyncStore) -> None:
    session = store.session("s")
    filler = [f"w{number}x" for number in range(20_000)]
    await session.append(say("long", f"aardvark {' '.join(filler)} zebra 終端"))
    await session.append(say("short", "aardvark"))
    for search in (session.search, store.search):
        equal(_found(await search("aardvark zebra"))[:1], ["long"], "the first and the last word")
        equal(_found(await search("w100x w19000x 終端")), ["long"], "three words far apart")
        equal("long" in _found(await search("aardvark absent")), False, "strictly, with a word that is not there")
    for start in range(0, 19_990, 1_111):
        phrase = " ".join(filler[start : start + 5])
        equal(_found(await session.search(f'"{phrase}"'))[:1], ["long"], f"the phrase at {start}")
    equal(_found(await session.search('"zebra w0x"')).count("long"), 0, "the ends are not side by side")
    snippet = (await session.search("終端"))[0].snippet
    true("zebra «終端»" in snippet and len(snippet) < 250, "a short piece of it is shown")
    await session.delete("long")
    equal(_found(await session.search("w100x")), [], "all of it goes")


async def a_snippet_shows_the_text_as_it_was_written(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1", "Über ＡＰＩ\t«quoted» 項目の\nCAFÉ"))
    hit = (await session.search("api café"))[0]
    equal(hit.snippet, "Über «ＡＰＩ»\t«quoted» 項目の\n«CAFÉ»", "snippet")
    equal([hit.excerpt.text[a:b] for a, b in hit.excerpt.marks], ["ＡＰＩ", "CAFÉ"], "marks")
    await session.append(say("m2", "前置き。" * 500 + "目印です。" + "後書き。" * 500))
    hit = (await session.search("目印"))[0]
    true(hit.snippet.startswith("…") and hit.snippet.endswith("…") and "«目印»" in hit.snippet, "a piece of a long one")


async def what_a_client_hands_in_is_found(store: AsyncStore) -> None:
    session = store.session("s")
    await session.ingest([say("m1", "alpha"), say("m2", "beta", "assistant")])
    equal(_found(await session.search("alpha")), ["m1"], "what was ingested")
    await session.ingest([say("m1", "gamma"), say("m2", "beta", "assistant"), say("m3", "alpha")])
    equal((_found(await session.search("gamma")), _found(await session.search("alpha"))), (["m1"], ["m3"]), "changed")


async def others_may_write_while_one_searches(store: AsyncStore) -> None:
    results: list[Hits] = []

    async def write(name: str) -> None:
        for number in range(40):
            await store.session(name).append(say(f"{name}{number}", f"alpha {name}"))

    async def look() -> None:
        results.extend([await store.search("alpha", 1000) for _ in range(20)])

    await together_async([lambda: write("a"), look, lambda: write("b"), look])
    equal(len(await store.search("alpha", 1000)), 80, "in the end")
    for hits in results:
        for name in "ab":
            numbers = sorted(int(hit.message_id[1:]) for hit in hits if hit.session_id == name)
            equal(numbers, list(range(len(numbers))), "what was stored before is found, without a gap")
