# Generated from tests/_async/test_compacting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Troubles of compaction: functions of the caller's that go wrong, sessions that change under it, odd providers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import glassine
from glassine import (
    Compaction,
    Compactor,
    InvalidError,
    Message,
    SummaryPrompt,
    assistant,
    tool_call,
    tool_result,
    user,
)

SPEC = glassine.SessionSpec().with_context("memory")


def words(messages: list[Message], prompt: str, blocks: list[Any]) -> int:
    return sum([len(message.text.split()) for message in messages])


def brief(prompt: SummaryPrompt) -> str:
    return "what happened"


def spec(summarize: Any = brief, after: int | None = None, **more: Any) -> glassine.SessionSpec:
    hooks = {name: more.pop(name) for name in ("before_compaction", "on_failure") if name in more}
    options = {"protect_head": 1, "tail_token_budget": 6, "min_tail_messages": 1, "token_counter": words, **more}
    return SPEC.with_compaction(Compactor(summarize, **options), after=after, **hooks)


def talk(*numbers: int) -> list[Message]:
    return [user(f"message number {number}", id=f"m{number}") for number in numbers]


def test_a_range_keeps_clear_of_a_summary_that_the_path_is_rewound_into() -> None:
    asked = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(prompt)
        return "short"

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(summarize))
        session.append(talk(*range(1, 21)))
        session.add_compaction("of later", "m8", "m16")
        session.switch("m14")
        made = session.compact()
        assert made.overlay is not None, made.reason
        assert (made.overlay.first_id, made.overlay.last_id) == ("m2", "m7")
        again = session.compact()
        assert (again.kind, again.code) == ("nothing_to_do", "nothing_new")
        assert len(asked) == 1, "no model is asked for a summary that cannot be laid"
        session.switch("m20")
        assert [message.id[:4] for message in session.history()] == [
            "m1",
            "comp",
            "comp",
            "m17",
            "m18",
            "m19",
            "m20",
        ]


def test_a_range_keeps_clear_of_a_summary_that_goes_on_on_another_branch() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec())
        session.append(talk(*range(1, 11)))
        session.append([user(f"other line {number}", id=f"x{number}") for number in range(6)], parent="m5")
        session.add_compaction("of the branch", "m3", "x3")
        session.switch("m10")
        made = session.compact()
        assert made.overlay is not None, made.reason
        assert (made.overlay.first_id, made.overlay.last_id) == ("m2", "m8"), "it ends where they have parted"
        session.switch("m6")
        assert session.compact().code in ("no_boundary", "nothing_new")


def test_what_the_summariser_was_told_goes_with_its_redaction() -> None:
    def quote(prompt: SummaryPrompt) -> str:
        return f"asked for {prompt.request}"

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(quote, tail_token_budget=3))
        session.append([assistant(f"message number {number}", id=f"m{number}") for number in range(1, 10)])
        session.append(user("the password hunter2", id="secret"))
        first = session.compact()
        assert first.overlay is not None
        assert "hunter2" in first.overlay.text
        session.append([assistant(f"message number {number}", id=f"n{number}") for number in range(1, 10)])
        session.append(user("go on then please", id="next"))
        second = session.compact()
        assert second.overlay is not None
        assert set(session.redact("secret")) == {first.overlay.id, second.overlay.id}
        assert session.overlays() == []

        def meanwhile(prompt: SummaryPrompt) -> str:
            store.session("s").redact("next")
            return "asked for secrets"

        made = store.session("s", spec(meanwhile, tail_token_budget=3)).compact()
        assert (made.kind, made.code) == ("failed", "changed")


@pytest.mark.parametrize("error", [StopIteration("x"), SystemExit(3), GeneratorExit(), TimeoutError("own")])
def test_whatever_a_summariser_raises_is_a_reason(error: BaseException) -> None:
    def plain(prompt: SummaryPrompt) -> str:
        raise error

    def awaited(prompt: SummaryPrompt) -> str:
        raise error

    for summarize in (plain, awaited):
        if summarize is awaited and isinstance(error, (StopIteration, SystemExit, GeneratorExit)):
            continue  # what ends a program ends it from a coroutine, too
        with glassine.open(":memory:") as store:
            session = store.session("s", spec(summarize, timeout=None))
            session.append(talk(*range(1, 11)))
            made = session.compact()
            assert (made.kind, made.code) == ("failed", "summariser_raised")
            assert type(error).__name__ in made.reason


