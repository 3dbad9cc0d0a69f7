"""The Messages API of Anthropic: replies, streams, counts and refusals in its shapes."""

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

from ._answers import CONTEXT_TOO_LONG, Call, Failure, Part, Received, Text, Thinking
from ._counting import count
from ._ledger import Counted, Ledger
from ._server import FakeProvider, Reply
from ._signing import altered, signed
from ._wire import event

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_TEXTS = {
    429: "This request would exceed your organization's rate limit.",
    500: "Internal server error",
    529: "Overloaded",
}
_STATUS = {"anthropic.headers": 401, "anthropic.too_large": 413}
_BETAS = {
    "context_management": ("context-management-", "compact-"),
    "thinking.block_binding": ("thinking-binding-controls-",),
}
_PIECE = 24  # characters of a delta


def routes(fake: FakeProvider) -> list[Route]:
    """The routes of this API, beneath its mount."""
    dialect = Anthropic(fake)

    async def messages(request: Request) -> Response:
        return await fake.exchange(request, dialect)

    async def count_tokens(request: Request) -> Response:
        received = await fake.receive(request, dialect.api)
        received.violations = dialect.judge_count(received)
        if received.violations:
            return fake.fail(received, dialect, dialect.refusal(received, received.violations))
        return fake.respond(received, dialect, {"input_tokens": dialect.size(received.body)})

    async def unknown(request: Request) -> Response:
        received = await fake.receive(request, dialect.api)
        return fake.fail(received, dialect, Failure(404, text=f"Not found: {received.path}"))

    return [
        Route("/v1/messages", messages, methods=["POST"]),
        Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
        Route("/{path:path}", unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ]


class Anthropic:
    """How the Messages API judges, refuses and replies."""

    api: Api = "anthropic"
    request_id_header = "request-id"

    def __init__(self, fake: FakeProvider) -> None:
        self._fake = fake
        self._ledger = Ledger()

    def streams(self, received: Received) -> bool:
        return bool(received.body.get("stream"))

    def judge(self, received: Received) -> list[Violation]:
        found = _headers(received)
        if received.body is None:
            return [*found, Violation("anthropic.json", "", "The request body is not valid JSON")]
        body = received.body
        model = body.get("model") if isinstance(body, dict) else None
        limits = replace(self._fake.limits_of(str(model)), request_bytes=len(received.raw))
        found += rules.violations("anthropic", body, facts=limits)
        if not found and limits.context_window is not None:
            found = rules.violations("anthropic", body, facts=replace(limits, input_tokens=self.size(body)))
        return found or altered(body, bound=self._binds(body) and not _drops(body))

    def judge_count(self, received: Received) -> list[Violation]:
        """Judge a request to count: one for a reply, but without `max_tokens` and without a stream."""
        if not isinstance(received.body, dict):
            return self.judge(received)
        extra = [name for name in ("max_tokens", "stream", "stop_sequences", "metadata") if name in received.body]
        found = [Violation("anthropic.extra", name, "Extra inputs are not permitted") for name in extra]
        # A budget of thinking is checked against max_tokens, which a count does not have.
        whole = {**received.body, "max_tokens": 1 << 30}
        return [*_headers(received), *found, *rules.violations("anthropic", whole)]

    def refusal(self, received: Received, violations: Sequence[Violation]) -> Failure:
        first = violations[0]
        text = f"{first.path}: {first.text}" if first.path else first.text
        return Failure(_STATUS.get(first.rule, 400), text=text)

    def error(self, received: Received, failure: Failure) -> Any:
        kind, text = failure.kind, failure.text
        if kind == CONTEXT_TOO_LONG:
            kind, text = "invalid_request_error", text or self._too_long(received)
        return {
            "type": "error",
            "error": {
                "type": kind or _KINDS.get(failure.status, "api_error"),
                "message": text or _TEXTS.get(failure.status, "The fake provider was told to fail."),
            },
            "request_id": received.request_id,
        }

    def error_event(self, received: Received, failure: Failure) -> bytes:
        return event(self.error(received, failure), "error")

    def reply(self, received: Received, parts: Sequence[Part], *, whole: bool = True) -> Reply:
        body = received.body
        now = self._fake.clock()
        counted = self._ledger.count(body, self._fake.minimum_prefix_of(body["model"]), now)
        content = self._content(received, parts) if body["max_tokens"] else []
        usage = _usage(counted, content, body["model"])
        message = {
            "id": f"msg_{received.name}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": _stop_reason(body, content),
            "stop_sequence": None,
            "usage": usage,
        }
        events = list(_events(message))
        return Reply(message, events if whole else events[:-2], usage, counted.commit)

    def size(self, body: Mapping[str, Any]) -> int:
        """Tokens of the whole input."""
        return self._ledger.count(body, 0, self._fake.clock()).total

    def _binds(self, body: Mapping[str, Any]) -> bool:
        return body["model"] in self._fake.bound_models

    def _too_long(self, received: Received) -> str:
        model = received.body.get("model") if isinstance(received.body, dict) else None
        window = self._fake.limits_of(str(model)).context_window or 200_000
        return f"prompt is too long: {window + 1} tokens > {window} maximum"

    def _content(self, received: Received, parts: Sequence[Part]) -> list[dict[str, Any]]:
        body, name = received.body, received.name
        omitted = (body.get("thinking") or {}).get("display") == "omitted"
        content: list[dict[str, Any]] = []
        for number, part in enumerate(parts):
            match part:
                case Text():
                    content.append({"type": "text", "text": part.text})
                case Thinking(redacted=True):
                    content.append({"type": "redacted_thinking", "data": ""})
                case Thinking():
                    shown = "" if omitted else part.text
                    content.append({"type": "thinking", "thinking": shown, "signature": ""})
                case Call():
                    id = part.id or f"toolu_{name}_{number}"
                    content.append({"type": "tool_use", "id": id, "name": part.name, "input": dict(part.input)})
        return signed(body, name, content, bound=self._binds(body))


def _headers(received: Received) -> list[Violation]:
    """What is missing in the headers: a key, the version, the name of a beta whose fields are used."""
    if not received.headers.get("x-api-key") and not received.headers.get("authorization"):
        return [Violation("anthropic.headers", "", "x-api-key header is required")]
    if not received.headers.get("anthropic-version"):
        return [Violation("anthropic.headers", "", "anthropic-version: header is required")]
    body, betas = received.body, received.headers.get("anthropic-beta", "")
    used = {}
    if isinstance(body, dict):
        thinking = body.get("thinking")
        used["context_management"] = body.get("context_management")
        used["thinking.block_binding"] = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return [
        Violation("anthropic.beta", name, "Extra inputs are not permitted")
        for name, value in used.items()
        if value is not None and not any(beta in betas for beta in _BETAS[name])
    ]


def _drops(body: Mapping[str, Any]) -> bool:
    """Whether the request asks to drop thinking whose prefix has changed, instead of refusing it."""
    binding = (body.get("thinking") or {}).get("block_binding")
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def _stop_reason(body: Mapping[str, Any], content: Sequence[Mapping[str, Any]]) -> str:
    if not body["max_tokens"]:
        return "max_tokens"
    return "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"


def _usage(counted: Counted, content: Sequence[Mapping[str, Any]], model: str) -> dict[str, Any]:
    return {
        "input_tokens": counted.input,
        "cache_creation_input_tokens": counted.written,
        "cache_read_input_tokens": counted.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": counted.written_5m,
            "ephemeral_1h_input_tokens": counted.written_1h,
        },
        "output_tokens": sum(_output(block, model) for block in content),
        "service_tier": "standard",
    }


def _output(block: Mapping[str, Any], model: str) -> int:
    return count(block.get("text") or block.get("thinking") or block, model)


def _events(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The stream of a message; its last two events are those that end it."""
    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield event({"type": "message_start", "message": start}, "message_start")
    yield event({"type": "ping"}, "ping")
    for index, block in enumerate(message["content"]):
        opened, deltas = _deltas(block)
        begin = {"type": "content_block_start", "index": index, "content_block": opened}
        yield event(begin, "content_block_start")
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    numbers = {name: usage[name] for name in usage if name.endswith("_tokens")}
    yield event({"type": "message_delta", "delta": end, "usage": numbers}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _deltas(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it opens in a stream, and what is added to it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            return {**block, "thinking": "", "signature": ""}, [
                *({"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])),
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False)
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in ("", *_pieces(written))
            ]
        case _:
            return dict(block), []


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]
