"""What is read in the messages of a conversation: who said what, how it stands, and what the tools did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _json
from ..formats._outputs import is_error_output, output_text
from ..messages import Message, ToolCall, ToolResult, calls, results
from ._form import Said
from ._scoring import is_chatter, is_wrong
from ._sentences import LONGEST, NAME_READ, name_of, one_line, sentences

# Characters that are read: of a message in a conversation of n messages, at most MOST_READ and at least _LEAST, and of
# all together about _ALL. Users write less than they are owed, and what they write counts for more.
_ALL, MOST_READ, _LEAST, _USER = 2_000_000, 16_000, 200, 4
_TOOL_READ = 2_000

# What a harness puts into texts and results for the model alone.
_ASIDE, _ASIDE_ENDS = "<system-reminder>", "</system-reminder>"

_CHANGING = re.compile(r"writ|edit|creat|patch|replac|insert|append|save|updat|delet|remov|move|renam", re.IGNORECASE)
_ERROR_NAME = re.compile(r"\w(?:Error|Exception)\b")
_PATH_KEYS = ("path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file", "paths", "files")


@dataclass
class Talk:
    """What was read in the messages.

    `first` are sentences of the first request, `unanswered` is the user's latest text while the assistant's does not
    follow it, `spoke` says whether the user said anything, `last` are the sentences of the assistant's latest text and
    `asked` says that nothing of the user's follows it. `failures` has tool and error by tool and input.
    """

    asker: str = "user"
    said: list[Said] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    unanswered: str = ""
    spoke: bool = False
    last: list[str] = field(default_factory=list)
    asked: bool = False
    failures: dict[tuple[str, bytes], tuple[str, str]] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    pending: dict[str, ToolCall] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    attached: Counter[str] = field(default_factory=Counter)


def read_messages(messages: Sequence[Message]) -> Talk:
    """What the messages, oldest first, say and do; where there are many, less of each is read."""
    talk = Talk()
    room = max(min(_ALL // max(len(messages), 1), MOST_READ), _LEAST)
    made: dict[str, ToolCall] = {}
    for message in messages:
        parts: list[dict[str, Any]] = message.parts  # type: ignore[assignment]
        who = "tool ?" if message.role == "tool" else message.role
        if who == "user" and "origin" in (message.metadata or {}):
            who = "system"  # put in by a harness: no request of the user's
        if text := "\n".join([str(part.get("text", "")) for part in parts if part["type"] == "text"]):
            most = min(room * _USER, MOST_READ) if who == "user" else room
            text = _without_asides(text)
            found = [Said(who, *sentence) for sentence in sentences(text, most)]
            talk.said += found
            _hear(talk, who, text, [said.text for said in found])
        for part in parts:
            if part["type"] == "file" or part["type"].startswith("data-"):
                talk.attached[name_of(str(part.get("mediaType") or part["type"]))] += 1
        if asked := calls(message):
            talk.pending = {}
        for call in asked:
            made[call.id] = talk.pending[call.id] = call
            _note_call(talk, call)
        for result in results(message):
            talk.pending.pop(result.id, None)
            _note_result(talk, result, made.get(result.id), min(room // 2, _TOOL_READ))
    return talk


def _without_asides(text: str) -> str:
    kept, at = [], 0
    while (start := text.find(_ASIDE, at)) >= 0 and (end := text.find(_ASIDE_ENDS, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(_ASIDE_ENDS)
    return "".join([*kept, text[at:]])


def _hear(talk: Talk, who: str, text: str, said: list[str]) -> None:
    if who == "user" and said:
        if not talk.first or all(map(is_chatter, talk.first)):
            talk.first = said[:3]
        talk.unanswered, talk.spoke, talk.asked, talk.pending = text, True, False, {}
    elif who == "assistant" and said:
        talk.unanswered, talk.last, talk.asked, talk.pending = "", said, True, {}


def _note_call(talk: Talk, call: ToolCall) -> None:
    talk.tools[name_of(call.name)] += 1
    files = talk.changed if _CHANGING.search(call.name[:NAME_READ]) else talk.seen
    for key in _PATH_KEYS:
        value = call.input.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and 0 < len(path) <= LONGEST and path.strip():
                name = one_line(path).replace("`", "'")
                files.pop(name, None)
                files[name] = None


def _note_result(talk: Talk, result: ToolResult, call: ToolCall | None, most: int) -> None:
    name = name_of(result.name or (call.name if call else ""))
    text = _without_asides(output_text(result.output))
    said = [Said(f"tool {name}", *sentence) for sentence in sentences(text, most)]
    talk.said += said
    failed = result.is_error or is_error_output(result.output)
    if failed or talk.failures:
        # The same call, gone well at last, is no failure any more.
        asked = (name, _json.canonical(call.raw) if call else b"")
        talk.failures.pop(asked, None)
        if failed:
            lines = [each.text for each in said]
            named, wrong = filter(_ERROR_NAME.search, lines), filter(is_wrong, lines)
            talk.failures[asked] = (name, (list(named) or list(wrong) or lines or ["(no output)"])[-1])
