"""What an import stores beside the tree: the session's description, its events and its usage."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import glassine

from ..moments import parse_time
from ._values import Compaction, Conversation

__all__ = ["EventRow", "description", "event_rows", "refusal", "usage_rows"]

MAX_KIND = 100
"""Characters of the kind of an event: it comes from the file, where anything may stand."""


class EventRow(NamedTuple):
    """An event as `Session.add_events` takes it."""

    kind: str
    data: Any
    created_at: datetime | None
    id: str


def description(
    conversation: Conversation, source: str, path: Path, info: glassine.SessionInfo | None
) -> dict[str, Any]:
    """What `Session.describe` is to be given; empty when all of it is there.

    Title and model are set again only where they are what an import has set. An earlier version of a transcript does
    not replace what a later one said.
    """
    metadata = {} if info is None else info.metadata or {}
    before = metadata.get("imported")
    before = before if isinstance(before, dict) else {}
    read = len(conversation.messages)
    if isinstance(seen := before.get("messages"), int) and seen > read:
        return {}
    facts = {
        "cwd": conversation.cwd,
        "gitBranch": conversation.git_branch,
        "version": conversation.version,
        "startedAt": conversation.created_at,
        "file": str(path.absolute()),
    }
    changes: dict[str, Any] = {"source": source}
    # Invariant: the title itself is not kept twice, or `redact` would have to know of the second one.
    marks = {"messages": read, "title": _mark(conversation.title), "model": _mark(conversation.model)}
    if conversation.title and _is_free(None if info is None else info.title, before.get("title")):
        changes["title"] = conversation.title
    if conversation.model and _is_free(None if info is None else info.model, before.get("model")):
        changes["model"] = conversation.model
    lineage, known = conversation.lineage, None if info is None else info.lineage
    if lineage is not None and (known is None or lineage.message_id is not None):
        changes["lineage"] = glassine.Lineage("sidechain", lineage.conversation_id, lineage.message_id)
    changes["metadata"] = {
        **metadata,
        **{key: value for key, value in facts.items() if value is not None},
        "imported": marks,
    }
    if info is not None and all(getattr(info, name) == value for name, value in changes.items()):
        return {}
    return changes


def _is_free(value: str | None, before: Any) -> bool:
    """Whether a field holds what the last import put there (nothing, if there was none)."""
    return _mark(value) == before if before is not None else value is None


def _mark(value: str | None) -> str | None:
    return None if value is None else hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:16]


def event_rows(conversation: Conversation) -> Iterator[EventRow]:
    """The events, with ids made from their content: the same in every version and copy of the file.

    Where the same object stands several times, they are numbered.
    """
    times: Counter[str] = Counter()
    for event in conversation.events:
        text = json.dumps([event.kind, event.data], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        times[digest] += 1
        id = digest if times[digest] == 1 else f"{digest}~{times[digest]}"
        yield EventRow(_kind(event.kind), event.data, moment(event.created_at), id)


def refusal(compaction: Compaction) -> EventRow:
    """The event that keeps a summary for which there is no place."""
    facts = {
        "id": compaction.id,
        "first": compaction.first_id,
        "last": compaction.last_id,
        "summary": compaction.summary,
        "trigger": compaction.trigger,
        "preTokens": compaction.pre_tokens,
    }
    data = {key: value for key, value in facts.items() if value is not None}
    return EventRow("refused-summary", data, moment(compaction.created_at), f"refused-summary/{compaction.id}")


def usage_rows(conversation: Conversation) -> Iterator[glassine.Usage]:
    """One row per request, named by the message it made."""
    for row in conversation.usage:
        yield glassine.Usage(
            id=f"reply/{row.message_id or row.request_id}",
            ok=row.ok,
            message_id=row.message_id,
            model=row.model,
            started_at=moment(row.started_at),
            ended_at=moment(row.ended_at),
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cache_read_tokens=row.cache_read_tokens,
            cache_write_5m_tokens=row.cache_write_5m_tokens,
            cache_write_1h_tokens=row.cache_write_1h_tokens,
            cost=row.cost,
        )


def _kind(kind: str) -> str:
    clean = "".join(character if character.isprintable() else "�" for character in kind[:MAX_KIND]).strip()
    return clean or "unknown"


def moment(value: str | None) -> datetime | None:
    return None if value is None else parse_time(value)
