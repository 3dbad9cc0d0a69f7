"""Reconciling a client's list, as a pure function: what is recognised, what is made more complete, what is appended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import Message
from glassine.handles import names_original, original_handle
from glassine.ingesting import Append, Reconciled, Update, merged, reconcile, starts_turn
from glassine.redaction import redacted


def message(id: str, text: str | None = None, role: str = "user", **extra: Any) -> Message:
    parts = [{"type": "text", "text": id if text is None else text}]
    return Message.from_dict({"id": id, "role": role, "parts": parts, **extra})


def tool(id: str, state: str, *calls: str, output: Any = None) -> Message:
    parts = [
        {"type": "tool-look", "toolCallId": call, "state": state, "input": {}}
        | ({"output": output} if state == "output-available" else {})
        for call in calls or ("T1",)
    ]
    return Message.from_dict({"id": id, "role": "assistant", "parts": parts})


def appended(plan: Reconciled, incoming: list[Message]) -> list[tuple[str, str | None]]:
    return [(incoming[step.index].id, step.parent) for step in plan.steps if isinstance(step, Append)]


def updated(plan: Reconciled) -> list[str]:
    return [step.message.id for step in plan.steps if isinstance(step, Update)]


U1, A1, U2, A2 = message("u1"), message("a1", "OK.", "assistant"), message("u2"), message("a2", "OK.", "assistant")


@given(st.integers(1, 8), st.integers(0, 8), st.integers(0, 3), st.data())
@settings(deadline=None)
def test_a_suffix_of_what_is_stored_and_news_appends_the_news_only(
    stored: int, skip: int, news: int, data: st.DataObject
) -> None:
    texts = st.sampled_from(["OK.", "yes", "はい", ""])
    path = [message(f"m{number}", data.draw(texts), "assistant" if number % 2 else "user") for number in range(stored)]
    fresh = [message(f"n{number}", f"new {number}") for number in range(news)]
    skip = min(skip, stored - 1)
    incoming = path[skip:] + fresh
    plan = reconcile(path, incoming)
    assert updated(plan) == []
    parents = [path[-1].id, *(item.id for item in fresh)]
    assert appended(plan, incoming) == [(item.id, parent) for item, parent in zip(fresh, parents, strict=False)]
    assert plan.known == {index: item.id for index, item in enumerate(path[skip:])}


@given(st.integers(1, 8), st.sets(st.integers(0, 7)), st.data())
@settings(deadline=None)
def test_replies_under_other_ids_are_found_by_their_place(stored: int, renamed: set[int], data: st.DataObject) -> None:
    texts = st.sampled_from(["OK.", "yes", "はい"])
    path = [message(f"m{number}", data.draw(texts), "assistant" if number % 2 else "user") for number in range(stored)]
    incoming = [item.with_id(f"c{index}") if index in renamed else item for index, item in enumerate(path)]
    plan = reconcile(path, incoming)
    assert plan.steps == ()
    assert plan.known == {index: item.id for index, item in enumerate(path)}


def test_equal_replies_are_told_apart_by_place() -> None:
    plan = reconcile([U1, A1, U2, A2], [U1, A1, U2, message("fresh", "OK.", "assistant")])
    assert (plan.steps, plan.known[3]) == ((), "a2")


def test_a_new_question_after_an_older_message_is_a_branch() -> None:
    incoming = [U1, message("other", "something else")]
    assert appended(reconcile([U1, A1, U2, A2], incoming), incoming) == [("other", "a1")]


def test_a_question_that_comes_alone_is_not_taken_for_a_redacted_one() -> None:
    path = [redacted(U1), A1]
    alone = [message("u2", "next")]
    assert appended(reconcile(path, alone), alone) == [("u2", "a1")]
    whole = [message("c1", "the old text"), A1, message("u2", "next")]
    plan = reconcile(path, whole)
    assert (plan.known, appended(plan, whole)) == ({0: "u1", 1: "a1"}, [("u2", "a1")])


def test_an_empty_store_takes_the_whole_list() -> None:
    incoming = [U1, A1, U2]
    assert appended(reconcile([], incoming), incoming) == [("u1", None), ("a1", "u1"), ("u2", "a1")]


def test_summaries_are_passed_over() -> None:
    incoming = [message("compaction_o1", "summary"), U2, A2, message("u3")]
    plan = reconcile([U1, A1, U2, A2], incoming)
    assert appended(plan, incoming) == [("u3", "a2")]
    assert 0 not in plan.known


def test_what_follows_a_summary_is_known_by_its_place_behind_it() -> None:
    about = {"glassine": {"kind": "summary", "last": "a1"}}
    incoming = [
        message("compaction_o1", "summary", metadata=about),
        U2.with_id("c2"),
        A2.with_id("c3"),
        message("u3"),
    ]
    plan = reconcile([U1, A1, U2, A2], incoming)
    assert (plan.known, appended(plan, incoming)) == ({1: "u2", 2: "a2"}, [("u3", "a2")])
    for broken in (None, {"glassine": 1}, {"glassine": {"last": 5}}, {"glassine": {"last": "gone"}}):
        summary = message("compaction_o1", "summary", metadata=broken)
        assert appended(reconcile([U1], [summary, U2]), [summary, U2]) == [("u2", "u1")]


def test_a_message_that_the_list_has_twice_is_appended_once() -> None:
    incoming = [U1, U2, U2, A2]
    plan = reconcile([U1], incoming)
    assert appended(plan, incoming) == [("u2", "u1"), ("a2", "u2")]
    assert plan.known == {0: "u1", 2: "u2"}


def test_a_call_in_the_open_turn_is_the_same_message() -> None:
    path = [U1, tool("m1", "input-available")]
    plan = reconcile(path, [U1, tool("m2", "output-available", output=5)])
    (step,) = plan.steps
    assert isinstance(step, Update)
    assert step.message.id == "m1"
    assert step.message.parts[0]["output"] == 5  # type: ignore[typeddict-item]
    assert plan.known == {0: "u1", 1: "m1"}


def test_a_call_id_of_an_older_turn_is_another_call() -> None:
    path = [U1, tool("m1", "output-available", output=1), U2]
    incoming = [U2, tool("m2", "output-available", output=2)]
    plan = reconcile(path, incoming)
    assert (updated(plan), appended(plan, incoming)) == ([], [("m2", "u2")])


@pytest.mark.parametrize(
    ("stored", "theirs", "wins"),
    [
        ("input-streaming", "input-available", True),
        ("input-available", "approval-requested", True),
        ("approval-requested", "approval-responded", True),
        ("approval-responded", "output-available", True),
        ("approval-responded", "output-denied", True),
        ("output-available", "input-available", False),
        ("output-available", "approval-requested", False),
        ("output-error", "input-available", False),
        ("output-available", "output-available", False),
    ],
)
def test_the_more_complete_state_wins(stored: str, theirs: str, wins: bool) -> None:
    better = merged(tool("m1", stored, output="ours"), tool("m1", theirs, output="theirs"))
    assert (better is not None) == wins
    if better is not None:
        assert better.parts[0]["state"] == theirs  # type: ignore[typeddict-item]


def test_each_call_of_a_message_is_merged_on_its_own() -> None:
    ours = tool("m1", "output-available", "T1", output=1).to_dict()
    ours["parts"] += tool("m1", "input-available", "T2").to_dict()["parts"]
    theirs = tool("m1", "input-available", "T1").to_dict()
    theirs["parts"] += tool("m1", "output-available", "T2", output=2).to_dict()["parts"]
    better = merged(Message.from_dict(ours), Message.from_dict(theirs))
    assert better is not None
    assert [part.get("output") for part in better.to_dict()["parts"]] == [1, 2]


def test_texts_grow_and_never_shrink() -> None:
    ours = message("m1", "the whole", "assistant")
    assert merged(ours, message("m1", "the", "assistant")) is None
    better = merged(ours, message("m1", "the whole answer", "assistant"))
    assert better is not None
    assert better.text == "the whole answer"


def test_a_part_beyond_ours_is_new_only_at_the_end() -> None:
    ours = message("m1", "one", "assistant")
    theirs = Message.from_dict({**ours.to_dict(), "parts": [*ours.parts, {"type": "text", "text": "two"}]})
    better = merged(ours, theirs)
    assert better is not None
    assert better.text == "one\ntwo"
    assert merged(theirs, ours) is None


def test_metadata_is_added_and_never_replaced() -> None:
    ours = message("m1", metadata={"a": 1})
    better = merged(ours, message("m1", metadata={"a": 2, "b": 3}))
    assert better is not None
    assert better.metadata == {"a": 1, "b": 3}
    assert merged(ours, message("m1")) is None


def test_a_preview_never_replaces_its_original() -> None:
    for id in ("m1", '会議 "quoted" \\ back', "a\\"):
        original = message(id, "the whole text", "assistant")
        preview = message(id, "the wh… " + original_handle(id, 0), "assistant")
        assert names_original(preview.parts, id)
        assert not names_original(preview.parts, "another")
        assert merged(original, preview) is None
    assert not names_original(message("m1").parts, "m1")


def test_another_role_is_another_message() -> None:
    assert merged(message("m1", role="user"), message("m1", "m1 and more", role="assistant")) is None


def test_what_opens_a_turn() -> None:
    assert starts_turn(U1)
    assert not starts_turn(A1)
    result = {"type": "tool-result", "toolCallId": "t", "toolName": "look", "output": 1}
    assert not starts_turn(Message(role="user", parts=[result]))
    assert starts_turn(Message(role="user", parts=[result, {"type": "text", "text": "and?"}]))


def parts(id: str, *parts: dict[str, Any], role: str = "assistant") -> Message:
    return Message.from_dict({"id": id, "role": role, "parts": list(parts)})


STEP: dict[str, Any] = {"type": "step-start"}
THOUGHT: dict[str, Any] = {"type": "reasoning", "text": "hm"}


def said(text: str, **extra: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **extra}


@pytest.mark.parametrize(
    ("stored", "theirs"),
    [
        ([said("はい")], [STEP, said("はい", state="done")]),
        ([STEP, said("はい")], [said("はい")]),
        ([THOUGHT, said("はい")], [said("はい")]),
        ([THOUGHT, STEP, said("はい、承知しました")], [STEP, said("はい")]),
        ([THOUGHT], [THOUGHT]),
    ],
)
def test_marks_of_steps_and_thoughts_do_not_make_another_reply(stored: list[Any], theirs: list[Any]) -> None:
    path = [U1, parts("a1", *stored)]
    incoming = [U1, parts("c1", *theirs), U2]
    plan = reconcile(path, incoming)
    assert (plan.known, updated(plan), appended(plan, incoming)) == ({0: "u1", 1: "a1"}, [], [("u2", "a1")])


def test_another_reply_is_another_message_though_the_thoughts_are_the_same() -> None:
    incoming = [U1, parts("c1", THOUGHT, said("No."))]
    plan = reconcile([U1, parts("a1", THOUGHT, said("はい"))], incoming)
    assert appended(plan, incoming) == [("c1", "u1")]


def test_the_newest_reply_is_known_without_what_comes_before_it() -> None:
    path = [U1, A1, U2, parts("a2", said("はい"))]
    for incoming in ([parts("c1", STEP, said("はい"))], [parts("c1", said("はい", state="done")), message("u3")]):
        plan = reconcile(path, incoming)
        assert plan.known == {0: "a2"}
        assert appended(plan, incoming) == [(item.id, "a2") for item in incoming[1:]]
    step = [parts("c2", said("はい、次です"))]
    assert appended(reconcile(path, step), step) == [("c2", "a2")]
    older = [message("c3", "OK.", "assistant")]
    assert appended(reconcile([U1, A1, U2], older), older) == [("c3", "u2")]


def test_the_same_question_alone_is_asked_again() -> None:
    again = [message("c1", "u1")]
    assert appended(reconcile([U1, A1], again), again) == [("c1", "a1")]
    assert reconcile([U1], again).known == {0: "u1"}  # not answered yet: sent a second time


@pytest.mark.parametrize(
    ("stored", "theirs", "wins"),
    [
        ({}, {"output": 5}, True),
        ({"output": 5}, {}, False),
        ({"state": "pending"}, {"state": "done"}, True),
        ({"state": "running"}, {"state": "error", "errorText": "no"}, True),
        ({"state": "completed", "output": 5}, {"state": "pending"}, False),
        ({"state": "unheard-of"}, {"state": "new", "output": 5}, True),
        (
            {"state": "output-available", "output": 1, "preliminary": True},
            {"state": "output-available", "output": 5},
            True,
        ),
        (
            {"state": "output-available", "output": 5},
            {"state": "output-available", "output": 1, "preliminary": True},
            False,
        ),
    ],
)
def test_an_answer_makes_a_call_complete_whatever_its_states_are_called(
    stored: dict[str, Any], theirs: dict[str, Any], wins: bool
) -> None:
    call = {"type": "tool-look", "toolCallId": "T1", "input": {}}
    better = merged(parts("m1", {**call, **stored}), parts("m1", {**call, **theirs}))
    assert (better is not None) == wins
    if better is not None:
        assert better.to_dict()["parts"] == [{**call, **theirs}]
