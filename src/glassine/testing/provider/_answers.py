"""What the fake provider is told to answer, the same for every API."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from glassine.rules import Api, Violation

DEFAULT_TEXT = "This is the fake provider's answer."
CONTEXT_TOO_LONG = "context_too_long"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text in the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning in the reply, signed or encrypted as the provider does it. `redacted`: only the opaque form is sent."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in the reply. Without `id` one is made, the same in every run."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An error instead of the reply, or after the parts before it when they are streamed.

    `kind` is the provider's own name of the error, by default the usual one for `status`; "context_too_long" makes
    each provider's own refusal of a prompt that does not fit (status 400). `retry_after` is in seconds.
    """

    status: int
    kind: str | None = None
    text: str | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks after so many events of a stream; a reply that is not streamed breaks half-way."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds before the first byte of the reply."""

    seconds: float


@dataclass(slots=True)
class Received:
    """A request as it came in, and what became of it.

    `number` counts from 1 in the order of arrival, `raw` are the exact bytes, `body` the JSON in them (None when it is
    none), `status` the HTTP status answered, `violations` the rules it broke, `usage` the token numbers of the answer
    in the provider's own names, `answer` the JSON of the answer (of a stream: the whole message that its events make
    up).
    """

    number: int
    api: Api
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    status: int = 0
    violations: list[Violation] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None

    @property
    def request_id(self) -> str:
        """The id of the request in the headers of the answer."""
        return f"req_fake_{self.number:06d}"

    @property
    def name(self) -> str:
        """What the ids made for the answer are built from: the same in every run, and another for every request."""
        return hashlib.sha256(f"{self.number}:".encode() + self.raw).hexdigest()[:20]


Part: TypeAlias = Text | Thinking | Call
Step: TypeAlias = Part | Failure | Cut | Wait | str
Answer: TypeAlias = Step | Sequence[Step] | Callable[[Received], "Answer"]


@dataclass(frozen=True, slots=True)
class Script:
    """An answer taken apart."""

    parts: tuple[Part, ...]
    failure: Failure | None = None
    cut: Cut | None = None
    wait: float = 0.0


def script_of(answer: Answer | None, received: Received) -> Script:
    """What one answer says. Without parts, and without a failure, the reply is DEFAULT_TEXT."""
    while callable(answer):
        answer = answer(received)
    steps = [] if answer is None else [answer] if isinstance(answer, Step) else list(answer)
    parts: list[Part] = []
    failure: Failure | None = None
    cut: Cut | None = None
    wait = 0.0
    for step in steps:
        match step:
            case str():
                parts.append(Text(step))
            case Failure():
                failure = step
            case Cut():
                cut = step
            case Wait():
                wait += step.seconds
            case Text() | Thinking() | Call():
                parts.append(step)
            case _:
                raise TypeError(f"the fake provider cannot answer with {step!r}")
    if not parts and failure is None:
        parts.append(Text(DEFAULT_TEXT))
    return Script(tuple(parts), failure, cut, wait)