def test_a_summariser_that_hangs_is_left() -> None:
    import threading

    begun = threading.Event()

    def hang(prompt: SummaryPrompt) -> str:
        begun.set()
        threading.Event().wait(20)
        return "late"

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(hang, timeout=0.2))
        session.append(talk(*range(1, 11)))
        made = session.compact()
        assert begun.is_set()
        assert (made.kind, made.code) == ("failed", "timed_out")
        assert "0.2 seconds" in made.reason
        assert session.overlays() == []


def test_a_counter_that_raises_is_told_and_not_asked_again_and_again() -> None:
    asked = []

    def broken(messages: list[Message], prompt: str, blocks: list[Any]) -> int:
        asked.append(messages)
        raise KeyError("encoding")

    told: list[Compaction] = []
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(after=10, token_counter=broken, on_failure=told.append))
        for message in talk(*range(1, 30)):
            session.append(message)
        assert [made.code for made in told] == ["counter_raised"]
        assert "KeyError" in told[0].reason
        assert [event.data["code"] for event in session.events()] == ["counter_raised"]
        assert session.compact().code == "counter_raised"
        with pytest.raises(InvalidError, match="KeyError"):
            session.plan_compaction()


@pytest.mark.parametrize("value", [2_000_000, 0, -5, math.nan, math.inf])
def test_odd_counters_do_no_harm(value: float) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(after=1_000_000, token_counter=lambda messages, prompt, blocks: value))
        for message in talk(*range(1, 30)):
            session.append(message)
        for event in session.events():
            assert event.data["tokensAfter"] >= 0
        assert len(session.events()) <= 10
        assert len(session.history(raw=True)) == 29


def test_attempts_made_for_something_else_leave_the_pause_alone() -> None:
    calls = []

    def fail(prompt: SummaryPrompt) -> str:
        calls.append(prompt)
        raise RuntimeError("no model")

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(fail, after=20))
        session.append(talk(*range(1, 11)))
        assert len(calls) == 1
        session.append(talk(11))
        assert len(calls) == 1, "it pauses"
        session.append([user("other", id="x")], parent="m3")
        assert session.compact("x").kind == "failed"
        session.switch("m11")
        session.append(talk(12))
        assert len(calls) == 2, "it still pauses"
        assert session.compact().kind == "failed"
        session.append(talk(13))
        assert len(calls) == 3, "and after an attempt by hand"
        assert session.compact(compactor=Compactor(brief, 1, 6, 1)).kind == "compacted"


def test_an_undone_summary_is_not_laid_again_at_once() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(after=30))
        session.append(talk(*range(1, 12)))
        (overlay,) = session.compactions()
        session.undo(overlay)
        session.append(user("x", id="next"))
        assert session.compactions() == []
        session.append(talk(*range(20, 40)))
        assert len(session.compactions()) == 1, "but when the conversation has grown"


def test_a_hook_that_goes_elsewhere_changes_nothing_of_the_path() -> None:
    def wander(session: Any) -> None:
        session.append(user("elsewhere", id="x"), parent="m2")

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(before_compaction=wander))
        session.append(talk(*range(1, 11)))
        made = session.compact()
        assert made.overlay is not None
        assert (made.overlay.first_id, made.overlay.last_id) == ("m2", "m8")


def test_a_hook_that_raises_or_deletes_keeps_nothing_from_going_on() -> None:
    def spoil(session: Any, plan: glassine.CompactionPlan) -> None:
        session.delete([message.id for message in plan.messages[:2]])
        raise ValueError("no")

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(before_compaction=spoil))
        session.append(talk(*range(1, 11)))
        made = session.compact()
        assert (made.kind, made.messages) == ("compacted", 5)


def test_a_small_threshold_bounds_the_tail() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(brief, token_counter=words), after=40))
        for message in talk(*range(1, 31)):
            session.append(message)
        assert len(session.compactions()) >= 1, "the budget of 20,000 would hold all"
        assert max([event.data["tokensAfter"] for event in session.events()]) <= 40


