"""Which messages one summary should stand for: properties of every plan, the choice around the request, and when."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import assume, event, given, settings
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
    noted_pause,
    open_calls_in,
    pause_after,
    plan_compaction,
    request_at,
)
from glassine.indexing import tokens as estimates
from glassine.messages import Message, Part, Role, assistant, calls, results, tool_call, tool_result, user
from glassine.pairing import Repaired, repair
from glassine.turns import is_summary
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


@settings(max_examples=120)
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


@settings(max_examples=120)
@given(path=st.one_of(tangles, tangles, paths), stays=limits, seed=seeds, data=st.data())
def test_stubbed_calls_may_be_parted_and_no_result_is_lost(
    path: list[Message], stays: Stays, seed: list[int], data: st.DataObject
) -> None:
    sent = [(stub.message_id, stub.call_id) for stub in repair(path[: data.draw(st.integers(0, len(path)))]).stubs]
    plan = plan_compaction(path, stays, tokens=costed(path, seed), stubbed=sent)
    if isinstance(plan, NothingToDo):
        return
    before, after = repair(path, sent), repair(laid(path, plan), sent, plan.open_calls)
    # A result that came before any call of its id, in the head, is taken for that of a covered call of this id.
    orphans = {note.message_id for note in before.notes if note.code == "orphan_result"}
    assume(not orphans & {message.id for message in path[: plan.head]})
    assert _left_out(after) <= _left_out(before)
    calls_of = {(message.id, call.part): call.id for message in path for call in calls(message)}
    for id, part in _unanswered(after) - _unanswered(before):
        assert id is not None
        assert part is not None
        assert (id, calls_of[id, part]) in sent


@settings(max_examples=120)
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


# --- single plans -----------------------------------------------------------------------------------------------------


def talk(count: int) -> list[Message]:
    """A user's request, and answers to it."""
    return [user("go", id="m0"), *[assistant(f"step {number}", id=f"m{number}") for number in range(1, count)]]


def test_head_and_least_tail_are_all_there_is() -> None:
    for path, stays in (
        ([], Stays(0, 0, 0)),
        (talk(2), Stays(1, 0, 1)),
        (talk(5), Stays(3, 0, 2)),
    ):
        found = nothing(path, stays)
        assert found.code == "too_short"
        assert found.reason.startswith(f"the path shows {len(path)} messages")
    assert planned(talk(6), Stays(3, 0, 2)).covered == 1


def test_the_budget_holds_the_rest() -> None:
    found = nothing(talk(6), Stays(2, 40, 1), [10] * 6)
    assert found == ("all_in_tail", "what follows the head has 40 tokens; 40 stay at the end")
    assert ends(planned(talk(6), Stays(2, 39, 1), [10] * 6)) == ("m2", "m2")


def test_a_summary_alone_is_nothing_new() -> None:
    path = [user("go", id="m0"), summary(), *talk(5)[3:]]
    assert nothing(path, Stays(1, 20, 1), [10] * 4).code == "nothing_new"
    assert planned(path, Stays(1, 10, 1), [10] * 4).covered == 2
    # Nor is it something new that the request is all there is beside it.
    assert nothing([summary(), user("go", id="m1"), assistant("so", id="m2")], Stays(0, 10, 1), [10] * 3).code == (
        "nothing_new"
    )


def test_calls_and_results_hold_the_rest_together() -> None:
    path = [user("go", id="m0"), asks("a", "b", id="m1"), gives("b", "m2"), gives("a", "m3"), assistant("so", id="m4")]
    assert nothing(path, Stays(1, 20, 2), [10] * 5).code == "no_boundary"
    assert ends(planned(path, Stays(1, 0, 1), [10] * 5)) == ("m1", "m3")
    # Tools that are still to be run.
    assert nothing(path[:3], Stays(1, 0, 0), [10] * 3).code == "no_boundary"


@pytest.mark.parametrize("after", [user(" ", id="m3"), assistant(id="m3"), gives("b", "m3")])
def test_a_call_is_pending_as_long_as_nothing_is_said_behind_it(after: Message) -> None:
    path = [user("go", id="m0"), assistant("so", id="m1"), asks("a", "b", id="m2"), after]
    assert ends(planned(path, Stays(1, 0, 0), [10] * 4)) == ("m1", "m1")
    assert ends(planned([*path, assistant("hm", id="m4")], Stays(1, 0, 1), [10] * 5)) == ("m1", "m3")


def test_a_range_ends_before_a_call_whose_result_is_in_the_tail() -> None:
    path = [user("go", id="m0"), assistant("so", id="m1"), asks("a", id="m2"), gives("a", "m3"), user("ok", id="m4")]
    assert ends(planned(path, Stays(1, 20, 1), [10] * 5)) == ("m1", "m1")
    # Where no place is before, it ends behind the result.
    assert ends(planned([path[0], *path[2:]], Stays(1, 20, 1), [10] * 4)) == ("m2", "m3")


