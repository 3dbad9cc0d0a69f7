"""What holds of every request: a longer conversation only adds, the same state gives the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import glassine
from glassine import Message, rules, user
from tests.strategies import histories

MODELS = {
    "anthropic": "claude-opus-4-5",
    "openai": "gpt-4o",
    "openai_responses": "gpt-4o",
    "gemini": "gemini-2.5-flash",
}
SPEC = glassine.SessionSpec().with_context("soul", text="You help.").with_context("memory").with_cached_prompt()
slow = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def flat(api: str, arguments: dict[str, Any]) -> list[str]:
    """A request as its prompt, then each block with its role, without cache marks: what a provider's cache compares."""
    head = {name: arguments.get(name) for name in ("system", "instructions", "tools", "config")}
    found = [json.dumps(head)]
    for name in ("messages", "input", "contents"):
        for item in arguments.get(name) or ():
            content = item.get("content", item.get("parts"))
            blocks = content if isinstance(content, list) else [content]
            rest = {key: value for key, value in item.items() if key not in ("content", "parts")}
            found += [json.dumps([rest, _bare(block)]) for block in blocks]
    return found


def _bare(block: Any) -> Any:
    return {key: value for key, value in block.items() if key != "cache_control"} if isinstance(block, dict) else block


@pytest.mark.parametrize("api", MODELS)
@slow
@given(history=histories)
def test_what_was_sent_is_sent_again_or_a_note_says_why(api: Any, history: list[Message]) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC)
        before: list[str] = []
        for message in [user("begin", id="begin"), *history, user("end", id="end")]:
            session.append(message)
            view = session.view(model=MODELS[api])
            if view.pending:
                continue  # nobody can send it
            made = view.request(api)
            now = flat(api, made.arguments)
            if now[: len(before)] != before:
                assert view.explain(api).notes, "a silent change of what was sent"
            before = now


@pytest.mark.parametrize("api", MODELS)
@slow
@given(history=histories)
def test_what_validates_breaks_no_rule_and_a_preview_is_the_view(api: Any, history: list[Message]) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SPEC)
        session.append([user("begin", id="begin"), *history, user("end", id="end")])
        view = session.view(model=MODELS[api])
        assert view.validate(api) == []
        body = {"max_tokens": 10, **view.request(api).arguments} if api == "anthropic" else view.request(api).arguments
        assert rules.violations(api, body) == []
        change = session.info().change
        assert session.preview(model=MODELS[api]).request(api) == view.request(api)
        assert session.info().change == change


def test_another_process_sends_the_same_bytes(tmp_path: Path) -> None:
    program = """
import json, sys, glassine
spec = glassine.SessionSpec().with_context("soul", text="You help.").with_context("memory").with_cached_prompt()
with glassine.open(sys.argv[1]) as store:
    view = store.session("s", spec).view(model="claude-opus-4-5")
    print(json.dumps([view.to_anthropic(), view.to_openai(), view.to_openai_responses(), view.to_gemini()]))
"""
    path = str(tmp_path / "a.db")
    with glassine.open(path) as store:
        session = store.session("s", SPEC)
        call = glassine.tool_call("read", {"path": "見積書.md"}, id="c1")
        session.append(
            [user("読んで"), glassine.assistant("はい", call), glassine.tool_result(call, {"text": "三千円"})]
        )
        session.append([glassine.assistant(glassine.tool_call("read", {}, id="lost")), user("and?")])
    runs = [subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert len(json.loads(runs[0].stdout)) == 4
