"""Reading paths: whole, page by page, and from the end."""

from __future__ import annotations

from glassine import AsyncStore, assistant, tool_call, tool_result, user

from .._expecting import equal, ids, raises, say, says, true


async def long_paths_come_whole_and_in_order(store: AsyncStore) -> None:
    session = store.session("s")
    names: list[str] = []
    for upto in (255, 256, 257, 513, 1200):
        batch = [f"m{number}" for number in range(len(names), upto)]
        await session.append(says(*batch))
        names += batch
        equal(ids(await session.history()), names, f"history of {upto}")
        equal([m.id async for m in session.iter_history()], names, f"iter_history of {upto}")
        equal([m.id async for m in session.iter_history(newest_first=True)], names[::-1], f"newest first of {upto}")
        equal(await session.path_length(), upto, "path_length")
    await session.append(say("x"), parent="m300")
    equal([m.id async for m in session.iter_history()], [*names[:301], "x"], "a branch off a long path")


async def large_messages_come_whole(store: AsyncStore) -> None:
    session = store.session("s")
    texts = ["a" * 2_500_000, "山" * 100_000, "b" * 2_500_000]
    await session.append([say(f"m{number}", text) for number, text in enumerate(texts)])
    equal([message.text for message in await session.history()] == texts, True, "the texts are as they were")
    found = [message.text async for message in session.iter_history(newest_first=True)]
    equal(found == texts[::-1], True, "the texts, newest first, are as they were")


async def a_path_through_many_branches(store: AsyncStore) -> None:
    session = store.session("s")
    expected: list[str] = []
    for number in range(40):
        await session.append(say(f"m{number}"))
        expected.append(f"m{number}")
        await session.append(says(f"off{number}", f"far{number}"))
        await session.switch(f"m{number}")
    equal(ids(await session.history()), expected, "history")
    equal([m.id async for m in session.iter_history(newest_first=True)], expected[::-1], "newest first")
    equal(ids(await session.history("far3")), ["m0", "m1", "m2", "m3", "off3", "far3"], "an early branch")
    equal(ids(await session.recent(3)), expected[-3:], "recent")


async def recent_counts_messages(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3", "m4"))
    size = len(b'{"id":"m1","role":"user","parts":[{"type":"text","text":"m1"}]}')
    for limit, expected in ((0, []), (1, ["m4"]), (3, ["m2", "m3", "m4"]), (4, ["m1", "m2", "m3", "m4"])):
        recent = await session.recent(limit)
        equal(ids(recent), expected, f"recent({limit})")
        equal((recent.cut, recent.total_messages, recent.total_bytes), (limit < 4, 4, 4 * size), "what it reports")
    equal(ids(await session.recent()), ["m1", "m2", "m3", "m4"], "recent without a limit")
    equal(ids(await session.recent(2, leaf="m3")), ["m2", "m3"], "recent at another leaf")


async def recent_counts_bytes(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append([say("m1", "x" * 5000), say("m2", "山" * 100), say("m3"), say("m4")])
    sizes = [item.size for item in await session.outline()]
    true(sizes[1] > 300, "a character of three bytes counts three")
    whole = await session.recent(max_bytes=sum(sizes))
    equal((ids(whole), whole.cut), (["m1", "m2", "m3", "m4"], False), "a budget that fits all")
    equal(ids(await session.recent(max_bytes=sum(sizes) - 1)), ["m2", "m3", "m4"], "a byte less")
    equal(ids(await session.recent(max_bytes=sizes[3] + sizes[2])), ["m3", "m4"], "an exact budget")
    equal(ids(await session.recent(max_bytes=1)), ["m4"], "the leaf, even over budget")
    equal(ids(await session.recent(max_bytes=1, min_messages=3)), ["m2", "m3", "m4"], "a floor of messages")
    equal(ids(await session.recent(max_bytes=1, min_messages=0)), [], "no floor")
    equal(ids(await session.recent(2, max_bytes=1, min_messages=3)), ["m3", "m4"], "both limits")


async def negative_limits_are_refused(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    with raises(ValueError):
        await session.recent(-1)
    with raises(ValueError):
        await session.recent(max_bytes=-1)
    with raises(ValueError):
        await session.recent(min_messages=-1)
    with raises(ValueError):
        await store.sessions(limit=-1)


async def a_paused_reader_holds_up_nobody(store: AsyncStore) -> None:
    session = store.session("s")
    names = [f"m{number}" for number in range(600)]
    await session.append(says(*names))
    seen: list[str] = []
    async for message in session.iter_history():
        if not seen:
            await session.append(say("later"))
            await session.switch("m2")
        seen.append(message.id)
    equal(seen, names, "what the reader sees: the path as it was when it began")
    await session.delete("m1")


async def the_outline_is_the_whole_tree(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(say("x", role="assistant"), parent="m1")
    await session.append(say("r"), parent=None)
    outline = await session.outline()
    equal(
        [(item.id, item.parent_id, item.role) for item in outline],
        [("m1", None, "user"), ("m2", "m1", "user"), ("x", "m1", "assistant"), ("r", None, "user")],
        "outline",
    )
    wire = await session.message("m1")
    equal(outline[0].size, len(wire.encoded()[1]) if wire else None, "the size of a message")


async def recent_counts_whole_turns(store: AsyncStore) -> None:
    session = store.session("s")
    call = tool_call("read", {}, id="c")
    for turn in range(3):
        await session.append(
            [
                user(f"question {turn}", id=f"q{turn}"),
                assistant(call, id=f"k{turn}"),
                user(tool_result(call, "text").parts[0], id=f"r{turn}"),
                assistant("answer", id=f"a{turn}"),
            ]
        )
    equal(ids((await session.recent(max_turns=1)).messages), ["q2", "k2", "r2", "a2"], "one turn")
    two = await session.recent(max_turns=2)
    equal((len(two.messages), two.messages[0].id, two.cut), (8, "q1", True), "two turns")
    equal(len((await session.recent(6, max_turns=2)).messages), 6, "the narrower limit holds")
    equal(len((await session.recent(max_turns=9)).messages), 12, "all turns")
    equal((await session.recent(max_turns=0)).messages, (), "no turn")