def test_late_and_repeated_calls_stay_with_their_results() -> None:
    late = [user("go", id="m0"), asks("a", id="m1"), assistant("wait", id="m2"), gives("a", "m3"), *talk(7)[4:]]
    assert nothing(late, Stays(2, 50, 2), [10] * 7).code == "all_in_tail"
    assert ends(planned(late, Stays(2, 0, 2), [10] * 7)) == ("m4", "m4")
    again = [user("go", id="m0"), asks("a", id="m1"), asks("a", id="m2"), gives("a", "m3"), *talk(6)[4:]]
    assert ends(planned(again, Stays(2, 0, 1), [10] * 6)) == ("m4", "m4")
    twice = [user("go", id="m0"), asks("a", "a", id="m1"), gives("a", "m2"), gives("a", "m3"), *talk(6)[4:]]
    assert ends(planned(twice, Stays(1, 30, 1), [10] * 6)) == ("m1", "m3")


def test_a_stubbed_call_may_be_parted_from_its_late_result() -> None:
    path = [user("go", id="m0"), asks("a", id="m1"), assistant("wait", id="m2"), gives("a", "m3"), *talk(6)[4:]]
    plan = planned(path, Stays(1, 30, 1), [10] * 6, [("m1", "a")])
    assert ends(plan) == ("m1", "m2")
    assert plan.open_calls == {"a": "search"}
    assert ends(planned(path, Stays(1, 30, 1), [10] * 6)) == ("m1", "m3")
    # With another call of that id nobody could tell any more which of them the result is for.
    again = [asks("a", id="n0"), gives("a", "n1"), *path]
    assert ends(planned(again, Stays(3, 30, 1), [10] * 8, [("m1", "a")])) == ("m1", "m3")


def test_open_calls_are_those_that_a_result_could_still_come_for() -> None:
    assert open_calls_in([asks("a", "b", id="m1"), gives("b", "m2"), user("on", id="m3")]) == {"a": "search"}
    assert open_calls_in([asks("a", id="m1"), user("on", id="m2"), asks("a", id="m3"), gives("a", "m4")]) == {}
    assert open_calls_in([asks("a", "a", id="m1"), gives("a", "m2")]) == {"a": "search"}
    assert open_calls_in([gives("a", "m0"), user(tool_call("search", {}, id="b"), id="m1")]) == {}


def test_of_the_two_sides_of_the_request_the_dearer_is_covered() -> None:
    path = [user("go", id="m0"), assistant("a", id="m1"), user("now this", id="m2"), *talk(6)[3:]]
    before = planned(path, Stays(1, 10, 1), [1, 30, 5, 10, 10, 10])
    assert (ends(before), before.request) == (("m1", "m1"), "now this")
    behind = planned(path, Stays(1, 10, 1), [1, 10, 5, 10, 10, 10])
    assert (ends(behind), behind.head, behind.tail) == (("m3", "m4"), 3, 1)
    # An earlier summary before the request frees nothing.
    path[1] = summary()
    assert ends(planned(path, Stays(1, 10, 1), [1, 900, 5, 10, 10, 10])) == ("m3", "m4")


def test_the_request_is_the_last_thing_that_a_user_said() -> None:
    blank = [
        user("一番目", id="m0"),
        assistant("so", id="m1"),
        user("", id="m2"),
        user(id="m3"),
        assistant("x", id="m4"),
    ]
    assert request_at(blank) == 0
    assert request_at([*blank, summary()]) == 0
    picture = {"type": "file", "mediaType": "image/png", "url": "https://a.example/x.png"}
    assert request_at([*blank, user(picture, id="m5")]) == 5
    assert request_at([*blank, Message(role="user", parts=gives("a", "r").parts, id="m5")]) == 0
    assert request_at([]) is None
    path = [*talk(6), user(picture, id="seen")]
    assert (planned(path, Stays(1, 20, 1), [10] * 7).request, planned(path, Stays(1, 20, 1), [10] * 7).request_id) == (
        None,
        "seen",
    )


def test_earlier_summaries_are_covered_and_handed_on() -> None:
    path = [*talk(2), summary("one", "first"), assistant("x", id="x"), summary("two", "second"), *talk(6)[2:]]
    plan = planned(path, Stays(4, 20, 1), [10] * 9)
    assert ends(plan) == ("compaction_one", "m3")
    assert plan.previous == ("first", "second")
    assert [message.id for message in plan.messages] == ["x", "m2", "m3"]


def test_one_way_of_counting_decides_for_the_threshold_and_the_cut() -> None:
    """A counter that says 140k over a tail budget of 80k finds a range where the estimate says 30k in all."""
    path = talk(14)
    assert planned(path, Stays(3, 80_000, 2), [10_000] * 14).covered == 3
    assert nothing(path, Stays(3, 80_000, 2), [2_000] * 14).code == "all_in_tail"


def test_the_tail_is_kept_by_tokens_and_at_least_by_count() -> None:
    path = [*talk(4), *[assistant("huge", id=f"h{number}") for number in range(3)]]
    own = [10, 10, 10, 10, 50_000, 50_000, 50_000]
    plan = planned(path, Stays(1, 20_000, 3), own)
    assert (plan.tail, plan.covered) == (3, 3)
    # What is left has three huge messages: there is nothing to gain by doing it again.
    assert nothing(laid(path, plan), Stays(1, 20_000, 3), laid_costs(own, plan)).code == "nothing_new"
    assert planned(path, Stays(1, 20_000, 2), own).tail == 2


