"""Origins: which message wrote each line of a stored block."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Origin(NamedTuple):
    """The message that wrote something, and its session."""

    message_id: str | None = None
    session_id: str | None = None


NOBODY = Origin()


class Line(NamedTuple):
    """A line of a block. `message_id` is the message whose tool call wrote it, in the session `session_id`; both are
    None if nobody's did (a caller wrote it, or the block came with it)."""

    text: str
    message_id: str | None = None
    session_id: str | None = None

    @property
    def origin(self) -> Origin:
        return Origin(self.message_id, self.session_id)


def rewritten(before: Sequence[Line], content: str, origin: Origin) -> list[Line]:
    """The lines of `content`, written by a message over `before`: lines that stay keep their origin.

    Linear: the beginning and the end that are the same, and between them each line that was there, the first of it
    first.
    """
    texts = content.split("\n") if content else []
    old = [line.text for line in before]
    most = min(len(old), len(texts))
    start = next((i for i in range(most) if old[i] != texts[i]), most)
    most -= start
    end = next((i for i in range(most) if old[-1 - i] != texts[-1 - i]), most)
    there: dict[str, deque[Line]] = {}
    for line in before[start : len(old) - end]:
        there.setdefault(line.text, deque()).append(line)
    between = [
        there[text].popleft() if there.get(text) else Line(text, *origin) for text in texts[start : len(texts) - end]
    ]
    return [*before[:start], *between, *before[len(old) - end :]]


def without(lines: Iterable[Line], origin: Origin) -> list[Line]:
    """The lines that a message did not write."""
    return [line for line in lines if line.origin != origin]


def packed(lines: Iterable[Line]) -> list[list[int | str | None]]:
    """The origins alone, as runs: [number of lines, message id, session id]."""
    runs: list[list[int | str | None]] = []
    last, count = NOBODY, 0
    for line in lines:
        if count and line.origin != last:
            runs.append([count, *last])
            count = 0
        last, count = line.origin, count + 1
    return [*runs, [count, *last]] if count else runs


def unpacked(content: str, runs: Iterable[Sequence[int | str | None]]) -> list[Line]:
    """The lines of `content` with the origins that `packed` made. Lines that the runs do not reach have none."""
    origins: list[Origin] = []
    for count, message_id, session_id in runs:
        origins += [Origin(_name(message_id), _name(session_id))] * (count if isinstance(count, int) else 0)
    texts = content.split("\n") if content else []
    origins += [NOBODY] * (len(texts) - len(origins))
    return [Line(text, *origin) for text, origin in zip(texts, origins, strict=False)]


def _name(value: int | str | None) -> str | None:
    return value if isinstance(value, str) else None
