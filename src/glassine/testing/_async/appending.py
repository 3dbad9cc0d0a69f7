"""Appending: what is stored, under which id, and what happens the second time."""

from __future__ import annotations

from datetime import UTC, datetime

from glassine import (
    AsyncStore,
    ConflictError,
    InvalidIdError,
    LeafMovedError,
    Message,
    MessageNotFoundError,
    SessionNotFoundError,
    user,
)

from .._expecting import equal, ids, raises, say, says, true
from .._together import together_async


async def an_empty_session_holds_nothing(store: AsyncStore) -> None:
    session = store.session("s")
    equal(await session.history(), [], "history")
    equal([message.id async for message in session.iter_history()], [], "iter_history")
    equal(await session.leaf(), None, "leaf")
    equal(await session.path_length(), 0, "path_length")
    equal(await session.branches(None), [], "roots")
    equal(await session.message("x"), None, "message")
    equal(await session.outline(), [], "outline")
    equal(await session.overlays(), [], "overlays")
    recent = await session.recent(5)
    equal((list(recent), recent.cut, recent.total_messages, recent.total_bytes), ([], False, 0, 0), "recent")
    equal((await session.events(), await session.usage(), await session.deletions()), ([], [], []), "what is beside")
    true((await session.verify()).clean, "verify is clean")
    with raises(SessionNotFoundError):
        await session.info()
    equal(await session.append([]), [], "an empty batch")
    equal(await store.sessions(), [], "reading, and appending nothing, creates no session")


async def what_is_appended_comes_back(store: AsyncStore) -> None:
    session = store.session("s")
    wire = {
        "id": "m1",
        "role": "assistant",
        "parts": [
            {"type": "text", "text": "見てみます"},
            {"type": "tool-call", "toolCallId": "t", "toolName": "look", "input": {"path": "a", "深さ": 2}},
            {"type": "tool-look", "toolCallId": "u", "state": "output-available", "input": {}, "output": [1, None]},
            {"type": "from-the-future", "data": {"nested": [True, 1.5, ""]}},
        ],
        "createdAt": "2026-01-31T21:00:00.123456+09:00",
        "metadata": {"origin": {"kind": "shell"}, "空": {}},
        "unknownField": ["kept"],
    }
    stored = await session.append(wire)
    equal(stored.to_dict(), wire, "what append returns")
    for found in (await session.message("m1"), await session.leaf(), (await session.history())[0]):
        equal(found and found.to_dict(), wire, "what is read")
    true(stored.created_at == datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC), "created_at is the same moment")
    bare = await session.append(Message(role="user", parts=[]))
    equal((bare.created_at, bare.metadata), (None, None), "what the caller left out")


async def ids_are_minted_and_differ(store: AsyncStore) -> None:
    session = store.session("s")
    stored = await session.append([user("same"), user("same"), user("same")])
    true(all(ids(stored)) and len(set(ids(stored))) == 3, "each message has an id of its own")
    equal(ids(await session.history()), ids(stored), "history")


