"""The facts around the content of Claude Code's lines: ids, times, metadata, token usage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import GlassineError
from ..moments import parse_time
from ._claude_blocks import text_field
from ._notes import Notes
from ._tree import Node
from ._values import Usage

__all__ = ["KNOWN_TYPES", "clean_id", "merge_metadata", "message_metadata", "subagent_of", "time_of", "usage_of"]

KNOWN_TYPES = frozenset(
    {
        *("user", "assistant", "system", "progress", "attachment", "summary"),
        *("file-history-snapshot", "queue-operation", "last-prompt", "pr-link", "frame-link"),
        *("custom-title", "ai-title", "agent-name", "mode", "permission-mode"),
        *("worktree-state", "relocated", "started", "result"),
    }
)
SYNTHETIC = "<synthetic>"
_ID_BYTES = 200  # the rule for ids allows 512 bytes, and other ids are made from these


def clean_id(value: Any) -> str | None:
    """`value` if it can be (part of) an id of a message or a session."""
    if not isinstance(value, str) or not value.isprintable() or value != value.strip():
        return None
    return value if 0 < len(value.encode()) <= _ID_BYTES and not value.startswith("compaction_") else None


def time_of(line: dict[str, Any], number: int = 0, notes: Notes | None = None) -> str | None:
    """The time of a line, as it stands there; None when there is none or it cannot be read (noted in `notes`)."""
    if (value := line.get("timestamp")) is None:
        return None
    try:
        parse_time(value)
    except GlassineError:
        if notes is not None:
            notes.problem(number, "bad-timestamp", str(value)[:40])
        return None
    return str(value)


def message_metadata(line: dict[str, Any], message: dict[str, Any], cwd: str | None) -> dict[str, Any]:
    """`metadata` of a message: what Claude Code knows of it under "claudeCode", and "origin" for local error texts.

    `cwd` is that of the conversation: a line's own is kept only where it differs.
    """
    facts = {
        "uuid": clean_id(line.get("uuid")),
        "requestId": text_field(line, "requestId"),
        "messageId": text_field(message, "id"),
        "model": text_field(message, "model"),
        "stopReason": text_field(message, "stop_reason"),
    }
    kept: dict[str, Any] = {key: value for key, value in facts.items() if value is not None}
    if line.get("isMeta") is True:
        kept["isMeta"] = True
    if (own := text_field(line, "cwd")) != cwd and own is not None:
        kept["cwd"] = own
    metadata: dict[str, Any] = {"claudeCode": kept}
    if message.get("model") == SYNTHETIC:
        metadata["origin"] = "synthetic"
    return metadata


def merge_metadata(known: dict[str, Any], more: dict[str, Any]) -> None:
    """Add what a further piece of a reply says. "uuids" then lists the lines of all pieces."""
    ours, theirs = known["claudeCode"], more["claudeCode"]
    uuids = ours.setdefault("uuids", [ours["uuid"]] if "uuid" in ours else [])
    if "uuid" in theirs:
        uuids.append(theirs["uuid"])
    ours.update({key: value for key, value in theirs.items() if key not in ("uuid", "cwd")})


def usage_of(line: dict[str, Any], message: dict[str, Any], step: Node, before: Usage | None) -> Usage | None:
    """The usage a piece of a reply reports, after `before`, that of the piece before it.

    Pieces repeat the usage of their request as it stood when they were written, so the last one counts. None when
    there is none, and for texts Claude Code itself wrote.
    """
    given = message.get("usage")
    if not isinstance(given, dict) or message.get("model") == SYNTHETIC:
        return None
    written = _count(given, "cache_creation_input_tokens")
    details = given.get("cache_creation")
    details = details if isinstance(details, dict) else {}
    long = _count(details, "ephemeral_1h_input_tokens")
    row = Usage(
        message_id=step.id,
        request_id=text_field(line, "requestId"),
        model=text_field(message, "model"),
        started_at=_asked_at(step),
        ended_at=time_of(line),
        input_tokens=_count(given, "input_tokens"),
        output_tokens=_count(given, "output_tokens"),
        cache_read_tokens=_count(given, "cache_read_input_tokens"),
        # Older versions give only the total; the short time to live is the default.
        cache_write_5m_tokens=max(written - long, _count(details, "ephemeral_5m_input_tokens")),
        cache_write_1h_tokens=long,
    )
    return row if before is None else replace(row, message_id=before.message_id, started_at=before.started_at)


def subagent_of(line: dict[str, Any]) -> str | None:
    """The id of the subagent whose progress or result a line reports."""
    for key in ("data", "toolUseResult"):
        if isinstance(report := line.get(key), dict) and (agent := clean_id(report.get("agentId"))):
            return agent
    return None


def _asked_at(step: Node) -> str | None:
    if step.parent is None or step.parent.message["role"] == "assistant":
        return None
    asked, replied = step.parent.message.get("createdAt"), step.message.get("createdAt")
    return asked if asked and replied and parse_time(asked) <= parse_time(replied) else None


def _count(counts: dict[str, Any], key: str) -> int:
    value = counts.get(key)
    return value if type(value) is int and value > 0 else 0
