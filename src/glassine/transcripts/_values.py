"""What reading a transcript gives: plain frozen values, free of any database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "Compaction",
    "Conversation",
    "Discovery",
    "Entry",
    "Event",
    "Found",
    "Ignored",
    "Lineage",
    "Problem",
    "Report",
    "Transcript",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in the wire shape, and the id of the message it follows (None: it begins a path)."""

    message: dict[str, Any]
    parent: str | None

    @property
    def id(self) -> str:
        return str(self.message["id"])


@dataclass(frozen=True, slots=True)
class Compaction:
    """A summary that stands for the messages from `first_id` to `last_id`, both included, on one path.

    A later compaction of the same path begins at the same root and so contains the earlier ones. `trigger` is
    "auto" or "manual" as the file says, `pre_tokens` the context size before. None where the file says nothing.
    """

    id: str
    first_id: str
    last_id: str
    summary: str
    created_at: str | None = None
    trigger: str | None = None
    pre_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An object of the file that is no part of the model's context, whole. `kind` is for instance
    "file-history-snapshot", "progress.hook_progress" or "system.turn_duration"; `line` its line, counted from 1."""

    kind: str
    created_at: str | None
    data: dict[str, Any]
    line: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one API request, as the provider reported them last.

    `input_tokens` are those neither read from nor written to the cache. `started_at` is an estimate: the time of
    the message that the request answers, None if that is unknown. `ended_at` is the time of the last piece of the
    reply. `cost` is what the file says it cost (Claude Code says nothing: None).
    """

    message_id: str | None
    request_id: str | None
    model: str | None
    started_at: str | None
    ended_at: str | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    cost: float | None = None
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a conversation comes from. `kind` is "sidechain"; `message_id` the message with the tool call that
    started it, None when it cannot be told."""

    kind: str
    conversation_id: str
    message_id: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a transcript.

    `messages` are in the order of the file, every parent before its children. `leaf_id` is where the file stopped.
    `cwd`, `git_branch` and `created_at` are those of its beginning; `model` and `version` the last ones seen.
    `agents` maps the id of each subagent it started to the id of the message with that call.
    """

    id: str
    title: str
    lineage: Lineage | None
    created_at: str | None
    cwd: str | None
    git_branch: str | None
    version: str | None
    model: str | None
    messages: tuple[Entry, ...]
    compactions: tuple[Compaction, ...]
    events: tuple[Event, ...]
    usage: tuple[Usage, ...]
    leaf_id: str
    agents: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file that is not as it should be, and what was done is said by its `code`.

    `line` counts from 1; 0 stands for the file as a whole. The same problem again raises `count`.

    | code | what was done |
    |---|---|
    | bad-json | text that is no JSON was skipped |
    | truncated-line | the last line ends in the middle; it was skipped |
    | truncated-gzip | the compressed data ends early or is damaged; what came before was read |
    | joined-line | several objects stood on one line; all were read |
    | not-an-object | a line is JSON, but no object; it was skipped |
    | nul-bytes, invalid-utf8, non-finite-number | removed; replaced by U+FFFD; replaced by null |
    | missing-parent | the parent is not in the file before it; the line begins a new path |
    | late-parent | the parent comes only after its child; the child begins a new path |
    | cycle | a line is its own ancestor; the link was cut at its first line |
    | no-parent-links | lines do not say what they follow; file order was taken |
    | parent-in-sidechain | a line of the main conversation follows a subagent's; it begins a new path |
    | duplicate-uuid | the same line again (a resumed session); counted once |
    | reused-uuid | another message under a known uuid; kept under an id of its own |
    | reused-reply | a reply's API id turns up elsewhere in the tree; kept as another message, usage counted once |
    | missing-uuid | a message without a usable id; one was made from its line number |
    | missing-call-id | a tool call or result without an id; paired by position |
    | result-without-call | a tool result whose call is not in the file; kept |
    | repeated-result | a second result of the same call; kept as another branch |
    | bad-timestamp | the time cannot be read; left out |
    | bad-message | a message without content that could be read; kept as an event |
    | summary-without-range | what a summary covers is not in the file; kept as a user message |
    | boundary-without-summary | a compaction without its summary; kept as an event |
    | resumed-session | lines of another session continue this one; read as one conversation |
    | several-sessions | the file holds conversations that have nothing to do with each other |
    | orphan-subagent | nothing says which session a subagent belongs to |
    | unknown-type | a type of line this version does not know; kept as an event |
    | no-messages | there is no conversation in the file |
    | unknown-format | the file is no transcript of a known format; it was not read |
    """

    line: int
    code: str
    detail: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What was read. Every object is a message, a piece merged into one, a summary, an event or a duplicate.

    `lines` counts lines of the file, `objects` the JSON objects in them, `messages` the messages made (a line with
    a tool result and a text makes two), `merged` the further pieces of split replies.
    """

    lines: int
    objects: int
    messages: int
    merged: int
    summaries: int
    events: int
    duplicates: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """One file, read. `source` is the name of its format."""

    source: str
    path: Path
    conversations: tuple[Conversation, ...]
    report: Report


@dataclass(frozen=True, slots=True)
class Found:
    """A file that can be read, and the name of its format."""

    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """A path that was looked at and left out, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What `discover` found. `files` has every main file before its subagents."""

    files: tuple[Found, ...]
    ignored: tuple[Ignored, ...]
