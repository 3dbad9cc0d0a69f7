"""Compaction: which messages of a path one summary should stand for, and when it is time for it.

    head      the first messages stay, for they say what the conversation is about
    range     what the summary will stand for, earlier summaries included
    tail      the newest messages stay, as many as the budget of tokens holds

The range never parts a tool call from its result, never holds a call whose tool is still to be run, and never holds the
user's latest request: where the request lies in the middle, the range is what stands before it, or what stands after
it, whichever frees more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from . import _json
from .indexing import tokens as estimates
from .messages import Message, MessageLike, ToolCall, calls, results
from .turns import begins_turn, is_summary, says

SUMMARY_SHARE: Final = 0.2
LEAST_SUMMARY: Final = 100
MOST_SUMMARY: Final = 8_000
"""A summary is asked to take this share of the tokens it replaces, within these bounds. (Share and lower bound: as the
reference systems have them.)"""


class Limits(Protocol):
    """What must stay: the first `protect_head` messages, and at the end what `tail_token_budget` tokens hold, though at
    least `min_tail_messages`. A Compactor is one."""

    @property
    def protect_head(self) -> int: ...
    @property
    def tail_token_budget(self) -> int: ...
    @property
    def min_tail_messages(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A range of a path that one summary should stand for.

    `first_id` and `last_id` are its ends; a summary that lies in it goes by its message's id, `compaction_…`.
    `messages` are the messages to be summarised, `previous` the texts of the summaries among them, oldest first,
    `request` the user's latest request, which stays as it is, and `request_id` its message. `head`, `covered` and
    `tail` count the messages that a view shows before the range, in it and after it, `…_tokens` their tokens.
    `summary_tokens` is how long the summary may be.
    `open_calls` are the calls in the range whose results are not in it, name by id: should one come in later, it is
    shown as a text.
    """

    first_id: str
    last_id: str
    messages: tuple[Message, ...]
    previous: tuple[str, ...]
    request: str | None
    request_id: str | None
    head: int
    covered: int
    tail: int
    head_tokens: int
    covered_tokens: int
    tail_tokens: int
    summary_tokens: int
    open_calls: Mapping[str, str] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "first": self.first_id,
            "last": self.last_id,
            "head": {"messages": self.head, "tokens": self.head_tokens},
            "range": {"messages": self.covered, "tokens": self.covered_tokens, "summaries": len(self.previous)},
            "tail": {"messages": self.tail, "tokens": self.tail_tokens},
            "summaryTokens": self.summary_tokens,
        }


class NothingToDo(NamedTuple):
    """Why no range can be compacted: `code` for programs, `reason` for people.

    Codes: `too_short` (head and least tail are all there is), `all_in_tail` (the tail's budget holds the rest),
    `nothing_new` (all that could be covered is a summary already), `no_boundary` (calls and results, or a
    summary of another branch, hold the rest together).
    """

    code: Literal["too_short", "all_in_tail", "nothing_new", "no_boundary"]
    reason: str


