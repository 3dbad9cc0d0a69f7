"""The sections, filled with lines within a bound of tokens."""

from __future__ import annotations

from collections.abc import Iterable

from ..summarising import SECTIONS
from ..tokens import estimate_tokens
from ._earlier import Earlier
from ._form import KEYS, NONE, OPEN, STATE, TOPIC, Line, Said
from ._lines import candidates, open_lines, state_lines, topic_of
from ._novelty import Novelty
from ._sentences import LONGEST, one_line, scanned, shortened, split
from ._talk import MOST_READ, Talk

_SHORT_HONEST = "(Extracted without a model.)"
_STATE_SHARE, _OPEN_SHARE, _EARLIER_SHARE, _NEW_SHARE = 0.2, 0.25, 0.5, 0.5
"""Parts of the room that two sections fill before Key Points; then earlier ones of these, then new ones, then any."""
_ENOUGH, _BARELY, _LEAST_LINE = 40, 20, 6
"""Tokens for the topic and the request, below which the first line is shortened; then, all but the request goes; and
those below which no further line is tried."""


def _cost(text: str) -> int:
    return estimate_tokens(text, "safe")


def _fitted(label: str, text: str, room: int) -> str:
    """The line within `room` tokens, cut if it must be; empty if hardly a word would be left."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost(f"- {label}: {shortened(text, middle)}\n") <= room else (low, middle - 1)
    return f"- {label}: {shortened(text, low)}" if low >= min(len(text), 5) > 0 else ""


class _Summary:
    """The sections, filled within a bound."""

    def __init__(self, most: int) -> None:
        self.most, self.honest, self.room = most, "", 0
        self.lines: list[tuple[str, int, str]] = []
        self.novelty = Novelty()

    def text(self) -> str:
        parts = [self.honest]
        for section in SECTIONS:
            # Key points keep the order of the conversation; elsewhere the order is that of need.
            found = sorted((order, line) for name, order, line in self.lines if name == section)
            parts.append("\n".join([f"## {section}", *([line for _, line in found] or [NONE])]))
        return "\n\n".join(parts)

    def begin(self, source: str) -> bool:
        """The skeleton. False if the bound leaves no room for anything in it."""
        for self.honest, needed in (
            (f"(Extracted from {source} without a model: sentences are quoted, nothing is concluded.)", _ENOUGH),
            (_SHORT_HONEST, _BARELY),
        ):
            self.room = self.most - _cost(self.text())
            if self.room >= needed:
                return True
        return False

    def put(self, section: str, line: str, order: int | None = None) -> bool:
        """Add a line if there is room for it."""
        cost = _cost(f"{line}\n")
        if cost > self.room:
            return False
        self.room -= cost
        self.lines.append((section, len(self.lines) if order is None else order, line))
        return True

    def fill(self, section: str, lines: Iterable[Line], share: float) -> None:
        """Add lines that say something new, up to a part of the room."""
        kept = int(self.room * (1 - share))  # for what comes later
        self.room -= kept
        for label, text, said, order in lines:
            if self.room < _LEAST_LINE:
                break
            said = said or Said("system", f"{label} {text}")
            if self.novelty.adds(said) and self.put(section, f"- {label}: {text}", order):
                self.novelty.take(said)
        self.room += kept


def written(talk: Talk, earlier: Earlier, request: str, source: str, most: int) -> str:
    """The summary of what was read of `source`, of at most `most` tokens."""
    who, topic = topic_of(talk, earlier)
    note = "latest request" if request else "unanswered"
    request = shortened(one_line(scanned(request or talk.unanswered, MOST_READ)), LONGEST)
    summary = _Summary(most)
    asker = f"user ({note})"
    if not summary.begin(source):
        marks = (mark for mark in (_SHORT_HONEST, "…", "-", "") if _cost(mark) <= max(most, 0))
        return _fitted(asker, request, most) or _fitted(who, topic, most) or next(marks)
    wanted = _cost(f"- {asker}: {request}\n") if request else 0
    for section, label, text, room in (
        (TOPIC, who, topic, max(summary.room - wanted, summary.room // 2)),
        (OPEN, asker, request, summary.most),
    ):
        if line := _fitted(label, text, min(room, summary.room)):
            summary.put(section, line)
            for said in [shown := line.partition(": ")[2], *split(shown)]:
                summary.novelty.take(Said(label.partition(" ")[0], said))
    state, still_open = list(state_lines(talk, earlier)), list(open_lines(talk, earlier, request))
    kept, fresh, every = candidates(talk, earlier, most)
    for section, lines, share in (
        (STATE, state, _STATE_SHARE),
        (OPEN, still_open, _OPEN_SHARE),
        (KEYS, kept, _EARLIER_SHARE),
        (KEYS, fresh, _NEW_SHARE),
        (KEYS, every, 1.0),
        (STATE, state, 1.0),
        (OPEN, still_open, 1.0),
    ):
        summary.fill(section, lines, share)
    while _cost(text := summary.text()) > most and summary.lines:
        summary.lines.pop()
    return text
