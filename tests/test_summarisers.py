"""Summaries by models: the official clients against the fake provider, and answers that are no summary."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anthropic
import openai
import pytest

import glassine
from glassine import Compactor, SessionSpec, Summary, user
from glassine._waiting import call_within, call_within_async
from glassine.summarising import summary_prompt
from glassine.testing import Failure, FakeProvider

CLAUDE, GPT = "claude-haiku-4-5", "gpt-5-mini"


def spec(summarize: Any, **more: Any) -> SessionSpec:
    return SessionSpec().with_compaction(Compactor(summarize, 1, 50, 1, **more))


def talk() -> list[glassine.Message]:
    return [user(f"会議 {number} は三時からです。" * 20, id=f"m{number}") for number in range(40)]


def sync_clients(fake: FakeProvider) -> list[Any]:
    return [
        anthropic.Anthropic(base_url=fake.anthropic_url, api_key="any"),
        openai.OpenAI(base_url=fake.openai_url, api_key="any"),
    ]


def async_clients(fake: FakeProvider) -> list[Any]:
    return [
        anthropic.AsyncAnthropic(base_url=fake.anthropic_url, api_key="any"),
        openai.AsyncOpenAI(base_url=fake.openai_url, api_key="any"),
    ]


def summarisers(clients: list[Any]) -> list[Any]:
    return [
        glassine.summarize_with_anthropic(clients[0], CLAUDE),
        glassine.summarize_with_openai(clients[1], GPT),
    ]


@pytest.mark.parametrize("clients", [sync_clients, async_clients])
def test_a_range_in_pieces_in_a_synchronous_session(clients: Any) -> None:
    with FakeProvider() as fake, glassine.open(":memory:") as store:
        opened = clients(fake)
        for number, summarize in enumerate(summarisers(opened)):
            fake.script(*[f"## Topic\n要約 {piece}" for piece in range(20)])
            session = store.session(str(number), spec(summarize, max_input_tokens=3_000))
            session.append(talk())
            before = len(fake.requests)
            made = session.compact()
            assert made.overlay is not None, made.reason
            asked = fake.requests[before:]
            assert len(asked) > 2
            assert made.overlay.text == f"## Topic\n要約 {len(asked) - 1}"
            assert f"要約 {len(asked) - 2}" in str(asked[-1].body), "the summary so far is brought up to date"
            rows = session.usage()
            assert [(row.kind, row.ok, row.message_id) for row in rows] == [("summary", True, None)] * len(asked)
            assert all(row.input_tokens and row.started_at and row.ended_at for row in rows)
            fake._answers.clear()
        for client in opened:
            call_within(10, client.close)


@pytest.mark.anyio
@pytest.mark.parametrize("clients", [sync_clients, async_clients])
async def test_a_range_in_pieces_in_an_asynchronous_session(clients: Any) -> None:
    with FakeProvider(answers=["short"] * 60) as fake:
        opened = clients(fake)
        async with glassine.open_async(":memory:") as store:
            for number, summarize in enumerate(summarisers(opened)):
                session = store.session(str(number), spec(summarize, max_input_tokens=3_000))
                await session.append(talk())
                made = await session.compact()
                assert made.kind == "compacted", made.reason
                assert len(await session.usage()) > 2
        for client in opened:
            await call_within_async(10, client.close)


def test_a_server_that_fails_is_a_reason() -> None:
    with FakeProvider(answers=[Failure(400, "permission_error")]) as fake, glassine.open(":memory:") as store:
        session = store.session("s", spec(summarisers(sync_clients(fake))[0]))
        session.append(talk())
        made = session.compact()
        assert (made.kind, made.code) == ("failed", "summariser_raised")
        assert "PermissionDeniedError" in made.reason or "BadRequestError" in made.reason


def client_that_stops(reason: str) -> Any:
    """A client that gives the SDK's own message, ended for this reason."""
    message = anthropic.types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": CLAUDE,
            "content": [{"type": "text", "text": "## Topic\nhalf of"}],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 900, "output_tokens": 7},
        }
    )
    return SimpleNamespace(messages=SimpleNamespace(create=lambda **arguments: message))


@pytest.mark.parametrize(("reason", "word"), [("max_tokens", "cut off"), ("refusal", "refused")])
def test_half_a_summary_is_none_but_its_usage_is_kept(reason: str, word: str) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", spec(glassine.summarize_with_anthropic(client_that_stops(reason), CLAUDE)))
        session.append(talk())
        made = session.compact()
        assert (made.kind, made.code) == ("failed", "no_summary")
        assert word in made.reason
        assert session.overlays() == []
        (row,) = session.usage()
        assert (row.kind, row.ok, row.input_tokens, row.output_tokens) == ("summary", False, 900, 7)


def test_what_a_client_is_asked() -> None:
    with FakeProvider(answers=["short", "short"]) as fake:
        prompt = summary_prompt(talk()[:2], (), "今日の依頼", 300)
        for summarize in summarisers(sync_clients(fake)):
            answer = summarize(prompt)
            assert isinstance(answer, Summary)
            assert answer == "short"
            assert answer.fault is None
        first, second = (request.body for request in fake.requests)
        assert first["messages"] == second["messages"] == [{"role": "user", "content": str(prompt)}]
        assert (first["model"], second["model"]) == (CLAUDE, GPT)
        assert first["max_tokens"] > 300
