"""Whether an error says that the request was longer than the model takes, whoever said it.

Providers, clouds, gateways and local servers each have their own words for it, and few have a code. The table below
holds those words, with the numbers where they are stated. What limits a rate ("tokens per minute") is another matter:
waiting helps there, and sending less does not have to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Overflow", "is_context_overflow"]


class Overflow(NamedTuple):
    """A request that was too long.

    `tokens` is what the server counted, with the reserved output where it counts that in; `limit` what it takes; each
    is None where the message does not state it. `text` is the message, shortened.
    """

    tokens: int | None
    limit: int | None
    text: str


# `<name=N>` is a number: `tokens` and `more` are added up, `limit` is the limit.
_N = r"\d[\d,_]*"
_WORDS = tuple(
    re.compile(re.sub(r"<(\w+)=N>", lambda name: f"(?P<{name[1]}>{_N})", pattern), re.IGNORECASE | re.DOTALL)
    for pattern in (
        # Anthropic, also on Bedrock and Vertex
        r"(?:prompt|input) is too long: <tokens=N> tokens > <limit=N> maximum",
        r"exceed context limit: <tokens=N> \+ <more=N> > <limit=N>",
        # OpenAI and the many who speak like it: Azure, DeepSeek, vLLM, OpenRouter, Together
        r"large: <more=N>\. this model's maximum context length is <limit=N> tokens and your request has <tokens=N>",
        r"maximum context length (?:is|of) <limit=N> tokens.{1,80}prompt contains at least [\d,]+ input tokens, "
        r"for a total of at least <tokens=N> tokens",
        r"maximum context length (?:is|of) <limit=N> tokens?.{0,60}(?:requested|resulted in|contains?|has)"
        r"(?: about| at least| a total of)? <tokens=N>(?: input)? tokens",
        r"maximum context length (?:is|of) <limit=N>",
        r"tokens exceed the configured limit of <limit=N> tokens.{0,40}resulted in <tokens=N> tokens",
        r"tokens exceed the configured limit of <limit=N> tokens",
        # Gemini and Vertex
        r"input token count(?: \(<tokens=N>\))? exceeds the maximum number of tokens allowed(?: \(?<limit=N>\)?)?",
        r"input token count is <tokens=N> but (?:the )?model (?:only )?supports up to <limit=N>",
        # Bedrock
        r"too many input tokens\. max input tokens: <limit=N>, request input token count: <tokens=N>",
        r"input is too long for requested model",
        r"number of input tokens exceeds maximum length",
        # Mistral
        r"prompt contains <tokens=N> tokens.{0,40}too large for model with <limit=N> maximum context length",
        # llama.cpp, llama-cpp-python
        r"request(?: \(<tokens=N> tokens\))? exceeds the available context size(?: \(<limit=N> tokens\))?",
        r"requested tokens \(<tokens=N>\) exceed context window of <limit=N>",
        # vLLM, SGLang, text-generation-inference
        r"prompt \((?:total )?length <tokens=N>\) is (?:too long to fit into the model \(context length"
        r"|longer than the maximum model length of) <limit=N>",
        r"input length \(<tokens=N>\) exceeds model's maximum context length \(<limit=N>\)",
        r"input \(<tokens=N> tokens\) is longer than the model's context length \(<limit=N> tokens\)",
        r"input prompt \(<tokens=N> tokens\) is too long and exceeds limit of <limit=N>",
        r"`inputs` tokens \+ `max_new_tokens` must be <= <limit=N>\. given: <tokens=N> `inputs` tokens and <more=N>",
        r"`inputs` must have less than <limit=N> tokens\. given: <tokens=N>",
        # LM Studio
        r"trying to keep the first <tokens=N> tokens.{0,80}context length of only <limit=N> tokens",
        r"n_keep \(<tokens=N>\) >= n_ctx \(<limit=N>\)",
        r"tokens to keep from the initial prompt is greater than the context length",
        # Ollama
        r"prompt too long; exceeded max context length by",
        r"input length exceeds (?:the |maximum )*context length",
        # xAI, GitHub Copilot, Kimi, MiniMax, Cohere, Fireworks, DashScope, Zhipu
        r"maximum prompt length is <limit=N> but the request contains <tokens=N> tokens",
        r"prompt token count of <tokens=N> exceeds the limit of <limit=N>",
        r"exceeded model token limit: <limit=N> \(requested: <tokens=N>\)",
        r"tokens in the prompt cannot exceed <limit=N> - received <tokens=N>",
        r"prompt is too long: <tokens=N>, model maximum context length: <limit=N>",
        r"range of input length should be \[\d+, <limit=N>\]",
        r"prompt exceeds max length|prompt\s*超长",
        # What several say, without numbers
        r"(?:prompt|input|request|conversation) is too long",
        r"context window exceeds limit",
        r"exceeds? (?:the |this |model'?s? |maximum |allowed |available |of )*context (?:window|length|size|limit)",
        r"context (?:length|window|size|limit)(?: was| is| has been)? exceeded",
        r"longer than the model's context (?:length|window)",
        r"reduce the length of the (?:messages|prompt|input)",
        # The request is larger than the endpoint reads, or one text in it is
        r"request exceeds the maximum size|request entity too large",
        r"invalid '(?:messages|input)(?:\[\d+\])?(?:\.content(?:\[\d+\](?:\.text)?)?|\.output)?': string too long",
    )
)
_CODES = re.compile(
    r"\b(?:context_length_exceeded|exceed_context_size_error|(?:model_)?context_window_exceeded|request_too_large)\b"
)
_RATE = re.compile(
    r"rate[ _-]?limit|per[ _-](?:min|hour|day|sec)|\b(?:tpm|tpd|rpm)\b|quota|throttl|too many requests|overloaded"
    r"|resource_exhausted|please wait",
    re.IGNORECASE,
)
# llama.cpp states the numbers as fields.
_FIELDS = re.compile(r'"n_prompt_tokens": ?(?P<tokens>\d+)|"n_ctx": ?(?P<limit>\d+)')

_KEYS = (
    *("message", "Message", "msg", "error", "errors", "Error", "detail", "details", "code", "Code", "type", "reason"),
    *("status", "metadata", "raw", "body", "response", "cause", "innererror", "n_prompt_tokens", "n_ctx"),
)
_STATUS_NAMES = ("status_code", "status", "statusCode", "http_status", "HTTPStatusCode", "code")
_DEEP, _LONG, _SHOWN = 8, 20_000, 500


def is_context_overflow(error: object) -> Overflow | None:
    """The Overflow that an error speaks of, or None when it is about something else.

    `error` may be an exception of an official SDK (`status_code`, `body`, `code`, `message`, or a `response` dict as
    boto3 has it), one that wraps such an exception as its cause, a dict (a response body, a stream's error event), or
    plain text. A 413 counts, whatever its words; limits on a rate never do, nor does a `max_tokens` that is too high
    by itself. A server that cuts the prompt silently cannot be seen here.
    """
    seen = list(_texts(error, 0))
    whole = "\n".join(seen)[:_LONG]
    status = _status(error, 0)
    coded = _CODES.search(whole)
    if status == 429 or (coded is None and _RATE.search(whole)):
        return None
    shown = next((text for text in seen if " " in text.strip()), whole)[:_SHOWN]
    for pattern in _WORDS:
        if found := pattern.search(whole):
            return Overflow(*_numbers(found, whole), shown)
    if coded is not None or status == 413:
        return Overflow(*_numbers(None, whole), shown)
    return None


def _numbers(found: re.Match[str] | None, whole: str) -> tuple[int | None, int | None]:
    numbers = {name: int(re.sub(r"\D", "", text)) for name, text in found.groupdict().items() if text} if found else {}
    for field in _FIELDS.finditer(whole):
        for name, text in field.groupdict().items():
            if text:
                numbers.setdefault(name, int(text))
    tokens = numbers.get("tokens")
    return (None if tokens is None else tokens + numbers.get("more", 0)), numbers.get("limit")


def _texts(value: Any, depth: int) -> Iterator[str]:
    """What an error says, its own message first. Only known fields are read: some bodies repeat the whole prompt."""
    if depth > _DEEP:
        return
    if isinstance(value, str):
        body = _json_body(value)
        yield from [value[:_LONG]] if body is None else _texts(body, depth + 1)
    elif isinstance(value, (bytes, bytearray)):
        yield bytes(value[:_LONG]).decode("utf-8", "replace")
    elif isinstance(value, Mapping):
        for key in _KEYS:
            if key in value:
                item = value[key]
                yield from [json.dumps({key: item})] if isinstance(item, int) else _texts(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value[:20]:
            yield from _texts(item, depth + 1)
    elif isinstance(value, BaseException):
        for name in ("message", "body", "code", "type", "details", "response"):
            part = getattr(value, name, None)
            if isinstance(part, (str, Mapping, list)):
                yield from _texts(part, depth + 1)
        yield str(value)[:_LONG]
        if value.__cause__ is not None:
            yield from _texts(value.__cause__, depth + 1)
        if isinstance(value, BaseExceptionGroup):
            yield from _texts(value.exceptions, depth + 1)


def _json_body(text: str) -> Any:
    """The object that a text is the JSON of, as gateways pass a provider's body on; None if it is just text."""
    if not text.startswith(("{", "[")) or len(text) > _LONG:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _status(value: Any, depth: int) -> int | None:
    """The HTTP status of an error, from wherever it keeps it."""
    if depth > _DEEP:
        return None
    if isinstance(value, Mapping):
        inner = [value.get(key) for key in ("error", "ResponseMetadata", "response")]
        fields = [value.get(name) for name in _STATUS_NAMES]
    elif isinstance(value, BaseException):
        response = getattr(value, "response", None)
        inner = [response if isinstance(response, Mapping) else None, value.__cause__]
        fields = [getattr(value, name, None) for name in _STATUS_NAMES]
    else:
        return None
    for field in fields:
        if isinstance(field, int) and 400 <= field < 600:
            return field
    return next((found for item in inner if (found := _status(item, depth + 1)) is not None), None)
