"""Writing transcripts into a store: only what is new, as often as one likes, while others work there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import glassine

from ..errors import ConflictError, InvalidMessageError, InvalidRangeError, NotFoundError, SessionNotFoundError
from ..messages import Message
from ._beside import description, event_rows, moment, refusal, usage_rows
from ._planning import Plan, State, plan
from ._values import Compaction, Conversation, Problem, Transcript

__all__ = ["ImportResult", "SessionImport", "import_transcript"]

ATTEMPTS = 20
"""How often a session is looked at anew when somebody else wrote to it in between."""


@dataclass(frozen=True, slots=True)
class SessionImport:
    """What became of one conversation. Counts are messages, if nothing else is said.

    `new` were appended, `updated` had grown since an earlier import, `known` were there already (the updated ones
    among them), `left_out` had been deleted in the store, `kept` differ there and were left as they are.
    `skipped` is "deleted" when the whole session had been deleted and nothing was written.
    """

    id: str
    title: str
    created: bool
    skipped: Literal["deleted"] | None = None
    new: int = 0
    updated: int = 0
    known: int = 0
    left_out: int = 0
    kept: int = 0
    summaries: int = 0
    events: int = 0
    usage: int = 0


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What became of one transcript. `problems` are those of reading it, and those of writing it (line 0):

    | code | what was done |
    |---|---|
    | refused-message | it cannot be stored (an integer beyond 4,300 digits, say); what follows hangs one higher |
    | refused-summary | its range cuts through another summary that lies there; kept as an event |
    """

    source: str
    path: Path
    sessions: tuple[SessionImport, ...]
    problems: tuple[Problem, ...]


def import_transcript(
    store: glassine.Store, transcript: Transcript, *, dry_run: bool = False, restore: bool = False
) -> ImportResult:
    """Write the conversations of a transcript into `store`, each as the session of its id.

    Importing again, or a longer version of the file, adds what is new and changes nothing else: what was deleted,
    edited, summarised or appended in the store stays so. The active leaf follows the transcript when that has gone
    on, unless it is at a message of somebody else. Sessions that were deleted are skipped; `restore` brings them back.
    With `dry_run` nothing is written, and the result says what would be.

    Several processes may import the same files at once: nothing is stored twice, though each may count it as new. An
    interrupted import is completed by the next one. Raises StoreError when the store fails.
    """
    problems = list(transcript.report.problems)
    sessions = []
    for conversation in transcript.conversations:
        if not restore and store.was_deleted(conversation.id):
            left_out = len(conversation.messages)
            sessions.append(SessionImport(conversation.id, conversation.title, False, "deleted", left_out=left_out))
        else:
            sessions.append(_import(store, transcript, conversation, problems, dry_run))
    return ImportResult(transcript.source, transcript.path, tuple(sessions), tuple(problems))


def _import(
    store: glassine.Store, transcript: Transcript, conversation: Conversation, problems: list[Problem], dry_run: bool
) -> SessionImport:
    session = store.session(conversation.id)
    info = _info(session)
    readable = _readable(conversation, problems)
    changes = description(conversation, transcript.source, transcript.path, info)
    if changes and not dry_run:
        session.describe(**changes)
    made = plan(conversation, readable, _state(session, readable))
    refused = made.refused if dry_run else _carry_out(session, conversation, readable, made)
    problems += [Problem(0, "refused-summary", f"summary {compaction.id}") for compaction in refused]
    events = [*event_rows(conversation), *map(refusal, refused)]
    usage = list(usage_rows(conversation))
    if dry_run:
        new_events = len({row.id for row in events}.difference(event.id for event in session.events()))
        new_usage = len({row.id for row in usage}.difference(row.id for row in session.usage()))
    else:
        new_events, new_usage = session.add_events(events), session.add_usage(*usage)
    return SessionImport(
        id=conversation.id,
        title=conversation.title,
        created=info is None,
        new=sum(len(run.messages) for run in made.runs),
        updated=len(made.updates),
        known=made.known,
        left_out=made.left_out,
        kept=made.kept,
        summaries=len(made.spans),
        events=new_events,
        usage=new_usage,
    )


def _info(session: glassine.Session) -> glassine.SessionInfo | None:
    try:
        return session.info()
    except SessionNotFoundError:
        return None


def _readable(conversation: Conversation, problems: list[Problem]) -> dict[str, Message]:
    found = {}
    for entry in conversation.messages:
        try:
            found[entry.id] = Message.from_dict(entry.message)
        except InvalidMessageError as error:
            problems.append(Problem(0, "refused-message", str(error)))
    return found


def _state(session: glassine.Session, readable: Mapping[str, Message]) -> State:
    info = _info(session)
    if info is None:
        return State()
    outline, deletions = session.outline(), session.deletions()
    stored = {}
    for node in outline:
        read = readable.get(node.id)
        # A later state of a message is longer, and one that was changed to the same length may stay as it is.
        if read is not None and len(read.encoded()[1]) != node.size and (found := session.message(node.id)):
            stored[node.id] = found
    return State(
        outline=outline,
        overlays=session.compactions(),
        deleted=frozenset(deletion.id for deletion in deletions if deletion.kind == "message"),
        undone=frozenset(deletion.id for deletion in deletions if deletion.kind == "overlay"),
        leaf_id=info.leaf_id,
        stored=stored,
    )


def _carry_out(
    session: glassine.Session, conversation: Conversation, readable: Mapping[str, Message], made: Plan
) -> tuple[Compaction, ...]:
    """Carry out a plan; when somebody else's writing has made it stale, another one. Returns the refused summaries."""
    for _ in range(ATTEMPTS):
        try:
            _perform(session, made)
        except (ConflictError, NotFoundError, InvalidRangeError):
            made = plan(conversation, readable, _state(session, readable))
        else:
            return made.refused
    _perform(session, made)
    return made.refused


def _perform(session: glassine.Session, made: Plan) -> None:
    for message in made.updates:
        session.update(message)
    for run in made.runs:
        session.append(run.messages, parent=run.parent)
    for span in made.spans:
        summary, made_at = span.compaction.summary, moment(span.compaction.created_at)
        session.add_compaction(summary, span.first, span.last, id=span.compaction.id, created_at=made_at)
    if made.runs and made.leaf_id is not None and made.leaf_id != (appended := made.runs[-1].messages[-1].id):
        # Appending has moved the leaf. If it moved on since, somebody else did that, and it stays there.
        info = _info(session)
        if info is not None and info.leaf_id == appended:
            session.switch(made.leaf_id)
