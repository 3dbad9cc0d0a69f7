"""What the two APIs of OpenAI have in common: errors, prompts as the models read them, names, the prompt cache."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from glassine.rules import Violation

from ._answers import CONTEXT_TOO_LONG, Failure, Received
from ._counting import canonical
from ._prefixes import MEDIA_TOKENS, Cached, Piece, PrefixCache

PIECE = 24  # characters of a delta
_INDEX = re.compile(r"\.(\d+)")
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_STEP = 128
_TTL = {"30m": 1800.0, "12h": 43_200.0}
_DAY = 86_400.0
_IDLE = 300.0  # what an entry in memory lives at least
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_TEXTS = {
    401: "Incorrect API key provided.",
    404: "The model does not exist or you do not have access to it.",
    429: "Rate limit reached for requests. Please try again later.",
    500: "The server had an error while processing your request. Sorry about that!",
    503: "The engine is currently overloaded, please try again later.",
}
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_RULE_CODES = {
    "unknown": "unknown_parameter",
    "required": "missing_required_parameter",
    "type": "invalid_type",
    "value": "invalid_value",
    "role": "invalid_value",
    "part_type": "invalid_value",
    "item_type": "invalid_value",
    "item_id": "invalid_value",
    "name": "invalid_value",
    "image_role": "invalid_value",
    "max_output": "invalid_value",
    "range": "invalid_value",
    "too_long_text": "string_above_max_length",
    "call_id": "string_above_max_length",
    "empty_array": "empty_array",
    "too_many": "array_above_max_length",
    "schema": "invalid_function_parameters",
    "max_tokens": "unsupported_parameter",
    "too_long": "context_length_exceeded",
    "previous": "previous_response_not_found",
    "encrypted_content": "invalid_encrypted_content",
}
# Rules about several messages or items: the server names the whole list, or the message in a spelling of its own.
_WHOLE = ("unanswered_call", "orphan_output", "double_output", "call_unique", "linked", "item_unique", "item_stored")
_DOTTED = ("unanswered_call", "orphan_result", "double_result", "content")


@dataclass(frozen=True, slots=True)
class Refusal(Failure):
    """A failure that names the place in the request."""

    param: str | None = None


def refusal(violation: Violation) -> Refusal:
    """What the server answers to a violation."""
    api, _, rule = violation.rule.partition(".")
    status = {"headers": 401, "item_stored": 404}.get(rule, 400)
    path = violation.path
    param: str | None = _INDEX.sub(r"[\1]", path) or None
    code = _RULE_CODES.get(rule)
    if api == "openai_responses":
        param = "input" if rule in _WHOLE else param
        code = None if rule in _WHOLE else code
    elif rule in _DOTTED:
        param, code = _INDEX.sub(r".[\1]", path), None
    elif rule == "unknown" and "." not in path:
        param, code = None, None
    return Refusal(status, code, violation.text, param=param)


def error_of(failure: Failure, too_long: Failure) -> dict[str, Any]:
    """The error of a failure, as it stands in a body and in an event; `too_long` is the API's own for long prompts."""
    if failure.kind == CONTEXT_TOO_LONG:
        failure = too_long
    status = failure.status
    kind = "invalid_request_error" if status < 500 else "server_error"
    if isinstance(failure, Refusal):
        return {"message": failure.text, "type": kind, "param": failure.param, "code": failure.kind}
    text = _TEXTS.get(status, "The fake provider was told to fail.")
    if status == 429:
        kind = "requests"
    if failure.kind == "insufficient_quota":
        kind, text = failure.kind, _QUOTA
    code = failure.kind or _CODES.get(status)
    return {"message": failure.text or text, "type": kind, "param": None, "code": code}


def judge_headers(received: Received, api: str) -> list[Violation]:
    """A key has to be there; any will do."""
    if received.headers.get("authorization", "").removeprefix("Bearer").strip():
        return []
    return [Violation(f"{api}.headers", "", "You didn't provide an API key.")]


def name_of(received: Received) -> str:
    """A name for what the fake makes in its answer: the same in every run, and another for every request."""
    return hashlib.sha256(f"{received.number}:".encode() + received.raw).hexdigest()[:20]


def cut(text: str) -> Iterator[str]:
    """A text in the pieces of a stream."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def counted(cache: PrefixCache, body: Mapping[str, Any], pieces: list[Piece], minimum: int, now: float) -> Cached:
    """What a prompt costs: by breakpoints from GPT-5.6 on, before that by whatever it shares with earlier ones."""
    model = str(body.get("model"))
    key = (model, body.get("prompt_cache_key"))
    if has_breakpoints(model):
        options = body.get("prompt_cache_options") or {}
        ttl = _TTL[options.get("ttl") or "30m"]
        implicit = None if options.get("mode") == "explicit" else ttl
        return cache.marked(key, pieces, model, minimum=minimum, implicit=implicit, now=now)
    lifetime = _DAY if body.get("prompt_cache_retention") == "24h" else _IDLE
    return cache.shared(key, pieces, model, minimum=minimum, step=_STEP, lifetime=lifetime, now=now)


def has_breakpoints(model: str) -> bool:
    """Whether a model caches by breakpoints and bills writes."""
    found = _VERSION.search(model)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= (5, 6)


def tool_pieces(body: Mapping[str, Any]) -> list[Piece]:
    """The tools, which stand before everything else."""
    tools = body.get("tools")
    return [Piece(f"<|tools|>{canonical(tools).decode()}\n")] if tools else []


def turn_pieces(head: str, content: Any, body: Mapping[str, Any]) -> Iterator[Piece]:
    """One message: a line that says whose it is, then its parts."""
    yield Piece(f"<|{head}|>")
    if isinstance(content, str):
        yield Piece(content)
    for part in content if isinstance(content, list) else ():
        text, media = _part(part)
        yield Piece(text, media, _mark(part, body))
    yield Piece("\n")


def _part(part: Mapping[str, Any]) -> tuple[str, int]:
    for name in ("text", "refusal"):
        if isinstance(part.get(name), str):
            return part[name], 0
    bare = {name: value for name, value in part.items() if name != "prompt_cache_breakpoint"}
    return f"<{hashlib.sha256(canonical(bare)).hexdigest()[:16]}>", MEDIA_TOKENS


def _mark(part: Mapping[str, Any], body: Mapping[str, Any]) -> float | None:
    mark = part.get("prompt_cache_breakpoint")
    if not isinstance(mark, dict):
        return None
    options = body.get("prompt_cache_options") or {}
    return _TTL.get(mark.get("ttl") or options.get("ttl") or "30m", _TTL["30m"])
