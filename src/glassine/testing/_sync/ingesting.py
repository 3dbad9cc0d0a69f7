# Generated from src/glassine/testing/_async/ingesting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Taking in a client's list: nothing is doubled, nothing is lost, nothing goes back to an earlier state."""

from __future__ import annotations

from typing import Any

from glassine import Store

from .._expecting import equal, ids, say, says, true


def _call(id: str, **part: Any) -> dict[str, Any]:
    return {"id": id, "role": "assistant", "parts": [{"type": "tool-look", "toolCallId": "T1", "input": {}, **part}]}


def a_list_starts_a_session(store: Store) -> None:
    session = store.session("s")
    got = session.ingest(says("u1", "a1"))
    equal((got.appended, got.updated, got.skipped), (("u1", "a1"), (), ()), "what was done")
    equal(ids(session.history()), ["u1", "a1"], "history")


def a_reply_under_the_clients_id_is_the_same_reply(store: Store) -> None:
    session = store.session("s")
    session.append([say("u1", "hi?"), say("S1", "hi", role="assistant")])
    for client in (session, store.session("s")):  # a second client changes nothing
        got = client.ingest([say("u1", "hi?"), say("C1", "hi", role="assistant"), say("u2", "and?")])
        equal(got.known["C1"], "S1", "what the client's id stands for")
        equal(ids(session.history()), ["u1", "S1", "u2"], "history")
    equal(session.info().messages, 3, "messages")


def equal_replies_are_told_apart_by_place(store: Store) -> None:
    session = store.session("s")
    stored = [
        say("u1", "yes?"),
        say("a1", "OK.", role="assistant"),
        say("u2", "really?"),
        say("a2", "OK.", role="assistant"),
    ]
    session.append(stored)
    got = session.ingest([*stored[:3], say("fresh", "OK.", role="assistant")])
    equal((got.known["fresh"], got.appended), ("a2", ()), "what the fresh id stands for")
    equal(session.info().messages, 4, "messages")


def a_later_state_of_a_call_wins_in_place(store: Store) -> None:
    session = store.session("s")
    session.append([say("u1"), _call("m1", state="approval-requested")])
    got = session.ingest([say("u1"), _call("m2", state="output-available", output="found")])
    equal((got.updated, got.appended, got.known["m2"]), (("m1",), (), "m1"), "what was done")
    found = session.message("m1")
    equal(found and found.parts[0].get("output"), "found", "the output")
    equal(ids(session.history()), ["u1", "m1"], "history")


def an_earlier_state_never_wins(store: Store) -> None:
    session = store.session("s")
    session.append([say("u1"), _call("S", state="output-available", output="X")])
    got = session.ingest([say("u1"), _call("C", state="input-available"), say("u2")])
    equal((got.appended, got.updated), (("u2",), ()), "what was done")
    equal(ids(session.history()), ["u1", "S", "u2"], "history")
    found = session.message("S")
    equal(found and found.parts[0].get("output"), "X", "the output")


def a_shorter_text_never_wins(store: Store) -> None:
    session = store.session("s")
    session.append([say("u1"), say("a1", "the whole answer", role="assistant")])
    session.ingest([say("u1"), say("a1", "the whole", role="assistant")])
    equal([message.text for message in session.history()], ["u1", "the whole answer"], "texts")
    session.ingest([say("u1"), say("a1", "the whole answer, and more", role="assistant")])
    equal(session.history()[1].text, "the whole answer, and more", "a longer text")


def the_tail_of_a_list_is_enough(store: Store) -> None:
    session = store.session("s")
    session.append(says(*(f"m{number}" for number in range(30))))
    got = session.ingest([*says("m28", "m29"), say("u")])
    equal(got.appended, ("u",), "appended")
    equal(session.info().messages, 31, "nothing is deleted")
    equal(ids(session.history())[-3:], ["m28", "m29", "u"], "the end of the history")


def summaries_handed_back_are_passed_over(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.add_compaction("summary", "m1", "m2", id="o1")
    got = session.ingest([*session.history(), say("m4")])
    equal(got.appended, ("m4",), "appended")
    equal(ids(session.history()), ["compaction_o1", "m3", "m4"], "history")
    equal(ids(session.history(raw=True)), ["m1", "m2", "m3", "m4"], "raw history")


def what_was_deleted_stays_deleted(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.delete("m2")
    got = session.ingest(says("m1", "m2", "m3", "m4"))
    equal((got.skipped, got.appended), (("m2",), ("m4",)), "what was done")
    equal(ids(session.history()), ["m1", "m3", "m4"], "history")


def ingesting_again_changes_nothing(store: Store) -> None:
    session = store.session("s")
    client = [say("u1"), _call("a1", state="output-available", output=[1]), say("u2", "次は?")]
    session.ingest(client)
    before = session.info()
    got = session.ingest(client)
    equal((got.appended, got.updated, got.skipped), ((), (), ()), "what was done")
    after = session.info()
    true(after == before, "the session is as it was")
