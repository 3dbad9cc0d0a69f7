"""What is left of a message when its content must go: its place, its role, and the frame of its tool pairs."""

from __future__ import annotations

from typing import Any

from .messages import Message, calls, results

REDACTED = "[redacted]"


def redacted(message: Message) -> Message:
    """The message with nothing of its content left.

    Tool calls and results keep their ids and names, so that no pair is torn; all else becomes one text.
    """
    parts: list[Any] = []
    answered = {result.part for result in results(message)}
    for call in calls(message):
        parts.append({"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": {}})
        if call.part in answered:
            parts.append(_result(call.id, call.name))
    called = {call.part for call in calls(message)}
    parts += [_result(result.id, result.name or "") for result in results(message) if result.part not in called]
    return Message(
        id=message.id,
        role=message.role,
        parts=parts or [{"type": "text", "text": REDACTED}],
        created_at=message.created_at,
        metadata={"glassine": {"redacted": True}},
    )


def is_redacted(message: Message) -> bool:
    """Whether a message is what `redacted` left."""
    ours = (message.metadata or {}).get("glassine")
    return isinstance(ours, dict) and ours.get("redacted") is True


def tells(title: str, message: Message) -> bool:
    """Whether a session's title was taken from this message (titles are cut, and their white space folded)."""
    stem = " ".join(title.rstrip("…. ").split()).casefold()
    return bool(stem) and stem in " ".join(message.text.split()).casefold()


def _result(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": call_id, "toolName": name, "output": REDACTED}
