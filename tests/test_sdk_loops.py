"""The loops of agents with the providers' own SDKs: what is sent again is sent the same, and is accepted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai

import glassine
from glassine import AsyncSession, Message, SessionSpec, View, tool_result, user
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


# -- a loop that is left and taken up again ---------------------------------------------------------------------------

Send = Callable[[View], Awaitable[Any]]
"""Sends the request of a view; what comes back is a reply, or its events."""


@asynccontextmanager
async def responses(fake: FakeProvider, streamed: bool) -> AsyncIterator[Send]:
    async with openai.AsyncOpenAI(base_url=fake.openai_url, api_key="any", max_retries=0) as client:

        async def send(view: View) -> Any:
            return await client.responses.create(
                **view.to_openai_responses(), stream=streamed, store=False, include=["reasoning.encrypted_content"]
            )

        yield send


@asynccontextmanager
async def gemini(fake: FakeProvider, streamed: bool) -> AsyncIterator[Send]:
    options = genai.types.HttpOptions(base_url=fake.gemini_url)
    async with genai.Client(api_key="any", http_options=options).aio as client:

        async def send(view: View) -> Any:
            arguments = view.to_gemini()
            arguments["config"]["thinking_config"] = {"include_thoughts": True}
            if streamed:
                return await client.models.generate_content_stream(**arguments)
            return await client.models.generate_content(**arguments)

        yield send


PROVIDERS: dict[str, tuple[Any, str, str]] = {
    "responses": (responses, "gpt-5", "input"),
    "gemini": (gemini, "gemini-3-pro-preview", "contents"),
}
URL_SAFE = str.maketrans("+/", "-_")  # Google's SDK writes bytes in the alphabet for URLs
SPEC = SessionSpec().with_context("memory", description="Facts about the user", max_tokens=1000).with_cached_prompt()
REMEMBERS: list[Any] = [
    Thinking("茶が好き。"),
    Text("I note that."),
    Call("set_context", {"label": "memory", "content": "The user likes 茶."}),
    Call("weather", {"city": "東京"}),
]


async def _step(session: AsyncSession, send: Send, model: str, streamed: bool) -> Message:
    view = await session.view(model=model)
    answer = await send(view)
    if not streamed:
        return await session.record(answer, view=view)
    recording = session.record_stream(answer, view=view)
    message = await recording.run()
    assert message is not None
    return message


async def _turn(session: AsyncSession, send: Send, model: str, streamed: bool) -> str:
    """Steps until the model has no more calls: our own tools are run, `weather` is answered here."""
    for _ in range(5):
        reply = await _step(session, send, model, streamed)
        found = await session.run_tools(reply)
        found += [tool_result(call, "晴れ") for call in glassine.calls(reply) if call.name == "weather"]
        if not found:
            return reply.text
        await session.append(found)
    raise AssertionError("no end")


def _listed(request: dict[str, Any], field: str) -> list[str]:
    """What a request is made of, in its order; Gemini's neighbours of one role stand in one content."""
    found: list[Any] = []
    for item in request[field]:
        found += [(item["role"], part) for part in item["parts"]] if field == "contents" else [item]
    return [json.dumps(item, ensure_ascii=False, sort_keys=True) for item in found]


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_loop_goes_on_where_it_was_left(provider: str, streamed: bool, tmp_path: Path) -> None:
    connect, model, field = PROVIDERS[provider]
    with FakeProvider(answers=[REMEMBERS, [Thinking("So."), Text("Noted. 👋")], REMEMBERS]) as fake:
        async with connect(fake, streamed) as send, glassine.open_async(tmp_path / "chat.db") as store:
            session = store.session("s", SPEC)
            await session.append(user("I like tea. 天気は?"))
            assert await _turn(session, send, model, streamed) == "Noted. 👋"
            # The next turn breaks off with its calls unanswered.
            await session.append(user("And today?"))
            left = await _step(session, send, model, streamed)
            first = [message.to_dict() for message in await session.history()]
        async with connect(fake, streamed) as send, glassine.open_async(tmp_path / "chat.db") as store:
            session = store.session("s", SPEC)
            assert [message.to_dict() for message in await session.history()] == first
            view = await session.view(model=model)
            assert view.pending == tuple(call.id for call in glassine.calls(left))
            found = await session.run_tools(left)
            await session.append([*found, tool_result(glassine.calls(left)[1], "雨")])
            fake.script(Text("Rain."))
            assert await _turn(session, send, model, streamed) == "Rain."
            assert (await session.block("memory")).content == "The user likes 茶."
            usage = await session.usage()
        assert [request.status for request in fake.requests] == [200] * 4
        sent = [_listed(request.body, field) for request in fake.requests]
        for earlier, later in pairwise(sent):
            assert later[: len(earlier)] == earlier
            assert len(later) > len(earlier)
        # What the model thought goes back as the provider gave it.
        seals = _seals(fake.requests[:-1], provider)
        assert len(seals) == 3
        last = "".join(sent[-1]).translate(URL_SAFE)
        assert all(seal.translate(URL_SAFE) in last for seal in seals)
        assert len(usage) == 4
        assert all(one.ok and one.model == model and one.input_tokens and one.output_tokens for one in usage)


def _seals(requests: list[Any], provider: str) -> list[str]:
    """The encrypted thinking, or the signatures, in the answers."""
    found: list[str] = []
    for request in requests:
        if provider == "responses":
            found += [item["encrypted_content"] for item in request.answer["output"] if item["type"] == "reasoning"]
        else:
            parts = request.answer["candidates"][0]["content"]["parts"]
            found += [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    return found