def test_recovering_works_where_replies_are_appended_and_for_small_windows() -> None:
    error = RuntimeError("This model's maximum context length is 8192 tokens, however you requested 9000 tokens")
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(brief)))
        for turn in range(5):
            for number in range(12):
                session.append(user(f"turn {turn} {number} " + "some words " * 60))
                session.append(assistant("so it is " * 60))
            done = session.recover(error)
            assert (done.kind, done.retry) == ("compacted", True), f"in turn {turn}: {done.reason}"
            session.append(assistant(f"an answer in turn {turn}"))


def test_a_summariser_with_a_small_window_is_never_asked_for_more() -> None:
    from glassine.tokens import estimate_tokens

    asked = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(estimate_tokens(prompt, "safe"))
        return "これまでの話。" * 20

    text = "設定ファイルを確認して、結果を報告してください。" * 30 + "x" * 3_000
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(summarize, 1, 100, 1, max_input_tokens=1_500)))
        session.append([user(f"{number} {text}", id=f"m{number}") for number in range(12)])
        session.append(user("要約の前の依頼。" * 800))
        assert session.compact().kind == "compacted"
        assert len(asked) > 8
        assert max(asked) <= 1_500


def test_results_that_are_shown_short_are_summarised_from_what_is_stored() -> None:
    asked: list[SummaryPrompt] = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(prompt)
        return "short"

    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(summarize, 1, 50, 1)))
        call = tool_call("read", {}, id="c")
        session.append([user("read it"), assistant(call), tool_result(call, "a line\n" * 200)])
        session.recover(RuntimeError("prompt is too long: 2000 tokens > 1000 maximum"))
        assert "shortened" in str(session.preview().messages[2].parts)
        session.append(talk(*range(1, 30)))
        assert session.compact().kind == "compacted"
        assert "shortened:" not in asked[0]
        assert "a line" in asked[0]


def test_a_function_of_the_callers_with_cuts_in_the_view() -> None:
    made = SPEC.with_compaction(lambda history: (history[1].id, history[-2].id, "short")).with_truncation(2, batch=2)
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        for number in range(8):
            call = tool_call("read", {}, id=f"c{number}")
            session.append([assistant(call), tool_result(call, "a line\n" * 4_000)])
        result = session.compact()
        assert result.kind == "compacted"
        assert 0 < result.tokens_after < result.tokens_before
        # The result of the last call, which is under the summary, is shown as a text.
        assert abs(result.tokens_after - session.preview().tokens.total) < 50


def test_what_cuts_have_saved_is_not_counted_once_more() -> None:
    made = SPEC.with_compaction(Compactor(brief, 1, 2_000, 1), after=6_000).with_truncation(2, batch=2)
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        highest = 0
        for number in range(40):
            call = tool_call("read", {"path": f"{number}.txt"}, id=f"c{number}")
            session.append([user(f"read {number} " * 40), assistant(call), tool_result(call, "a line\n" * 1_000)])
            highest = max(highest, session.preview().tokens.total)
        assert len(session.compactions()) > 2
        assert highest <= 6_000 + 3_500, "what one append adds, and no more"


def test_a_session_that_is_deleted_meanwhile_stays_deleted() -> None:
    def delete(prompt: SummaryPrompt) -> str:
        store.delete_session("s")
        return "what happened"

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(delete))
        session.append(talk(*range(1, 11)))
        assert session.compact().kind == "failed"
        assert store.sessions() == []


def test_a_summariser_that_writes_too_much_is_made_to_go_on() -> None:
    asked = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(prompt)
        return "many words of no weight " * 60 if len(asked) < 4 else "in short"

    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(summarize, 1, 100, 1, max_input_tokens=1_000)))
        session.append([user(f"message {number} " + "some more words " * 60) for number in range(20)])
        assert session.compact().kind == "compacted"


@pytest.mark.parametrize("what", ["leaf", "all"])
def test_a_hook_that_deletes_the_leaf_or_all(what: str) -> None:
    def spoil(session: Any) -> None:
        (session.clear() if what == "all" else session.delete("m10"))

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(before_compaction=spoil))
        session.append(talk(*range(1, 11)))
        made = session.compact()
        assert made.kind == ("nothing_to_do" if what == "all" else "compacted")
        assert made.messages == (0 if what == "all" else 6)


