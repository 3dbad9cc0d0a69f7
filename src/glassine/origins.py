"""Origins: which message wrote each line of a stored block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class Line(NamedTuple):
    """A line of a block. `message_id` is the message whose tool call wrote it, None if nobody's did (a caller wrote
    it, or the block came with it)."""

    text: str
    message_id: str | None


def rewritten(before: Sequence[Line], content: str, message_id: str | None) -> list[Line]:
    """The lines of `content`, written by a message over `before`: lines that stay keep their origin."""
    texts = content.split("\n") if content else []
    old = [line.text for line in before]
    if texts[: len(old)] == old:  # something was appended
        return [*before, *(Line(text, message_id) for text in texts[len(old) :])]
    lines = [Line(text, message_id) for text in texts]
    for tag, start, end, new_start, _ in SequenceMatcher(None, old, texts, autojunk=False).get_opcodes():
        if tag == "equal":
            lines[new_start : new_start + end - start] = before[start:end]
    return lines


def without(lines: Iterable[Line], message_id: str) -> list[Line]:
    """The lines that a message did not write."""
    return [line for line in lines if line.message_id != message_id]


def packed(lines: Iterable[Line]) -> list[tuple[int, str | None]]:
    """The origins alone, as runs: (number of lines, message id)."""
    runs: list[tuple[int, str | None]] = []
    for line in lines:
        if runs and runs[-1][1] == line.message_id:
            runs[-1] = (runs[-1][0] + 1, line.message_id)
        else:
            runs.append((1, line.message_id))
    return runs


def unpacked(content: str, runs: Iterable[Sequence[int | str | None]]) -> list[Line]:
    """The lines of `content` with the origins that `packed` made. Lines that the runs do not reach have none."""
    ids: list[str | None] = []
    for count, message_id in runs:
        if isinstance(count, int) and (message_id is None or isinstance(message_id, str)):
            ids += [message_id] * count
    texts = content.split("\n") if content else []
    ids += [None] * (len(texts) - len(ids))
    return [Line(text, id) for text, id in zip(texts, ids, strict=False)]