def test_without_numbers_the_cautious_estimate_counts() -> None:
    path = [user("設定を確認してください。" * 20, id=f"m{number}") for number in range(6)]
    each = estimates(path[0])[-1]
    plan = planned(path, Stays(1, 2 * each, 1))
    assert (plan.head_tokens, plan.covered_tokens, plan.tail_tokens) == (each, 3 * each, 2 * each)
    assert planned(path, Stays(1, 2 * each - 1, 1)).covered == 4
    with pytest.raises(ValueError, match="there are 6 messages and 1 numbers of tokens"):
        plan_compaction(path, Stays(), tokens=[1])


def test_a_summary_gets_a_fifth_of_what_it_stands_for_within_bounds() -> None:
    for each, expected in ((10, LEAST_SUMMARY), (1_000, 1_000), (100_000, MOST_SUMMARY)):
        assert planned(talk(7), Stays(1, 0, 1), [each] * 7).summary_tokens == expected


def test_a_plan_as_plain_data() -> None:
    assert planned([*talk(2), summary(), *talk(6)[2:]], Stays(1, 15, 1), [10] * 7).to_dict() == {
        "first": "m1",
        "last": "m4",
        "head": {"messages": 1, "tokens": 10},
        "range": {"messages": 5, "tokens": 50, "summaries": 1},
        "tail": {"messages": 1, "tokens": 10},
        "summaryTokens": LEAST_SUMMARY,
    }


# --- when -------------------------------------------------------------------------------------------------------------


def attempts(kind: str, times: Sequence[int], sizes: Sequence[int], after: int = 10_000) -> list[int]:
    """At which appends an attempt is made, if each comes to `kind` and leaves the view as it is."""
    made, pause = [], Pause()
    for index, (now, tokens) in enumerate(zip(times, sizes, strict=True)):
        if tokens > after and pause.is_over(now, tokens):
            made.append(index)
            pause = pause_after(kind, tokens, after, now, pause.failures)
    return made


def test_a_failing_summariser_is_asked_ever_more_rarely() -> None:
    second = 1_000_000
    sizes = [11_000] * 1_000
    assert attempts("failed", [7] * 1_000, sizes) == [0]
    assert attempts("failed", range(0, 1_000 * second, second), sizes) == [0, 30, 90, 210, 450, 930]
    hourly = attempts("failed", range(0, 1_000_000 * second, 1_000 * second), sizes)
    waits = [later - earlier for earlier, later in itertools.pairwise(hourly)]
    assert max(waits) == LONGEST_WAIT // (1_000 * second) + 1
    assert pause_after("failed", 1, 1, 0, 10_000) == Pause(LONGEST_WAIT, 0, 10_001)
    assert pause_after("failed", 1, 1, 5, 0) == Pause(5 + FIRST_WAIT, 0, 1)


@pytest.mark.parametrize("kind", ["nothing_to_do", "rejected", "compacted"])
def test_what_did_not_help_is_tried_again_when_the_view_has_grown(kind: str) -> None:
    each = round(10_000 * GROWTH)
    made = attempts(kind, [0] * 1_000, range(10_100, 110_100, 100))
    assert made == [each // 100 * (2**number - 1) for number in range(8)]
    assert attempts(kind, [0] * 1_000, [11_000] * 1_000) == [0]
    assert pause_after(kind, 11, 10, 0, 0) == Pause(0, 12, 1)
    assert pause_after(kind, 10_001, 10_000, 0, 10_000) == Pause(0, 10_001 + (each << 12), 10_001)


def test_a_view_below_the_threshold_ends_the_pause() -> None:
    assert pause_after("compacted", 9_000, 10_000, 5, 4) == Pause()
    assert pause_after("compacted", 10_000, 10_000, 5, 4) == Pause()
    assert Pause().is_over(0, 0)
    assert not Pause(until=5).is_over(4, 10**9)
    assert not Pause(tokens=5).is_over(10**9, 4)
    assert Pause(5, 5).is_over(5, 5)


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        "text",
        {},
        {"after": 100},
        {"after": 100, "pause": 5},
        {"after": 100, "pause": {}},
        {"after": 100, "pause": {"until": "a", "tokens": 1, "failures": 1}},
        {"after": 100, "pause": {"until": 1, "tokens": -1, "failures": 1}},
        {"after": 100, "pause": {"until": 1, "tokens": 1, "failures": True}},
        {"after": 99, "pause": {"until": 1, "tokens": 2, "failures": 3}},
    ],
)
def test_an_event_of_anybodys_is_no_pause(told: object) -> None:
    assert noted_pause(told, 100) == Pause()


def test_a_pause_is_told_by_its_event() -> None:
    assert noted_pause({"after": 100, "pause": Pause(1, 2, 3)._asdict(), "kind": "failed"}, 100) == Pause(1, 2, 3)
