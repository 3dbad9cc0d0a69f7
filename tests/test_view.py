"""What a view says of itself: cache breakpoints, whether it fits, and why it looks as it does."""

from __future__ import annotations

import json

import pytest

import glassine
from glassine import user
from glassine.hints import place
from glassine.models import facts


def test_breakpoints_stand_at_the_prompt_the_last_requests_end_and_the_tail() -> None:
    call = glassine.tool_call("read", {}, id="c")
    loop = [user("go", id="u"), glassine.assistant(call, id="a"), glassine.tool_result(call, "text", id="r")]
    assert place(loop, "short", 4).messages == (0, 2)
    assert place(loop, "short", 2).messages == (2,)
    assert place(loop, "short", 1).messages == ()
    assert place(loop[:1], "long", 4).messages == (0,)
    assert place([], "short", 4).messages == ()
    assert not place(loop, "none", 4).prefix
    with pytest.raises(ValueError, match="cache_retention"):
        place(loop, "forever", 4)  # type: ignore[arg-type]


def test_a_request_never_has_more_marks_than_are_allowed() -> None:
    spec = glassine.SessionSpec().with_context("soul", text="x").with_context("memory")
    with glassine.open(":memory:") as store:
        session = store.session("s", spec)
        for number in range(6):
            session.append([user(f"u{number}"), glassine.assistant(f"a{number}")])
        session.append(user("end"))
        for retention, marks in (("short", 3), ("long", 3), ("none", 0)):
            view = session.view(model="claude-sonnet-5", cache_retention=retention)  # type: ignore[arg-type]
            sent = json.dumps(view.to_anthropic())
            assert sent.count("cache_control") == marks
            assert sent.count('"1h"') == (3 if retention == "long" else 0)


def test_whether_it_fits_is_told_before_it_is_sent() -> None:
    small = facts("claude-sonnet-5", context_window=1000)
    with glassine.open(":memory:") as store:
        session = store.session("s")
        session.append(user("漢字" * 300))
        assert session.view(model="claude-sonnet-5").fits(4096)
        view = session.view(model="claude-sonnet-5", facts=small)
        assert view.tokens.total == view.tokens.messages > 0
        assert not view.fits(1000)
        session.append(user("漢字" * 1000))
        view = session.view(model="claude-sonnet-5", facts=small)
        assert not view.fits()
        assert view.validate()


def test_an_explanation_names_what_stands_for_what() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", glassine.SessionSpec().with_context("memory").with_cached_prompt())
        session.append([user("質問", id="m1"), glassine.assistant("答え", id="m2"), user("そして", id="m3")])
        session.add_compaction("要約", "m1", "m2", id="o1")
        session.view(model="claude-sonnet-5")
        session.append_block("memory", "new")
        told = session.explain("claude-sonnet-5")
        data = told.to_dict()
        assert data["messages"][0]["why"] == ("summary",)
        assert (data["messages"][0]["first_id"], data["messages"][0]["last_id"]) == ("m1", "m2")
        assert data["prompt"]["stale"] == ["memory"]
        assert data["prompt"]["reason"] == "first request"
        assert json.loads(json.dumps(data))["tokens"]["total"] == told.tokens.total
        assert "for 2 messages, m1 to m2  [summary]" in str(told)
        assert "changed since: memory" in str(told)
