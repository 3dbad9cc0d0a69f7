"""The Gemini API of Google, generateContent: replies, streams, counts and refusals in its shapes."""

from __future__ import annotations

import re
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
from ._gemini_prompt import altered, either, pieces_of, signature
from ._prefixes import Cached, PrefixCache, size
from ._server import FakeProvider, Reply
from ._wire import event

_CALLED = re.compile(r"/[^/]+/models/(.+):(\w+)")
_IDLE = 300.0  # no lifetime is promised for the implicit cache
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TEXTS = {
    403: "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity.",
    404: "Requested entity was not found.",
    429: "Resource has been exhausted (e.g. check quota).",
    500: "An internal error has occurred. Please retry or report.",
    503: "The model is overloaded. Please try again later.",
    504: "The request timed out. Please try again.",
}
_PIECE = 24  # characters of a chunk
_VERSION = re.compile(r"gemini-(\d+)")


def routes(fake: FakeProvider) -> list[Route]:
    """The routes of this API, beneath its mount."""
    dialect = Gemini(fake)

    async def call(request: Request) -> Response:
        called = _CALLED.fullmatch(request.scope["path"].removeprefix(request.scope.get("root_path", "")))
        method = called[2] if called and request.method == "POST" else None
        if method in ("generateContent", "streamGenerateContent"):
            return await fake.exchange(request, dialect)
        received = await fake.receive(request, dialect.api)
        if method != "countTokens":
            return fake.fail(received, dialect, Failure(404))
        received.violations = dialect.judge(received)
        if received.violations:
            return fake.fail(received, dialect, dialect.refusal(received, received.violations))
        return fake.respond(received, dialect, {"totalTokens": dialect.size(received)})

    return [Route("/{path:path}", call, methods=["GET", "POST", "PATCH", "DELETE"])]


class Gemini:
    """How generateContent judges, refuses and replies."""

    api: Api = "gemini"
    request_id_header = "x-request-id"

    def __init__(self, fake: FakeProvider) -> None:
        self._fake = fake
        self._cache = PrefixCache()

    def streams(self, received: Received) -> bool:
        return ":streamGenerateContent" in received.path

    def judge(self, received: Received) -> list[Violation]:
        if not received.headers.get("x-goog-api-key") and "key=" not in received.path:
            return [Violation("gemini.headers", "", _TEXTS[403])]
        if not isinstance(received.body, dict):
            return [Violation("gemini.json", "", "Invalid JSON payload received.")]
        body = _body(received)
        found = rules.violations(self.api, body)
        if not found and (cache := either(body, "cachedContent")):
            text = "CachedContent not found (or permission denied)"
            return [Violation("gemini.cached", "cachedContent", f"{text}: {cache}")]
        if found:
            return found
        limits = replace(self._fake.limits_of(_model(received)), input_tokens=self.size(received))
        return rules.violations(self.api, body, facts=limits) or altered(body)

    def refusal(self, received: Received, violations: Sequence[Violation]) -> Failure:
        status = 403 if violations[0].rule in ("gemini.headers", "gemini.cached") else 400
        same = [found.text for found in violations if found.text.startswith("* ")]
        # What is wrong with the shape comes all at once, anything else one at a time.
        text = "\n".join(same) + "\n" if violations[0].text.startswith("* ") else violations[0].text
        return Failure(status, text=text)

    def error(self, received: Received, failure: Failure) -> Any:
        kind, text = failure.kind, failure.text
        if kind == CONTEXT_TOO_LONG:
            window = self._fake.limits_of(_model(received)).context_window or 1_048_576
            exceeds = f"The input token count ({window + 1}) exceeds the maximum number of tokens allowed ({window})."
            kind, text = None, text or exceeds
        return {
            "error": {
                "code": failure.status,
                "message": text or _TEXTS.get(failure.status, "The fake provider was told to fail."),
                "status": kind or _STATUS.get(failure.status, "UNKNOWN"),
            }
        }

    def error_event(self, received: Received, failure: Failure) -> bytes:
        return event(self.error(received, failure))

    def reply(self, received: Received, parts: Sequence[Part], *, whole: bool = True) -> Reply:
        body, model = _body(received), _model(received)
        cached = self._count(received)
        made = _parts(body, parts, model)
        usage = _usage(cached, parts, model)
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": made}, "finishReason": "STOP", "index": 0}
        if any(isinstance(part, Call) for part in parts):
            candidate["finishMessage"] = "Model generated function call(s)."
        response = {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": model,
            "responseId": f"fake_{received.number:06d}",
        }
        events = list(_events(response))
        return Reply(response, events if whole else events[:-1], usage, cached.commit)

    def size(self, received: Received) -> int:
        """Tokens of the whole input."""
        return size(pieces_of(_body(received)), _model(received))

    def _count(self, received: Received) -> Cached:
        model = _model(received)
        minimum = self._fake.minimum_prefix_of(model)
        return self._cache.shared(
            model,
            pieces_of(_body(received)),
            model,
            minimum=minimum,
            step=1,
            lifetime=_IDLE,
            now=self._fake.clock(),
        )


