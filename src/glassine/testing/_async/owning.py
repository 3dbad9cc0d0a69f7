"""Sessions and namespaces: what belongs to whom, what a list shows, what a deletion takes along."""

from __future__ import annotations

import base64
from typing import Any

from glassine import AsyncStore, Lineage, SessionNotFoundError, Usage

from .._expecting import equal, ids, raises, say, says, true

_MEDIA = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 8).decode()


def _picture(id: str) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": _MEDIA}]}


async def nothing_crosses_between_namespaces(store: AsyncStore) -> None:
    names = ["a_b", "a%b", "aXb", "a", "A", "a_", "ab"]  # wildcards and prefixes of each other
    for name in names:
        session = store.namespace(name).session("s")
        await session.append([say("m1", name), _picture("m2")])
        await session.describe(title=name)
        await session.add_event("kind", name, id="e")
    await store.namespace("a_b").session("only here").append(say("m1"))
    for name in names:
        there = store.namespace(name)
        session = there.session("s")
        equal((await session.history())[0].text, name, f"the history in {name!r}")
        equal((await session.info()).title, name, "the title")
        equal([event.data for event in await session.events()], [name], "the events")
        expected = ["only here", "s"] if name == "a_b" else ["s"]
        equal([info.id for info in await there.sessions()], expected, f"the sessions of {name!r}")
    true(await store.namespace("a_b").delete_session("s"), "delete_session")
    equal(await store.namespace("a%b").was_deleted("s"), False, "was_deleted next door")
    for name in names[1:]:
        found = (await store.namespace(name).session("s").history())[1].to_dict()
        equal(found["parts"][0]["url"] == _MEDIA, True, f"the media of {name!r}")
    equal(await store.sessions(), [], "the namespace that the store was opened with")


async def another_namespace_cannot_touch_a_session(store: AsyncStore) -> None:
    mine, other = store.namespace("mine"), store.namespace("other")
    await mine.session("s").append(says("m1", "m2"))
    await mine.session("s").add_compaction("summary", "m1", "m1", id="o1")
    stranger = other.session("s")
    equal(await stranger.history(), [], "history")
    equal(await stranger.message("m1"), None, "message")
    equal((await stranger.delete("m1"), await stranger.clear()), (0, 0), "delete, clear")
    equal(await other.delete_session("s"), False, "delete_session")
    with raises(SessionNotFoundError):
        await stranger.info()
    await stranger.append(say("m1", "the stranger's"))
    equal(ids(await mine.session("s").history(raw=True)), ["m1", "m2"], "the owner's history")
    equal((await mine.session("s").history(raw=True))[0].text, "m1", "the owner's text")


async def sessions_are_listed_newest_write_first(store: AsyncStore) -> None:
    for id in ("s1", "s2", "s3"):
        await store.session(id).append(say("m1"))
    await store.session("s1").append(say("m2"))
    equal([info.id for info in await store.sessions()], ["s1", "s3", "s2"], "sessions")
    equal([info.id for info in await store.sessions(limit=2)], ["s1", "s3"], "sessions(limit=2)")
    equal(await store.sessions(limit=0), [], "sessions(limit=0)")


async def a_session_describes_itself(store: AsyncStore) -> None:
    session = store.session("s")
    await session.describe(
        title="題名\0 \ud800",
        source="claude-code",
        model="claude",
        lineage=Lineage("sidechain", "parent", "m7"),
        metadata={"cwd": "/家", "nul": "\0", "lone": "\ud800"},
    )
    await session.append(says("m1", "m2"))
    await session.append(say("x"), parent="m1")
    await session.describe(title="新しい題名")
    info = await session.info()
    equal((info.id, info.namespace, info.title), ("s", store.namespace_name, "新しい題名"), "id, namespace, title")
    equal((info.source, info.model), ("claude-code", "claude"), "what was not given stays")
    equal(info.lineage, Lineage("sidechain", "parent", "m7"), "lineage")
    equal(info.metadata, {"cwd": "/家", "nul": "\0", "lone": "\ud800"}, "metadata")
    equal((info.messages, info.path_length, info.leaf_id), (3, 2, "x"), "counts")
    equal(info.size, sum(len(message.encoded()[1]) for message in await session.history()), "size")
    true(info.created_at <= info.updated_at, "created_at is not after updated_at")
    equal((await store.sessions())[0], info, "what the list shows")


async def a_deleted_session_leaves_nothing(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append([*says("m1", "m2"), _picture("m3")])
    await session.append(say("big", "b" * 400_000))
    await session.add_compaction("summary", "m1", "m2", id="o1")
    await session.describe(title="title", metadata={"a": 1})
    await session.add_event("kind", "data", id="e1")
    await session.add_usage(Usage("u1", input_tokens=5))
    await session.delete("m2")
    equal(await store.was_deleted("s"), False, "was_deleted before")
    equal(await store.delete_session("s"), True, "delete_session")
    equal((await store.delete_session("s"), await store.was_deleted("s")), (False, True), "again; was_deleted")
    equal(await store.sessions(), [], "sessions")
    equal(await session.history(), [], "the history of a handle from before")
    await session.append(say("m1", "anew"))
    info = await session.info()
    equal((info.title, info.metadata, info.messages), (None, None, 1), "a session of the same id")
    equal((await session.events(), await session.usage(), await session.deletions()), ([], [], []), "what is beside")
    equal(await session.overlays(), [], "overlays")
    equal(await store.was_deleted("s"), False, "was_deleted after it was made again")
    true((await store.verify()).clean, "verify is clean")


async def shared_media_outlive_one_owner(store: AsyncStore) -> None:
    wire = _picture("m1")
    one, two = store.session("one"), store.session("two")
    await one.append([wire, {**wire, "id": "m2"}])
    await two.append(wire)

    async def still_there() -> None:
        found = await two.message("m1")
        true(found is not None and found.to_dict() == wire, "the other owner's picture is there")

    await one.delete("m1")
    await still_there()
    await one.update(say("m2", "no picture any more"))
    await still_there()
    await store.delete_session("one")
    await still_there()
    true((await store.verify()).clean, "verify is clean")


async def a_store_tells_what_it_holds(store: AsyncStore) -> None:
    await store.session("one").append(says("m1", "m2"))
    await store.session("two").append(say("m1"))
    await store.namespace("elsewhere").session("one").append(say("m1"))
    info = await store.info()
    equal((info.namespace, info.sessions, info.messages), (store.namespace_name, 2, 3), "this namespace")
    true({store.namespace_name, "elsewhere"} <= set(info.namespaces), "the namespaces")
    check = await store.verify()
    equal((check.sessions, check.messages, check.problems), (2, 3, ()), "verify")
