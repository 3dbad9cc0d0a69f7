"""Repair: calls and their results, in the states that crashes, latecomers and second clients leave behind."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from glassine.messages import Message, assistant, calls, results, tool_call, tool_result, user
from glassine.pairing import STUB, Repaired, Stub, repair
from tests.strategies import histories


def asks(*ids: str, text: str = "", id: str | None = None) -> Message:
    return assistant(*([text] if text else []), *[tool_call("search", {"q": each}, id=each) for each in ids], id=id)


def gives(call: str, output: Any = None, id: str | None = None) -> Message:
    return tool_result(call, output or f"result of {call}", name="search", id=id)


def short(found: Repaired) -> list[str]:
    """Each message in a few characters: its texts, ?call, and !result with how its output begins."""
    shown = []
    for message in found.messages:
        pieces = [f"?{call.id}" for call in calls(message)]
        pieces += [f"!{each.id}{' stub' if each.output == STUB else ''}" for each in results(message)]
        shown.append(" ".join([*([message.text] if message.text else []), *pieces]))
    return shown


def codes(found: Repaired) -> list[str]:
    return [note.code for note in found.notes]


def test_a_sound_history_stays_the_very_same_objects() -> None:
    history = [user("go"), asks("a", "b"), gives("b"), gives("a"), assistant("done"), user("thanks")]
    found = repair(history)
    assert all(one is other for one, other in zip(found.messages, history, strict=True))
    assert (found.notes, found.stubs, found.sources) == ((), (), (0, 1, 2, 3, 4, 5))


def test_calls_are_pending_while_only_results_follow() -> None:
    cases = (([asks("a", "b")], "ab"), ([asks("a", "b"), gives("a")], "b"), ([asks("a"), user("  ")], "a"))
    for history, pending in cases:
        found = repair(history)
        assert found.pending == tuple(pending)
        assert found.messages == history[: len(found.messages)]
        assert not found.stubs


def test_a_call_that_a_crash_left_without_result_gets_a_stub() -> None:
    found = repair([user("go", id="u"), asks("a", "b", id="c"), gives("b", id="r"), user("are you there?", id="v")])
    assert short(found) == ["go", "?a ?b", "!b", "!a stub", "are you there?"]
    assert found.stubs == (Stub("c", "a", STUB),)
    assert found.sources == (0, 1, 2, 1, 3)
    assert codes(found) == ["missing_result"]


def test_a_late_result_whose_stub_was_never_sent_is_moved() -> None:
    found = repair([asks("a", "b"), gives("a"), user("wait"), gives("b", id="r"), assistant("done")])
    assert short(found) == ["?a ?b", "!a", "!b", "wait", "done"]
    assert found.messages[2].id == "r"
    assert found.sources == (0, 1, 3, 2, 4)
    assert codes(found) == ["moved_result"]


def test_a_late_result_whose_stub_was_sent_is_shown_where_it_came() -> None:
    history = [asks("a"), user("wait"), gives("a", id="r"), assistant("I see")]
    found = repair(history, {("", "a")})
    assert short(found) == ["?a", "!a stub", "wait", "[Late result of search (a)] result of a", "I see"]
    assert found.messages[3].role == "user"
    assert found.messages[3].id == "r"
    assert not found.stubs


def test_a_late_result_that_is_an_error_or_holds_a_picture_says_so() -> None:
    late = tool_result("a", "no such file", name="search", is_error=True)
    assert repair([asks("a"), user("wait"), late], {("", "a")}).messages[-1].text == (
        "[Late result of search (a)] Error: no such file"
    )
    picture = {"type": "file", "mediaType": "image/png", "url": "https://a.example/x.png"}
    shown = repair([asks("a"), user("wait"), gives("a", [{"type": "text", "text": "see"}, picture])], {("", "a")})
    assert shown.messages[-1].parts == [
        {"type": "text", "text": "[Late result of search (a)]"},
        {"type": "text", "text": "see"},
        picture,
    ]


def test_a_late_result_waits_until_no_call_is_pending() -> None:
    history = [asks("a"), user("wait"), asks("b"), gives("a")]
    assert short(repair(history, {("", "a")})) == ["?a", "!a stub", "wait", "?b"]
    assert "held_result" in codes(repair(history, {("", "a")}))
    found = repair([*history, gives("b"), assistant("done")], {("", "a")})
    assert short(found) == ["?a", "!a stub", "wait", "?b", "!b", "[Late result of search (a)] result of a", "done"]


def test_results_without_a_call_and_second_results_go() -> None:
    found = repair([gives("gone"), user("go"), asks("a"), gives("a"), gives("a", "again"), gives("b"), assistant("x")])
    assert short(found) == ["go", "?a", "!a", "x"]
    assert codes(found) == ["orphan_result", "duplicate_result", "orphan_result"]


def test_half_of_a_run_of_results_can_be_an_orphan() -> None:
    both: Any = [*gives("a").parts, *gives("b").parts]
    found = repair([asks("b"), Message(role="tool", parts=both, id="r")])
    assert short(found) == ["?b", "!b"]
    assert found.messages[1].id == "r"


def test_one_id_for_several_calls() -> None:
    found = repair([asks("a"), gives("a", "1"), asks("a"), gives("a", "2")])
    assert short(found) == ["?a", "!a", "?a", "!a"]
    found = repair([asks("a"), user("on"), asks("a"), gives("a", "2"), user("on")], {("", "a")})
    assert short(found) == ["?a", "!a stub", "on", "?a", "!a", "on"]
    twice = assistant(tool_call("search", {"q": 1}, id="a"), tool_call("search", {"q": 2}, id="a"))
    assert short(repair([twice, gives("a"), gives("a"), user("on")])) == ["?a ?a", "!a", "!a", "on"]


def test_a_call_stored_again_by_a_resumed_run_is_one_call() -> None:
    found = repair([user("go"), asks("a"), asks("a", text="as I said"), gives("a"), assistant("done")])
    assert short(found) == ["go", "?a", "!a", "as I said", "done"]
    done = {"type": "tool-search", "toolCallId": "a", "state": "output-available", "input": {"q": "a"}, "output": 1}
    found = repair([user("go"), asks("a"), assistant(done), assistant("done")])
    assert short(found) == ["go", "?a", "!a", "done"]
    assert codes(found)[0] == "repeated_call"


def test_parts_of_the_ai_sdk_hold_their_own_result() -> None:
    open_part = {"type": "tool-search", "toolCallId": "a", "state": "input-available", "input": {}}
    done = {"type": "tool-search", "toolCallId": "b", "state": "output-available", "input": {}, "output": 1}
    found = repair([user("go"), assistant(open_part, done, "so"), user("hm")])
    assert short(found) == ["go", "so ?a ?b !b", "!a stub", "hm"]
    assert short(repair([user("go"), assistant(open_part, done)])) == ["go", "?a ?b !b"]


def test_a_late_result_in_the_part_of_its_call_stands_there_with_a_note() -> None:
    done = {"type": "tool-search", "toolCallId": "a", "state": "output-available", "input": {}, "output": 1}
    found = repair([user("go"), assistant(done), user("hm")], {("", "a")})
    assert short(found) == ["go", "?a !a", "hm"]
    assert codes(found) == ["late_result"]


def test_results_in_a_users_message_with_text() -> None:
    message = Message(role="user", parts=[{"type": "text", "text": "and now?"}, *gives("a").parts])
    assert short(repair([asks("a"), message])) == ["?a", "and now? !a"]
    assert short(repair([asks("a", "b"), message])) == ["?a ?b", "!b stub", "and now? !a"]


def test_messages_with_nothing_in_them_go() -> None:
    assert short(repair([user("go"), Message(role="assistant", parts=[]), user("on")])) == ["go", "on"]


def pending(history: list[Message], found: Repaired) -> bool:
    """Whether the last step of a repaired history still waits for results."""
    answered = set()
    for message in reversed(found.messages):
        answered |= {result.id for result in results(message)}
        if asked := calls(message) if message.role == "assistant" else []:
            return any(call.id not in answered for call in asked)
        if message.role != "tool" and message.text.strip():
            return False
    return False


@given(histories)
def test_repairing_twice_changes_nothing_more(history: list[Message]) -> None:
    once = repair(history)
    twice = repair(once.messages)
    assert twice.messages == once.messages
    assert not twice.stubs


@given(histories)
def test_what_is_repaired_comes_from_what_was_given(history: list[Message]) -> None:
    found = repair(history)
    assert len(found.sources) == len(found.messages)
    for message, source in zip(found.messages, found.sources, strict=True):
        assert message.id in ("", history[source].id)


@given(histories, st.integers(1, 7))
def test_appending_keeps_what_was_sent(history: list[Message], cut: int) -> None:
    before = repair(history[:cut])
    if pending(history[:cut], before):
        return
    after = repair(history, [(stub.message_id, stub.call_id) for stub in before.stubs])
    assert after.messages[: len(before.messages)] == before.messages
