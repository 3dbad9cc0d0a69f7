# Generated from src/glassine/testing/_async/compacting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Compaction: which part of a path a summary takes, that nothing else changes, and that nothing that goes wrong does
harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glassine
from glassine import (
    Compaction,
    Compactor,
    Message,
    NoCompactorError,
    Overlay,
    Session,
    SessionSpec,
    Store,
    SummaryPrompt,
    Usage,
    assistant,
    tool_call,
    tool_result,
    user,
)

from .._expecting import equal, ids, raises, say, true

COUNTER = glassine.SessionSpec().with_context("memory", max_tokens=200)


def _words(messages: list[Message], prompt: str, blocks: list[Any]) -> int:
    """One token a word: easy to tell in advance."""
    return sum([len(message.text.split()) for message in messages])


class _Summariser:
    """Notes what it is asked, and says the same each time."""

    def __init__(self, answer: Any = "what happened") -> None:
        self.prompts: list[SummaryPrompt] = []
        self.answer = answer

    def __call__(self, prompt: SummaryPrompt) -> Any:
        self.prompts.append(prompt)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def _spec(summarize: Callable[..., Any], after: int | None = None, **more: Any) -> SessionSpec:
    hooks = {name: more.pop(name) for name in ("before_compaction", "on_failure") if name in more}
    options = {"protect_head": 2, "tail_token_budget": 6, "min_tail_messages": 1, "token_counter": _words, **more}
    return COUNTER.with_compaction(Compactor(summarize, **options), after=after, **hooks)


def _laid(made: Compaction) -> Overlay:
    if made.overlay is None:
        raise AssertionError(f"no summary was laid: {made.reason}")
    return made.overlay


def _reply(prompt_tokens: int | None) -> dict[str, Any]:
    """A reply of OpenAI's chat completions."""
    made: dict[str, Any] = {
        "object": "chat.completion",
        "model": "gpt-5-2025-08-07",
        "choices": [{"message": {"role": "assistant", "content": "an answer"}, "finish_reason": "stop"}],
    }
    if prompt_tokens is not None:
        made["usage"] = {"prompt_tokens": prompt_tokens, "completion_tokens": 3}
    return made


def _talk(session: Session, *numbers: int) -> None:
    """For each number a message of three words."""
    for number in numbers:
        text = f"message number {number}"
        session.append(user(text, id=f"m{number}") if number % 2 else assistant(text, id=f"m{number}"))


def a_summary_takes_what_lies_between_head_and_tail(store: Store) -> None:
    asked = _Summariser()
    session = store.session("s", _spec(asked))
    _talk(session, *range(1, 11))
    before = session.history(raw=True)
    made = session.compact()
    equal((made.kind, made.cause, made.messages), ("compacted", "manual", 6), "what it came to")
    equal((_laid(made).first_id, _laid(made).last_id), ("m3", "m8"), "the range")
    equal((made.tokens_before, made.tokens_after), (30, 14), "the tokens")
    equal(ids(session.history()), ["m1", "m2", _laid(made).message_id, "m9", "m10"], "the history")
    equal(session.history(raw=True), before, "the messages")
    equal([entry.message.text for entry in session.preview().entries][2], "what happened", "the view")
    equal(ids(asked.prompts[0].messages), ["m3", "m4", "m5", "m6", "m7", "m8"], "what was to be summarised")
    again = session.compact()
    equal((again.kind, again.code), ("nothing_to_do", "nothing_new"), "the same state again")
    equal(len(asked.prompts), 1, "how often the summariser was asked")
    equal([event.data["kind"] for event in session.events()], ["compacted", "nothing_to_do"], "the events")
    session.undo(_laid(made))
    equal(session.history(), before, "the history without it")


def an_append_over_the_threshold_compacts(store: Store) -> None:
    asked = _Summariser()
    session = store.session("s", _spec(asked, after=30))
    _talk(session, *range(1, 11))
    equal(len(asked.prompts), 0, "before the threshold")
    equal(session.append(user("message number 11", id="m11")).id, "m11", "the append")
    equal(len(asked.prompts), 1, "over the threshold")
    (event,) = session.events()
    equal((event.kind, event.data["kind"], event.data["cause"]), ("compaction", "compacted", "threshold"), "the event")
    equal((event.data["tokensBefore"], event.data["tokensAfter"]), (33, 14), "its numbers")
    equal(ids(session.history(raw=True))[-1], "m11", "the message")


