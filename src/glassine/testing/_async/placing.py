"""Where a message goes in the tree, and which leaf is the active one."""

from __future__ import annotations

from glassine import AsyncStore, InvalidIdError, MessageNotFoundError, SessionNotFoundError, user

from .._expecting import equal, ids, raises, say, says


async def a_named_parent_makes_a_branch(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    await session.append(says("x1", "x2"), parent="m1")
    await session.append(say("y1"), parent="m1")
    equal(ids(await session.history()), ["m1", "y1"], "the newest branch is the active path")
    equal(ids(await session.history("m3")), ["m1", "m2", "m3"], "history('m3')")
    equal(ids(await session.history("x1")), ["m1", "x1"], "history('x1'), an inner message")
    equal(ids(await session.branches("m1")), ["m2", "x1", "y1"], "branches")
    equal([await session.path_length(id) for id in ("m1", "m3", "x2", "y1")], [1, 3, 3, 2], "path_length")


async def a_parent_at_the_leaf_goes_on(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(say("m3"), parent="m2")
    equal(ids(await session.history()), ["m1", "m2", "m3"], "history")


async def no_parent_is_a_new_root(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(says("r1", "r2"), parent=None)
    equal(ids(await session.history()), ["r1", "r2"], "history")
    equal(ids(await session.branches(None)), ["m1", "r1"], "roots")
    equal(ids(await session.history("m2")), ["m1", "m2"], "the other tree")


async def an_unknown_parent_is_refused(store: AsyncStore) -> None:
    session = store.session("s")
    await store.session("other").append(say("elsewhere"))
    with raises(MessageNotFoundError):
        await session.append(say("m1"), parent="ghost")
    equal([info.id for info in await store.sessions()], ["other"], "a refused append makes no session")
    await session.append(say("m1"))
    for parent in ("ghost", "elsewhere", "m2"):
        with raises(MessageNotFoundError) as caught:
            await session.append(say("m2"), parent=parent)
        equal((caught.error.message_id, caught.error.session_id), (parent, "s"), "what the error names")
    equal(ids(await session.history()), ["m1"], "history")


async def a_place_may_be_a_message(store: AsyncStore) -> None:
    session = store.session("s")
    one, two = await session.append([user("1", id="m1"), user("2", id="m2")])
    await session.append(say("x"), parent=one, expect_leaf=two)
    equal(ids(await session.history(two)), ["m1", "m2"], "history of a Message")
    equal(ids(await session.branches(say("m1"))), ["m2", "x"], "branches of a dict")
    equal(await session.switch(two), "m2", "switch to a Message")
    with raises(InvalidIdError):
        await session.history(user("no id"))


async def switching_moves_the_leaf_only(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2", "m3"))
    await session.append(say("x1"), parent="m1")
    equal(await session.switch("m2"), "m2", "switch")
    leaf = await session.leaf()
    equal(leaf and leaf.id, "m2", "leaf")
    equal(ids(await session.history()), ["m1", "m2"], "history")
    equal((await session.info()).path_length, 2, "info().path_length")
    await session.append(say("m4"))
    equal(ids(await session.history()), ["m1", "m2", "m4"], "what is appended branches off there")
    equal(ids(await session.branches("m2")), ["m3", "m4"], "branches")
    with raises(MessageNotFoundError):
        await session.switch("ghost")
    with raises(MessageNotFoundError):
        await store.session("none").switch("m1")


async def children_stand_in_the_order_of_their_making(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(says("m1", "m2"))
    await session.append(say("x"), parent="m1")
    await session.delete("m2")  # so that there is room again right behind m1
    await session.append(say("y"), parent="m1")
    equal(ids(await session.branches("m1")), ["x", "y"], "branches")
    await session.append(says("z1", "z2"), parent="x")
    await session.append(say("z3"), parent="x")
    await session.append(say("w"), parent="y")
    await session.delete("x")
    equal(ids(await session.branches("m1")), ["y", "z1", "z3"], "branches")
    equal([item.id for item in await session.outline()], ["m1", "y", "z1", "z2", "z3", "w"], "outline")
    for leaf, path in (("z2", ["m1", "z1", "z2"]), ("z3", ["m1", "z3"]), ("w", ["m1", "y", "w"])):
        equal(ids(await session.history(leaf)), path, f"history({leaf!r})")


async def regenerating_reads_and_writes_at_one_place(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append([say("u1"), say("a1", role="assistant")])
    await session.switch("u1")
    equal(ids(await session.history()), ["u1"], "what the model is asked with")
    await session.append(say("a2", role="assistant"))
    equal(ids(await session.branches("u1")), ["a1", "a2"], "the two replies")


async def the_active_leaf_is_kept_not_guessed(store: AsyncStore) -> None:
    session = store.session("s")
    await session.append(say("root"))
    await session.append(say("a1"), parent="root")
    await session.append(says("b1", "b2"), parent="root")
    await session.switch("a1")
    again = store.session("s")
    equal(ids(await again.history()), ["root", "a1"], "another handle sees the leaf, not the newest message")
    await session.update(say("b2", "touched"))
    equal(ids(await again.history()), ["root", "a1"], "a change elsewhere leaves it alone")


async def what_is_not_there_is_an_error(store: AsyncStore) -> None:
    session = store.session("s")
    for _ in range(2):  # without the session, and with it
        for call in (session.history, session.path_length, session.branches):
            with raises(MessageNotFoundError) as caught:
                await call("ghost")
            equal(caught.error.message_id, "ghost", "what the error names")
        with raises(MessageNotFoundError):
            [message.id async for message in session.iter_history("ghost")]
        with raises(MessageNotFoundError):
            await session.recent(leaf="ghost")
        equal(await session.message("ghost"), None, "message")
        await session.append(say("m1"))
    with raises(SessionNotFoundError):
        await store.session("none").info()
