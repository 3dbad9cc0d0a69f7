"""Transcripts in Claude Code's format, made for tests: few words, real shape."""

import json
import zlib
from pathlib import Path
from typing import Any

SESSION = "11111111-aaaa-4aaa-8aaa-000000000001"


class Script:
    """A session file line by line. Every method adds a line and returns its uuid; `after` names what it follows
    (default: the line before)."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def _add(self, kind: str, after: str | None, **fields: Any) -> str:
        number = len(self.lines)
        uuid = f"{number:08x}-0000-4000-8000-{zlib.crc32(self.session.encode()):012x}"
        self.lines.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.last if after is None else after or None,
                "sessionId": self.session,
                "cwd": "/home/mika/site",
                "gitBranch": "main",
                "version": "2.1.0",
                "timestamp": f"2026-03-04T{9 + number // 60:02}:{number % 60:02}:00.000Z",
                **fields,
            }
        )
        self.last = uuid
        return uuid

    def user(self, text: str, *, after: str | None = None, **fields: Any) -> str:
        return self._add("user", after, message={"role": "user", "content": text}, **fields)

    def reply(self, *blocks: str | dict[str, Any], id: str = "", after: str | None = None) -> str:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100}
        message = {"id": id or f"msg_{len(self.lines)}", "role": "assistant", "model": "claude-sonnet-4-5"}
        return self._add("assistant", after, message={**message, "content": content, "usage": usage})

    def result(self, call: str, output: Any, *, after: str | None = None, error: bool = False) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": output, **({"is_error": True} if error else {})}
        return self._add("user", after, message={"role": "user", "content": [block]})

    def compaction(self, summary: str) -> str:
        boundary = self._add("system", "", subtype="compact_boundary", logicalParentUuid=self.last, content="")
        self.lines[-1]["compactMetadata"] = {"trigger": "auto", "preTokens": 1000}
        return self.user(summary, after=boundary, isCompactSummary=True)

    def note(self, kind: str = "system", **fields: Any) -> str:
        return self._add(kind, None, **{"subtype": "turn_duration", **fields})

    def title(self, text: str) -> None:
        self.lines.append({"type": "custom-title", "sessionId": self.session, "customTitle": text})

    def write(self, path: Path, upto: int | None = None) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines[:upto])
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path


def call(id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given or {"command": "ls"}}


def coding() -> Script:
    """A question, two steps with tools, a rewind, an end: ten messages, two branches."""
    script = Script()
    first = script.user("Why is the build red?")
    script.reply("Looking.", call("c1"))
    script.result("c1", "error: 42\n" * 50)
    script.note()
    answer = script.reply("A missing file.")
    script.user("Write it anew", after=answer)
    script.reply("Done anew.")
    script.user("ファイルを元に戻してください", after=answer)
    script.reply("戻しました。", call("c2", "Edit", path="a.py"))
    script.result("c2", "ok")
    script.reply("終わりです。")
    assert first
    return script
