# Generated from src/glassine/testing/_async/placing.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Where a message goes in the tree, and which leaf is the active one."""

from __future__ import annotations

from glassine import InvalidIdError, MessageNotFoundError, SessionNotFoundError, Store, user

from .._expecting import equal, ids, raises, say, says


def a_named_parent_makes_a_branch(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(says("x1", "x2"), parent="m1")
    session.append(say("y1"), parent="m1")
    equal(ids(session.history()), ["m1", "y1"], "the newest branch is the active path")
    equal(ids(session.history("m3")), ["m1", "m2", "m3"], "history('m3')")
    equal(ids(session.history("x1")), ["m1", "x1"], "history('x1'), an inner message")
    equal(ids(session.branches("m1")), ["m2", "x1", "y1"], "branches")
    equal([session.path_length(id) for id in ("m1", "m3", "x2", "y1")], [1, 3, 3, 2], "path_length")


def a_parent_at_the_leaf_goes_on(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(say("m3"), parent="m2")
    equal(ids(session.history()), ["m1", "m2", "m3"], "history")


def no_parent_is_a_new_root(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(says("r1", "r2"), parent=None)
    equal(ids(session.history()), ["r1", "r2"], "history")
    equal(ids(session.branches(None)), ["m1", "r1"], "roots")
    equal(ids(session.history("m2")), ["m1", "m2"], "the other tree")


def an_unknown_parent_is_refused(store: Store) -> None:
    session = store.session("s")
    store.session("other").append(say("elsewhere"))
    with raises(MessageNotFoundError):
        session.append(say("m1"), parent="ghost")
    equal([info.id for info in store.sessions()], ["other"], "a refused append makes no session")
    session.append(say("m1"))
    for parent in ("ghost", "elsewhere", "m2"):
        with raises(MessageNotFoundError) as caught:
            session.append(say("m2"), parent=parent)
        equal((caught.error.message_id, caught.error.session_id), (parent, "s"), "what the error names")
    equal(ids(session.history()), ["m1"], "history")


def a_place_may_be_a_message(store: Store) -> None:
    session = store.session("s")
    one, two = session.append([user("1", id="m1"), user("2", id="m2")])
    session.append(say("x"), parent=one, expect_leaf=two)
    equal(ids(session.history(two)), ["m1", "m2"], "history of a Message")
    equal(ids(session.branches(say("m1"))), ["m2", "x"], "branches of a dict")
    equal(session.switch(two), "m2", "switch to a Message")
    with raises(InvalidIdError):
        session.history(user("no id"))


def switching_moves_the_leaf_only(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(say("x1"), parent="m1")
    equal(session.switch("m2"), "m2", "switch")
    leaf = session.leaf()
    equal(leaf and leaf.id, "m2", "leaf")
    equal(ids(session.history()), ["m1", "m2"], "history")
    equal(session.info().path_length, 2, "info().path_length")
    session.append(say("m4"))
    equal(ids(session.history()), ["m1", "m2", "m4"], "what is appended branches off there")
    equal(ids(session.branches("m2")), ["m3", "m4"], "branches")
    with raises(MessageNotFoundError):
        session.switch("ghost")
    with raises(MessageNotFoundError):
        store.session("none").switch("m1")


def children_stand_in_the_order_of_their_making(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(say("x"), parent="m1")
    session.delete("m2")  # so that there is room again right behind m1
    session.append(say("y"), parent="m1")
    equal(ids(session.branches("m1")), ["x", "y"], "branches")
    session.append(says("z1", "z2"), parent="x")
    session.append(say("z3"), parent="x")
    session.append(say("w"), parent="y")
    session.delete("x")
    equal(ids(session.branches("m1")), ["y", "z1", "z3"], "branches")
    equal([item.id for item in session.outline()], ["m1", "y", "z1", "z2", "z3", "w"], "outline")
    for leaf, path in (("z2", ["m1", "z1", "z2"]), ("z3", ["m1", "z3"]), ("w", ["m1", "y", "w"])):
        equal(ids(session.history(leaf)), path, f"history({leaf!r})")


def regenerating_reads_and_writes_at_one_place(store: Store) -> None:
    session = store.session("s")
    session.append([say("u1"), say("a1", role="assistant")])
    session.switch("u1")
    equal(ids(session.history()), ["u1"], "what the model is asked with")
    session.append(say("a2", role="assistant"))
    equal(ids(session.branches("u1")), ["a1", "a2"], "the two replies")


def the_active_leaf_is_kept_not_guessed(store: Store) -> None:
    session = store.session("s")
    session.append(say("root"))
    session.append(say("a1"), parent="root")
    session.append(says("b1", "b2"), parent="root")
    session.switch("a1")
    again = store.session("s")
    equal(ids(again.history()), ["root", "a1"], "another handle sees the leaf, not the newest message")
    session.update(say("b2", "touched"))
    equal(ids(again.history()), ["root", "a1"], "a change elsewhere leaves it alone")


def what_is_not_there_is_an_error(store: Store) -> None:
    session = store.session("s")
    for _ in range(2):  # without the session, and with it
        for call in (session.history, session.path_length, session.branches):
            with raises(MessageNotFoundError) as caught:
                call("ghost")
            equal(caught.error.message_id, "ghost", "what the error names")
        with raises(MessageNotFoundError):
            [message.id for message in session.iter_history("ghost")]
        with raises(MessageNotFoundError):
            session.recent(leaf="ghost")
        equal(session.message("ghost"), None, "message")
        session.append(say("m1"))
    with raises(SessionNotFoundError):
        store.session("none").info()
