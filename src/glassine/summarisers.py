"""Summarisers that ask a model, for a Compactor. The SDK is only imported when no client is given."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from .compactor import Summarize, Summary
from .dialects import read_reply
from .pricing import price
from .records import Usage
from .summarising import SummaryPrompt

ROOM: Final = 1_000
"""Tokens that an answer may have beyond twice the summary's length: a model that thinks first needs more."""


def summarize_with_anthropic(client: Any = None, model: str = "claude-haiku-4-5") -> Summarize:
    """Summaries by a model of Anthropic's Messages API.

    `client` is an `anthropic.Anthropic`, an `AsyncAnthropic`, or one of the SDK's clients for clouds; None: one is made
    when it is first needed, with the key from the environment. What each request takes is stored as usage, of kind
    `summary`. A summary that was cut off or refused is an error.
    """
    made = [client]

    def ask(prompt: SummaryPrompt) -> Any:
        if made[0] is None:
            from anthropic import Anthropic

            made[0] = Anthropic()
        return made[0].messages.create(
            model=model,
            max_tokens=2 * prompt.max_tokens + ROOM,
            messages=[{"role": "user", "content": str(prompt)}],
        )

    return _summariser(ask, model)


def summarize_with_openai(client: Any = None, model: str = "gpt-5-mini") -> Summarize:
    """Summaries by a model of OpenAI's chat completions, or of any server that speaks like it.

    `client` is an `openai.OpenAI`, an `AsyncOpenAI`, or None, as in `summarize_with_anthropic`.
    """
    made = [client]

    def ask(prompt: SummaryPrompt) -> Any:
        if made[0] is None:
            from openai import OpenAI

            made[0] = OpenAI()
        # Without a limit on the answer: servers name it differently, and reasoning would count in.
        return made[0].chat.completions.create(model=model, messages=[{"role": "user", "content": str(prompt)}])

    return _summariser(ask, model)


def _summariser(ask: Callable[[SummaryPrompt], Any], model: str) -> Summarize:
    def summarize(prompt: SummaryPrompt) -> str | Awaitable[str]:
        started_at = datetime.now(UTC)
        response = ask(prompt)
        if not inspect.isawaitable(response):
            return _summary(response, model, started_at)

        async def finish() -> str:
            return _summary(await response, model, started_at)

        return finish()

    return summarize


_CUT: Final = ("max_tokens", "length", "model_context_window_exceeded")
_REFUSED: Final = ("refusal", "content_filter")


def _summary(response: Any, model: str, started_at: datetime) -> Summary:
    """The text of a reply, with what it took. One that is not whole comes back empty, for its usage counts."""
    reply = read_reply(response)
    whole = reply.stop not in _CUT + _REFUSED
    used = reply.usage
    usage = Usage(
        kind="summary",
        ok=whole,
        model=reply.model or model,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        input_tokens=used.input,
        output_tokens=used.output,
        cache_read_tokens=used.cache_read,
        cache_write_5m_tokens=used.cache_write_5m,
        cache_write_1h_tokens=used.cache_write_1h,
    )
    cost = price(usage.model or model, usage, at=usage.ended_at)
    if cost is not None:
        usage = replace(usage, cost=cost.cost, price_source=cost.source)
    fault = None
    if not whole:
        fault = f"the summary was {'cut off' if reply.stop in _CUT else 'refused'} ({reply.stop})"
    return Summary(reply.message.text if whole else "", usage, fault)
