"""A history as a provider reads it: one piece after the other, each result directly behind the calls of its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..messages import Message, Role, ToolCall, ToolResult, calls, results


class Piece(NamedTuple):
    """One part of a history, or one half of a part that holds a call and its result together.

    `role` says on whose side it stands: results on that of `tool`, whichever message they come from, and what else is
    in a tool message on the user's. `part` is the part as it is; `call` or `result` is set when it is one. `message`
    and `at` are the positions of the message in the history and of the part in the message.
    """

    role: Role
    part: dict[str, Any]
    message: int
    at: int
    call: ToolCall | None = None
    result: ToolResult | None = None


def pieces(messages: Sequence[Message]) -> Iterator[Piece]:
    """The pieces of a history that `pairing.repair` has been over, in the order in which they are sent.

    An assistant message of several steps (the AI SDK's) falls apart into them: where something follows a call that
    has its result in the same part, the results of all calls so far come first. Results of one user or tool message
    come before its other parts.
    """
    sent: set[tuple[int, int]] = set()
    for number, message in enumerate(messages):
        own = {result.part: result for result in results(message) if (number, result.part) not in sent}
        if message.role == "assistant":
            yield from _assistant(messages, number, own, sent)
            continue
        for index, result in own.items():
            yield _piece(messages, number, index, "tool", result=result)
        for index in range(len(message.parts)):
            if index not in own and (number, index) not in sent:
                yield _piece(messages, number, index, "user" if message.role == "tool" else message.role)


def _assistant(
    messages: Sequence[Message], number: int, own: dict[int, ToolResult], sent: set[tuple[int, int]]
) -> Iterator[Piece]:
    asked = {call.part: call for call in calls(messages[number])}
    here: list[int] = []  # parts of this step that hold a result
    elsewhere: list[str] = []  # calls of this step whose results do not stand in this message
    for index in range(len(messages[number].parts)):
        call = asked.get(index)
        if call is None and here and index not in own and (number, index) not in sent:
            yield from (_piece(messages, number, place, "tool", result=own[place]) for place in here)
            yield from _fetched(messages, number, elsewhere, sent)
            here, elsewhere = [], []
        if call is not None:
            yield _piece(messages, number, index, "assistant", call=call)
        if index in own:
            here.append(index)
            if call is None and own[index].id in elsewhere:
                elsewhere.remove(own[index].id)
        elif call is not None:
            elsewhere.append(call.id)
        elif (number, index) not in sent:
            yield _piece(messages, number, index, "assistant")
    yield from (_piece(messages, number, place, "tool", result=own[place]) for place in here)


def _fetched(
    messages: Sequence[Message], number: int, wanted: list[str], sent: set[tuple[int, int]]
) -> Iterator[Piece]:
    """The results of a step that another one follows in its message, from those behind, up to the next answer."""
    for after in range(number + 1, len(messages)):
        if not wanted:
            return
        for result in results(messages[after]):
            if result.id in wanted and (after, result.part) not in sent:
                wanted.remove(result.id)
                sent.add((after, result.part))
                yield _piece(messages, after, result.part, "tool", result=result)
        if messages[after].role == "assistant":
            return


def _piece(
    messages: Sequence[Message],
    number: int,
    index: int,
    role: Role,
    *,
    call: ToolCall | None = None,
    result: ToolResult | None = None,
) -> Piece:
    part: Any = messages[number].parts[index]
    return Piece(role, part, number, index, call, result)