def plan_compaction(
    path: Sequence[MessageLike],
    limits: Limits,
    *,
    tokens: Sequence[int] | None = None,
    stubbed: Collection[tuple[str, str]] = (),
    closed: Collection[int] = (),
) -> CompactionPlan | NothingToDo:
    """Choose the range for a summary on a path, as `history()` gives it, summaries included.

    `tokens` says what each message costs; without it they are estimated in the family `safe`. `stubbed` are calls
    (message id, call id) that a request was sent a stub for: their late results stand by themselves, and may be parted
    from them. `closed` are places where no range may end, told by how many messages are before them: those inside
    summaries of other branches, which would be cut. A range begins where the earliest summary lies, if that is before
    the end of the protected head.
    """
    messages = [Message.of(message) for message in path]
    costs = list(tokens) if tokens is not None else [estimates(message)[-1] for message in messages]
    if len(costs) != len(messages):
        raise ValueError(f"there are {len(messages)} messages and {len(costs)} numbers of tokens")
    count = len(messages)
    if count <= limits.protect_head + limits.min_tail_messages:
        return NothingToDo(
            "too_short",
            f"the path shows {count} messages; {limits.protect_head} at its head and {limits.min_tail_messages} at its "
            "end stay",
        )
    legal = _boundaries(messages, stubbed)
    start = _start(messages, legal, limits.protect_head)
    wanted = _tail_start(costs, limits)
    if wanted <= start:
        return NothingToDo(
            "all_in_tail",
            f"what follows the head has {sum(costs[start:])} tokens; {limits.tail_token_budget} stay at the end",
        )
    ends = [may and index not in closed for index, may in enumerate(legal)]
    end = _end(ends, start, wanted, count - limits.min_tail_messages)
    if end is None:
        reason = (
            "calls and results, tools that are still to be run, or a summary of another branch hold the rest together"
        )
        return NothingToDo("no_boundary", reason)
    request = request_at(messages)
    if request is not None and start <= request < end:
        start, end = _around(request, messages, costs, legal, ends, start, end)
    inside = range(start, end)
    fresh = [index for index in inside if not is_summary(messages[index])]
    if not fresh:
        return NothingToDo("nothing_new", "all that may be covered is a summary already, or the user's latest request")
    covered = sum(costs[start:end])
    return CompactionPlan(
        first_id=messages[start].id,
        last_id=messages[end - 1].id,
        messages=tuple([messages[index] for index in fresh]),
        previous=tuple([messages[index].text for index in inside if is_summary(messages[index])]),
        request=None if request is None else messages[request].text or None,
        request_id=None if request is None else messages[request].id,
        head=start,
        covered=end - start,
        tail=count - end,
        head_tokens=sum(costs[:start]),
        covered_tokens=covered,
        tail_tokens=sum(costs[end:]),
        summary_tokens=min(max(round(covered * SUMMARY_SHARE), LEAST_SUMMARY), MOST_SUMMARY),
        open_calls=open_calls_in(messages[start:end]),
    )


def request_at(messages: Sequence[Message]) -> int | None:
    """Where the user's latest request stands; None where there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if begins_turn(messages[index]):
            return index
    return None


@dataclass(slots=True)
class _Asked:
    """A call in a message."""

    message: int
    call: ToolCall
    answered: bool


class _Tools(NamedTuple):
    """How calls and results stand in a path, put together as `repair` puts them.

    `spans` are the first and last messages of what belongs together, `open` the calls that a result could still come
    for, `newest` is the newest message that says more than results.
    """

    spans: list[tuple[int, int]]
    open: list[_Asked]
    newest: int


def _tools(messages: Sequence[Message], stubbed: Collection[tuple[str, str]]) -> _Tools:
    sent = set(stubbed)
    spans: list[tuple[int, int]] = []
    asked: dict[str, list[_Asked]] = {}  # by id: the calls of the newest message that has any
    numbers: Counter[str] = Counter()
    newest = -1
    for index, message in enumerate(messages):
        own = {call.part: call for call in calls(message)} if message.role == "assistant" else {}
        given = {result.part: result for result in results(message)}
        before = newest
        for place, part in enumerate(message.parts):
            call, result = own.get(place), given.get(place)
            there = asked.get(call.id if call is not None else result.id if result is not None else "", [])
            repeats = next((one for one in there if call is not None and _is_repeated(one, call, before)), None)
            if call is not None and repeats is None:
                if not there or there[0].message != index:
                    there = asked[call.id] = []
                there.append(_Asked(index, call, result is not None))
                numbers[call.id] += 1
                newest = index
            elif repeats is not None:
                spans.append((repeats.message, index))
            elif result is None and says(part):
                newest = index
            if result is not None and (call is None or repeats is not None):
                waiting = [one for one in there if not one.answered]
                if waiting:
                    waiting[0].answered = True
                    # With several calls of one id nobody could tell, once they are apart, which a late result is for.
                    alone = repeats is None and numbers[result.id] == 1
                    if not alone or (messages[waiting[0].message].id, result.id) not in sent:
                        spans.append((waiting[0].message, index))
    return _Tools(spans, [one for there in asked.values() for one in there if not one.answered], newest)


def _is_repeated(one: _Asked, call: ToolCall, before: int) -> bool:
    """Whether a call repeats, word for word, one that the visible message before has no result for yet."""
    same = one.call.name == call.name and _json.canonical(one.call.raw) == _json.canonical(call.raw)
    return same and one.message == before and not one.answered


def _boundaries(messages: Sequence[Message], stubbed: Collection[tuple[str, str]]) -> list[bool]:
    """For each place before a message, and the one after the last, whether a range may begin or end there."""
    tools = _tools(messages, stubbed)
    changes = [0] * (len(messages) + 2)
    for first, last in tools.spans:
        changes[first + 1] += 1
        changes[last + 1] -= 1
    # Tools of the newest step are still to be run: it stays in the tail.
    if any(one.message == tools.newest for one in tools.open):
        changes[tools.newest + 1] += 1
    legal, held = [], 0
    for index in range(len(messages) + 1):
        held += changes[index]
        legal.append(held == 0)
    return legal


def _start(messages: Sequence[Message], legal: Sequence[bool], protect_head: int) -> int:
    """The first place at or behind the head where a range may begin."""
    first = next((index for index, message in enumerate(messages) if is_summary(message)), len(messages))
    start = min(protect_head, first)
    while start < len(messages) and not legal[start]:
        start += 1
    return start


def _tail_start(costs: Sequence[int], limits: Limits) -> int:
    """Where the tail begins by its budget alone."""
    kept = 0
    for index in range(len(costs) - 1, -1, -1):
        kept += costs[index]
        if kept > limits.tail_token_budget and len(costs) - index > limits.min_tail_messages:
            return index + 1
    return 0


def _end(legal: Sequence[bool], start: int, wanted: int, last: int) -> int | None:
    """Where the range may end: the place at or before the wanted one that is nearest to it, else the next behind it."""
    for index in range(min(wanted, last), start, -1):
        if legal[index]:
            return index
    return next((index for index in range(max(wanted, start + 1), last + 1) if legal[index]), None)


def _around(
    request: int,
    messages: Sequence[Message],
    costs: Sequence[int],
    legal: Sequence[bool],
    ends: Sequence[bool],
    start: int,
    end: int,
) -> tuple[int, int]:
    """The part of a range before, or behind, the user's latest request: whichever frees more."""
    before = next((index for index in range(request, start, -1) if ends[index]), start)
    behind = next((index for index in range(request + 1, end) if legal[index]), end)

    def freed(first: int, last: int) -> int:
        return sum([costs[index] for index in range(first, last) if not is_summary(messages[index])])

    return (behind, end) if freed(behind, end) > freed(start, before) else (start, before)


