"""Reading the transcripts that coding agents keep.

    for found in discover(["~/.claude/projects"]).files:
        transcript = read(found.path)
        for conversation in transcript.conversations:
            print(conversation.title, len(conversation.messages))

Reading needs no store. What is damaged or odd in a file never raises; it is in `transcript.report.problems`. The same
file always gives the same ids, and a longer version of it gives the same messages with something added: further
messages, or further parts at the end of a reply that was not complete.

Formats: "claude-code" (Claude Code session files, versions 1.0 to 2.1, and their subagents).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ._claude_code import SOURCE, read_claude_code
from ._files import detect, discover
from ._importing import ImportResult, SessionImport, import_transcript
from ._notes import Notes
from ._values import (
    Compaction,
    Conversation,
    Discovery,
    Entry,
    Event,
    Found,
    Ignored,
    Lineage,
    Problem,
    Report,
    Transcript,
    Usage,
)

__all__ = [
    "Compaction",
    "Conversation",
    "Discovery",
    "Entry",
    "Event",
    "Found",
    "Ignored",
    "ImportResult",
    "Lineage",
    "Problem",
    "Report",
    "SessionImport",
    "Transcript",
    "Usage",
    "detect",
    "discover",
    "import_transcript",
    "read",
    "read_many",
]

_READERS: dict[str, Callable[[Path], Transcript]] = {SOURCE: read_claude_code}


def read(path: str | os.PathLike[str]) -> Transcript:
    """Read one transcript, whatever state it is in.

    A file of no known format gives a Transcript without conversations, with `source` "unknown" and a problem that
    says so. Raises OSError when the file cannot be read.
    """
    path = Path(path)
    source = detect(path)
    if source is None:
        notes = Notes()
        notes.problem(0, "unknown-format")
        return Transcript("unknown", path, (), notes.report())
    return _READERS[source](path)


def read_many(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Transcript]:
    """Read transcripts one after the other, in the given order (`discover` gives a good one).

    A subagent whose main session was read before it is linked to the message that called it.
    """
    calls: dict[tuple[str, str], str] = {}
    for path in paths:
        transcript = read(path)
        for conversation in transcript.conversations:
            calls.update({(conversation.id, agent): call for agent, call in conversation.agents.items()})
        yield replace(
            transcript,
            conversations=tuple(_linked(conversation, calls) for conversation in transcript.conversations),
        )


def _linked(conversation: Conversation, calls: dict[tuple[str, str], str]) -> Conversation:
    lineage = conversation.lineage
    if lineage is None or lineage.message_id is not None:
        return conversation
    call = calls.get((lineage.conversation_id, conversation.id.rpartition("/agent-")[2]))
    return replace(conversation, lineage=replace(lineage, message_id=call))
