# Generated from src/glassine/testing/_async/appending.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Appending: what is stored, under which id, and what happens the second time."""

from __future__ import annotations

from datetime import UTC, datetime

from glassine import (
    ConflictError,
    InvalidIdError,
    LeafMovedError,
    Message,
    MessageNotFoundError,
    SessionNotFoundError,
    Store,
    user,
)

from .._expecting import equal, ids, raises, say, says, true
from .._together import together


def an_empty_session_holds_nothing(store: Store) -> None:
    session = store.session("s")
    equal(session.history(), [], "history")
    equal([message.id for message in session.iter_history()], [], "iter_history")
    equal(session.leaf(), None, "leaf")
    equal(session.path_length(), 0, "path_length")
    equal(session.branches(None), [], "roots")
    equal(session.message("x"), None, "message")
    equal(session.outline(), [], "outline")
    equal(session.overlays(), [], "overlays")
    recent = session.recent(5)
    equal((list(recent), recent.cut, recent.total_messages, recent.total_bytes), ([], False, 0, 0), "recent")
    equal((session.events(), session.usage(), session.deletions()), ([], [], []), "what is beside")
    true(session.verify().clean, "verify is clean")
    with raises(SessionNotFoundError):
        session.info()
    equal(session.append([]), [], "an empty batch")
    equal(store.sessions(), [], "reading, and appending nothing, creates no session")


def what_is_appended_comes_back(store: Store) -> None:
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
    stored = session.append(wire)
    equal(stored.to_dict(), wire, "what append returns")
    for found in (session.message("m1"), session.leaf(), session.history()[0]):
        equal(found and found.to_dict(), wire, "what is read")
    true(stored.created_at == datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC), "created_at is the same moment")
    bare = session.append(Message(role="user", parts=[]))
    equal((bare.created_at, bare.metadata), (None, None), "what the caller left out")


def ids_are_minted_and_differ(store: Store) -> None:
    session = store.session("s")
    stored = session.append([user("same"), user("same"), user("same")])
    true(all(ids(stored)) and len(set(ids(stored))) == 3, "each message has an id of its own")
    equal(ids(session.history()), ids(stored), "history")


def a_batch_is_a_chain_below_the_leaf(store: Store) -> None:
    session = store.session("s")
    session.append(say("m1"))
    session.append(says("m2", "m3"))
    equal(ids(session.history()), ["m1", "m2", "m3"], "history")
    equal([item.parent_id for item in session.outline()], [None, "m1", "m2"], "parents")


def the_same_again_does_nothing(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(say("x"), parent="m1")
    before = session.info()
    session.append(say("m2"))
    session.append(say("m2"), parent="m1")
    session.append(say("m1"), parent=None)
    session.append(says("m1", "m2", "m3"))
    equal(session.info(), before, "the session")
    equal(ids(session.history()), ["m1", "x"], "the active path")


def the_same_id_with_other_content_is_a_conflict(store: Store) -> None:
    session = store.session("s")
    session.append(say("m1"))
    for other in (say("m1", "other"), say("m1", role="assistant"), {**say("m1"), "metadata": {"a": 1}}):
        with raises(ConflictError) as caught:
            session.append(other)
        equal((caught.error.message_id, caught.error.session_id), ("m1", "s"), "what the error names")
    equal(session.history()[0].text, "m1", "the stored text")


def the_same_id_below_another_parent_is_a_conflict(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    for parent in ("m2", None):
        with raises(ConflictError):
            session.append(say("m2"), parent=parent)
    equal(ids(session.history()), ["m1", "m2", "m3"], "history")


def a_batch_goes_on_from_what_is_stored(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(says("m2", "m3", "m3", "m4"))
    equal(ids(session.history()), ["m1", "m2", "m3", "m4"], "history")
    session.append(says("m2", "x"), parent="m1")
    equal(ids(session.history()), ["m1", "m2", "x"], "a retried batch that has grown")


def a_batch_is_stored_whole_or_not_at_all(store: Store) -> None:
    session = store.session("s")
    session.append(say("m1"))
    before = session.info()
    with raises(ConflictError):
        session.append([say("m2"), say("m3"), say("m1", "other")])
    equal(session.info(), before, "the session")
    equal(ids(session.history()), ["m1"], "history")


def a_message_id_belongs_to_its_session(store: Store) -> None:
    one, two = store.session("one"), store.session("two")
    one.append(say("1", "of one"))
    two.append(say("1", "of two"))
    equal([one.history()[0].text, two.history()[0].text], ["of one", "of two"], "the texts")
    with raises(MessageNotFoundError):
        two.append(say("2"), parent="only in one")


def an_expected_leaf_must_hold(store: Store) -> None:
    session = store.session("s")
    session.append(say("m1"), expect_leaf=None)
    with raises(LeafMovedError) as caught:
        session.append(say("m2"), expect_leaf=None)
    equal((caught.error.expected, caught.error.actual), (None, "m1"), "what the error says")
    session.append(say("m2"), expect_leaf="m1")
    session.append(say("m2"), expect_leaf="m1")  # a retry of what did commit
    with raises(LeafMovedError):
        session.append(says("m2", "m3"), expect_leaf="m1")
    with raises(LeafMovedError):
        store.session("new").append(say("m1"), expect_leaf="m0")
    equal(ids(session.history()), ["m1", "m2"], "history")
    equal([info.id for info in store.sessions()], ["s"], "a refused append makes no session")


def order_is_that_of_appending(store: Store) -> None:
    session = store.session("s")
    session.append(say("root"))
    for number in range(5):  # the callers' clocks run backwards
        session.append({**say(f"m{number}"), "createdAt": f"2026-01-0{9 - number}T00:00:00Z"}, parent="root")
    equal(ids(session.branches("root")), [f"m{number}" for number in range(5)], "branches")


def parallel_appends_make_one_chain(store: Store) -> None:
    session = store.session("s")

    def work(worker: int) -> None:
        mine = store.session("s")
        for number in range(10):
            mine.append(says(f"{worker}-{number}-call", f"{worker}-{number}-result"))

    together([lambda worker=worker: work(worker) for worker in range(8)])  # type: ignore[misc]
    path = ids(session.history())
    equal((len(path), len(set(path)), session.info().messages), (160, 160, 160), "messages")
    for index in range(0, 160, 2):
        equal(path[index + 1], path[index].replace("call", "result"), "what follows a call")
    for worker in range(8):
        mine = [id for id in path if id.startswith(f"{worker}-") and id.endswith("call")]
        equal(mine, [f"{worker}-{number}-call" for number in range(10)], "the order of one writer")


def unusual_ids_are_kept_apart(store: Store) -> None:
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
    session.append(says(*unusual))
    equal(ids(session.history()), unusual, "history")
    for id in unusual:
        found = session.message(id)
        equal(found and found.text, id, f"message {id!r}")


def ids_outside_the_rule_are_refused(store: Store) -> None:
    session = store.session("s")
    for id in (" ", "\t", " a", "a ", "a\n", "\u3000a", "a\x00b", "a\x1fb", "\x7f", "x" * 513, "会" * 171, "\ud800"):
        with raises(InvalidIdError) as caught:
            session.append(say(id, "text"))
        equal((caught.error.kind, caught.error.value), ("message", id), "what the error names")
        for kind, make in (("session", store.session), ("namespace", store.namespace)):
            with raises(InvalidIdError) as caught:
                make(id)
            equal((caught.error.kind, caught.error.value), (kind, id), "what the error names")
    with raises(InvalidIdError):
        store.session("")
    equal(store.sessions(), [], "sessions")
