# Generated from src/glassine/_async/asking.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Asking a summariser: in pieces, in time, and once more where it says that it was asked too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from .._waiting import OverdueError, call_within
from ..compaction import CompactionPlan
from ..compactor import CompactionKind, Compactor, Summarize, Summary
from ..messages import Message, user
from ..overflow import is_context_overflow
from ..records import Usage
from ..summarising import (
    LEAST_PIECE,
    SCARCE_TOOL_CHARS,
    TOOL_CHARS,
    SummaryPrompt,
    clipped_to,
    fault_in,
    first_piece,
    summary_prompt,
)
from ..tokens import estimate_tokens

SMALL: Final = 2_000
"""Tokens of a summariser's window below which there is no room for the user's request."""
SHORT: Final = 400
"""Characters of an answer that may be a refusal in words, and no summary."""
_ATTEMPTS: Final = 3
"""How often the pieces are made smaller for a summariser that says they are too long."""


class Written(NamedTuple):
    """A summary, what was used for it, and why a fallback had to write it, if it had."""

    text: str
    usage: tuple[Usage, ...]
    fault: str | None = None


class FaultError(Exception):
    """Why there is no summary: `kind` and `code` are the outcome's; `usage` is what was used all the same."""

    def __init__(self, kind: CompactionKind, code: str, reason: str, usage: Sequence[Usage] = ()) -> None:
        super().__init__(reason)
        self.kind, self.code, self.reason, self.usage = kind, code, reason, tuple(usage)


class _TooLongError(FaultError):
    """The summariser says that its input is too long."""


def summarise(
    compactor: Compactor, plan: CompactionPlan, cost: Callable[[str], int], hold: Callable[[], bool]
) -> Written:
    """The summary of a range: by the fallback, where the summariser gives none that is shorter than the range.

    `cost` counts a summary; `hold` prolongs the lease, and says whether it is still ours. Raises FaultError.
    """
    used: list[Usage] = []
    try:
        text = _in_pieces(compactor, plan, hold, used)
        if compactor.fallback is None or cost(text) < plan.covered_tokens:
            return Written(text, tuple(used))
        fault = f"the summary has {cost(text)} tokens, and what it would stand for has {plan.covered_tokens}"
    except FaultError as error:
        if compactor.fallback is None or error.code == "lease_lost":
            raise FaultError(error.kind, error.code, error.reason, used) from error
        fault = error.reason
    prompt = summary_prompt(plan.messages, plan.previous, plan.request, plan.summary_tokens)
    try:
        text = _asked(compactor.fallback, compactor, prompt, used)
    except FaultError as error:
        reason = f"{fault}; and of the fallback: {error.reason}"
        raise FaultError(error.kind, error.code, reason, used) from error
    return Written(text, tuple(used), fault)


def _in_pieces(compactor: Compactor, plan: CompactionPlan, hold: Callable[[], bool], used: list[Usage]) -> str:
    """Ask for a summary of the first piece, then for it to be brought up to date with the next, and so on. What turns
    out to be too long is asked for again, in smaller pieces and with less of what tools gave."""
    size, chars = compactor.max_input_tokens, TOOL_CHARS
    left: Sequence[Message] = plan.messages
    previous: tuple[str, ...] = plan.previous
    if sum([estimate_tokens(text, "safe") for text in previous]) > size // 3:
        left, previous = [*[user(text) for text in previous], *left], ()  # too long to be handed on whole
    refused = 0
    while left:
        if not hold():
            raise FaultError("failed", "lease_lost", "another holder took over: this one was too slow")
        most = min(plan.summary_tokens, size // 4)
        request = None if plan.request is None or size < SMALL else clipped_to(plan.request, size // 8)
        piece, rest = first_piece(left, previous, request, size, most, chars)
        prompt = summary_prompt(piece, previous, request, most, chars)
        try:
            text = _asked(compactor.summarize, compactor, prompt, used)
        except _TooLongError as error:
            refused += 1
            if refused > _ATTEMPTS:
                raise FaultError("failed", "too_long", error.reason) from error
            size, chars = max(size // 2, LEAST_PIECE), SCARCE_TOOL_CHARS
            continue
        # One that is longer than it was asked for must leave room for the next piece.
        left, previous = rest, (clipped_to(text, size // 3) if rest else text,)
    return previous[-1]


def _asked(summarize: Summarize, compactor: Compactor, prompt: SummaryPrompt, used: list[Usage]) -> str:
    try:
        answer = call_within(compactor.timeout, summarize, prompt)
    except OverdueError as error:
        reason = f"the summariser took longer than {compactor.timeout} seconds"
        raise FaultError("failed", "timed_out", reason) from error
    except Exception as error:
        if is_context_overflow(error) is not None:
            raise _TooLongError("failed", "too_long", f"the summariser's input was too long: {shown(error)}") from error
        raise FaultError("failed", "summariser_raised", f"the summariser raised {shown(error)}") from error
    used += usage_of(answer)
    short = isinstance(answer, str) and len(answer) < SHORT and "#" not in answer
    if short and is_context_overflow(str(answer)) is not None:
        raise _TooLongError("failed", "too_long", f"the summariser says that its input is too long: {answer.strip()}")
    fault = answer.fault if isinstance(answer, Summary) else None
    if (fault := fault or fault_in(answer)) is not None:
        raise FaultError("failed", "no_summary", fault)
    return str(answer)


def usage_of(answer: object) -> tuple[Usage, ...]:
    """What a request for a summary took, where that is known."""
    return (answer.usage,) if isinstance(answer, Summary) else ()


def shown(error: BaseException) -> str:
    """An error in one short line."""
    text = " ".join(str(error)[:1200].split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