def open_calls_in(covered: Sequence[Message]) -> dict[str, str]:
    """The calls in a range whose results are not in it: name by id."""
    return {one.call.id: one.call.name for one in _tools(covered, ()).open}


# -- when --------------------------------------------------------------------------------------------------------------

FIRST_WAIT: Final = 30_000_000
LONGEST_WAIT: Final = 3_600_000_000
"""Microseconds until a failed attempt is made again: they double with each failure, up to the longest."""
GROWTH: Final = 0.05
"""An attempt that did not help is made again when the view has grown by this share of the threshold; the next one by
twice as much, and so on."""


class Pause(NamedTuple):
    """Until when no automatic attempt is made: neither before this time (microseconds), nor as long as the view has
    fewer tokens than this. `failures` counts the attempts in a row that did not help."""

    until: int = 0
    tokens: int = 0
    failures: int = 0

    def is_over(self, now: int, tokens: int) -> bool:
        return now >= self.until and tokens >= self.tokens


def noted_pause(told: object, after: int) -> Pause:
    """The pause that an event tells of, for the same threshold; none where it tells of none that could be: anybody can
    store an event."""
    if not isinstance(told, Mapping) or told.get("after") != after or not isinstance(told.get("pause"), Mapping):
        return Pause()
    numbers = [told["pause"].get(name) for name in Pause._fields]
    return Pause(*numbers) if all(type(number) is int and number >= 0 for number in numbers) else Pause()


def pause_after(kind: str, tokens: int, after: int, now: int, failures: int) -> Pause:
    """When the next automatic attempt may be made, after one of this kind that left a view of so many tokens.

    A summariser that failed is given time. Where there was nothing to gain, or the view is still over the threshold,
    only more messages change that.
    """
    if kind == "failed":
        return Pause(now + min(FIRST_WAIT << min(failures, 12), LONGEST_WAIT), 0, failures + 1)
    if tokens <= after:
        return Pause()
    return Pause(0, tokens + (max(round(after * GROWTH), 1) << min(failures, 12)), failures + 1)
