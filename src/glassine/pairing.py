from __future__ import annotations
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from .formats._common import Note
from .messages import Message


class Repaired(NamedTuple):
    messages: list[Message]
    notes: tuple[Note, ...]
    stubs: tuple[tuple[str, str, str], ...]


def repair(messages: Sequence[Message], stubbed: Iterable[str] = ()) -> Repaired:
    return Repaired(list(messages), (), ())