def _model(received: Received) -> str:
    called = _CALLED.match(received.path)
    return called[1] if called else ""


def _body(received: Received) -> dict[str, Any]:
    """The request with the model that stands in its path, and with a field that tells it from arguments of a call."""
    told: dict[str, Any] = {} if "generation_config" in received.body else {"generationConfig": {}}
    return {**told, **received.body, "model": _model(received)}


def _parts(body: Mapping[str, Any], parts: Sequence[Part], model: str) -> list[dict[str, Any]]:
    """The parts of a reply. A signature stands on the first call, else on the last text: after thinking, and from
    Gemini 3 on with every call."""
    config = either(either(body, "generationConfig") or {}, "thinkingConfig") or {}
    shown = bool(either(config, "includeThoughts"))
    found = _VERSION.search(model)
    always = found is not None and int(found[1]) >= 3
    made: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Thinking():
                if shown and not part.redacted:
                    made.append({"text": part.text, "thought": True})
            case Text():
                made.append({"text": part.text})
            case Call():
                named = {"id": part.id} if part.id else {}
                made.append({"functionCall": {**named, "name": part.name, "args": dict(part.input)}})
    calls = [part for part in made if "functionCall" in part]
    texts = [part for part in made if not part.get("thought")]
    thought = any(isinstance(part, Thinking) for part in parts)
    if texts and (thought or (always and calls)):
        bearer = calls[0] if calls else texts[-1]
        bearer["thoughtSignature"] = signature(bearer)
    return made


def _usage(cached: Cached, parts: Sequence[Part], model: str) -> dict[str, Any]:
    thoughts = sum(count(part.text, model) for part in parts if isinstance(part, Thinking))
    written = sum(count(part.text, model) for part in parts if isinstance(part, Text))
    written += sum(count([part.name, dict(part.input)], model) for part in parts if isinstance(part, Call))
    usage: dict[str, Any] = {
        "promptTokenCount": cached.total,
        "candidatesTokenCount": written,
        "totalTokenCount": cached.total + written + thoughts,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": cached.total}],
    }
    if cached.read:
        usage["cachedContentTokenCount"] = cached.read
        usage["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": cached.read}]
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    return usage


def _events(response: Mapping[str, Any]) -> Iterator[bytes]:
    """The chunks of a stream: texts in pieces, calls whole, a signature of a text in an empty part behind it; the last
    one has the reason."""
    candidate = response["candidates"][0]
    for part in candidate["content"]["parts"]:
        for piece in _pieces(part):
            content = {"role": "model", "parts": [piece]}
            yield event({**response, "candidates": [{"content": content, "index": 0}]})
    last = {**candidate, "content": {"role": "model", "parts": [{"text": ""}]}}
    signed = [part["thoughtSignature"] for part in candidate["content"]["parts"] if _signed_text(part)]
    if signed:
        last["content"]["parts"][0]["thoughtSignature"] = signed[0]
    yield event({**response, "candidates": [last]})


def _pieces(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "text" not in part:
        return [dict(part)]
    thought = {"thought": True} if part.get("thought") else {}
    text = part["text"]
    return [{"text": text[start : start + _PIECE], **thought} for start in range(0, len(text), _PIECE)]


def _signed_text(part: Mapping[str, Any]) -> bool:
    return "text" in part and "thoughtSignature" in part