def test_a_summary_after_which_the_counter_counts_as_much_is_rejected() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(token_counter=lambda messages, prompt, blocks: 140_000))
        session.append(talk(*range(1, 11)))
        made = session.compact()
        assert (made.kind, made.code) == ("rejected", "no_gain")
        assert session.overlays() == []


def test_recoveries_that_changed_nothing_do_not_count() -> None:
    works = [False]

    def summarize(prompt: SummaryPrompt) -> str:
        if not works[0]:
            raise ConnectionError("503")
        return "short"

    error = RuntimeError("prompt is too long: 9000 tokens > 3000 maximum")
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(summarize)))
        session.append(talk(*range(1, 61)))
        assert [session.recover(error).retry for _ in range(4)] == [False] * 4
        works[0] = True
        assert session.recover(error).kind == "compacted"


def test_recoveries_without_a_reply_end() -> None:
    error = RuntimeError("prompt is too long: 9000 tokens > 3000 maximum")
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(brief, 0, 0, 0, token_counter=words)))
        session.append(assistant("so it is"))
        kinds = []
        for number in range(6):
            session.append(talk(*range(100 * number, 100 * number + 10)))
            kinds.append(session.recover(error).kind)
        assert kinds == ["compacted"] * 3 + ["exhausted"] * 3


@pytest.mark.parametrize("window", [1_000, 1_500, 8_000])
@pytest.mark.parametrize("times", [1, 4])
def test_a_summariser_that_writes_more_than_it_was_asked_comes_to_an_end(window: int, times: int) -> None:
    asked = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(prompt)
        return "many words of some weight " * (prompt.max_tokens * times // 5)

    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(summarize, 1, 100, 1, max_input_tokens=window)))
        session.append([user(f"message {number} " + "some more words " * 60) for number in range(60)])
        made = session.compact()
        assert made.kind == "compacted", made.reason
        assert len(asked) < 120


@pytest.mark.parametrize(
    "answer", ["...", "\u200b", "I'm sorry, but the conversation is too long for me to summarise."]
)
def test_what_is_no_summary_is_not_laid(answer: str) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(lambda prompt: answer))
        session.append(talk(*range(1, 41)))
        made = session.compact()
        assert (made.kind, made.code) in [("failed", "no_summary"), ("failed", "too_long")]
        assert session.overlays() == []


@pytest.mark.parametrize("refreshed", [False, True])
def test_what_a_hook_saves_is_seen_where_the_prompt_is_refreshed(refreshed: bool) -> None:
    def save(session: Any) -> None:
        session.append_block("memory", "deploys are on Fridays")

    made = SPEC.with_compaction(
        Compactor(brief, 1, 6, 1, token_counter=words), before_compaction=save, refresh_prompt=refreshed
    )
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        frozen = session.freeze_prompt()
        session.append(talk(*range(1, 11)))
        assert session.compact().kind == "compacted"
        view = store.session("s", made).view()
        assert ("Fridays" in view.system) is refreshed
        assert (view.system == frozen) is not refreshed
        reasons = [one.reason for one in session.prompt_history()]
        assert reasons == ["first request", "compaction"][: 1 + refreshed]


def test_the_hook_is_called_once_where_a_request_was_too_long() -> None:
    calls = []
    made = SPEC.with_compaction(Compactor(brief), before_compaction=lambda session, plan: calls.append(plan.last_id))
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        session.append(talk(*range(1, 61)))
        done = session.recover(RuntimeError("prompt is too long: 9000 tokens > 3000 maximum"))
        assert done.compaction is not None
        assert done.compaction.plan is not None
        assert (done.kind, done.compaction.cause) == ("compacted", "overflow")
        assert calls == [done.compaction.plan.last_id]


