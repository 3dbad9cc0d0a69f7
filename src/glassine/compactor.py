"""How a session is compacted: the recipe, how tokens are counted for it, and what an attempt came to."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from .blocks import Block
from .compaction import CompactionPlan
from .errors import InvalidError
from .indexing import count as count_by
from .indexing import tokens as estimates
from .messages import Message
from .overlays import Overlay
from .records import Usage
from .summarising import SummaryPrompt
from .tokens import FAMILIES, TokenCounter

Summarize = Callable[[SummaryPrompt], str | Awaitable[str]]
"""From the prompt to the summary: a plain function, or a coroutine function."""
RequestCounter = Callable[[list[Message], str, list[Block]], float]
"""Counts a request: its messages, its system prompt, and the blocks that the prompt is made of."""
Compact = Callable[[list[Message]], Any]
"""From a history to (id of the first message, id of the last, summary), or None; plain or a coroutine function."""
Cause = Literal["manual", "threshold", "overflow"]
CompactionKind = Literal["compacted", "nothing_to_do", "rejected", "failed"]

LEAST_INPUT: Final = 1_000
LONGEST: Final = 1_000_000
"""Seconds. Timers take no number beyond all."""


class Summary(str):
    """A summary with what the request for it took: `usage` becomes a row of the session's usage, of kind `summary`.
    `fault` says why there is no usable text, if there is none."""

    usage: Usage
    fault: str | None

    def __new__(cls, text: str, usage: Usage, fault: str | None = None) -> Summary:
        made = super().__new__(cls, text)
        made.usage, made.fault = usage, fault
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, (str(self), self.usage, self.fault)


@dataclass(frozen=True, slots=True)
class Compactor:
    """A recipe for compacting sessions.

    `summarize` gets a SummaryPrompt, which is a text, and gives the summary: a plain function or a coroutine function,
    in sync and async sessions alike. `protect_head` messages at the start stay, at the end as many as
    `tail_token_budget` holds, but at least `min_tail_messages`; see `plan_compaction`.

    `token_counter` counts for the threshold and for the cut alike. None: the stored estimate, in the family of the
    model that the session was last held with, calibrated by what its provider counted. One of
    `glassine.tokens.FAMILIES`: the estimate in that family. A function from a text to a number, or one from a request's
    messages, system prompt and blocks to a number: the whole visible history is then counted after every append.

    `max_input_tokens` is the summariser's window less its answer: a longer range is summarised in pieces.
    `timeout` is how many seconds each call of `summarize` may take (None: for ever). `fallback` is called, with the
    same prompt, when `summarize` fails, takes too long, or gives nothing; `extractive_summary` is one. Raises
    InvalidError for values that make no sense.
    """

    summarize: Summarize
    protect_head: int = 3
    tail_token_budget: int = 20_000
    min_tail_messages: int = 2
    token_counter: str | TokenCounter | RequestCounter | None = None
    max_input_tokens: int = 100_000
    timeout: float | None = 120.0
    fallback: Summarize | None = None

    def __post_init__(self) -> None:
        if not callable(self.summarize):
            raise InvalidError(f"summarize must be a function from a prompt to a text, not {self.summarize!r}")
        if self.fallback is not None and not callable(self.fallback):
            raise InvalidError(f"fallback must be a function from a prompt to a text, not {self.fallback!r}")
        bounds = {"protect_head": 0, "tail_token_budget": 0, "min_tail_messages": 0, "max_input_tokens": LEAST_INPUT}
        for name, value in bounds.items():
            given = getattr(self, name)
            if type(given) is not int or given < value:
                raise InvalidError(f"{name} must be a whole number from {value} on, not {given!r}")
        seconds: Any = self.timeout
        if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds <= LONGEST):
            raise InvalidError(f"timeout must be seconds above 0, at most {LONGEST}, or None, not {seconds!r}")
        if isinstance(self.token_counter, str):
            if self.token_counter not in FAMILIES:
                raise InvalidError(f"unknown token family {self.token_counter!r}; known are {', '.join(FAMILIES)}")
        elif self.token_counter is not None and not callable(self.token_counter):
            raise InvalidError(f"token_counter must be a family or a function, not {self.token_counter!r}")
        elif self.token_counter is not None:
            least, most = needs(self.token_counter), takes(self.token_counter)
            if not least <= 1 <= most and not least <= 3 <= most:
                what = "a text, or of messages, system prompt and blocks"
                raise InvalidError(f"token_counter must be a function of {what}, not of {least} arguments")


class CounterError(Exception):
    """A counter of the caller's raised. It is told as the reason of a failed attempt, and never comes out."""


