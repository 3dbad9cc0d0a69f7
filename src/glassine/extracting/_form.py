"""The form of a summary: its sections, and lines that say who said what."""

from __future__ import annotations

from typing import NamedTuple

from ..summarising import SECTIONS

TOPIC, KEYS, STATE, OPEN = SECTIONS
NONE = "- (none)"
CHANGED, SEEN, CONTENT = "files changed", "files seen", "content"


class Said(NamedTuple):
    """A sentence and who said it: `user`, `assistant`, `system`, `tool NAME`, or `earlier` for whoever it was."""

    who: str
    text: str
    first: bool = False
    code: bool = False

    @property
    def kind(self) -> str:
        return self.who.partition(" ")[0]


class Line(NamedTuple):
    """`- label: text`, the sentence that it quotes if it does, and where it stands among key points."""

    label: str
    text: str
    said: Said | None = None
    order: int | None = None


def counted(number: int, one: str, more: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number} {one if number == 1 else more}"
