"""The server of the fake provider: a port, a thread, a log of requests and a queue of answers; the APIs plug in.

Each API is a module with `routes(fake) -> list[Route]`, mounted under its name, and a `Dialect` that says how this API
refuses and replies. `FakeProvider.exchange` does what is the same for all.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from glassine.rules import Api, Limits, Violation

from ._answers import Answer, Failure, Part, Received, Script, script_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_STARTED_WITHIN = 10.0


class Reply(NamedTuple):
    """A whole answer of an API, both ways: `body` as JSON, `events` as the chunks of its stream, in order.

    `usage` are the token numbers for the log; `begun` is called when the first byte goes out.
    """

    body: Any
    events: Sequence[bytes]
    usage: Mapping[str, Any]
    begun: Callable[[], None] = lambda: None


class Dialect(Protocol):
    """How one API judges, refuses and replies."""

    @property
    def api(self) -> Api: ...
    @property
    def request_id_header(self) -> str: ...

    def streams(self, received: Received) -> bool:
        """Whether the reply is to be streamed."""

    def judge(self, received: Received) -> list[Violation]:
        """What is wrong with the request. `received.body` is any JSON value, or None for what is no JSON."""

    def refusal(self, received: Received, violations: Sequence[Violation]) -> Failure:
        """The failure that the server answers to these violations (at least one)."""

    def error(self, received: Received, failure: Failure) -> Any:
        """The JSON body of a failure; fills in what the failure leaves open, "context_too_long" included."""

    def error_event(self, received: Received, failure: Failure) -> bytes:
        """The same as the chunk of a stream that has begun."""

    def reply(self, received: Received, parts: Sequence[Part], *, whole: bool = True) -> Reply:
        """The reply made of `parts`; not `whole`: the events stop before those that end a message."""


@dataclass(eq=False)
class FakeProvider:
    """The APIs of Anthropic, OpenAI and Google on a local port, as strict as the real ones, with scripted answers.

        with FakeProvider(answers=["Hello", [Thinking("…"), Call("search", {"q": "x"})]]) as fake:
            client = anthropic.Anthropic(base_url=fake.anthropic_url, api_key="any")

    Each request takes the next of `answers`; when there is none left the reply is a fixed text. A request that breaks
    a rule of its API is refused with the status and JSON of that API and takes none, except that a scripted `Failure`
    comes first. Everything that came in is in `requests`.

    `limits` are a model's window and output, by name or for all. `bound_models` are those whose thinking is bound to
    everything before it (Anthropic). `minimum_prefix` is the least number of tokens that is cached, by name of the
    model or for all. `clock` gives seconds; only lifetimes of caches depend on it, and it may be replaced at any time.
    An exception in a callable answer comes out at the end of the `with` block. Needs the extra `glassine[testing]`.
    """

    answers: Iterable[Answer] = field(default=(), repr=False)
    limits: Limits | Mapping[str, Limits] = field(default_factory=Limits)
    bound_models: Collection[str] = ()
    minimum_prefix: int | Mapping[str, int] = 1024
    clock: Callable[[], float] = time.time
    requests: list[Received] = field(default_factory=list, init=False, repr=False)
    port: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._answers: deque[Answer] = deque(self.answers)
        self._lock = threading.Lock()
        self._errors: list[Exception] = []

    # --- for the test -------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Where the server listens; the APIs lie beneath."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def anthropic_url(self) -> str:
        """The `base_url` of the anthropic client."""
        return f"{self.url}/anthropic"

    @property
    def openai_url(self) -> str:
        """The `base_url` of the openai client."""
        return f"{self.url}/openai/v1"

    @property
    def gemini_url(self) -> str:
        """The `base_url` in the `http_options` of the google-genai client."""
        return f"{self.url}/gemini"

    def script(self, *answers: Answer) -> None:
        """Add answers behind those that wait."""
        with self._lock:
            self._answers.extend(answers)

    @property
    def waiting(self) -> int:
        """How many scripted answers no request has taken yet."""
        return len(self._answers)

    def __enter__(self) -> FakeProvider:
        try:
            import uvicorn

            app = self._app()
        except ImportError as error:
            raise ImportError("the fake provider needs starlette and uvicorn: install glassine[testing]") from error
        self._socket = socket.create_server(("127.0.0.1", 0))
        # Accepted connections inherit it. Without it the head and the body of each answer go out 40 ms apart.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app, log_level=100, access_log=False, lifespan="off", loop="asyncio", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="fake provider", daemon=True
        )
        self._thread.start()
        give_up = time.monotonic() + _STARTED_WITHIN
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > give_up:
                raise RuntimeError("the fake provider did not start")
            time.sleep(0.002)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        if error is None and self._errors:
            raise self._errors[0]

    # --- for the APIs -------------------------------------------------------------------------------------------------

    def limits_of(self, model: str) -> Limits:
        """What is known about a model."""
        return self.limits if isinstance(self.limits, Limits) else self.limits.get(model, Limits())

    def minimum_prefix_of(self, model: str) -> int:
        """The least number of tokens that is cached for a model."""
        if isinstance(self.minimum_prefix, int):
            return self.minimum_prefix
        return self.minimum_prefix.get(model, 1024)

    async def receive(self, request: Request, api: Api) -> Received:
        """Read a request and write it down."""
        raw = await request.body()
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            body = None
        path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        if request.url.query:
            path += "?" + request.url.query
        with self._lock:
            received = Received(len(self.requests) + 1, api, path, dict(request.headers), raw, body)
            self.requests.append(received)
        return received

    async def exchange(self, request: Request, dialect: Dialect) -> Response:
        """Answer a request for a reply of the model: judge it, take the next answer, send it or stream it."""
        received = await self.receive(request, dialect.api)
        try:
            return await self._exchange(received, dialect)
        except Exception as error:
            self._errors.append(error)
            failure = Failure(500, text=f"the fake provider or a scripted answer failed: {error!r}")
            return self.fail(received, dialect, failure, {"x-should-retry": "false"})

    def respond(
        self,
        received: Received,
        dialect: Dialect,
        body: Any,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A JSON answer, written down."""
        from starlette.responses import Response

        received.status = status
        received.answer = body
        data = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
        return Response(data, status, self._headers(received, dialect) | dict(headers or {}), "application/json")

    def fail(
        self, received: Received, dialect: Dialect, failure: Failure, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A failure in the shape of the API, written down."""
        added = dict(headers or {})
        if failure.retry_after is not None:
            added["retry-after"] = f"{failure.retry_after:g}"
        return self.respond(received, dialect, dialect.error(received, failure), failure.status, added)

    # --- itself -------------------------------------------------------------------------------------------------------

    async def _exchange(self, received: Received, dialect: Dialect) -> Response:
        from ._wire import Broken

        received.violations = dialect.judge(received)
        script = self._next(received)
        if script is None:
            return self.fail(received, dialect, dialect.refusal(received, received.violations))
        stream = dialect.streams(received) if not received.violations else False
        if script.failure and not (stream and script.parts):
            await asyncio.sleep(script.wait)
            return self.fail(received, dialect, script.failure)
        reply = dialect.reply(received, script.parts, whole=script.failure is None)
        received.usage = reply.usage
        await asyncio.sleep(script.wait)
        reply.begun()
        if not stream:
            response = self.respond(received, dialect, reply.body)
            return Broken(response, [bytes(response.body)[: len(response.body) // 2]]) if script.cut else response
        return self._streamed(received, dialect, script, reply)

    def _streamed(self, received: Received, dialect: Dialect, script: Script, reply: Reply) -> Response:
        from starlette.responses import StreamingResponse

        from ._wire import Broken

        events = list(reply.events)
        if script.failure:
            events.append(dialect.error_event(received, script.failure))
        received.status = 200
        received.answer = reply.body

        async def chunks() -> AsyncIterator[bytes]:
            for event in events:
                yield event

        response = StreamingResponse(
            chunks(), 200, self._headers(received, dialect), media_type="text/event-stream; charset=utf-8"
        )
        return Broken(response, events[: script.cut.after]) if script.cut else response

    def _next(self, received: Received) -> Script | None:
        """The script of the next answer; None when the request is refused, and the answer waits for a better one."""
        with self._lock:
            failing = bool(self._answers) and isinstance(self._answers[0], Failure)
            if received.violations and not failing:
                return None
            answer = self._answers.popleft() if self._answers else None
        return script_of(answer, received)

    def _headers(self, received: Received, dialect: Dialect) -> dict[str, str]:
        return {dialect.request_id_header: received.request_id}

    def _app(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Mount

        from . import _anthropic, _gemini, _openai_chat, _openai_responses

        openai = [*_openai_chat.routes(self), *_openai_responses.routes(self)]
        return Starlette(
            routes=[
                Mount("/anthropic", routes=_anthropic.routes(self)),
                Mount("/openai", routes=openai),
                Mount("/gemini", routes=_gemini.routes(self)),
            ]
        )