def a_later_summary_takes_in_the_earlier_one(store: Store) -> None:
    asked = _Summariser()
    _talk(store.session("s", _spec(asked)), *range(1, 11))
    first = _laid(store.session("s", _spec(asked)).compact())
    _talk(store.session("s", _spec(asked)), *range(11, 17))
    asked.answer = "more happened"
    second = _laid(store.session("s", _spec(asked)).compact())
    equal((second.first_id, second.last_id, second.supersedes), ("m3", "m14", (first.id,)), "the second")
    equal(asked.prompts[1].previous, ("what happened",), "the summary it is given")
    equal(asked.prompts[1].count("what happened"), 1, "how often it stands in the prompt")
    equal(ids(asked.prompts[1].messages), [f"m{number}" for number in range(9, 15)], "and the messages")
    equal(len(store.session("s").history()), 5, "the history")
    store.session("s").undo(second)
    true(first.message_id in ids(store.session("s").history()), "the first shows again")


def what_a_summariser_does_wrong_changes_nothing(store: Store) -> None:
    for name, answer, kind, code in (
        ("raises", RuntimeError("no model"), "failed", "summariser_raised"),
        ("empty", "", "failed", "no_summary"),
        ("blank", " \n ", "failed", "no_summary"),
        ("none", None, "failed", "no_summary"),
        ("bytes", b"text", "failed", "no_summary"),
        ("long", "word " * 100, "rejected", "no_gain"),
        ("equal", "word " * 18, "rejected", "no_gain"),
        ("overflow", ValueError("prompt is too long: 300000 tokens > 200000 maximum"), "failed", "too_long"),
    ):
        told: list[Compaction] = []
        session = store.session(name, _spec(_Summariser(answer), on_failure=told.append))
        _talk(session, *range(1, 11))
        before = session.history()
        made = session.compact()
        equal((made.kind, made.code, made.overlay), (kind, code, None), f"what {name} came to")
        equal(told, [made], f"what on_failure was told of {name}")
        equal(session.history(), before, f"the history after {name}")
        equal(session.overlays(), [], f"the overlays after {name}")
        equal([event.data["code"] for event in session.events()], [code], f"the events after {name}")
        true(session.verify().clean, f"the session after {name}")


def a_failure_fails_no_append_and_is_not_repeated_at_once(store: Store) -> None:
    asked = _Summariser(RuntimeError("no model"))

    def complain(made: Compaction) -> None:
        raise ValueError(made.reason)

    session = store.session("s", _spec(asked, after=10, on_failure=complain))
    _talk(session, *range(1, 41))
    equal(len(session.history()), 40, "the history")
    true(1 <= len(asked.prompts) <= 3, f"asked {len(asked.prompts)} times for 36 appends over the threshold")
    kinds = [event.data["kind"] for event in session.events()]
    equal(kinds.count("failed"), len(asked.prompts), "one event for each attempt")
    true(len(kinds) <= 6, f"few events: {kinds}")


def a_fallback_writes_where_the_summariser_fails(store: Store) -> None:
    fallback = _Summariser("by the fallback")
    for name, answer in (("raises", RuntimeError("no model")), ("long", "word " * 100), ("blank", " ")):
        session = store.session(name, _spec(_Summariser(answer), fallback=fallback))
        _talk(session, *range(1, 11))
        made = session.compact()
        equal((made.kind, made.by_fallback), ("compacted", True), f"what {name} came to")
        equal((_laid(made).text, _laid(made).data["fallback"]), ("by the fallback", True), "the summary")


def what_comes_in_meanwhile_stays_behind_the_summary(store: Store) -> None:
    other = store.session("s")
    late = [user(f"late {number}", id=f"l{number}") for number in range(500)]

    def slow(prompt: SummaryPrompt) -> str:
        other.append(late)
        return "what happened"

    session = store.session("s", _spec(slow))
    _talk(session, *range(1, 11))
    made = session.compact()
    equal(made.kind, "compacted", "what it came to")
    shown = ids(session.history())
    equal(shown[:5], ["m1", "m2", _laid(made).message_id, "m9", "m10"], "the beginning")
    equal(shown[5:], [message.id for message in late], "what came in")


def a_branch_is_compacted_by_itself(store: Store) -> None:
    session = store.session("s", _spec(_Summariser()))
    _talk(session, *range(1, 11))
    session.append([say(f"b{number}", text=f"branch number {number}") for number in range(5)], parent="m6")
    main = _laid(session.compact("m10"))
    branch = _laid(session.compact())
    equal((main.first_id, main.last_id), ("m3", "m8"), "of the main line")
    equal((branch.first_id, branch.last_id), ("m3", "b2"), "of the branch")
    equal(ids(session.history("m10")), ["m1", "m2", main.message_id, "m9", "m10"], "the main line")
    equal(ids(session.history()), ["m1", "m2", branch.message_id, "b3", "b4"], "the branch")