async def a_batch_is_a_chain_below_the_leaf(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1"))
    await session.append(says("m2", "m3"))
    equal(ids(await session.history()), ["m1", "m2", "m3"], "history")
    equal([item.parent_id for item in await session.outline()], [None, "m1", "m2"], "parents")


async def the_same_again_does_nothing(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    await session.append(say("x"), parent="m1")
    before = await session.info()
    await session.append(say("m2"))
    await session.append(say("m2"), parent="m1")
    await session.append(say("m1"), parent=None)
    await session.append(says("m1", "m2", "m3"))
    equal(await session.info(), before, "the session")
    equal(ids(await session.history()), ["m1", "x"], "the active path")


async def the_same_id_with_other_content_is_a_conflict(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1"))
    for other in (say("m1", "other"), say("m1", role="assistant"), {**say("m1"), "metadata": {"a": 1}}):
        with raises(ConflictError) as caught:
            await session.append(other)
        equal((caught.error.message_id, caught.error.session_id), ("m1", "s"), "what the error names")
    equal((await session.history())[0].text, "m1", "the stored text")


async def the_same_id_below_another_parent_is_a_conflict(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    for parent in ("m2", None):
        with raises(ConflictError):
            await session.append(say("m2"), parent=parent)
    equal(ids(await session.history()), ["m1", "m2", "m3"], "history")


async def a_batch_goes_on_from_what_is_stored(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(says("m2", "m3", "m3", "m4"))
    equal(ids(await session.history()), ["m1", "m2", "m3", "m4"], "history")
    await session.append(says("m2", "x"), parent="m1")
    equal(ids(await session.history()), ["m1", "m2", "x"], "a retried batch that has grown")


async def a_batch_is_stored_whole_or_not_at_all(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1"))
    before = await session.info()
    with raises(ConflictError):
        await session.append([say("m2"), say("m3"), say("m1", "other")])
    equal(await session.info(), before, "the session")
    equal(ids(await session.history()), ["m1"], "history")


async def a_message_id_belongs_to_its_session(store: AsyncStore) -> None:
    one, two = store.session("one"), store.session("two")
    await one.append(say("1", "of one"))
    await two.append(say("1", "of two"))
    equal([(await one.history())[0].text, (await two.history())[0].text], ["of one", "of two"], "the texts")
    with raises(MessageNotFoundError):
        await two.append(say("2"), parent="only in one")


async def an_expected_leaf_must_hold(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("m1"), expect_leaf=None)
    with raises(LeafMovedError) as caught:
        await session.append(say("m2"), expect_leaf=None)
    equal((caught.error.expected, caught.error.actual), (None, "m1"), "what the error says")
    await session.append(say("m2"), expect_leaf="m1")
    await session.append(say("m2"), expect_leaf="m1")  # a retry of what did commit
    with raises(LeafMovedError):
        await session.append(says("m2", "m3"), expect_leaf="m1")
    with raises(LeafMovedError):
        await store.session("new").append(say("m1"), expect_leaf="m0")
    equal(ids(await session.history()), ["m1", "m2"], "history")
    equal([info.id for info in await store.sessions()], ["s"], "a refused append makes no session")


async def order_is_that_of_appending(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("root"))
    for number in range(5):  # the callers' clocks run backwards
        await session.append({**say(f"m{number}"), "createdAt": f"2026-01-0{9 - number}T00:00:00Z"}, parent="root")
    equal(ids(await session.branches("root")), [f"m{number}" for number in range(5)], "branches")


async def parallel_appends_make_one_chain(store: AsyncStore) -> None:
    session = store.session("s")

    async def work(worker: int) -> None:
        mine = store.session("s")
        for number in range(10):
            await mine.append(says(f"{worker}-{number}-call", f"{worker}-{number}-result"))

    await together_async([lambda worker=worker: work(worker) for worker in range(8)])  # type: ignore[misc]
    path = ids(await session.history())
    equal((len(path), len(set(path)), (await session.info()).messages), (160, 160, 160), "messages")
    for index in range(0, 160, 2):
        equal(path[index + 1], path[index].replace("call", "result"), "what follows a call")
    for worker in range(8):
        mine = [id for id in path if id.startswith(f"{worker}-") and id.endswith("call")]
        equal(mine, [f"{worker}-{number}-call" for number in range(10)], "the order of one writer")


async def unusual_ids_are_kept_apart(store: AsyncStore) -> None:
    session = store.session("s")
    unusual = [
        "a",
        "A",
        "a b",
        "a_b",
        "a%b",
        "é",
        "e\u0301",
        "👩‍👩‍👧",
        "会議",
        "../x",
        "it's",
        '"q"',
        "x" * 512,
        "会" * 170,
    ]
    await session.append(says(*unusual))
    equal(ids(await session.history()), unusual, "history")
    for id in unusual:
        found = await session.message(id)
        equal(found and found.text, id, f"message {id!r}")


async def ids_outside_the_rule_are_refused(store: AsyncStore) -> None:
    session = store.session("s")
    for id in (" ", "\t", " a", "a ", "a\n", "\u3000a", "a\x00b", "a\x1fb", "\x7f", "x" * 513, "会" * 171, "\ud800"):
        with raises(InvalidIdError) as caught:
            await session.append(say(id, "text"))
        equal((caught.error.kind, caught.error.value), ("message", id), "what the error names")
        for kind, make in (("session", store.session), ("namespace", store.namespace)):
            with raises(InvalidIdError) as caught:
                make(id)
            equal((caught.error.kind, caught.error.value), (kind, id), "what the error names")
    with raises(InvalidIdError):
        store.session("")
    equal(await store.sessions(), [], "sessions")