class Meter(NamedTuple):
    """Counts for the threshold and the cut alike. `family` is the estimate's; `own` is the caller's counter, if there
    is one: of texts, or (`whole`) of requests."""

    family: str
    own: Callable[..., float] | None = None
    whole: bool = False

    def message(self, message: Message) -> int:
        """What one message costs."""
        if self.own is None:
            return estimates(message)[FAMILIES.index(self.family)]
        if self.whole:
            return self._counted([message], "", [])
        return count_by(message, self._counted)

    def request(self, messages: Sequence[Message], prompt: str, tools: str, blocks: Sequence[Block]) -> int:
        """What a request costs by the caller's counter."""
        if self.whole:
            return self._counted(list(messages), prompt, list(blocks))
        texts = [text for text in (prompt, tools) if text]
        return sum([self._counted(text) for text in texts]) + sum([self.message(message) for message in messages])

    def _counted(self, *arguments: Any) -> int:
        """A count by the caller's counter; 0 where it is none (not finite, or negative). Raises CounterError."""
        assert self.own is not None
        try:
            return _whole_number(self.own(*arguments))
        except Exception as error:
            raise CounterError(f"the token counter raised {type(error).__name__}: {str(error)[:300]}") from error


def meter(counter: str | TokenCounter | RequestCounter | None, family: str) -> Meter:
    """How a compactor counts, where the session's model is of this family."""
    if counter is None or isinstance(counter, str):
        return Meter(counter or family)
    # What can be called with a text alone counts texts: further arguments that have defaults are its own affair.
    return Meter(family, counter, takes(counter) >= 3 and needs(counter) != 1)


def takes(function: Callable[..., Any]) -> int:
    """How many arguments a function can be given by position; 1 where that cannot be told."""
    parameters = _positional(function)
    if parameters is None:
        return 1
    return 99 if any(each.kind is each.VAR_POSITIONAL for each in parameters) else len(parameters)


def needs(function: Callable[..., Any]) -> int:
    """How many arguments a function must be given by position; 1 where that cannot be told."""
    parameters = _positional(function)
    if parameters is None:
        return 1
    return sum([each.default is each.empty and each.kind is not each.VAR_POSITIONAL for each in parameters])


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [each for each in parameters if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]


def _whole_number(value: float) -> int:
    """A count of the caller's; 0 where it is none (not finite, or negative)."""
    return max(int(value), 0) if math.isfinite(value) else 0


@dataclass(frozen=True, slots=True)
class Compaction:
    """What an attempt to compact came to.

    `kind` says whether a summary was laid (`compacted`), there was `nothing_to_do`, the summary was `rejected`, or the
    attempt `failed`; `reason` says why, in a sentence, `code` for programs. `cause` is what it was made for.
    `tokens_before` and `tokens_after` are those of the whole request at that leaf: system prompt, tools and messages,
    calibrated. `messages` are the stored messages under the summary, `overlay` is the summary. `by_fallback`: the
    summariser failed, for the `reason` that is given, and its fallback wrote the summary. `shrunk` are results that are
    shown short from now on, by the ids of message and call: what the threshold does where no summary helps.
    """

    kind: CompactionKind
    code: str
    reason: str
    cause: Cause
    tokens_before: int
    tokens_after: int
    plan: CompactionPlan | None = None
    overlay: Overlay | None = None
    messages: int = 0
    by_fallback: bool = False
    shrunk: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "kind": self.kind,
            "code": self.code,
            "reason": self.reason,
            "cause": self.cause,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "messages": self.messages,
            "overlay": None if self.overlay is None else self.overlay.id,
            "byFallback": self.by_fallback,
            "shrunk": [list(named) for named in self.shrunk],
            "plan": None if self.plan is None else self.plan.to_dict(),
        }


Hook = Callable[..., Any]
"""Called before a summary is made: with the session and the CompactionPlan, as far as it takes arguments."""


@dataclass(frozen=True, slots=True)
class CompactionRecipe:
    """How a spec's sessions are compacted; see `SessionSpec.with_compaction`."""

    compactor: Compactor | Compact
    after: int | None
    before_compaction: Hook | None
    on_failure: Callable[[Compaction], Any] | None
    refresh_prompt: bool = False


def check_compacting(compactor: object, after: object, before_compaction: object, on_failure: object) -> None:
    """Raise InvalidError for what no session can be compacted with."""
    if isinstance(compactor, type) or not (isinstance(compactor, Compactor) or callable(compactor)):
        raise InvalidError(f"compactor must be a Compactor or a function from a history, not {compactor!r}")
    if after is not None and (type(after) is not int or after < 1):
        raise InvalidError(f"after must be a whole number of tokens from 1 on, not {after!r}")
    for name, function in (("before_compaction", before_compaction), ("on_failure", on_failure)):
        if function is not None and not callable(function):
            raise InvalidError(f"{name} must be a function, not {function!r}")


RecoveryKind = Literal["not_an_overflow", "shrunk", "compacted", "exhausted"]


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was done about a request that was too long.

    `retry` says whether to make the view anew and send it again. `shrunk` are the results that are shown short from now
    on, each by the ids of message and call; `compaction` is what compacting came to, where that was tried.
    """

    kind: RecoveryKind
    reason: str
    tokens_before: int = 0
    tokens_after: int = 0
    shrunk: tuple[tuple[str, str], ...] = ()
    compaction: Compaction | None = None

    @property
    def retry(self) -> bool:
        return self.kind in ("shrunk", "compacted")

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "kind": self.kind,
            "retry": self.retry,
            "reason": self.reason,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "shrunk": [list(named) for named in self.shrunk],
            "compaction": None if self.compaction is None else self.compaction.to_dict(),
        }