def the_users_request_stays_word_for_word(store: Store) -> None:
    asked = _Summariser()
    session = store.session("s", _spec(asked, tail_token_budget=4))
    session.append([assistant("so it begins", id="a1"), assistant("and goes on", id="a2")])
    session.append(user("please do this now", id="request"))
    session.append([assistant(f"step number {number}", id=f"s{number}") for number in range(8)])
    made = session.compact()
    equal(made.kind, "compacted", "what it came to")
    true("request" in ids(session.history()), "the request is in the history")
    equal(asked.prompts[0].request, "please do this now", "the request the summariser is told of")
    true("request" not in ids(asked.prompts[0].messages), "it is not summarised")


def calls_stay_with_their_results(store: Store) -> None:
    session = store.session("s", _spec(_Summariser(), tail_token_budget=3, protect_head=1))
    session.append(user("look it up", id="u1"))
    for number in range(6):
        ask = [tool_call("find", {"n": number, "of": of}, id=f"c{number}{of}") for of in "ab"]
        session.append(assistant("I look it up", *ask, id=f"a{number}"))
        session.append([tool_result(call, "found it", id=f"r{number}{call['toolCallId'][-1]}") for call in ask])
    before = session.history()
    made = session.compact()
    equal(made.kind, "compacted", "what it came to")
    view = session.preview()
    equal((view.pending, view.notes), ((), ()), "what the view says")
    true(len(view.entries) < len(before), "the view is shorter")


def a_result_that_comes_after_its_call_was_summarised_is_shown(store: Store) -> None:
    session = store.session("s", _spec(_Summariser(), protect_head=1))
    call = tool_call("deploy", {"to": "production"}, id="c1")
    session.append([user("deploy it now please", id="u1"), assistant("I do it", call, id="a1")])
    _talk(session, *range(1, 9))
    equal(session.compact().kind, "compacted", "what it came to")
    true("a1" not in ids(session.history()), "the call is under the summary")
    session.append(tool_result(call, "deployed as build 4711"))
    view = session.view()
    true("build 4711" in view.entries[-1].message.text, "the late result is in the view")
    again = store.session("s", _spec(_Summariser())).view().messages
    equal(again, view.messages, "another view")


def changes_to_what_is_being_summarised_win(store: Store) -> None:
    for name in ("redact", "update", "delete", "compact"):
        other = store.session(name)
        session: Session

        def change(prompt: SummaryPrompt) -> str:
            if name == "redact":  # noqa: B023  # called in this round of the loop
                other.redact("m5")  # noqa: B023
            elif name == "update":  # noqa: B023
                other.update(user("message changed", id="m5"))  # noqa: B023
            elif name == "delete":  # noqa: B023
                other.delete("m5")  # noqa: B023
            else:
                other.add_compaction("another was quicker", "m4", "m6")  # noqa: B023
            return "what happened"

        session = store.session(name, _spec(change))
        _talk(session, *range(1, 11))
        made = session.compact()
        equal((made.kind, made.code), ("failed", "changed"), f"after {name}")
        texts = [overlay.text for overlay in session.overlays()]
        equal(texts, ["another was quicker"] if name == "compact" else [], f"the overlays after {name}")


def two_holders_never_compact_at_once(store: Store) -> None:
    outcomes = []

    def ask_the_other(prompt: SummaryPrompt) -> str:
        outcomes.append(store.session("s", _spec(_Summariser("the other"))).compact())
        return "the one"

    session = store.session("s", _spec(ask_the_other))
    _talk(session, *range(1, 11))
    equal(session.compact().kind, "compacted", "the one that came first")
    equal([(made.kind, made.code) for made in outcomes], [("nothing_to_do", "busy")], "the other")
    equal([overlay.text for overlay in session.overlays()], ["the one"], "the overlays")


def the_hook_is_called_once_for_each_summary(store: Store) -> None:
    calls: list[Any] = []

    def save(session: Session, plan: glassine.CompactionPlan) -> None:
        calls.append(plan)
        session.append_block("memory", f"up to {plan.last_id}")
        session.append(assistant("saved"))

    session = store.session("s", _spec(_Summariser(), after=30, before_compaction=save))
    _talk(session, *range(1, 12))
    equal(len(calls), 1, "at the threshold")
    equal(session.block("memory").content, "up to m9", "what it wrote")
    equal(session.events()[0].data["kind"], "compacted", "what it came to")
    equal(session.compact().kind, "nothing_to_do", "the same again")
    equal(len(calls), 1, "where there is nothing to do")
    _talk(session, *range(21, 26))
    equal(session.compact().kind, "compacted", "by hand")
    equal(len(calls), 2, "by hand")


