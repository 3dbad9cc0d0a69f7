"""Reading a Claude Code session file: what each line is.

One pass, in file order. Lines that are no messages (progress, hooks, system notes) stand in the chain of parents too;
they become events, and what hangs on them hangs on the nearest message before them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._claude_blocks import blocks_of, cut, origin_of, part_of, text_field, text_of
from ._claude_calls import call_part, note_calls, note_subagent, place_results, result_part
from ._claude_meta import KNOWN_TYPES, clean_id, merge_metadata, message_metadata, time_of, usage_of
from ._claude_places import Line, Place, Places
from ._conversation import Draft
from ._lines import objects, opened
from ._notes import Notes
from ._tree import Node, tail
from ._values import Compaction, Conversation, Event, Transcript

__all__ = ["SOURCE", "read_claude_code"]

SOURCE = "claude-code"


def read_claude_code(path: Path) -> Transcript:
    """Read one file, whatever state it is in. Raises OSError when it cannot be opened or read."""
    notes = Notes()
    reader = _Reader(path, notes)
    with opened(path) as file:
        for number, line in objects(file, notes):
            reader.take(number, line)
    conversations = reader.finish()
    return Transcript(SOURCE, path, conversations, notes.report())


class _Reader:
    """One file while its lines come in. `boundary` is a compaction whose summary has not come yet."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self.notes = notes
        self.places = Places(path, notes)
        self.homeless: list[tuple[int, Line]] = []
        self.summaries: set[str] = set()
        self.boundary: tuple[int, Line] | None = None

    def take(self, number: int, line: Line) -> None:
        match line.get("type"):
            case "user" | "assistant" as role if isinstance(message := line.get("message"), dict):
                blocks = blocks_of(message.get("content"))
                if blocks is None:
                    self.notes.problem(number, "bad-message", f"{role} line without content")
                    self._event(number, line)
                elif role == "assistant":
                    self._reply(number, line, message, blocks)
                elif line.get("isCompactSummary") is True:
                    self._summary(number, line, text_of(blocks))
                else:
                    self._user(number, line, blocks)
            case "attachment" if context := _attached_context(line):
                self._attached(number, line, *context)
            case _:
                self._event(number, line)

    def _event(self, number: int, line: Line) -> None:
        self.notes.events += 1
        kind = str(line.get("type"))
        if kind not in KNOWN_TYPES:
            self.notes.problem(number, "unknown-type", kind[:80])
        if "uuid" not in line and ("sessionId" not in line or kind == "summary"):
            self.homeless.append((number, line))
            return
        draft, at = self.places.locate(number, line)
        draft.events.append(_event_of(number, line))
        self.places.put(line, Place(draft, at))
        for key, field in (("custom-title", "customTitle"), ("ai-title", "aiTitle")):
            if kind == key and (title := text_field(line, field)):
                draft.titles[key] = title
        if kind == "system" and line.get("subtype") == "compact_boundary":
            self._miss_summary()
            self.boundary = (number, line)
        note_subagent(draft, line, text_field(line, "parentToolUseID"))

    def _reply(self, number: int, line: Line, message: Line, blocks: list[Line]) -> None:
        draft, at = self.places.locate(number, line)
        parts = [call_part(self.notes, number, line, n, b) or part_of(b) for n, b in enumerate(blocks)]
        reply = clean_id(message.get("id"))
        step = draft.replies.get(reply) if reply else None
        if (known := self.places.known(line, "assistant", parts)) is not None:
            self._duplicate(number, line)
            step = step or known.made
        else:
            if step is not None and not _continues(step, at):
                self.notes.problem(number, "reused-reply", f"{reply} again at {line.get('uuid')}")
                step = None
            metadata = message_metadata(line, message, draft.cwd)
            if step is None:
                id = self.places.fresh_id(number, line, draft)
                step = draft.tree.append(_message(id, "assistant", parts, line, metadata), at)
                self.notes.messages += 1
                if reply:
                    draft.replies.setdefault(reply, step)
            else:
                self.notes.merged += 1
                step.message["parts"] += parts
                merge_metadata(step.message["metadata"], metadata)
            note_calls(draft, step, parts)
            self._stands(line, draft, step, step)
        assert step is not None
        if (row := usage_of(line, message, step, draft.usage.get(reply or step.id))) is not None:
            draft.usage[reply or step.id] = row
            draft.model = row.model or draft.model

    def _user(self, number: int, line: Line, blocks: list[Line]) -> None:
        draft, at = self.places.locate(number, line)
        answers = [block for block in blocks if block["type"] == "tool_result"]
        results = [result_part(self.places, draft, at, number, line, n, b) for n, b in enumerate(answers)]
        others = [part_of(block) for block in blocks if block["type"] != "tool_result"]
        if self.places.known(line, "user" if others or not results else "tool", results + others) is not None:
            self._duplicate(number, line)
            return
        id = self.places.fresh_id(number, line, draft)
        metadata = message_metadata(line, {}, draft.cwd)
        first = None
        if results:
            message = _message(id, "tool", results, line, dict(metadata))
            first = at = place_results(self.notes, draft, at, number, message)
            note_subagent(draft, line, results[0]["toolCallId"])
            self.notes.messages += 1
        last = first
        if others or not results:
            origin = origin_of(text_of(others)) or ("injected" if line.get("isMeta") is True else None)
            if origin is not None:
                metadata["origin"] = origin
            message = _message(draft.fresh_id(f"{id}/user") if results else id, "user", others, line, metadata)
            if origin is None:
                last = draft.tree.append_prompt(message, at)
            elif origin == "injected":
                last = draft.tree.append_behind(message, at)
            else:
                last = draft.tree.append(message, at)
            self.notes.messages += 1
        assert last is not None
        self._stands(line, draft, first or last, last)

    def _attached(self, number: int, line: Line, blocks: list[Line], origin: str | None) -> None:
        draft, at = self.places.locate(number, line)
        parts = [part_of(block) for block in blocks]
        if self.places.known(line, "user", parts) is not None:
            self._duplicate(number, line)
            return
        metadata = message_metadata(line, {}, draft.cwd)
        metadata["claudeCode"]["attachment"] = line["attachment"]["type"]
        if origin is not None:
            metadata["origin"] = origin
        message = _message(self.places.fresh_id(number, line, draft), "user", parts, line, metadata)
        node = draft.tree.append_behind(message, at)
        self.notes.messages += 1
        self._stands(line, draft, node, node)

    def _summary(self, number: int, line: Line, text: str) -> None:
        draft, at = self.places.locate(number, line)
        if (uuid := clean_id(line.get("uuid"))) is not None and uuid in self.summaries:
            self._duplicate(number, line)
            return
        self.summaries.add(uuid or f"line-{number}")
        boundary = self.boundary[1] if self.boundary else {}
        self.boundary = None
        details = boundary.get("compactMetadata")
        details = details if isinstance(details, dict) else {}
        last = self._last_covered(tail(at), details)
        id = self.places.fresh_id(number, line, draft)
        if last is None:
            self.notes.problem(number, "summary-without-range", f"summary {id}")
            metadata = message_metadata(line, {}, draft.cwd)
            metadata["origin"] = "compaction"
            node = draft.tree.append(_message(id, "user", [{"type": "text", "text": text}], line, metadata), at)
            self.notes.messages += 1
            self._stands(line, draft, node, node)
            return
        self.notes.summaries += 1
        size = details.get("preTokens")
        draft.compactions.append(
            Compaction(
                id=id,
                first_id=last.root.id,
                last_id=last.id,
                summary=text,
                created_at=time_of(line),
                trigger=text_field(details, "trigger"),
                pre_tokens=size if type(size) is int else None,
            )
        )
        self.places.put(line, Place(draft, at))

    def _miss_summary(self) -> None:
        if self.boundary is not None:
            self.notes.problem(self.boundary[0], "boundary-without-summary", str(self.boundary[1].get("uuid")))

    def _last_covered(self, end: Node | None, details: Line) -> Node | None:
        """The last message a summary stands for: the one compaction began at, or, when the newest messages were kept
        as they are, the one before those. A step is kept or covered together with its results."""
        for field, key in (("preservedMessages", "uuids"), ("preservedSegment", "headUuid")):
            kept = details.get(field)
            value = kept.get(key) if isinstance(kept, dict) else None
            place = self.places.get(value[0] if isinstance(value, list) and value else value)
            if place is None or place.node is None or end is None or place.node.root is not end.root:
                continue
            head = place.node
            while head.message["role"] == "tool" and head.parent is not None:
                head = head.parent
            return head.parent
        return end

    def _stands(self, line: Line, draft: Draft, first: Node, last: Node) -> None:
        draft.latest = last
        self.places.put(line, Place(draft, last, first))

    def _duplicate(self, number: int, line: Line) -> None:
        self.notes.duplicates += 1
        self.notes.problem(number, "duplicate-uuid", str(line.get("uuid")), group="")

    def finish(self) -> tuple[Conversation, ...]:
        self._miss_summary()
        self.places.note_missing()
        drafts = [draft for draft in self.places.drafts() if draft.tree.nodes]
        if not drafts:
            self.notes.problem(0, "no-messages")
            return ()
        sessions = [draft.session for draft in drafts if draft.sidechain is None]
        if len(sessions) > 1:
            self.notes.problem(0, "several-sessions", ", ".join(sessions))
        self._house_events(drafts[0])
        return tuple(draft.frozen(self.places.conversation_id(draft), self.places.lineage(draft)) for draft in drafts)

    def _house_events(self, main: Draft) -> None:
        """Give the events that name no conversation, or one without messages, to the one they speak of."""
        for draft in self.places.drafts():
            if not draft.tree.nodes:
                main.events += draft.events
                main.titles = draft.titles | main.titles
        for number, line in self.homeless:
            place = self.places.get(line.get("leafUuid") or line.get("messageId"))
            draft = place.draft if place is not None and place.draft.tree.nodes else main
            draft.events.append(_event_of(number, line))
            # A summary whose leaf is in another file names that file's conversation.
            if place is not None and (title := text_field(line, "summary")):
                draft.titles["summary"] = cut(title)


