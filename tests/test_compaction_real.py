"""Real conversations, compacted while they go on: what a model sees stays short, what is stored stays as it is."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

import glassine
from glassine import Compactor, Message, extractive_summary, rules, transcripts, user
from glassine.testing import FakeProvider
from tests.test_views_real import MODELS, claude_code, needs_data, steps, trajectories

AFTER, TAIL = 12_000, 4_000
PREFIXES = 3
"""How many states of a conversation are sent here; all of them, up to 200, in the long run."""


def compact_on_the_way(path: list[Message], name: str, looks: int) -> None:
    made = glassine.SessionSpec().with_context("soul", text="You are careful.")
    made = made.with_compaction(Compactor(extractive_summary, tail_token_budget=TAIL), after=AFTER)
    chosen = {len(path) - 1, *random.Random(name).sample(range(len(path)), min(looks, len(path)))}
    with glassine.open(":memory:") as store:
        session = store.session("s", made)
        for number, message in enumerate(path):
            session.append(message)
            if number not in chosen:
                continue
            if session.preview().entries and session.preview().entries[-1].message.role == "assistant":
                session.append(user("go on"))  # some models take no request that ends in a reply
            for api, model in MODELS.items():
                view = session.preview(model)
                if view.pending:
                    continue
                made_of: Any = api
                body = view.request(made_of).arguments
                if api == "anthropic":
                    body = {"max_tokens": 9, **body}
                assert rules.violations(made_of, body) == [], f"{name}, {api}, after message {number}"
            total, events = session.preview().tokens.total, session.events()
            if total > 1.01 * AFTER:  # stubs that repair adds are not in the running totals
                # Only what must stay may keep it over: a last event says so.
                assert events[-1].data["tokensAfter"] > AFTER or events[-1].data["pause"]["tokens"] > total
        kinds = {event.data["kind"] for event in session.events()}
        assert "failed" not in kinds
        raw = {message.id: message for message in session.history(raw=True)}
        for message in path:
            assert raw[message.id].encoded() == message.encoded()
        assert session.verify().clean


def stored(path: Path) -> list[list[Message]]:
    """The active paths of the conversations in a transcript, without the summaries that lie over them."""
    with glassine.open(":memory:") as store:
        transcripts.import_transcript(store, transcripts.read(path))
        return [history for info in store.sessions() if (history := store.session(info.id).history(raw=True))]


@needs_data
@pytest.mark.parametrize("path", [*claude_code()[:2], *trajectories()[:2]], ids=lambda path: path.name)
def test_a_few(path: Path) -> None:
    history = stored(path)[0] if path in claude_code() else steps(path)
    compact_on_the_way(history[:300], path.name, PREFIXES)


@pytest.mark.soak
@needs_data
@pytest.mark.parametrize("path", [*claude_code(), *trajectories()], ids=lambda path: path.name)
def test_all(path: Path) -> None:
    for history in stored(path) if path in claude_code() else [steps(path)]:
        compact_on_the_way(history, path.name, 200)


@needs_data
def test_over_http() -> None:
    made = glassine.SessionSpec().with_context("soul", text="You are careful.")
    made = made.with_compaction(Compactor(extractive_summary, tail_token_budget=TAIL), after=AFTER)
    with (
        FakeProvider() as fake,
        anthropic.Anthropic(base_url=fake.anthropic_url, api_key="any", max_retries=0) as claude,
        openai.OpenAI(base_url=fake.openai_url, api_key="any", max_retries=0) as gpt,
        glassine.open(":memory:") as store,
    ):
        session = store.session("s", made)
        for number, message in enumerate(steps(trajectories()[0])):
            session.append(message)
            if number % 15 or message.role == "assistant":
                continue
            view = session.view(MODELS["anthropic"])
            if not view.pending:
                claude.messages.create(max_tokens=9, **view.to_anthropic())
                gpt.chat.completions.create(**session.view(MODELS["openai"]).to_openai())
                gpt.responses.create(**session.view(MODELS["openai_responses"]).to_openai_responses())
        assert len(session.compactions()) > 0
        assert len(fake.requests) > 6
        assert {request.status for request in fake.requests} == {200}
