# Generated from src/glassine/_async/recording.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Recording what a model answered: whole replies, and streams while they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from .._waiting import iterate
from ..dialects import Stream, event_in, read_reply, stream_for
from ..drafting import draft
from ..errors import InvalidMessageError
from ..formats._common import Reply
from ..messages import Message, calls, results, tool_result
from ..moments import from_micros
from ..pricing import price
from ..records import Usage
from ..view import View
from .ops.recording import Below

if TYPE_CHECKING:
    from .session import Session

FAILED: Final = ("failed", "cancelled")
"""What a background response says of itself that was never finished."""
WRITE_EVERY: Final = 500_000
"""Microseconds between two writes of a reply that is still coming."""


def record(session: Session, response: Any, view: View | None) -> Message:
    """Store a whole reply with its usage."""
    _check(session, view)
    reply = read_reply(response)
    now = session.store.now()
    ok = reply.stop not in FAILED
    message = _message(session, reply, session.store.new_id(), "complete" if ok else "interrupted", None)
    usage = _usage(session, reply, view, message.id, ok, now)
    session._engine.record(session._ref, draft(message), _below(view), usage, now)
    _watch(session)
    return message


class Recording:
    """A reply that is taken in while it comes: iterate over it to get the provider's events, unchanged.

    Its message is stored with the first content, and again now and then while more comes (`metadata.glassine` has a
    `status` and a rising `revision`), so that a crash keeps what was there. When the events end it is "complete"; when
    they break off, or nobody asks for more, "interrupted": then it has the texts as far as they came, and only those
    tool calls that were whole. An error of the events comes out after that was stored. Who may stop early enters it
    (`with`), so that it ends at once.
    """

    def __init__(self, session: Session, events: Any, view: View | None) -> None:
        _check(session, view)
        self._session, self._events, self._view = session, events, view
        self._id = session.store.new_id()
        self._stream: Stream | None = None
        self._revision = 0
        self._written_at = 0
        self._asked = self._ended = False
        self.message: Message | None = None
        """What is stored of the reply so far; None before anything came."""

    def run(self) -> Message | None:
        """Take in all events. Returns the message; None when nothing came."""
        for _ in self:
            pass
        return self.message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(False)

    def __iter__(self) -> Iterator[Any]:
        finished = False
        unknown = None
        self._asked = True
        try:
            for event in iterate(self._events):
                unknown = event
                told = event_in(event)
                if self._stream is None:
                    self._stream = stream_for(told)
                if self._stream is not None:
                    self._stream.feed(told)
                    self._keep()
                yield event
            finished = True
        finally:
            self._end(finished)
        if self._stream is None and unknown is not None:
            raise InvalidMessageError(
                f"a {type(unknown).__name__} is no event of a provider's stream; nothing was stored"
            )

    def _keep(self) -> None:
        now = self._session.store.now()
        if self._stream is None or (self._revision and now - self._written_at < WRITE_EVERY):
            return
        reply = self._stream.reply()
        if _says(reply):
            self._write(reply, "streaming", None)

    def _end(self, finished: bool) -> None:
        if self._ended or not self._asked:
            return
        self._ended = True
        if self._stream is None:
            if not finished:
                self._fail()
            return
        whole = finished and self._stream.finished
        reply = self._stream.reply(finished=whole)
        now = self._session.store.now()
        usage = _usage(self._session, reply, self._view, self._id if _says(reply) or whole else None, whole, now)
        if _says(reply) or self._revision or whole:
            self._write(reply, "complete" if whole else "interrupted", usage)
            _watch(self._session)
        else:
            self._session._engine.record(self._session._ref, None, None, usage, now)

    def _fail(self) -> None:
        """Note that a request was made and nothing came of it."""
        session, view = self._session, self._view
        if view is not None:
            usage = Usage(
                id=session.store.new_id(),
                ok=False,
                leaf_id=view.leaf,
                model=view.model,
                route=view.route,
                started_at=view.started_at,
                ended_at=from_micros(session.store.now()),
            )
            session._engine.record(session._ref, None, None, usage, session.store.now())

    def _write(self, reply: Reply, status: str, usage: Usage | None) -> None:
        session, now = self._session, self._session.store.now()
        message = _message(session, reply, self._id, status, self._revision + 1)
        # Counted before it is written: a write that is cancelled may have been committed.
        self._revision += 1
        self._written_at = now
        session._engine.record(session._ref, draft(message), _below(self._view), usage, now)
        self.message = message


def run_tools(session: Session, reply: Message) -> list[Message]:
    """Run those calls of a reply that are ours, and return their results, to be appended."""
    own = {tool.name: tool for tool in session.tools()}
    found = []
    done = {result.id for result in results(reply)}
    for call in calls(reply):
        if call.name in own and call.id not in done:
            answer = own[call.name].call(call.raw, message_id=reply.id or None)
            found.append(tool_result(call, answer, is_error=answer.startswith("Error:")))
    return found


def _watch(session: Session) -> None:
    """Compact the session, if a reply has made it too long."""
    if session._compacting is not None:
        session._compacting.watch(None)


def _says(reply: Reply) -> bool:
    """Whether anything has come yet: a part, and not only the beginning of a text."""
    parts: Iterable[Any] = reply.message.parts
    return any(part["type"] != "text" or part.get("text") for part in parts)


def _message(session: Session, reply: Reply, id: str, status: str, revision: int | None) -> Message:
    noted: dict[str, Any] = {"status": status}
    if revision is not None:
        noted["revision"] = revision
    known = {"model": _text(reply.model), "responseId": _text(reply.response_id), "stop": _text(reply.stop)}
    noted |= {name: value for name, value in known.items() if value is not None}
    wire = reply.message.to_dict()
    wire["id"] = id
    wire["metadata"] = {**(wire.get("metadata") or {}), "glassine": noted}
    return Message.from_dict(wire)


def _usage(session: Session, reply: Reply, view: View | None, message_id: str | None, ok: bool, now: int) -> Usage:
    model = _text(reply.model) or (view.model if view is not None else None)
    used = reply.usage
    usage = Usage(
        id=session.store.new_id(),
        ok=ok,
        message_id=message_id,
        leaf_id=view.leaf if view is not None else None,
        model=model,
        route=view.route if view is not None else None,
        started_at=view.started_at if view is not None else None,
        ended_at=from_micros(now),
        input_tokens=_number(used.input),
        output_tokens=_number(used.output),
        cache_read_tokens=_number(used.cache_read),
        cache_write_5m_tokens=_number(used.cache_write_5m),
        cache_write_1h_tokens=_number(used.cache_write_1h),
        # Without a model's name the estimate was made in no family of its own, and teaches nothing.
        estimated_tokens=view.tokens.estimate if view is not None and view.model is not None else None,
    )
    cost = price(model, usage, at=usage.ended_at) if model is not None else None
    return usage if cost is None else replace(usage, cost=cost.cost, price_source=cost.source)


def _below(view: View | None) -> Below | None:
    return None if view is None or view.leaf is None else Below(view.leaf, view.active)


def _check(session: Session, view: View | None) -> None:
    if view is not None and view.session_id != session.id:
        raise ValueError(f"the view is of session {view.session_id!r}, not of {session.id!r}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    """A number of tokens that a database can keep."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else None
