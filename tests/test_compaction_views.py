"""What holds of sessions that are compacted and cut while they go on, and of the requests that are made of them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glassine
from glassine import Compactor, Message, SummaryPrompt, assistant, rules, tool_call, tool_result, user
from tests.strategies import histories
from tests.test_view_properties import MODELS, flat

slow = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def brief(prompt: SummaryPrompt) -> str:
    return f"So far {len(prompt.messages)} messages and {len(prompt.previous)} summaries."


def spec(
    after: int | None = 120, head: int = 1, tail: int = 40, least: int = 1, batch: int = 4, cut: bool = True
) -> glassine.SessionSpec:
    compactor = Compactor(brief, protect_head=head, tail_token_budget=tail, min_tail_messages=least)
    made = glassine.SessionSpec().with_context("soul", text="x").with_compaction(compactor, after=after)
    return made.with_truncation(2, 40, 100, batch=batch) if cut else made


@slow
@given(
    history=histories,
    after=st.sampled_from([60, 120, 400]),
    head=st.integers(0, 3),
    tail=st.sampled_from([0, 20, 60]),
    least=st.integers(0, 2),
    cut=st.booleans(),
)
def test_every_request_of_a_compacted_session_is_accepted(
    history: list[Message], after: int, head: int, tail: int, least: int, cut: bool
) -> None:
    given_messages = [user("begin", id="begin"), *history, user("end", id="end")]
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(after, head, tail, least, cut=cut))
        stored = []
        apis = itertools.cycle(MODELS)
        for message in given_messages:
            stored.append(session.append(message))
            api: Any = next(apis)
            view = session.view(model=MODELS[api])
            assert view.pending or view.validate(api) == []
        assert session.history(raw=True) == stored
        assert session.verify().clean
        compactions = session.compactions()
        for event in session.events():
            assert event.data["kind"] in ("compacted", "nothing_to_do", "rejected")
            if event.data["kind"] == "compacted":
                assert event.data["tokensAfter"] < event.data["tokensBefore"]
        for overlay in reversed(compactions):
            session.undo(overlay)
        assert [message.parts for message in session.history()] == [message.parts for message in stored]


@slow
@given(history=histories, head=st.integers(0, 3), tail=st.sampled_from([0, 20, 60]), least=st.integers(0, 2))
def test_a_second_compaction_of_the_same_state_does_nothing(
    history: list[Message], head: int, tail: int, least: int
) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, head, tail, least, cut=False))
        session.append([user("begin", id="begin"), *history, user("end", id="end")])
        before = session.preview().tokens.total
        first = session.compact()
        if first.kind == "compacted":
            assert session.preview().tokens.total < before
            asked_again = session.compact()
            # What lay behind the user's request is another range.
            while asked_again.kind == "compacted":
                assert asked_again.tokens_after < asked_again.tokens_before
                asked_again = session.compact()
            assert asked_again.kind == "nothing_to_do" or asked_again.code == "no_gain"
        laid = session.overlays()
        session.compact()
        assert session.overlays() == laid


def talk(session: Any, first: int, last: int) -> None:
    """Turns of four messages, with a result of a tool in each."""
    for number in range(first, last):
        call = tool_call("read", {"path": f"{number}.txt"}, id=f"c{number}")
        session.append(
            [
                user(f"question {number}", id=f"u{number}"),
                assistant(call, id=f"k{number}"),
                tool_result(call, {"lines": [f"line {line} of {number}" for line in range(40)]}, id=f"r{number}"),
                assistant(f"answer {number}", id=f"a{number}"),
            ]
        )


@pytest.mark.parametrize("api", MODELS)
def test_a_cut_moves_in_batches_and_in_between_the_bytes_stay(api: Any) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, batch=12))
        moved = []
        before: list[str] = []
        for number in range(12):
            talk(session, number, number + 1)
            view = session.view(model=MODELS[api])
            now = flat(api, view.request(api).arguments)
            if now[: len(before)] != before:
                moved.append(number)
                assert any("truncated" in entry.why for entry in view.entries)
            before = now
        assert moved == [3, 6, 9], "every twelve messages, when two more have come"
        cut = [entry for entry in view.entries if "truncated" in entry.why]
        assert [entry.message.id for entry in cut] == [f"r{number}" for number in range(9)]
        (result,) = glassine.results(cut[0].message)
        assert isinstance(result.output, dict)
        assert "truncated" in str(view.explain(api))
        assert session.history(raw=True)[2].parts[0]["output"]["lines"][39] == "line 39 of 0"  # type: ignore[typeddict-item]


def test_a_cut_is_the_same_whatever_lies_over_the_path() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, tail=1300, batch=12))
        talk(session, 0, 12)
        before = [entry.message.id for entry in session.view().entries if "truncated" in entry.why]
        made = session.compact()
        assert made.overlay is not None
        after = [entry.message.id for entry in session.view().entries if "truncated" in entry.why]
        assert after
        assert after == [id for id in before if id in after]
        assert [e.message.id for e in session.view().entries if not e.why and e.message.id[0] == "r"] == [
            *("r9", "r10", "r11")
        ]


def test_thinking_on_a_model_that_binds_it_goes_with_the_cut() -> None:
    thought = {"type": "reasoning", "text": "hm", "providerMetadata": {"anthropic": {"signature": "sig"}}}
    facts = glassine.models.facts("claude-opus-4-5", binds_thinking=True)
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, batch=12))
        session.freeze_prompt()
        for number in range(8):
            talk(session, number, number + 1)
            meta = {"glassine": {"model": "claude-opus-4-5"}}
            session.append(assistant(thought, f"thought {number}", id=f"t{number}", metadata=meta))
            session.append(user("go on"))
        view = session.view(model="claude-opus-4-5", facts=facts)
        thinking = {
            entry.message.id: any(part["type"] == "reasoning" for part in entry.message.parts)
            for entry in view.entries
            if entry.message.id.startswith("t")
        }
        # Of 48 messages 36 are cut since there were 38: what was thought before that was thought on longer results.
        assert thinking == {f"t{number}": number > 5 for number in range(8)}
        assert view.validate("anthropic") == []


def test_tokens_of_a_view_are_those_of_its_messages() -> None:
    from glassine import indexing, tokens

    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, tail=300, batch=4))
        talk(session, 0, 10)
        session.append(assistant(tool_call("read", {}, id="lost")))
        session.append([user("and?"), tool_result("lost", "late", name="read")])
        session.compact()
        for model in ("gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro", "claude-opus-4-8", None):
            view = session.view(model=model)
            number = tokens.FAMILIES.index(view.facts.family)
            assert view.tokens.messages == sum([indexing.tokens(message)[number] for message in view.messages])
            assert sum([row.tokens for row in view.explain().rows]) == view.tokens.messages


def test_skills_that_were_summarised_are_named_and_can_be_loaded_again() -> None:
    made = spec(None, tail=10, cut=False).with_context("skills", provider=glassine.SkillTable())
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        session.put_entry("skills", "deploy", "Deploy with care. " * 20, description="how to deploy")
        session.put_entry("skills", "style", "Write plainly. " * 20, description="how to write")
        for key in ("deploy", "style"):
            session.append(user(f"use {key}"))
            reply = session.append(assistant(tool_call("load_context", {"label": "skills", "key": key}, id=key)))
            session.append(session.run_tools(reply))
            session.append(assistant("read"))
        session.unload_skill("skills", "style")
        talk(session, 0, 4)
        assert [loaded.key for loaded in session.loaded_skills()] == ["deploy"]
        made_of = session.compact()
        assert made_of.overlay is not None, made_of.reason
        assert "deploy" in made_of.overlay.text
        assert "style" not in made_of.overlay.text
        assert session.loaded_skills() == ()
        talk(session, 4, 8)
        again = session.compact()
        assert again.overlay is not None
        assert again.overlay.text.count("deploy") == 1
        (load,) = [tool for tool in session.tools() if tool.name == "load_context"]
        assert load.call({"label": "skills", "key": "deploy"}).startswith("Deploy with care.")


def test_the_prompt_alone_over_the_threshold_is_said_and_not_again_and_again() -> None:
    asked: list[SummaryPrompt] = []

    def summarize(prompt: SummaryPrompt) -> str:
        asked.append(prompt)
        return "short"

    made = (
        glassine.SessionSpec()
        .with_context("soul", text="many words " * 500)
        .with_compaction(Compactor(summarize), after=300)
    )
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        for number in range(40):
            session.append(user(f"message {number}"))
        events = [event.data for event in session.events()]
        assert {event["code"] for event in events} == {"prompt_too_long"}
        assert len(events) <= 5, "for 40 messages"
        assert "no compaction helps" in events[0]["reason"]
        assert not asked


def test_the_counter_of_the_threshold_is_the_counter_of_the_cut() -> None:
    """A counter that sees five times the tokens: by the estimate all would fit into the tail."""
    made = glassine.SessionSpec().with_compaction(
        Compactor(
            brief, tail_token_budget=80_000, token_counter=lambda messages, prompt, blocks: 1_400 * len(messages)
        ),
        after=130_000,
    )
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        for number in range(100):
            session.append(user(f"message {number}", id=f"m{number}"))
        kinds = [event.data["kind"] for event in session.events()]
        assert kinds == ["compacted"]
        assert len(session.history()) < 70


def test_events_of_an_attempt_are_plain_data() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(100, cut=False))
        talk(session, 0, 3)
        for event in session.events():
            assert json.loads(json.dumps(event.data)) == event.data
            assert {"kind", "code", "reason", "cause", "tokensBefore", "tokensAfter", "pause"} <= set(event.data)


def test_rules_judge_a_view_that_begins_with_a_summary() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(None, head=0, tail=0, cut=False))
        talk(session, 0, 6)
        session.append(user("the last question"))
        session.compact()
        view = session.view(model="claude-sonnet-4-5")
        assert view.entries[0].why == ("summary",)
        assert rules.violations("anthropic", {"max_tokens": 9, **view.to_anthropic()}) == []


def test_where_nothing_can_be_summarised_long_results_are_shown_short() -> None:
    compactor = Compactor(brief, protect_head=2, min_tail_messages=100)
    made = glassine.SessionSpec().with_compaction(compactor, after=1_700)
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        talk(session, 0, 2)
        assert not session.events()
        talk(session, 2, 5)
        call = tool_call("read", {"path": "last"}, id="last")
        session.append([user("and the last?"), assistant(call)])
        session.append(tool_result(call, {"lines": [f"line {line}" for line in range(80)]}, id="unseen"))
        events = [event.data for event in session.events()]
        assert {event["code"] for event in events} == {"too_short"}
        assert events[0]["shrunk"][0] == ["r0", "c0"]
        assert "shown short" in events[0]["reason"]
        assert session.overlays()[0].data["reason"] == "shrunk"
        assert events[0]["tokensAfter"] <= 1_700 < events[0]["tokensBefore"]
        entries = {entry.message.id: entry.message for entry in session.preview().entries}
        assert len(glassine.results(entries["unseen"])[0].output["lines"]) == 80, "no model has seen it yet"
        (shown,) = glassine.results(entries["r0"])
        assert len(json.dumps(shown.output)) <= 500
        assert "line 39 of 0" in session.read_original("r0", 0)


def test_explain_tells_the_threshold_and_what_is_held_against_it() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(10_000, cut=False))
        talk(session, 0, 3)
        told = session.explain()
        assert told.compaction == (10_000, session.preview().tokens.total)
        assert told.to_dict()["compaction"] == {"after": 10_000, "tokens": told.compaction[1]}
        assert f"compacted after 10000 tokens; {told.compaction[1]} now" in str(told)


def test_what_a_reminder_stands_behind_is_not_counted_for_it() -> None:
    made = (
        glassine.SessionSpec()
        .with_context("memory", when_changed="remind")
        .with_compaction(Compactor(brief, protect_head=1, tail_token_budget=60, min_tail_messages=1))
    )
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        for number in range(12):
            session.append(user(f"a question of the number {number}", id=f"m{number}"))
            if number == 4:
                session.view()
                session.append_block("memory", "word " * 200)
                session.view()
        entries = session.preview().entries
        (place,) = [index for index, entry in enumerate(entries) if entry.why == ("reminder",)]
        assert entries[place].first_id == "m4"
        planned = session.plan_compaction()
        assert isinstance(planned, glassine.CompactionPlan)
        messages = [entry.message for entry in entries]
        from glassine import indexing

        assert planned.first_id == "m1"
        last = max(index for index, entry in enumerate(entries) if entry.last_id == planned.last_id)
        assert planned.covered_tokens == sum([indexing.tokens(message)[-1] for message in messages[1 : last + 1]])
