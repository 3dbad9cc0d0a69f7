"""Every real Claude Code file, read by glassine and by a separate, naive reading, must tell the same story.

The naive reading holds the whole file, follows parents backwards and knows nothing of chains or drafts.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from glassine.messages import Message
from glassine.transcripts import Conversation, Transcript, discover, read

DATA = Path(__file__).parents[2] / "shared" / "data" / "claude-code"
FILES = sorted(DATA.glob("*.jsonl*")) if DATA.is_dir() else []
# Every field is the same placeholder there, so lines cannot be told apart by their ids.
PLACEHOLDERS = "fixture_jazzyalex_small_all_linetypes.jsonl"

pytestmark = pytest.mark.skipif(not FILES, reason="the real transcripts (../shared/data/claude-code) are not here")

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
each_sound_file = pytest.mark.parametrize(
    "path", [path for path in FILES if path.name != PLACEHOLDERS], ids=lambda path: path.name
)

Line = dict[str, Any]


class Naive:
    """The lines of one file by uuid, the first of each."""

    def __init__(self, path: Path) -> None:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        self.lines: list[Line] = []
        decoder = json.JSONDecoder()
        for row in data.decode().split("\n"):
            rest = row.strip()
            while rest:
                line, end = decoder.raw_decode(rest)
                self.lines.append(line)
                rest = rest[end:].strip()
        self.by_uuid: dict[str, Line] = {}
        for line in self.lines:
            if "uuid" in line:
                self.by_uuid.setdefault(line["uuid"], line)
        # What the file itself calls it: the reply for the pieces of a reply, else the line.
        firsts: dict[str, str] = {}
        self.name: dict[str, str] = {}
        for uuid, line in self.by_uuid.items():
            reply = line["message"].get("id") if line["type"] == "assistant" else None
            self.name[uuid] = firsts.setdefault(reply, uuid) if reply else uuid

    def messages(self) -> list[Line]:
        return [line for line in self.by_uuid.values() if is_message(line)]

    def parent(self, line: Line) -> Line | None:
        return self.by_uuid.get(line.get("parentUuid") or line.get("logicalParentUuid") or "")

    def ancestors(self, line: Line) -> Iterator[Line]:
        above = self.parent(line)
        while above is not None:
            if is_message(above):
                yield above
            above = self.parent(above)


def is_message(line: Line) -> bool:
    return line["type"] in ("user", "assistant") and not line.get("isCompactSummary")


def blocks(line: Line) -> list[Line]:
    content = line["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def is_result(line: Line) -> bool:
    return any(block["type"] == "tool_result" for block in blocks(line))


@cache
def both(path: Path) -> tuple[Naive, Transcript]:
    return Naive(path), read(path)


def paths_of(conversation: Conversation) -> dict[str, list[str]]:
    """For every message the ids from its root to itself."""
    paths: dict[str, list[str]] = {}
    for entry in conversation.messages:
        paths[entry.id] = [*(paths[entry.parent] if entry.parent else []), entry.id]
    return paths


@each_file
def test_every_object_is_accounted_for(path: Path) -> None:
    naive, transcript = both(path)
    report = transcript.report
    assert transcript.source == "claude-code"
    assert report.objects == len(naive.lines)
    made = report.messages + report.merged + report.summaries + report.events + report.duplicates
    assert made == report.objects
    assert report.messages == sum(len(conversation.messages) for conversation in transcript.conversations)
    assert report.events == sum(len(conversation.events) for conversation in transcript.conversations)


@each_file
def test_parents_come_before_children(path: Path) -> None:
    for conversation in both(path)[1].conversations:
        assert set(paths_of(conversation)) >= {conversation.leaf_id}
        ids = [entry.id for entry in conversation.messages]
        assert len(set(ids)) == len(ids)
        for entry in conversation.messages:
            assert Message.from_dict(entry.message).to_dict() == entry.message


@each_sound_file
def test_the_messages_are_the_same(path: Path) -> None:
    naive, transcript = both(path)
    entries = {entry.id: entry.message for item in transcript.conversations for entry in item.messages}
    assert set(entries) == {naive.name[line["uuid"]] for line in naive.messages()}
    said: defaultdict[str, list[Any]] = defaultdict(list)
    for line in naive.messages():
        for block in blocks(line):
            said[naive.name[line["uuid"]]].append(
                block.get("text")
                or block.get("thinking")
                or block.get("input")
                or block.get("content")
                or (block.get("source") or {}).get("data", "")
            )
    for id, content in said.items():
        got = [
            part.get("text") or part.get("input") or part.get("output") or part.get("url", "").rpartition(",")[2]
            for part in entries[id]["parts"]
        ]
        assert got == content


@each_sound_file
def test_roots_are_the_same(path: Path) -> None:
    naive, transcript = both(path)
    calls = {block["id"] for line in naive.messages() for block in blocks(line) if "id" in block}
    linked = any("parentUuid" in line for line in naive.messages())
    roots = {
        naive.name[line["uuid"]]
        for line in naive.messages()
        if next(naive.ancestors(line), None) is None
        and naive.name[line["uuid"]] == line["uuid"]
        # A result stands behind its call, even where the file links nothing.
        and not any(block.get("tool_use_id") in calls for block in blocks(line))
    }
    if not linked:
        roots = {naive.messages()[0]["uuid"]}
    ours = {entry.id for item in transcript.conversations for entry in item.messages if entry.parent is None}
    assert ours == roots


@each_sound_file
def test_nothing_that_came_before_is_lost_from_a_path(path: Path) -> None:
    naive, transcript = both(path)
    paths = {id: ids for item in transcript.conversations for id, ids in paths_of(item).items()}
    for line in naive.messages():
        # A further piece of a reply goes to its first piece, though results may have come in between.
        if naive.name[line["uuid"]] == line["uuid"]:
            above = {naive.name[other["uuid"]] for other in naive.ancestors(line)}
            assert above <= set(paths[line["uuid"]]), line["uuid"]


@each_sound_file
def test_branches_are_the_rewinds(path: Path) -> None:
    naive, transcript = both(path)
    prompts: defaultdict[str, list[str]] = defaultdict(list)
    for line in naive.messages():
        above = next(naive.ancestors(line), None)
        if line["type"] == "user" and not is_result(line) and above is not None:
            prompts[naive.name[above["uuid"]]].append(line["uuid"])
    rewinds = {tuple(ids) for ids in prompts.values() if len(ids) > 1}
    children: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for number, item in enumerate(transcript.conversations):
        for entry in item.messages:
            if entry.parent is not None:
                children[number, entry.parent].append(entry.id)
    assert {tuple(ids) for ids in children.values() if len(ids) > 1} == rewinds


@each_sound_file
def test_every_result_is_behind_its_call(path: Path) -> None:
    naive, transcript = both(path)
    pairs = {
        (block["tool_use_id"], line["uuid"])
        for line in naive.messages()
        for block in blocks(line)
        if block["type"] == "tool_result" and "tool_use_id" in block
    }
    ours = set()
    for item in transcript.conversations:
        paths = paths_of(item)
        callers = {
            part["toolCallId"]: (entry.id, part["toolName"])
            for entry in item.messages
            for part in entry.message["parts"]
            if part["type"] == "tool-call"
        }
        for entry in item.messages:
            for part in entry.message["parts"]:
                if part["type"] != "tool-result":
                    continue
                assert entry.message["role"] == "tool"
                caller, name = callers[part["toolCallId"]]
                assert caller in paths[entry.id]
                assert part["toolName"] == name
                if "/call-" not in part["toolCallId"]:
                    ours.add((part["toolCallId"], entry.id))
    assert ours == pairs


@each_sound_file
def test_usage_is_the_same(path: Path) -> None:
    naive, transcript = both(path)
    last: dict[str, Line] = {}
    for line in naive.lines:
        if line["type"] == "assistant" and "usage" in line["message"] and line["message"]["model"] != "<synthetic>":
            last[line["message"]["id"]] = line["message"]["usage"]
    keys = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    rows = [row for item in transcript.conversations for row in item.usage]
    assert sorted(tuple(usage.get(key, 0) for key in keys) for usage in last.values()) == sorted(
        (
            row.input_tokens,
            row.output_tokens,
            row.cache_read_tokens,
            row.cache_write_5m_tokens + row.cache_write_1h_tokens,
        )
        for row in rows
    )
    assert all(row.ended_at and (row.started_at is None or row.started_at <= row.ended_at) for row in rows)


@each_sound_file
def test_compactions_are_the_same(path: Path) -> None:
    naive, transcript = both(path)
    expected = []
    for line in naive.by_uuid.values():
        if line.get("isCompactSummary"):
            covered = [naive.name[other["uuid"]] for other in naive.ancestors(line)]
            text = "\n".join(block["text"] for block in blocks(line))
            expected.append((line["uuid"], covered[-1], covered[0], text))
    ours = [
        (item.id, item.first_id, item.last_id, item.summary)
        for conversation in transcript.conversations
        for item in conversation.compactions
    ]
    assert ours == expected


@each_file
def test_any_cut_gives_the_beginning(path: Path, tmp_path: Path) -> None:
    """Cut after any line: the same messages, under the same parents, each reply with its first parts."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    whole = {item.id: item for item in both(path)[1].conversations}
    lines = data.splitlines(keepends=True)
    shorter = tmp_path / path.name
    for end in range(1, len(lines), max(1, len(lines) // 25)):
        shorter.write_bytes(b"".join(lines[:end]))
        for item in read(shorter).conversations:
            full = whole[item.id].messages[: len(item.messages)]
            assert [(e.id, e.parent) for e in item.messages] == [(e.id, e.parent) for e in full]
            for entry, longer in zip(item.messages, full, strict=True):
                assert longer.message["parts"][: len(entry.message["parts"])] == entry.message["parts"]
            compactions = whole[item.id].compactions
            assert item.compactions == compactions[: len(item.compactions)]


def test_the_folder_is_discovered() -> None:
    found = discover([DATA])
    assert [item.path for item in found.files] == FILES
    assert found.ignored == ()


def test_other_formats_are_told_apart() -> None:
    others = [DATA.parent / name for name in ("codex", "pi", "gemini", "chatgpt", "provider-items")]
    found = discover(others)
    assert found.files == ()
    assert len(found.ignored) == sum(1 for folder in others for _ in folder.iterdir())


def test_the_known_defects_are_reported() -> None:
    codes = {path.name: {problem.code for problem in both(path)[1].report.problems} for path in FILES}
    assert codes["cc_2.1.x_joined_line.jsonl.gz"] == {"joined-line", "duplicate-uuid"}
    assert codes["cc_2.0.76_compact.jsonl.gz"] == {"missing-parent"}
    assert codes["cc_2.1.5_compact_branch.jsonl.gz"] == {"missing-parent"}
    assert codes["cc_2.1.41_progress.jsonl.gz"] == set()
    assert codes["simonw_sample_session.jsonl"] == {"no-parent-links"}
    assert codes["fixture_jazzyalex_small_all_linetypes.jsonl"] >= {"unknown-type", "bad-timestamp", "cycle"}


def test_japanese_sidechains_are_linked_to_their_calls() -> None:
    _, transcript = both(DATA / "cc_1.0.108_japanese_sidechain.jsonl.gz")
    main, *sides = transcript.conversations
    tasks = {
        part["input"].get("prompt"): entry.id
        for entry in main.messages
        for part in entry.message["parts"]
        if part["type"] == "tool-call" and part["toolName"] == "Task"
    }
    assert len(sides) == 2
    for side in sides:
        assert side.lineage is not None
        assert side.lineage.conversation_id == main.id
        assert side.lineage.message_id == tasks[side.messages[0].message["parts"][0]["text"]]
    assert "アップデートしました" in main.messages[-1].message["parts"][0]["text"]
