"""The Chat Completions API of OpenAI: replies, streams and refusals in its shapes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassine import rules
from glassine.rules import Api, Violation

from ._answers import Call, Failure, Part, Received, Text, Thinking
from ._counting import count
from ._openai import Refusal, counted, cut, error_of, judge_headers, name_of, refusal, tool_pieces, turn_pieces
from ._prefixes import Cached, Piece, PrefixCache, size
from ._server import FakeProvider, Reply
from ._wire import event


def routes(fake: FakeProvider) -> list[Route]:
    """The routes of this API, beneath its mount."""
    dialect = OpenAIChat(fake)

    async def completions(request: Request) -> Response:
        return await fake.exchange(request, dialect)

    return [Route("/v1/chat/completions", completions, methods=["POST"])]


class OpenAIChat:
    """How Chat Completions judges, refuses and replies."""

    api: Api = "openai"
    request_id_header = "x-request-id"

    def __init__(self, fake: FakeProvider) -> None:
        self._fake = fake
        self._cache = PrefixCache()

    def streams(self, received: Received) -> bool:
        return bool(received.body.get("stream"))

    def judge(self, received: Received) -> list[Violation]:
        found = judge_headers(received, self.api)
        if received.body is None:
            return [*found, Violation("openai.json", "", "We could not parse the JSON body of your request.")]
        found += rules.violations(self.api, received.body)
        if found:
            return found
        model = received.body["model"]
        limits = replace(self._fake.limits_of(model), input_tokens=size(_pieces(received.body), model))
        return rules.violations(self.api, received.body, facts=limits)

    def refusal(self, received: Received, violations: Sequence[Violation]) -> Failure:
        return refusal(violations[0])

    def error(self, received: Received, failure: Failure) -> Any:
        return {"error": error_of(failure, self._too_long(received, failure))}

    def error_event(self, received: Received, failure: Failure) -> bytes:
        return event(self.error(received, failure))

    def reply(self, received: Received, parts: Sequence[Part], *, whole: bool = True) -> Reply:
        body = received.body
        minimum = self._fake.minimum_prefix_of(body["model"])
        now = self._fake.clock()
        cached = counted(self._cache, body, _pieces(body), minimum, now)
        message = _message(parts, name_of(received))
        usage = _usage(cached, parts, body["model"])
        completion = {
            "id": f"chatcmpl-{name_of(received)}",
            "object": "chat.completion",
            "created": int(now),
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": None,
                    "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                }
            ],
            "usage": usage,
            "service_tier": "default",
            "system_fingerprint": "fp_fake",
        }
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        events = list(_events(completion, with_usage))
        # The chunk with the reason, the one with the usage if asked for, and the mark of the end.
        return Reply(completion, events if whole else events[: -3 if with_usage else -2], usage, cached.commit)

    def _too_long(self, received: Received, failure: Failure) -> Failure:
        model = received.body.get("model") if isinstance(received.body, dict) else None
        window = self._fake.limits_of(str(model)).context_window or 128_000
        text = failure.text or (
            f"This model's maximum context length is {window} tokens. However, your messages resulted in {window + 1} "
            "tokens. Please reduce the length of the messages."
        )
        return Refusal(failure.status, "context_length_exceeded", text, param="messages")


def _pieces(body: Mapping[str, Any]) -> list[Piece]:
    """A request as the model reads it: tools, then messages."""
    pieces = tool_pieces(body)
    for message in body["messages"]:
        head = [message["role"], message.get("name"), message.get("tool_call_id")]
        pieces += turn_pieces(" ".join(item for item in head if item), message.get("content"), body)
        for call in message.get("tool_calls") or ():
            called = call.get("function") or call.get("custom") or {}
            said = called.get("arguments") or called.get("input") or ""
            pieces.append(Piece(f"<|call {call['id']} {called.get('name')}|>{said}\n"))
    return pieces


def _message(parts: Sequence[Part], name: str) -> dict[str, Any]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    calls = [part for part in parts if isinstance(part, Call)]
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{name}_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.input), ensure_ascii=False)},
            }
            for number, call in enumerate(calls)
        ]
    return message


def _usage(cached: Cached, parts: Sequence[Part], model: str) -> dict[str, Any]:
    reasoning = sum(count(part.text, model) for part in parts if isinstance(part, Thinking))
    output = reasoning + sum(count(part.text, model) for part in parts if isinstance(part, Text))
    output += sum(count([part.name, dict(part.input)], model) for part in parts if isinstance(part, Call))
    return {
        "prompt_tokens": cached.total,
        "completion_tokens": output,
        "total_tokens": cached.total + output,
        "prompt_tokens_details": {
            "cached_tokens": cached.read,
            "cache_write_tokens": cached.written,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _events(completion: Mapping[str, Any], with_usage: bool) -> Iterator[bytes]:
    message = completion["choices"][0]["message"]
    frame = {name: completion[name] for name in ("id", "created", "model", "service_tier", "system_fingerprint")}
    frame = {**frame, "object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event({**frame, "choices": [choice], **({"usage": None} if with_usage else {})})

    first = None if message["content"] is None else ""
    yield chunk({"role": "assistant", "content": first, "refusal": None})
    for piece in cut(message["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls", ())):
        opened = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opened]})
        for piece in cut(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, completion["choices"][0]["finish_reason"])
    if with_usage:
        yield event({**frame, "choices": [], "usage": completion["usage"]})
    yield event("[DONE]")
