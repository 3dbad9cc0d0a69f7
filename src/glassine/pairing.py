"""Repair: every tool call has its result directly behind it, and every result its call, as strict providers want it.

Stored messages stay as they are; what is repaired is the list that a view is made of. The same list always gives the
same one, and a longer list gives the same one with something added, but for what a note tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import _json
from .formats._common import Note
from .formats._outputs import output_parts
from .messages import Message, Part, Role, ToolCall, ToolResult, calls, results
from .turns import says

STUB = "[Result from earlier conversation — see context summary above]"
"""What is shown for a result that is missing."""


class Stub(NamedTuple):
    """A call in a message whose result was missing, and the text that stands for it."""

    message_id: str
    call_id: str
    text: str


class Repaired(NamedTuple):
    """`messages` are what can be sent; `sources` says for each which message of the given list it comes from (a stub:
    the one with the call). `stubs` are the calls that were stubbed for the first time, `pending` the ids of those whose
    tools are to be run first."""

    messages: list[Message]
    notes: tuple[Note, ...]
    stubs: tuple[Stub, ...]
    sources: tuple[int, ...]
    pending: tuple[str, ...]


def repair(
    messages: Sequence[Message],
    stubbed: Collection[tuple[str, str]] = (),
    covered: Mapping[str, str] | None = None,
) -> Repaired:
    """Mend a history. `stubbed` are the calls whose stub an earlier request had, each by the ids of message
    and call, as often as it had one. `covered` are calls that a summary stands for, and that had no result then: name
    by id.

    - A call is pending while it stands in the last assistant message with nothing but results after it; it stays as it
      is. Any other call without a result gets the text STUB as its result.
    - Results are moved directly behind the message with their calls. If a stub was sent there meanwhile, the stub
      stays, and the result is shown where it came in, as a user's text; while calls are pending it is held back.
      So is the result of a covered call.
      A result that was written into the part of its call (the AI SDK's) stands there all the same; a note says so.
    - Results without a call before them go, and so do second results of one call, a call that the next message
      repeats word for word (its result counts for the first), and messages with nothing left in them.

    A result goes to the newest message with a call of its id, there to the first that has none yet.
    """
    if not stubbed and (pending := _pending_of_sound(messages)) is not None:
        return Repaired(list(messages), (), (), tuple(range(len(messages))), pending)
    return _Repair(messages, stubbed, covered or {}).run()


def _pending_of_sound(messages: Sequence[Message]) -> tuple[str, ...] | None:
    """The pending calls of a history in which nothing is to be mended; None where that is not plain at once."""
    waiting: dict[str, None] = {}
    for message in messages:
        given = results(message)
        if given and message.role != "assistant":
            if len(given) != len(message.parts):
                return None
            for result in given:
                if result.id not in waiting:
                    return None
                del waiting[result.id]
            continue
        if waiting or given:
            return None
        asked = calls(message) if message.role == "assistant" else []
        if asked:
            waiting = dict.fromkeys([call.id for call in asked])
            if len(waiting) != len(asked):
                return None
        elif not _any_says(message.parts):
            return None
    return tuple(waiting)


@dataclass
class _Call:
    """A call, and what has become of it. `late`: its result came in after its stub had been sent."""

    message: int
    call: ToolCall
    answered: bool = False
    late: bool = False


@dataclass
class _Behind:
    """What is put behind a visible message and the results that follow it: results from further on, then late ones."""

    moved: list[tuple[int, ToolCall, ToolResult]] = field(default_factory=list)
    late: list[tuple[int, ToolCall, ToolResult]] = field(default_factory=list)


class _Repair:
    # Invariant: `visible` is the newest message so far that says something of its own, more than results. Results in
    # the messages between it and the next visible one stand behind its calls already.

    def __init__(
        self, messages: Sequence[Message], stubbed: Collection[tuple[str, str]], covered: Mapping[str, str]
    ) -> None:
        self.messages = messages
        self.covered = dict(covered)
        self.stubbed = Counter(stubbed)
        self.notes: list[Note] = []
        self.visible = -1
        self.calls: list[_Call] = []
        self.newest: dict[str, list[_Call]] = {}  # by id: the calls of the newest message that has any
        self.dropped: dict[int, set[int]] = {}  # message → parts
        self.behind: dict[int, _Behind] = {}

    def run(self) -> Repaired:
        for number, message in enumerate(self.messages):
            self._read(number, message)
        return self._written()

    def _read(self, number: int, message: Message) -> None:
        held = {result.part: result for result in results(message)}
        asked = {call.part: call for call in calls(message)} if message.role == "assistant" else {}
        before, spoken = self.visible, False
        for index, part in enumerate(message.parts):
            call, result = asked.get(index), held.get(index)
            repeated = call is not None and self._is_repeated(number, call, before)
            if call is not None and not repeated:
                self._add(_Call(number, call, answered=result is not None))
                spoken = True
                if result is not None and (message.id, call.id) in self.stubbed:
                    self._note("late_result", number, index, f"the result of {call.id} stands where its stub was sent")
            elif result is not None:
                self._place(number, result, repeated)
            elif not repeated and says(part):
                spoken = True
            # The results in a user's or tool message are sent before its other parts, those in an assistant's in place.
            if spoken and message.role == "assistant":
                self.visible = number
        if spoken:
            self.visible = number

    def _add(self, entry: _Call) -> None:
        self.calls.append(entry)
        newest = self.newest.setdefault(entry.call.id, [])
        if newest and newest[0].message != entry.message:
            newest.clear()
        newest.append(entry)

    def _is_repeated(self, number: int, call: ToolCall, before: int) -> bool:
        """Whether the visible message `before` this one has the same call, word for word, without a result."""
        for entry in self.newest.get(call.id, ()):
            same = entry.call.name == call.name and _json.canonical(entry.call.raw) == _json.canonical(call.raw)
            if same and entry.message == before and not entry.answered:
                self._drop(number, call.part, "repeated_call", f"the call {call.id} stands in the message before")
                return True
        return False

    def _place(self, number: int, result: ToolResult, repeated: bool) -> None:
        candidates = self.newest.get(result.id, [])
        waiting = [entry for entry in candidates if not entry.answered]
        entry = waiting[0] if waiting else None
        if entry is None and not candidates and result.id in self.covered:
            call = ToolCall(result.id, self.covered.pop(result.id), {}, result.part, {})
            self.dropped.setdefault(number, set()).add(result.part)
            self._behind(self.visible).late.append((number, call, result))
            self._note("late_result", number, result.part, f"the call {result.id} is summarised; its result came later")
            return
        if entry is None:
            code, why = ("duplicate_result", "has a result") if candidates else ("orphan_result", "is not in the view")
            self._drop(number, result.part, code, f"a result was left out: the call {result.id} {why}")
            return
        entry.answered = True
        if self.visible == entry.message and not repeated and self.messages[number].role != "assistant":
            return
        self.dropped.setdefault(number, set()).add(result.part)
        # Where a message has several calls of one id, stubs were sent for those that had no result then: the last.
        stubbed = len(waiting) <= self.stubbed[self.messages[entry.message].id, result.id]
        if self.visible != entry.message and not repeated and stubbed:
            entry.late = True
            self._behind(self.visible).late.append((number, entry.call, result))
            self._note("late_result", number, result.part, f"the result of {result.id} came after its stub was sent")
        else:
            self._behind(entry.message).moved.append((number, entry.call, result))
            self._note("moved_result", number, result.part, f"the result of {result.id} was moved behind its call")

    def _behind(self, number: int) -> _Behind:
        return self.behind.setdefault(number, _Behind())

    def _drop(self, number: int, part: int, code: str, text: str) -> None:
        self.dropped.setdefault(number, set()).add(part)
        self._note(code, number, part, text)

    def _note(self, code: str, number: int, part: int | None, text: str) -> None:
        self.notes.append(Note(code, self.messages[number].id or None, part, text))

    def _written(self) -> Repaired:
        waiting = [entry.call.id for entry in self.calls if entry.message == self.visible and not entry.answered]
        missing: dict[int, list[ToolCall]] = {}
        for entry in self.calls:
            if entry.late or (not entry.answered and entry.message != self.visible):
                missing.setdefault(entry.message, []).append(entry.call)
                if not entry.late:
                    self._note("missing_result", entry.message, entry.call.part, f"{entry.call.id} has no result")
        sent, stubs = Counter(self.stubbed), []
        for number, found in missing.items():
            for call in found:
                named = (self.messages[number].id, call.id)
                if sent[named]:
                    sent[named] -= 1
                else:
                    stubs.append(Stub(*named, STUB))
        shown: list[tuple[Message, int]] = []
        visible = -1
        for number in range(len(self.messages)):
            if self._is_visible(number):
                shown += self._end(visible, missing, pending=False)
                visible = number
            if (message := self._remaining(number)) is not None:
                shown.append((message, number))
        shown += self._end(visible, missing, pending=bool(waiting))
        sources = tuple([number for _, number in shown])
        return Repaired([message for message, _ in shown], tuple(self.notes), tuple(stubs), sources, tuple(waiting))

    def _is_visible(self, number: int) -> bool:
        message = self.messages[number]
        held = {result.part for result in results(message)}
        gone = self.dropped.get(number, set())
        if message.role == "assistant" and any(call.part not in gone for call in calls(message)):
            return True
        return any(says(part) for index, part in enumerate(message.parts) if index not in held and index not in gone)

    def _remaining(self, number: int) -> Message | None:
        """The message without what was taken out of it; None when what is left says nothing."""
        message, gone = self.messages[number], self.dropped.get(number)
        if gone:
            parts = [part for index, part in enumerate(message.parts) if index not in gone]
            message = Message.from_dict({**message.to_dict(), "parts": parts})
        return message if _says_anything(message) else None

    def _end(self, number: int, missing: dict[int, list[ToolCall]], pending: bool) -> list[tuple[Message, int]]:
        """What comes behind a visible message and the results that follow it."""
        behind = self.behind.get(number, _Behind())
        found = [
            (self._made(source, "tool", [_result_part(call, result)]), source) for source, call, result in behind.moved
        ]
        found += [(Message(role="tool", parts=[_stub_part(call)]), number) for call in missing.get(number, ())]
        if pending:
            for source, _, result in behind.late:
                self._note("held_result", source, result.part, f"the result of {result.id} waits for pending calls")
            return found
        return found + [
            (self._made(source, "user", _late_parts(call, result)), source) for source, call, result in behind.late
        ]

    def _made(self, source: int, role: Role, parts: Sequence[Part]) -> Message:
        """A message that stands for one result of another; it has that one's id when it is all there is of it."""
        of = self.messages[source]
        return Message(role=role, parts=parts, id=of.id if len(of.parts) == 1 else None)


def _says_anything(message: Message) -> bool:
    return bool(calls(message) or results(message)) or _any_says(message.parts)


def _any_says(parts: Sequence[Any]) -> bool:
    for part in parts:  # noqa: SIM110 - asked of each message of each view; a generator would take longer than this
        if says(part):
            return True
    return False


def _result_part(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    part = {"type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": result.output}
    return {**part, "isError": True} if result.is_error else part


def _stub_part(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": STUB}


def _late_parts(call: ToolCall, result: ToolResult) -> list[Part]:
    head = f"[Late result of {call.name} ({call.id})] {'Error: ' if result.is_error else ''}"
    output = output_parts(result.output)
    if isinstance(output, str):
        return [{"type": "text", "text": head + output}]
    return [{"type": "text", "text": head.rstrip()}, *output]
