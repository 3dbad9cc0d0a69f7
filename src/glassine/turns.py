"""Where a turn begins: at a message in which a user says something, more than results of tools."""

from __future__ import annotations

from typing import Any

from ._ids import RESERVED_PREFIX
from .messages import Message, results


def says(part: Any) -> bool:
    """Whether a part is more than a mark between steps or a text that is still empty."""
    if part["type"] == "text":
        return bool(str(part.get("text", "")).strip())
    return bool(part["type"] != "step-start")


def is_summary(message: Message) -> bool:
    """Whether a message of a history stands for a summary."""
    return message.id.startswith(RESERVED_PREFIX)


def begins_turn(message: Message) -> bool:
    """Whether a turn begins with a message of a history. A summary's is nobody's."""
    if message.role != "user" or is_summary(message):
        return False
    given = {result.part for result in results(message)}
    return any(says(part) for place, part in enumerate(message.parts) if place not in given)