def _attached_context(line: Line) -> tuple[list[Line], str | None] | None:
    """The content of an attachment that the model was sent as a text, and its origin: a prompt that was typed while
    the agent was busy (there is no user line for it), or what a hook added."""
    match line.get("attachment"):
        case {"type": "queued_command", "prompt": prompt, **rest} if blocks := blocks_of(prompt):
            typed = rest.get("commandMode") != "task-notification" and rest.get("isMeta") is not True
            return blocks, origin_of(text_of(blocks)) if typed else "injected"
        case {"type": "hook_additional_context", "content": content} if blocks := blocks_of(content):
            return blocks, "injected"
    return None


def _event_of(number: int, line: Line) -> Event:
    inner = line.get("data") if line.get("type") == "progress" else line.get("attachment")
    inner = inner.get("type") if isinstance(inner, dict) else line.get("subtype")
    kind = str(line.get("type"))
    return Event(f"{kind}.{inner}" if isinstance(inner, str) else kind, time_of(line), line, number)


def _continues(step: Node, at: Node | None) -> bool:
    """Whether a line that hangs on `at` can be a further piece of `step`."""
    return at is None or at is step or at is step.parent or (at.chain is not None and at.chain is step.chain)


def _message(id: str, role: str, parts: list[dict[str, Any]], line: Line, metadata: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"id": id, "role": role, "parts": parts}
    if (created_at := time_of(line)) is not None:
        message["createdAt"] = created_at
    message["metadata"] = metadata
    return message
