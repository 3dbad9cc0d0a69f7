# Generated from tests/_async/test_views.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Views: a preview writes nothing, and what was sent stays the same."""

from __future__ import annotations

from typing import Any

import glassine
from glassine import SessionSpec, assistant, tool_call, tool_result, user

CLAUDE = "claude-sonnet-5"


def flat(request: dict[str, Any]) -> list[Any]:
    """The blocks of an Anthropic request in their order, cache marks left out."""
    found: list[Any] = []
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [(message["role"], {k: v for k, v in block.items() if k != "cache_control"}) for block in blocks]
    return found


def test_a_preview_equals_the_view_and_writes_nothing() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("soul", text="Be kind.").with_cached_prompt())
        session.append([user("hi"), assistant("hello"), user("more")])
        view = session.view(model=CLAUDE)
        change = session.info().change
        preview = session.preview(model=CLAUDE)
        assert preview.to_anthropic() == view.to_anthropic() == session.view(model=CLAUDE).to_anthropic()
        assert session.info().change == change
        assert view.validate() == []


def test_an_interrupted_call_is_stubbed_once_and_its_late_result_comes_at_the_end() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        call = tool_call("search", {"q": "x"}, id="call_1")
        session.append([user("find"), assistant(call)])
        assert session.view(model=CLAUDE).pending == ("call_1",)
        session.append(user("never mind"))
        first = session.view(model=CLAUDE)
        change = session.info().change
        assert first.validate() == []
        assert session.view(model=CLAUDE).to_anthropic() == first.to_anthropic()
        assert session.info().change == change
        session.append([assistant("all right"), tool_result("call_1", "found", name="search"), user("and?")])
        later = session.view(model=CLAUDE)
        assert later.validate() == []
        before, after = flat(first.to_anthropic()), flat(later.to_anthropic())
        assert after[: len(before)] == before
        assert any("found" in block.get("text", "") for _, block in after[len(before) :])
