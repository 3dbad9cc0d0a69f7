"""Why a request looks as it does: data, and a table to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .formats._common import Note
from .hints import CacheHints
from .models import Model
from .moments import to_iso
from .prompt import Prompt

if TYPE_CHECKING:
    from .view import Tokens


class Row(NamedTuple):
    """One message of a request: what it stands for, its estimated tokens, and what made it look other than stored."""

    id: str
    role: str
    first_id: str
    last_id: str
    messages: int
    tokens: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """What a request is made of. `str()` is a table; `to_dict()` is plain data for `--json`.

    `stale` are the blocks that changed since the prompt was frozen; `compaction` is the threshold of automatic
    compaction, and the tokens that are held against it. Only a session knows these two.
    """

    session_id: str
    leaf: str | None
    facts: Model
    prompt: Prompt | None
    tokens: Tokens
    hints: CacheHints
    rows: list[Row]
    notes: tuple[Note, ...]
    stale: tuple[str, ...] = ()
    compaction: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        prompt = self.prompt
        return {
            "session": self.session_id,
            "leaf": self.leaf,
            "model": self.facts.name,
            "prompt": None
            if prompt is None
            else {
                "digest": prompt.digest,
                "reason": prompt.reason,
                "frozenAt": to_iso(prompt.frozen_at),
                "number": prompt.number,
                "stale": list(self.stale),
                "tools": [tool.name for tool in prompt.tools],
            },
            "tokens": {
                "system": self.tokens.system,
                "tools": self.tokens.tools,
                "messages": self.tokens.messages,
                "estimate": self.tokens.estimate,
                "calibration": self.tokens.calibration._asdict(),
                "total": self.tokens.total,
                "window": self.tokens.window,
                "family": self.facts.family,
            },
            "cache": {
                "prefix": self.hints.prefix,
                "messages": list(self.hints.messages),
                "retention": self.hints.retention,
            },
            "compaction": None
            if self.compaction is None
            else {"after": self.compaction[0], "tokens": self.compaction[1]},
            "messages": [row._asdict() for row in self.rows],
            "notes": [note._asdict() for note in self.notes]
            + [{"code": "model", "message_id": None, "part": None, "text": text} for text in self.facts.notes],
        }

    def __str__(self) -> str:
        marked = set(self.hints.messages)
        lines = [
            f"session {self.session_id}, leaf {self.leaf or '(none)'}, model {self.facts.name}",
            f"about {self.tokens.total} of {self.tokens.window} tokens ({self.facts.family}): "
            f"{self.tokens.system} system, {self.tokens.tools} tools, {self.tokens.messages} messages",
            self._prompt(),
        ]
        if self.tokens.calibration.requests:
            ratio, requests = self.tokens.calibration
            learnt = f"{requests} request{'s' if requests > 1 else ''}"
            lines.append(f"the estimate, {self.tokens.estimate}, is taken times {ratio:.2f}: learnt from {learnt}")
        if self.compaction is not None:
            after, tokens = self.compaction
            lines.append(f"compacted after {after} tokens; {tokens} now, {100 * tokens // after} %")
        for number, row in enumerate(self.rows):
            stands = "" if row.messages == 1 else f" for {row.messages} messages, {row.first_id} to {row.last_id}"
            why = f"  [{', '.join(row.why)}]" if row.why else ""
            mark = "  < cache breakpoint" if number in marked else ""
            lines.append(f"{number:5}  {row.role:9} {row.tokens:7}  {row.id}{stands}{why}{mark}")
        lines += [f"note: {note.text}" for note in self.notes]
        lines += [f"note: {text}" for text in self.facts.notes]
        return "\n".join(lines)

    def _prompt(self) -> str:
        if self.prompt is None:
            return "no system prompt"
        stale = f"; changed since: {', '.join(self.stale)}" if self.stale else ""
        tools = ", ".join(tool.name for tool in self.prompt.tools) or "no tools"
        mark = "  < cache breakpoint" if self.hints.prefix else ""
        since = to_iso(self.prompt.frozen_at)
        return f"prompt {self.prompt.digest[:12]}, {self.prompt.reason}, {since}{stale}; {tools}{mark}"
