"""The loops of agents with the providers' own SDKs: what is sent again is sent the same, and is accepted."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

import glassine
from glassine import AsyncSession, SessionSpec, tool_result, user
from glassine.testing import Call, FakeProvider, Text, Thinking

pytestmark = pytest.mark.anyio

CLAUDE = "claude-sonnet-5"


def flat(request: dict[str, Any]) -> list[Any]:
    """The blocks of an Anthropic request in their order, cache marks left out."""
    found: list[Any] = []
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [(message["role"], {k: v for k, v in block.items() if k != "cache_control"}) for block in blocks]
    return found


async def _ask(session: AsyncSession, client: anthropic.AsyncAnthropic) -> Any:
    view = await session.view(model=CLAUDE)
    response = await client.messages.create(max_tokens=1000, **view.to_anthropic())
    return await session.record(response, view=view)


async def test_a_loop_with_parallel_tools_and_thinking() -> None:
    answers: list[Any] = [
        [Thinking("Two."), Text("I look."), Call("weather", {"city": "Rome"}), Call("weather", {"city": "Oslo"})],
        "Warm and cold.",
        "You are welcome.",
    ]
    with FakeProvider(answers=answers) as fake:
        async with (
            glassine.open_async(":memory:") as store,
            anthropic.AsyncAnthropic(base_url=fake.anthropic_url, api_key="any") as client,
        ):
            session = store.session("s", SessionSpec().with_context("soul", text="Careful. " * 2000))
            await session.append(user("weather?"))
            reply = await _ask(session, client)
            for call in glassine.calls(reply):
                await session.append(tool_result(call.id, f"{call.input['city']}: fine", name=call.name))
            assert (await _ask(session, client)).text == "Warm and cold."
            await session.append(user("thanks"))
            assert (await _ask(session, client)).text == "You are welcome."
            usage = await session.usage()
        assert [request.status for request in fake.requests] == [200, 200, 200]
        sent = [flat(request.body) for request in fake.requests]
        assert sent[1][: len(sent[0])] == sent[0]
        assert sent[2][: len(sent[1])] == sent[1]
        assert usage[1].cache_read_tokens
        assert usage[2].cache_read_tokens


async def test_from_claude_to_gpt_and_back() -> None:
    with FakeProvider(answers=[[Thinking("Hm."), Text("one")], "two", "three"]) as fake:
        async with (
            glassine.open_async(":memory:") as store,
            anthropic.AsyncAnthropic(base_url=fake.anthropic_url, api_key="any") as claude,
            openai.AsyncOpenAI(base_url=fake.openai_url, api_key="any") as gpt,
        ):
            session = store.session("s")
            await session.append(user("1"))
            await _ask(session, claude)
            await session.append(user("2"))
            view = await session.view(model="gpt-4o")
            response = await gpt.chat.completions.create(**view.to_openai())
            await session.record(response, view=view)
            await session.append(user("3"))
            assert (await _ask(session, claude)).text == "three"
        assert [request.status for request in fake.requests] == [200, 200, 200]
        first, last = flat(fake.requests[0].body), flat(fake.requests[2].body)
        assert last[: len(first)] == first
        assert [block["type"] for _, block in last] == ["text", "thinking", "text", "text", "text", "text"]
