"""Which messages one summary should stand for: properties of every plan, the choice around the request, and when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from glassine.compaction import (
    FIRST_WAIT,
    GROWTH,
    LEAST_SUMMARY,
    LONGEST_WAIT,
    MOST_SUMMARY,
    CompactionPlan,
    NothingToDo,
    Pause,
    is_summary,
    open_calls_in,
    pause_after,
    plan_compaction,
    request_of,
)
from glassine.indexing import tokens as estimates
from glassine.messages import Message, Part, Role, assistant, calls, results, tool_call, tool_result, user
from glassine.pairing import Repaired, repair
from tests.strategies import paths


@dataclass
class Stays:
    """Limits of a plan."""

    protect_head: int = 1
    tail_token_budget: int = 20
    min_tail_messages: int = 1


limits = st.builds(Stays, st.integers(0, 4), st.integers(0, 120), st.integers(0, 4))
seeds = st.lists(st.integers(0, 40), min_size=1, max_size=7)
"""Numbers of tokens, to be gone through again and again."""


def costed(path: Sequence[Message], seed: list[int]) -> list[int]:
    return [seed[index % len(seed)] for index in range(len(path))]


def _mixed(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=list(parts))


def _sdk(call: str, **state: object) -> Part:
    return {"type": "tool-search", "toolCallId": call, "input": {"q": call}, **state}


_A, _B = tool_call("search", {"q": "a"}, id="a"), tool_call("search", {"q": "b"}, id="b")
_OTHER = tool_call("search", {"q": "other"}, id="a")
_RESULT: Part = tool_result("a", "見つかった", name="search").parts[0]
_TEXT: Part = {"type": "text", "text": "設定を確認して"}
_CLOSE: list[Message] = [
    *[user("deploy it"), user(" "), user(), user(_TEXT, {"type": "step-start"})],
    *[assistant("done"), assistant(), assistant({"type": "step-start"})],
    *[assistant(_A), assistant(_B, "so"), assistant(_A, _B), assistant(_A, _A), assistant(_OTHER)],
    *[_mixed("tool", _RESULT), tool_result("b", {"found": 2}, name="search"), _mixed("tool", _RESULT, _RESULT)],
    *[_mixed("user", _RESULT, _TEXT), _mixed("user", _RESULT, _A), _mixed("assistant", _RESULT, _A)],
    *[assistant(_sdk("a", state="output-available", output=1)), assistant(_sdk("a", state="input-available"), "so")],
    *[user(_RESULT), assistant("hm", _sdk("b", state="output-error", errorText="no"))],
]
"""Messages with few calls, so that many of them belong together, or seem to."""


def _named(found: list[Message | None]) -> list[Message]:
    return [
        summary(str(number)) if message is None else message.with_id(f"m{number}")
        for number, message in enumerate(found)
    ]


tangles = st.lists(st.sampled_from([*_CLOSE, *_CLOSE, None, None]), max_size=12).map(_named)


def asks(*ids: str, text: str = "", id: str) -> Message:
    return assistant(*([text] if text else []), *[tool_call("search", {"q": each}, id=each) for each in ids], id=id)


def gives(call: str, id: str, output: str = "found") -> Message:
    return tool_result(call, output, name="search", id=id)


def summary(id: str = "s", text: str = "So far: 設定を確認した") -> Message:
    return user(text, id=f"compaction_{id}")


def planned(
    path: Sequence[Message],
    stays: Stays,
    tokens: Sequence[int] | None = None,
    stubbed: Collection[tuple[str, str]] = (),
) -> CompactionPlan:
    found = plan_compaction(path, stays, tokens=tokens, stubbed=stubbed)
    assert isinstance(found, CompactionPlan), found
    return found


def nothing(path: Sequence[Message], stays: Stays, tokens: Sequence[int] | None = None) -> NothingToDo:
    found = plan_compaction(path, stays, tokens=tokens)
    assert isinstance(found, NothingToDo), found
    return found


def ends(plan: CompactionPlan) -> tuple[str, str]:
    return plan.first_id, plan.last_id


def laid(path: Sequence[Message], plan: CompactionPlan, id: str = "new") -> list[Message]:
    """The path as it is once a summary stands for the range."""
    return [*path[: plan.head], summary(id), *path[plan.head + plan.covered :]]


def laid_costs(tokens: Sequence[int], plan: CompactionPlan) -> list[int]:
    return [*tokens[: plan.head], plan.covered_tokens // 5, *tokens[plan.head + plan.covered :]]


# --- every plan -------------------------------------------------------------------------------------------------------


@given(path=paths, stays=limits, seed=seeds)
def test_head_range_and_tail_are_all_there_is(path: list[Message], stays: Stays, seed: list[int]) -> None:
    own = costed(path, seed)
    plan = plan_compaction(path, stays, tokens=own)
    assert plan == plan_compaction([message.to_dict() for message in path], stays, tokens=own)
    event(plan.code if isinstance(plan, NothingToDo) else "planned")
    if isinstance(plan, NothingToDo):
        return
    start, end = plan.head, plan.head + plan.covered
    assert plan.head + plan.covered + plan.tail == len(path)
    assert (plan.head_tokens, plan.covered_tokens, plan.tail_tokens) == (
        sum(own[:start]),
        sum(own[start:end]),
        sum(own[end:]),
    )
    assert ends(plan) == (path[start].id, path[end - 1].id)
    assert plan.messages == tuple([message for message in path[start:end] if not is_summary(message)])
    assert plan.previous == tuple([message.text for message in path[start:end] if is_summary(message)])
    assert plan.messages
    assert plan.tail >= stays.min_tail_messages
    first = next((index for index, message in enumerate(path) if is_summary(message)), len(path))
    assert plan.head >= min(stays.protect_head, first)
    assert LEAST_SUMMARY <= plan.summary_tokens <= MOST_SUMMARY


@given(path=tangles, stays=limits, seed=seeds)
def test_the_latest_request_is_never_covered(path: list[Message], stays: Stays, seed: list[int]) -> None:
    plan = plan_compaction(path, stays, tokens=costed(path, seed))
    if isinstance(plan, NothingToDo):
        return
    asked = _asking(path)
    if asked:
        assert asked[-1] not in plan.messages
    assert plan.request == (asked[-1].text or None if asked else None)


def _asking(path: Sequence[Message]) -> list[Message]:
    """The messages in which a user says something."""
    said = [message for message in path if message.role == "user" and not is_summary(message)]
    return [message for message in said if any(_is_said(message, part) for part in range(len(message.parts)))]


def _is_said(message: Message, part: int) -> bool:
    """Whether a part is more than a result, a step, or a blank text."""
    found = message.parts[part]
    if part in {result.part for result in results(message)} or found["type"] == "step-start":
        return False
    return found["type"] != "text" or bool(str(found.get("text", "")).strip())


def _left_out(found: Repaired) -> set[tuple[str | None, int | None]]:
    return {(note.message_id, note.part) for note in found.notes if note.code in ("orphan_result", "duplicate_result")}


def _late(found: Repaired) -> set[tuple[str | None, int | None]]:
    return {(note.message_id, note.part) for note in found.notes if note.code == "late_result"}


def _unanswered(found: Repaired) -> set[tuple[str | None, int | None]]:
    return {(note.message_id, note.part) for note in found.notes if note.code == "missing_result"}


@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds)
def test_no_call_is_parted_from_its_result(path: list[Message], stays: Stays, seed: list[int]) -> None:
    plan = plan_compaction(path, stays, tokens=costed(path, seed))
    if isinstance(plan, NothingToDo):
        return
    before, after = repair(path), repair(laid(path, plan), (), plan.open_calls)
    assert _left_out(after) <= _left_out(before)
    assert _unanswered(after) <= _unanswered(before)
    # What belonged to no call in front of it may be taken for what comes late to a call in the range.
    assert _late(after) <= _left_out(before)


@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds, data=st.data())
def test_stubbed_calls_may_be_parted_and_no_result_is_lost(
    path: list[Message], stays: Stays, seed: list[int], data: st.DataObject
) -> None:
    sent = [(stub.message_id, stub.call_id) for stub in repair(path[: data.draw(st.integers(0, len(path)))]).stubs]
    plan = plan_compaction(path, stays, tokens=costed(path, seed), stubbed=sent)
    if isinstance(plan, NothingToDo):
        return
    before, after = repair(path, sent), repair(laid(path, plan), sent, plan.open_calls)
    assert _left_out(after) <= _left_out(before)
    calls_of = {(message.id, call.part): call.id for message in path for call in calls(message)}
    for id, part in _unanswered(after) - _unanswered(before):
        assert id is not None
        assert part is not None
        assert (id, calls_of[id, part]) in sent


@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds)
def test_calls_whose_tools_are_to_be_run_are_never_covered(path: list[Message], stays: Stays, seed: list[int]) -> None:
    plan = plan_compaction(path, stays, tokens=costed(path, seed))
    if isinstance(plan, CompactionPlan):
        assert repair(laid(path, plan), (), plan.open_calls).pending == repair(path).pending


@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds)
def test_what_was_compacted_is_not_compacted_again(path: list[Message], stays: Stays, seed: list[int]) -> None:
    own = costed(path, seed)
    asked = _asking(path)
    rounds = 0
    while isinstance(plan := plan_compaction(path, stays, tokens=own), CompactionPlan):
        rounds += 1
        own, path = laid_costs(own, plan), laid(path, plan, f"new{rounds}")
    # The request parts the range in two: each side is summarised once.
    assert rounds <= (2 if asked else 1)


@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds, more=st.integers(0, 200))
def test_a_greater_tail_is_never_covered_further(path: list[Message], stays: Stays, seed: list[int], more: int) -> None:
    own = costed(path, seed)
    one = plan_compaction(path, stays, tokens=own)
    greater = Stays(stays.protect_head, stays.tail_token_budget + more, stays.min_tail_messages)
    two = plan_compaction(path, greater, tokens=own)
    if isinstance(two, CompactionPlan):
        assert isinstance(one, CompactionPlan)
        assert two.tail >= one.tail
