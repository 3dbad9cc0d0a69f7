"""Updating, deleting, clearing, redacting: the tree stays a tree, and the numbers stay right."""

from __future__ import annotations

import base64

from glassine import AsyncSession, AsyncStore, InvalidError, MessageNotFoundError, tool_call

from .._expecting import equal, ids, raises, say, says, true


async def _sound(session: AsyncSession) -> None:
    """What is counted equals what is there, for every path."""
    check = await session.verify()
    equal(check.problems, (), "what verify finds")
    outline = {item.id: item for item in await session.outline()}
    info = await session.info()
    equal(info.messages, len(outline), "info().messages")
    for id in outline:
        path = await session.history(id, raw=True)
        equal(await session.path_length(id), len(path), f"path_length({id!r})")
        equal(sum(outline[m.id].size for m in path), sum(len(m.encoded()[1]) for m in path), "bytes of the path")
        recent = await session.recent(0, leaf=id)
        if not await session.overlays():
            equal(recent.total_bytes, sum(outline[m.id].size for m in path), f"running total at {id!r}")


async def an_update_changes_content_and_totals(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    await session.append(say("x"), parent="m2")
    await session.switch("m3")
    for id in ("m3", "m1", "m2", "x"):
        await session.update(say(id, "長くなった " * 20, role="assistant"))
        found = await session.message(id)
        equal(found and (found.role, found.text), ("assistant", "長くなった " * 20), "the message")
        await _sound(session)
    equal(ids(await session.history()), ["m1", "m2", "m3"], "the place and the leaf")
    await session.update(say("m2", "", role="user"))
    await _sound(session)


async def an_update_at_the_end_of_a_strand_reaches_what_hangs_there(store: AsyncStore) -> None:
    # The strand of m1 ends with it once m2 is gone, and a branch hangs on it all the same.
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(says("x1", "x2"), parent="m1")
    await session.switch("m1")
    await session.delete("m2")
    await session.update(say("m1", "longer than it was"))
    await _sound(session)


async def an_update_needs_a_stored_message(store: AsyncStore) -> None:
    session = store.session("s")
    with raises(MessageNotFoundError):
        await session.update(say("m1"))
    equal(await store.sessions(), [], "a refused update makes no session")
    await session.append(say("m1"))
    with raises(MessageNotFoundError):
        await session.update(say("m2"))
    with raises(InvalidError):
        await session.update({"role": "user", "parts": []})


async def deleting_an_inner_message_keeps_what_follows(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3", "m4"))
    await session.append(say("x"), parent="m2")
    await session.switch("m4")
    equal(await session.delete("m2"), 1, "delete")
    equal(ids(await session.history()), ["m1", "m3", "m4"], "history")
    equal(ids(await session.branches("m1")), ["m3", "x"], "the children moved up")
    equal(await session.message("m2"), None, "message")
    await _sound(session)
    await session.append(say("m2", "again"), parent="m1")
    equal(ids(await session.branches("m1")), ["m3", "x", "m2"], "a deleted id can be appended anew")
    await _sound(session)


async def deleting_the_leaf_goes_back_to_its_parent(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("root"))
    await session.append(say("a1"), parent="root")
    await session.append(say("b1"), parent="root")
    await session.append(say("a2"), parent="a1")
    await session.append(say("b2"), parent="b1")
    await session.delete("b2")
    equal(ids(await session.history()), ["root", "b1"], "not a2, though it is newer than b1")
    await session.append(say("b3"))
    equal(ids(await session.history()), ["root", "b1", "b3"], "history")
    await _sound(session)


async def deleting_a_root_makes_roots_of_its_children(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(say("x"), parent="m1")
    equal(await session.delete("m1"), 1, "delete")
    equal(ids(await session.branches(None)), ["m2", "x"], "roots")
    equal(ids(await session.history()), ["x"], "history")
    await _sound(session)
    equal(await session.delete("x"), 1, "deleting an active root")
    equal(await session.leaf(), None, "no leaf is left")
    equal(ids(await session.history("m2")), ["m2"], "the other root")
    await _sound(session)
    await session.append(say("fresh"))
    equal(ids(await session.branches(None)), ["m2", "fresh"], "what is appended then is a root")


async def many_are_deleted_at_once(store: AsyncStore) -> None:
    session = store.session("s")
    names = [f"m{number}" for number in range(60)]
    await session.append(says(*names))
    await session.append(says("x1", "x2"), parent="m30")
    equal(await session.delete([*names[5:50:2], "ghost", "x1"]), 24, "delete")
    equal(ids(await session.history("m59")), [*names[:5], *names[6:50:2], *names[50:]], "history")
    equal(ids(await session.history()), [*names[:5], *names[6:31:2], "x2"], "the branch")
    await _sound(session)
    left = [item.id for item in await session.outline()]
    equal(await session.delete(left), len(left), "deleting all that is left")
    equal((await session.history(), await session.path_length()), ([], 0), "what is left")
    await session.append(say("m1", "anew"))
    await _sound(session)


async def deleting_what_is_not_there_does_nothing(store: AsyncStore) -> None:
    session = store.session("s")
    equal(await session.delete("ghost"), 0, "delete without a session")
    equal(await session.clear(), 0, "clear without a session")
    await session.append(say("m1"))
    before = await session.info()
    equal((await session.delete(["ghost", "m2"]), await session.delete([])), (0, 0), "delete")
    equal(await session.info(), before, "the session")


async def clearing_leaves_an_empty_session(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    await session.append(say("x"), parent="m1")
    await session.add_compaction("summary", "m1", "m2")
    await session.describe(title="kept")
    equal(await session.clear(), 4, "clear")
    equal((await session.history(), await session.leaf(), await session.overlays()), ([], None, []), "what is left")
    info = await session.info()
    equal((info.title, info.messages, info.path_length, info.size), ("kept", 0, 0, 0), "info")
    await session.append(say("m1", "anew"))
    equal((await session.history())[0].text, "anew", "an id of before")
    await _sound(session)


async def redacting_leaves_the_place_alone(store: AsyncStore) -> None:
    session = store.session("s")
    secret = "秘密の鍵 hunter2"
    media = "data:image/png;base64," + base64.b64encode(b"secret" * 400).decode()
    await session.append(say("m1"))
    await session.append(
        {
            "id": "m2",
            "role": "assistant",
            "parts": [
                {"type": "text", "text": secret},
                tool_call("send", {"body": secret}, id="t1"),
                {"type": "file", "mediaType": "image/png", "url": media},
            ],
            "metadata": {"note": secret},
            "extra": secret,
        }
    )
    await session.append([say("m3"), say("m4")])
    await session.add_compaction(f"about {secret}", "m1", "m3", id="o1")
    await session.describe(title=secret)
    equal(await session.redact("m2"), ("o1",), "the summaries that went")
    equal(ids(await session.history()), ["m1", "m2", "m3", "m4"], "history")
    left = await session.message("m2")
    true(left is not None, "the message is there")
    wire = left.to_dict() if left else {}
    true("hunter2" not in repr(wire) and "base64" not in repr(wire), "nothing of its content is left")
    equal((wire["role"], [p.get("toolCallId") for p in wire["parts"]]), ("assistant", ["t1"]), "its role and call")
    equal((await session.info()).title, None, "a title that told it")
    equal([item.id for item in await session.deletions()], ["o1"], "deletions")
    await _sound(session)
    with raises(MessageNotFoundError):
        await session.redact("ghost")


async def every_change_is_counted(store: AsyncStore) -> None:
    session = store.session("s")
    seen = [0]

    async def grew(what: str) -> None:
        change = (await session.info()).change
        true(change > seen[-1], f"{what} raises the change number")
        seen.append(change)

    await session.append(says("m1", "m2", "m3"))
    await grew("append")
    await session.update(say("m1", "other"))
    await grew("update")
    await session.switch("m2")
    await grew("switch")
    await session.add_compaction("summary", "m1", "m2", id="o1")
    await grew("add_compaction")
    await session.undo("o1")
    await grew("undo")
    await session.delete("m2")
    await grew("delete")
    await session.redact("m1")
    await grew("redact")
    await session.describe(title="title")
    await grew("describe")
    await session.add_event("kind", {"a": 1})
    await grew("add_event")
    await session.ingest([*await session.history(), say("m9")])
    await grew("ingest")
    await session.clear()
    await grew("clear")
