# Generated from src/glassine/testing/_async/changing.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Updating, deleting, clearing, redacting: the tree stays a tree, and the numbers stay right."""

from __future__ import annotations

import base64

from glassine import InvalidError, MessageNotFoundError, Session, Store, tool_call

from .._expecting import equal, ids, raises, say, says, true


def _sound(session: Session) -> None:
    """What is counted equals what is there, for every path."""
    check = session.verify()
    equal(check.problems, (), "what verify finds")
    outline = {item.id: item for item in session.outline()}
    info = session.info()
    equal(info.messages, len(outline), "info().messages")
    for id in outline:
        path = session.history(id, raw=True)
        equal(session.path_length(id), len(path), f"path_length({id!r})")
        equal(sum(outline[m.id].size for m in path), sum(len(m.encoded()[1]) for m in path), "bytes of the path")
        recent = session.recent(0, leaf=id)
        if not session.overlays():
            equal(recent.total_bytes, sum(outline[m.id].size for m in path), f"running total at {id!r}")


def an_update_changes_content_and_totals(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(say("x"), parent="m2")
    session.switch("m3")
    for id in ("m3", "m1", "m2", "x"):
        session.update(say(id, "長くなった " * 20, role="assistant"))
        found = session.message(id)
        equal(found and (found.role, found.text), ("assistant", "長くなった " * 20), "the message")
        _sound(session)
    equal(ids(session.history()), ["m1", "m2", "m3"], "the place and the leaf")
    session.update(say("m2", "", role="user"))
    _sound(session)


def an_update_at_the_end_of_a_strand_reaches_what_hangs_there(store: Store) -> None:
    # The strand of m1 ends with it once m2 is gone, and a branch hangs on it all the same.
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(says("x1", "x2"), parent="m1")
    session.switch("m1")
    session.delete("m2")
    session.update(say("m1", "longer than it was"))
    _sound(session)


def an_update_needs_a_stored_message(store: Store) -> None:
    session = store.session("s")
    with raises(MessageNotFoundError):
        session.update(say("m1"))
    equal(store.sessions(), [], "a refused update makes no session")
    session.append(say("m1"))
    with raises(MessageNotFoundError):
        session.update(say("m2"))
    with raises(InvalidError):
        session.update({"role": "user", "parts": []})


def deleting_an_inner_message_keeps_what_follows(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4"))
    session.append(say("x"), parent="m2")
    session.switch("m4")
    equal(session.delete("m2"), 1, "delete")
    equal(ids(session.history()), ["m1", "m3", "m4"], "history")
    equal(ids(session.branches("m1")), ["m3", "x"], "the children moved up")
    equal(session.message("m2"), None, "message")
    _sound(session)
    session.append(say("m2", "again"), parent="m1")
    equal(ids(session.branches("m1")), ["m3", "x", "m2"], "a deleted id can be appended anew")
    _sound(session)


def deleting_the_leaf_goes_back_to_its_parent(store: Store) -> None:
    session = store.session("s")
    session.append(say("root"))
    session.append(say("a1"), parent="root")
    session.append(say("b1"), parent="root")
    session.append(say("a2"), parent="a1")
    session.append(say("b2"), parent="b1")
    session.delete("b2")
    equal(ids(session.history()), ["root", "b1"], "not a2, though it is newer than b1")
    session.append(say("b3"))
    equal(ids(session.history()), ["root", "b1", "b3"], "history")
    _sound(session)


def deleting_a_root_makes_roots_of_its_children(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    session.append(say("x"), parent="m1")
    equal(session.delete("m1"), 1, "delete")
    equal(ids(session.branches(None)), ["m2", "x"], "roots")
    equal(ids(session.history()), ["x"], "history")
    _sound(session)
    equal(session.delete("x"), 1, "deleting an active root")
    equal(session.leaf(), None, "no leaf is left")
    equal(ids(session.history("m2")), ["m2"], "the other root")
    _sound(session)
    session.append(say("fresh"))
    equal(ids(session.branches(None)), ["m2", "fresh"], "what is appended then is a root")


def many_are_deleted_at_once(store: Store) -> None:
    session = store.session("s")
    names = [f"m{number}" for number in range(60)]
    session.append(says(*names))
    session.append(says("x1", "x2"), parent="m30")
    equal(session.delete([*names[5:50:2], "ghost", "x1"]), 24, "delete")
    equal(ids(session.history("m59")), [*names[:5], *names[6:50:2], *names[50:]], "history")
    equal(ids(session.history()), [*names[:5], *names[6:31:2], "x2"], "the branch")
    _sound(session)
    left = [item.id for item in session.outline()]
    equal(session.delete(left), len(left), "deleting all that is left")
    equal((session.history(), session.path_length()), ([], 0), "what is left")
    session.append(say("m1", "anew"))
    _sound(session)


def deleting_what_is_not_there_does_nothing(store: Store) -> None:
    session = store.session("s")
    equal(session.delete("ghost"), 0, "delete without a session")
    equal(session.clear(), 0, "clear without a session")
    session.append(say("m1"))
    before = session.info()
    equal((session.delete(["ghost", "m2"]), session.delete([])), (0, 0), "delete")
    equal(session.info(), before, "the session")


def clearing_leaves_an_empty_session(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(say("x"), parent="m1")
    session.add_compaction("summary", "m1", "m2")
    session.describe(title="kept")
    equal(session.clear(), 4, "clear")
    equal((session.history(), session.leaf(), session.overlays()), ([], None, []), "what is left")
    info = session.info()
    equal((info.title, info.messages, info.path_length, info.size), ("kept", 0, 0, 0), "info")
    session.append(say("m1", "anew"))
    equal(session.history()[0].text, "anew", "an id of before")
    _sound(session)


def redacting_leaves_the_place_alone(store: Store) -> None:
    session = store.session("s")
    secret = "秘密の鍵 hunter2"
    media = "data:image/png;base64," + base64.b64encode(b"secret" * 400).decode()
    session.append(say("m1"))
    session.append(
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
    session.append([say("m3"), say("m4")])
    session.add_compaction(f"about {secret}", "m1", "m3", id="o1")
    session.describe(title=secret)
    equal(session.redact("m2"), ("o1",), "the summaries that went")
    equal(ids(session.history()), ["m1", "m2", "m3", "m4"], "history")
    left = session.message("m2")
    true(left is not None, "the message is there")
    wire = left.to_dict() if left else {}
    true("hunter2" not in repr(wire) and "base64" not in repr(wire), "nothing of its content is left")
    equal((wire["role"], [p.get("toolCallId") for p in wire["parts"]]), ("assistant", ["t1"]), "its role and call")
    equal(session.info().title, None, "a title that told it")
    equal([item.id for item in session.deletions()], ["o1"], "deletions")
    _sound(session)
    with raises(MessageNotFoundError):
        session.redact("ghost")


def every_change_is_counted(store: Store) -> None:
    session = store.session("s")
    seen = [0]

    def grew(what: str) -> None:
        change = session.info().change
        true(change > seen[-1], f"{what} raises the change number")
        seen.append(change)

    session.append(says("m1", "m2", "m3"))
    grew("append")
    session.update(say("m1", "other"))
    grew("update")
    session.switch("m2")
    grew("switch")
    session.add_compaction("summary", "m1", "m2", id="o1")
    grew("add_compaction")
    session.undo("o1")
    grew("undo")
    session.delete("m2")
    grew("delete")
    session.redact("m1")
    grew("redact")
    session.describe(title="title")
    grew("describe")
    session.add_event("kind", {"a": 1})
    grew("add_event")
    session.ingest([*session.history(), say("m9")])
    grew("ingest")
    session.clear()
    grew("clear")
