"""The Responses API of OpenAI: replies, streams, stored responses and refusals in its shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassine import rules
from glassine.rules import Api, Violation

from ._answers import Failure, Part, Received, Thinking
from ._counting import canonical, count
from ._openai import Refusal, counted, error_of, judge_headers, name_of, refusal, tool_pieces, turn_pieces
from ._openai_items import Events, output_items
from ._openai_state import State, Stored
from ._prefixes import Cached, Piece, PrefixCache, size
from ._server import FakeProvider, Reply

_ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def routes(fake: FakeProvider) -> list[Route]:
    """The routes of this API, beneath its mount; it also answers for what OpenAI does not have."""
    dialect = OpenAIResponses(fake)

    async def responses(request: Request) -> Response:
        return await fake.exchange(request, dialect)

    async def input_tokens(request: Request) -> Response:
        received = await fake.receive(request, dialect.api)
        received.violations = dialect.judge(received)
        if received.violations:
            return fake.fail(received, dialect, dialect.refusal(received, received.violations))
        counted = {"object": "response.input_tokens", "input_tokens": dialect.size(received.body)}
        return fake.respond(received, dialect, counted)

    async def stored(request: Request) -> Response:
        received = await fake.receive(request, dialect.api)
        return dialect.stored(received, request)

    async def unknown(request: Request) -> Response:
        received = await fake.receive(request, dialect.api)
        text = f"Invalid URL ({request.method} {received.path})"
        return fake.fail(received, dialect, Refusal(404, None, text))

    return [
        Route("/v1/responses", responses, methods=["POST"]),
        Route("/v1/responses/input_tokens", input_tokens, methods=["POST"]),
        Route("/v1/responses/{id}", stored, methods=["GET", "DELETE"]),
        Route("/v1/responses/{id}/input_items", stored, methods=["GET"], name="input_items"),
        Route("/{path:path}", unknown, methods=_ANY),
    ]


class OpenAIResponses:
    """How the Responses API judges, refuses and replies."""

    api: Api = "openai_responses"
    request_id_header = "x-request-id"

    def __init__(self, fake: FakeProvider) -> None:
        self._fake = fake
        self._cache = PrefixCache()
        self._state = State()
        self._streams: dict[int, Events] = {}  # by the number of the request

    def streams(self, received: Received) -> bool:
        return bool(received.body.get("stream"))

    def judge(self, received: Received) -> list[Violation]:
        found = judge_headers(received, self.api)
        if received.body is None:
            text = "We could not parse the JSON body of your request."
            return [*found, Violation("openai_responses.json", "", text)]
        body = received.body
        found += rules.violations(self.api, body)
        if found:
            return found
        items, found = self._state.expand(body)
        if found:
            return found
        # Judged once more with what was stored before it, where no call may be without output.
        left_out = ("previous_response_id", "conversation", "store")
        whole = {**{name: value for name, value in body.items() if name not in left_out}, "input": items}
        model = body.get("model", "")
        limits = replace(self._fake.limits_of(model), input_tokens=size(_pieces(body, items), model))
        return rules.violations(self.api, whole, facts=limits) or self._state.judge(items)

    def refusal(self, received: Received, violations: Sequence[Violation]) -> Failure:
        return refusal(violations[0])

    def error(self, received: Received, failure: Failure) -> Any:
        return {"error": _error(failure)}

    def error_event(self, received: Received, failure: Failure) -> bytes:
        error = _error(failure)
        events = self._streams.pop(received.number)
        said = {"code": error["code"] or "server_error", "message": error["message"]}
        failed = {**events.response, "status": "failed", "error": said}
        return events.one("error", error=error) + events.one("response.failed", response=failed)

    def reply(self, received: Received, parts: Sequence[Part], *, whole: bool = True) -> Reply:
        body = received.body
        items, _ = self._state.expand(body)
        now = self._fake.clock()
        minimum = self._fake.minimum_prefix_of(body.get("model", ""))
        cached = counted(self._cache, body, _pieces(body, items), minimum, now)
        encrypted = "reasoning.encrypted_content" in (body.get("include") or ())
        output = output_items(parts, name_of(received), encrypted=encrypted)
        usage = _usage(cached, output, parts, body.get("model", ""))
        response = _response(body, f"resp_{name_of(received)}", output, usage, int(now))
        events = Events(response)
        chunks = list(_stream(events, response, whole))
        if not whole:
            self._streams[received.number] = events

        def begun() -> None:
            cached.commit()
            if whole:
                self._state.remember(Stored(items, response), store=body.get("store") is not False)

        return Reply(response, chunks, usage, begun)

    def size(self, body: Mapping[str, Any]) -> int:
        """Tokens of the whole input."""
        items, _ = self._state.expand(body)
        return size(_pieces(body, items), body.get("model", ""))

    def stored(self, received: Received, request: Request) -> Response:
        """Answer for a stored response: itself, what it was given, or that it is gone."""
        id = request.path_params["id"]
        known = self._state.responses.get(id)
        if known is None:
            text = f"Response with id '{id}' not found."
            return self._fake.fail(received, self, Refusal(404, None, text, param="id"))
        if request.method == "DELETE":
            del self._state.responses[id]
            return self._fake.respond(received, self, {"id": id, "object": "response", "deleted": True})
        if not received.path.endswith("/input_items"):
            return self._fake.respond(received, self, known.response)
        items = [_with_id(item, number) for number, item in enumerate(known.input)][::-1]
        page = {"object": "list", "data": items, "has_more": False}
        ends = {"first_id": items[0]["id"], "last_id": items[-1]["id"]} if items else {}
        return self._fake.respond(received, self, {**page, **ends})


def _error(failure: Failure) -> dict[str, Any]:
    text = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return error_of(failure, Refusal(failure.status, "context_length_exceeded", failure.text or text, param="input"))


def _pieces(body: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """A request as the model reads it: tools, instructions, then items."""
    pieces = tool_pieces(body)
    if body.get("instructions"):
        pieces += turn_pieces("instructions", body["instructions"], body)
    for item in items:
        if "content" in item and "role" in item:
            pieces += turn_pieces(item["role"], item["content"], body)
        elif isinstance(item.get("output"), str | list):
            pieces += turn_pieces(f"output {item.get('call_id')}", item["output"], body)
        else:
            pieces.append(Piece(f"<|item|>{canonical(item).decode()}\n"))
    return pieces


def _usage(cached: Cached, output: Sequence[Mapping[str, Any]], parts: Sequence[Part], model: str) -> dict[str, Any]:
    reasoning = sum(count(part.text, model) for part in parts if isinstance(part, Thinking))
    written = reasoning
    for item in output:
        if item["type"] == "message":
            written += sum(count(part["text"], model) for part in item["content"])
        elif item["type"] == "function_call":
            written += count(item["name"] + item["arguments"], model)
    return {
        "input_tokens": cached.total,
        "input_tokens_details": {"cached_tokens": cached.read, "cache_write_tokens": cached.written},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": cached.total + written,
    }


def _response(
    body: Mapping[str, Any], id: str, output: Sequence[Mapping[str, Any]], usage: Mapping[str, Any], now: int
) -> dict[str, Any]:
    echoed = {
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
    }
    return {
        "id": id,
        "object": "response",
        "created_at": now,
        "completed_at": now,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": body.get("model", ""),
        "output": list(output),
        "tools": [{"strict": True, **tool} for tool in body.get("tools") or ()],
        **{name: body.get(name, default) for name, default in echoed.items()},
        "usage": usage,
    }


def _stream(events: Events, response: Mapping[str, Any], whole: bool) -> Iterator[bytes]:
    yield from events.opening()
    for index, item in enumerate(response["output"]):
        yield from events.item(item, index)
    if whole:
        yield events.one("response.completed", response=response)


def _with_id(item: Mapping[str, Any], number: int) -> dict[str, Any]:
    shown = {"id": f"msg_input_{number}", "type": "message", **item}
    if isinstance(shown.get("content"), str):
        kind = "output_text" if shown.get("role") == "assistant" else "input_text"
        shown["content"] = [{"type": kind, "text": shown["content"]}]
    return shown