def a_function_of_the_callers_may_decide_alone(store: Store) -> None:
    for name, answer, kind, code in (
        ("a range", ("m2", "m5", "in short"), "compacted", "compacted"),
        ("nothing", None, "nothing_to_do", "compactor_declined"),
        ("no summary", ("m2", "m5", ""), "nothing_to_do", "compactor_declined"),
        ("no range", "m2", "failed", "not_a_range"),
        ("backwards", ("m5", "m2", "in short"), "failed", "not_on_path"),
        ("unknown", ("m2", "x", "in short"), "failed", "not_on_path"),
        ("too long", ("m2", "m2", "word " * 50), "rejected", "no_gain"),
    ):
        session = store.session(name, COUNTER.with_compaction(lambda history: answer))  # noqa: B023
        _talk(session, *range(1, 11))
        made = session.compact()
        equal((made.kind, made.code), (kind, code), f"what {name} came to")
        equal(len(session.overlays()), int(kind == "compacted"), f"the overlays after {name}")


def a_compactor_is_needed(store: Store) -> None:
    session = store.session("s")
    with raises(NoCompactorError):
        session.compact()
    asked = _Summariser()
    compactor = Compactor(asked, protect_head=1, tail_token_budget=0, min_tail_messages=1, token_counter=_words)
    equal(session.compact(compactor=compactor).code, "empty", "an empty session")
    equal(store.sessions(), [], "what was made of it")
    _talk(session, *range(1, 6))
    equal(session.compact(compactor=compactor).kind, "compacted", "one given to the call")


def what_the_summaries_cost_is_kept(store: Store) -> None:
    def summarize(prompt: SummaryPrompt) -> str:
        return glassine.Summary("what happened", Usage(kind="summary", model="m", input_tokens=10, output_tokens=2))

    session = store.session("s", _spec(summarize))
    _talk(session, *range(1, 11))
    equal(session.compact().kind, "compacted", "what it came to")
    (row,) = session.usage()
    equal((row.kind, row.input_tokens, row.message_id), ("summary", 10, None), "the usage")


def a_request_that_was_too_long_becomes_shorter(store: Store) -> None:
    error = ValueError("prompt is too long: 210000 tokens > 200000 maximum")
    session = store.session("s", COUNTER.with_compaction(Compactor(_Summariser(), 1, 300, 1)))
    equal(session.recover(ValueError("no such model")).kind, "not_an_overflow", "another error")
    session.append(user("look it up", id="u1"))
    for number in range(6):
        call = tool_call("find", {"n": number}, id=f"c{number}")
        session.append(assistant(call, id=f"a{number}"))
        session.append(tool_result(call, {"rows": ["a line of a result"] * 200}, id=f"r{number}"))
    before = session.history(raw=True)
    tokens = session.preview().tokens.total
    first = session.recover(error)
    equal((first.kind, first.retry), ("shrunk", True), "the first time")
    true(first.shrunk[0] == ("r0", "c0") and len(first.shrunk) < 6, f"the oldest results, not all: {first.shrunk}")
    true(session.preview().tokens.total <= first.tokens_after < tokens, "the view is shorter")
    output = glassine.results(session.preview().messages[2])[0].output
    true(isinstance(output, dict) and "rows" in output, f"the result keeps its shape: {output}")
    equal(session.history(raw=True), before, "the messages")
    worse = {"error": {"message": "prompt is too long: 990000 tokens > 200000 maximum"}}
    later = [session.recover(worse) for _ in range(3)]
    equal((later[0].kind, later[0].retry), ("compacted", True), "the next time")
    equal((later[2].kind, later[2].retry), ("exhausted", False), "the last time")
    true(later[0].shrunk, "what could be shown short was, before")
    session.record(_reply(None))
    true("recoveries" in later[2].reason, f"there were enough: {later[2].reason}")
    true("recoveries" not in session.recover(error).reason, "after a reply it is tried again")


def what_providers_count_teaches_the_estimate(store: Store) -> None:
    session = store.session("s", COUNTER)
    session.append(user("a question " * 50))
    for _ in range(6):
        view = session.view("gpt-5")
        session.record(_reply(2 * view.tokens.estimate), view=view)
        session.append(user("and another question"))
    view = store.session("s", COUNTER).view("gpt-5")
    equal((round(view.calibration.ratio, 3), view.calibration.requests), (2.0, 6), "what was learnt")
    equal(view.tokens.total, round(2 * view.tokens.estimate), "the tokens")
    equal(session.view("claude-sonnet-4-5").calibration.requests, 0, "what is known of another model")
    window = view.tokens.window
    true(view.fits(window - view.tokens.total) and not view.fits(window - view.tokens.total + 1), "whether it fits")