def test_what_was_learnt_moves_the_threshold_and_the_cut_but_no_budget() -> None:
    def reply(prompt_tokens: int) -> dict[str, Any]:
        return {
            "object": "chat.completion",
            "model": "gpt-5",
            "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 1},
        }

    kept = {}
    for factor in (1, 2):
        with glassine.open(":memory:") as store:
            compactor = Compactor(brief, 1, 1_000, 1)
            made = glassine.SessionSpec().with_context("memory", max_tokens=500)
            session = store.session("s", made.with_compaction(compactor, after=6_000))
            session.replace_block("memory", "a fact to be kept " * 20)
            session.append(user("begin"))
            view = session.view("gpt-5")
            session.record(reply(factor * view.tokens.estimate), view=view)
            fired = 0
            for number in range(100):
                session.append(user(f"message number {number} " + "and more of it " * 30))
                if not fired and session.compactions():
                    fired = number
            (event, *_) = [event.data for event in session.events()]
            plan = event["plan"]
            kept[factor] = (fired, plan["tail"]["messages"], session.block("memory").tokens)
            assert 6_000 < event["tokensBefore"] < 6_500
            assert plan["tail"]["tokens"] <= 1_000
    assert kept[2][0] < 0.6 * kept[1][0], "twice the tokens: half the messages until it is time"
    assert kept[2][1] < 0.6 * kept[1][1], "and half of them in the tail"
    assert kept[2][2] == kept[1][2], "a budget counts as before"


def test_thinking_behind_a_summary_goes_where_it_is_bound_to_what_was_there() -> None:
    thought = {"type": "reasoning", "text": "hm", "providerMetadata": {"anthropic": {"signature": "sig"}}}
    facts = glassine.models.facts("claude-opus-4-5", binds_thinking=True)
    meta = {"glassine": {"model": "claude-opus-4-5"}}

    def answer(id: str) -> Message:
        return assistant(thought, f"thought {id}", id=id, metadata=meta)

    def thinks(view: glassine.View) -> dict[str, bool]:
        return {
            message.id: message.parts[0]["type"] == "reasoning"
            for message in view.messages
            if message.id in ("old", "kept", "new")
        }

    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC.with_compaction(Compactor(brief, 2, 20, 1, token_counter=words)))
        session.freeze_prompt()
        session.append([user("begin"), answer("old"), *talk(*range(1, 21)), answer("kept"), user("and then?")])
        assert thinks(session.view("claude-opus-4-5", facts=facts)) == {"old": True, "kept": True}
        assert session.compact().kind == "compacted"
        session.append([answer("new"), user("go on")])
        view = session.view("claude-opus-4-5", facts=facts)
        assert thinks(view) == {"old": True, "kept": False, "new": True}, "what was thought before and after stays"
        assert view.validate("anthropic") == []
        assert "thought kept" in next(message.text for message in view.messages if message.id == "kept")


HUGE = "長い出力 " * 200_000


def test_whatever_road_an_oversized_result_takes_a_view_shows_a_preview_with_a_way_to_the_whole() -> None:
    call = tool_call("read", {"path": "a"}, id="c")
    huge = tool_result(call, HUGE, id="huge")

    def appended(session: Any) -> None:
        session.append(huge)

    def updated(session: Any) -> None:
        session.append(tool_result(call, "short", id="huge"))
        session.update(huge)

    def taken_in(session: Any) -> None:
        session.ingest([*session.history(), huge])

    with glassine.open(":memory:") as store:
        for number, road in enumerate((appended, updated, taken_in)):
            session = store.session(str(number), SPEC)
            session.append([user("read it"), assistant(call)])
            road(session)
            view = session.view("gpt-5")
            (output,) = [result.output for result in glassine.results(view.messages[-1])]
            assert len(output) < 5_000
            assert "read_original" in output
            stored = session.message("huge")
            assert stored is not None
            assert glassine.results(stored)[0].output == HUGE
            (tool,) = [tool for tool in session.tools() if tool.name == "read_original"]
            end = tool.call({"message_id": "huge", "part": 0, "start": len(HUGE) - 10})
            assert end.startswith(HUGE[-10:])
        bare = store.session("without tools")
        bare.append([user("read it"), assistant(call), huge])
        assert "run the tool again" in str(bare.view("gpt-5").messages[-1].parts)


def test_an_oversized_reply_is_shown_as_a_preview_too() -> None:
    reply = {
        "object": "chat.completion",
        "model": "gpt-5",
        "choices": [{"message": {"role": "assistant", "content": HUGE}, "finish_reason": "stop"}],
    }
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC)
        session.append(user("write it"))
        message = session.record(reply, view=session.view("gpt-5"))
        session.append(user("go on"))
        assert message.text == HUGE
        shown = session.view("gpt-5").messages[1].text
        assert len(shown) < 5_000
        assert "read_original" in shown
