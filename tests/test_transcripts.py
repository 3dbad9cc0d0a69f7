"""Reading Claude Code transcripts: small inputs written here, in the real format."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glassine
from glassine._ids import check_id
from glassine.messages import Message
from glassine.transcripts import Conversation, Problem, Transcript, _files, detect, discover, read, read_many

Line = dict[str, Any]
DEMO = Path(glassine.__file__).parent / "demo_data"


def line(type: str, uuid: str, parent: str | None, **fields: Any) -> Line:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": "s",
        "type": type,
        "uuid": uuid,
        "timestamp": "2026-03-01T10:00:00.000Z",
        **fields,
    }


def user(uuid: str, parent: str | None, content: Any = "hello", **fields: Any) -> Line:
    return line("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def reply(uuid: str, parent: str | None, *blocks: Line | str, id: str | None = None, **fields: Any) -> Line:
    """One line of a reply. `usage`, `model` and `stop_reason` go into its message."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"role": "assistant", "content": content, "model": "claude-sonnet-4-5"}
    message |= {key: fields.pop(key) for key in ("usage", "model", "stop_reason") if key in fields}
    if id is not None:
        message["id"] = id
    return line("assistant", uuid, parent, message=message, **fields)


def call(id: str, name: str = "Bash", **input: Any) -> Line:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(uuid: str, parent: str | None, *ids: str, content: Any = "ok", **fields: Any) -> Line:
    return user(uuid, parent, [{"type": "tool_result", "tool_use_id": id, "content": content} for id in ids], **fields)


def progress(uuid: str, parent: str | None, **data: Any) -> Line:
    return line("progress", uuid, parent, data={"type": "hook_progress", **data})


def boundary(uuid: str, after: str | None, **metadata: Any) -> Line:
    return line(
        "system",
        uuid,
        None,
        subtype="compact_boundary",
        logicalParentUuid=after,
        compactMetadata={"trigger": "auto", "preTokens": 150_000, **metadata},
    )


def summary(uuid: str, parent: str | None, text: str = "What was said.") -> Line:
    return user(uuid, parent, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*lines: Line | bytes, name: str = "s.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() for row in lines]
        path.write_bytes(b"".join(row + b"\n" for row in rows))
        return path

    return write


def one(transcript: Transcript) -> Conversation:
    (conversation,) = transcript.conversations
    return conversation


def tree(conversation: Conversation) -> dict[str, str | None]:
    return {entry.id: entry.parent for entry in conversation.messages}


def parts(conversation: Conversation, id: str) -> list[Line]:
    (entry,) = (entry for entry in conversation.messages if entry.id == id)
    return list(entry.message["parts"])


def metadata(conversation: Conversation, id: str) -> Line:
    (entry,) = (entry for entry in conversation.messages if entry.id == id)
    return dict(entry.message["metadata"])


def codes(transcript: Transcript) -> dict[str, int]:
    return {problem.code: problem.line for problem in transcript.report.problems}


# ---- lines


def test_several_objects_on_one_line_are_all_read(write: Write) -> None:
    joined = json.dumps(user("u1", None)) + " " + json.dumps(reply("a1", "u1", "hi"))
    transcript = read(write(joined.encode(), user("u2", "a1")))
    assert tree(one(transcript)) == {"u1": None, "a1": "u1", "u2": "a1"}
    assert codes(transcript) == {"joined-line": 1}


def test_a_whole_object_behind_a_broken_one_is_read(write: Write) -> None:
    # What a process that died in mid-write and its successor leave behind.
    broken = json.dumps(reply("a1", "u1", {"type": "text", "text": "x"}, call("t1", a={"b": {"c": 1}})))[:-30]
    transcript = read(
        write(user("u1", None), broken.encode() + json.dumps(user("u2", "u1")).encode(), user("u3", "u2"))
    )
    assert tree(one(transcript)) == {"u1": None, "u2": "u1", "u3": "u2"}
    assert codes(transcript) == {"bad-json": 2}


def test_a_cut_last_line_is_told_from_a_bad_one(write: Write) -> None:
    cut = json.dumps(reply("a1", "u1", "hi there"))[:-20].encode()
    assert codes(read(write(user("u1", None), cut))) == {"truncated-line": 2}
    assert codes(read(write(user("u1", None), cut, b"", b"  "))) == {"truncated-line": 2}
    assert codes(read(write(user("u1", None), cut, user("u2", "u1")))) == {"bad-json": 2}


def test_the_last_line_may_lack_its_newline(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(user("u1", None)))
    assert read(path).report.problems == ()


def test_a_bom_blank_lines_and_other_line_ends_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    rows = [json.dumps(item).encode() for item in (user("u1", None), reply("a1", "u1", "hi"))]
    path.write_bytes(b"\xef\xbb\xbf" + rows[0] + b"\r\n\r\n  \n" + rows[1] + b"\r\n")
    transcript = read(path)
    assert tree(one(transcript)) == {"u1": None, "a1": "u1"}
    assert transcript.report.problems == ()
    assert transcript.report.lines == 4


def test_nul_bytes_are_taken_out(write: Write) -> None:
    raw = json.dumps(user("u1", None, "日本語 \x00 stays")).encode()
    transcript = read(write(b"\0" * 4096, b"\0\0" + raw, b"\0"))
    assert parts(one(transcript), "u1") == [{"type": "text", "text": "日本語 \x00 stays"}]
    assert [problem.line for problem in transcript.report.problems if problem.code == "nul-bytes"] == [1, 2, 3]


def test_invalid_utf8_is_replaced(write: Write) -> None:
    raw = json.dumps(user("u1", None, "価格は?円"), ensure_ascii=False).encode().replace(b"?", b"\xff")
    transcript = read(write(raw))
    assert parts(one(transcript), "u1")[0]["text"] == "価格は\ufffd円"
    assert codes(transcript) == {"invalid-utf8": 1}


def test_lone_surrogates_and_big_integers_are_kept(write: Write) -> None:
    raw = json.dumps(reply("a1", None, call("t1", n=10**40, text="\ud83d"))).encode()
    transcript = read(write(raw))
    assert parts(one(transcript), "a1")[0]["input"] == {"n": 10**40, "text": "\ud83d"}
    assert transcript.report.problems == ()


def test_numbers_that_are_none_become_null(write: Write) -> None:
    raw = json.dumps(reply("a1", None, call("t1", a=float("nan"), b=1.5))).encode().replace(b"1.5", b"[1e999, 1.5]")
    transcript = read(write(raw))
    assert parts(one(transcript), "a1")[0]["input"] == {"a": None, "b": [None, 1.5]}
    assert {(item.code, item.detail) for item in transcript.report.problems} == {
        ("non-finite-number", "NaN"),
        ("non-finite-number", "1e999"),
    }


def test_what_is_no_object_is_skipped(write: Write) -> None:
    transcript = read(write(user("u1", None), b"[1, 2]", b'"text"', b"12", b"[" * 100_000))
    assert tree(one(transcript)) == {"u1": None}
    assert [(item.line, item.code) for item in transcript.report.problems] == [
        (2, "not-an-object"),
        (3, "not-an-object"),
        (4, "not-an-object"),
        (5, "truncated-line"),
    ]


def test_deep_nesting_is_read(write: Write) -> None:
    deep: Any = "end"
    for _ in range(300):
        deep = {"in": deep}
    assert parts(one(read(write(reply("a1", None, call("t1", deep=deep))))), "a1")[0]["input"] == {"deep": deep}


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(gzip.compress(json.dumps(user("u1", None)).encode()))
    assert tree(one(read(path))) == {"u1": None}


def test_damaged_gzip_gives_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    rows = "".join(json.dumps(user(f"u{n}", f"u{n - 1}" if n else None, f"{n * 7919}")) + "\n" for n in range(3000))
    data = gzip.compress(rows.encode())
    path.write_bytes(data[: len(data) // 2])
    transcript = read(path)
    assert 500 < len(one(transcript).messages) < 3000
    assert "truncated-gzip" in codes(transcript)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_with_loglines_is_read(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"loglines": [user("u1", None), 7, reply("a1", "u1", "hi")]}, indent=indent))
    transcript = read(path)
    assert tree(one(transcript)) == {"u1": None, "a1": "u1"}
    assert codes(transcript) == {"not-an-object": 2}


def test_a_huge_broken_line_is_given_up_in_time(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    nested = '{"a":[' * 400 + '{"b":1},' * 300_000
    path.write_text(json.dumps(user("u1", None)) + "\n" + nested + "\n")
    begin = time.process_time()
    assert codes(read(path)) == {"truncated-line": 2}
    assert time.process_time() - begin < 5


# ---- one message per model step


def test_the_pieces_of_a_reply_become_one_message(write: Write) -> None:
    transcript = read(
        write(
            user("u1", None),
            reply("a1", "u1", {"type": "thinking", "thinking": "Hm.", "signature": "sig"}, id="m", requestId="r"),
            reply("a2", "a1", "I will look.", id="m", requestId="r"),
            reply("a3", "a2", call("t1", command="ls"), id="m", requestId="r", stop_reason="tool_use"),
        )
    )
    conversation = one(transcript)
    assert tree(conversation) == {"u1": None, "a1": "u1"}
    assert parts(conversation, "a1") == [
        {"type": "reasoning", "text": "Hm.", "providerMetadata": {"anthropic": {"signature": "sig"}}},
        {"type": "text", "text": "I will look."},
        {"type": "tool-call", "toolCallId": "t1", "toolName": "Bash", "input": {"command": "ls"}},
    ]
    assert metadata(conversation, "a1") == {
        "claudeCode": {
            "uuid": "a1",
            "uuids": ["a1", "a2", "a3"],
            "requestId": "r",
            "messageId": "m",
            "model": "claude-sonnet-4-5",
            "stopReason": "tool_use",
        }
    }
    assert (transcript.report.messages, transcript.report.merged) == (2, 2)


def test_parallel_results_stand_in_a_row(write: Write) -> None:
    conversation = one(
        read(
            write(
                user("u1", None),
                reply("a1", "u1", call("t1"), id="m"),
                reply("a2", "a1", call("t2", "Grep"), id="m"),
                reply("a3", "a2", call("t3"), id="m"),
                result("r2", "a2", "t2"),
                result("r1", "a1", "t1"),
                result("r3", "a3", "t3"),
                reply("a4", "r2", "done", id="m2"),
            )
        )
    )
    assert tree(conversation) == {"u1": None, "a1": "u1", "r2": "a1", "r1": "r2", "r3": "r1", "a4": "r3"}
    assert parts(conversation, "r2") == [
        {"type": "tool-result", "toolCallId": "t2", "toolName": "Grep", "output": "ok"}
    ]


def test_a_reply_goes_on_after_results_of_its_own(write: Write) -> None:
    conversation = one(
        read(
            write(
                user("u1", None),
                reply("a1", "u1", call("t1"), id="m"),
                progress("p1", "a1"),
                result("r1", "a1", "t1"),
                reply("a2", "r1", call("t2"), id="m"),
                result("r2", "a2", "t2"),
                reply("a3", "r2", "done", id="m2"),
            )
        )
    )
    assert tree(conversation) == {"u1": None, "a1": "u1", "r1": "a1", "r2": "r1", "a3": "r2"}
    assert [part["toolCallId"] for part in parts(conversation, "a1")] == ["t1", "t2"]


def test_pieces_are_merged_whatever_their_links(write: Write) -> None:
    lines = [reply("a1", "u1", "a", id="m"), reply("a2", "u1", "b", id="m"), reply("a3", "gone", "c", id="m")]
    conversation = one(read(write(user("u1", None), *lines, user("u2", "a3"))))
    assert tree(conversation) == {"u1": None, "a1": "u1", "u2": "a1"}
    assert [part["text"] for part in parts(conversation, "a1")] == ["a", "b", "c"]


def test_replies_without_an_api_id_stay_apart(write: Write) -> None:
    assert tree(one(read(write(reply("a1", None, "one"), reply("a2", "a1", "two"))))) == {"a1": None, "a2": "a1"}


def test_a_copy_of_a_reply_elsewhere_is_another_message_with_the_same_usage(write: Write) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    transcript = read(
        write(
            user("u1", None),
            reply("a1", "u1", call("t1"), call("t2"), id="m", usage=usage),
            result("r1", "a1", "t1"),
            user("copy-u1", None),
            reply("copy-a1", "copy-u1", call("t1"), call("t2"), id="m", usage=usage),
            result("copy-r1", "copy-a1", "t1"),
            result("copy-r2", "copy-a1", "t2"),
        )
    )
    copied = {id: parent for id, parent in tree(one(transcript)).items() if id.startswith("copy")}
    assert copied == {"copy-u1": None, "copy-a1": "copy-u1", "copy-r1": "copy-a1", "copy-r2": "copy-r1"}
    assert [row.message_id for row in one(transcript).usage] == ["a1"]
    assert codes(transcript) == {"reused-reply": 5}


def test_a_local_error_text_is_synthetic_and_costs_nothing(write: Write) -> None:
    usage = {"input_tokens": 0, "output_tokens": 0}
    conversation = one(
        read(write(user("u1", None), reply("a1", "u1", "API Error", id="m", model="<synthetic>", usage=usage)))
    )
    assert metadata(conversation, "a1")["origin"] == "synthetic"
    assert conversation.usage == ()
    assert conversation.model is None


# ---- results


def test_results_and_a_text_on_one_line_become_two_messages(write: Write) -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}], "is_error": True},
        {"type": "text", "text": "Stop here."},
    ]
    transcript = read(
        write(
            user("u1", None),
            reply("a1", "u1", call("t1")),
            user("u2", "a1", content, isMeta=True),
            reply("a2", "u2", "Yes."),
            user("u2", "a1", content, isMeta=True),
        )
    )
    conversation = one(transcript)
    assert tree(conversation) == {"u1": None, "a1": "u1", "u2": "a1", "u2/user": "u2", "a2": "u2/user"}
    assert [entry.message["role"] for entry in conversation.messages] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]
    assert parts(conversation, "u2") == [
        {
            "type": "tool-result",
            "toolCallId": "t1",
            "toolName": "Bash",
            "output": [{"type": "text", "text": "x"}],
            "isError": True,
        }
    ]
    assert "origin" not in metadata(conversation, "u2")
    assert metadata(conversation, "u2/user")["origin"] == "injected"
    assert (transcript.report.messages, transcript.report.duplicates) == (5, 1)


def test_a_late_result_stays_on_the_path(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), id="m"),
                reply("a2", "a1", call("t2"), id="m"),
                result("r1", "a1", "t1"),
                user("skill", "r1", "Base directory of this skill: x", isMeta=True),
                result("r2", "a2", "t2"),
                reply("a3", "skill", "done", id="m2"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "r1": "a1", "skill": "r1", "r2": "skill", "a3": "r2"}


def test_a_late_result_that_meets_another_step_lets_it_go_on(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                reply("b1", "r1", call("t3"), id="m2"),
                result("r2", "a1", "t2"),
                result("r3", "b1", "t3"),
                reply("c1", "r2", "done", id="m3"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "r1": "a1", "b1": "r1", "r2": "b1", "r3": "r2", "c1": "r3"}


def test_a_late_result_joins_the_row_it_comes_behind(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                reply("b1", "r1", call("t3"), call("t4"), id="m2"),
                result("r3", "b1", "t3"),
                result("r2", "a1", "t2"),
                result("r4", "b1", "t4"),
                reply("c1", "r2", "done", id="m3"),
            )
        )
    )
    assert list(tree(conversation).items())[-4:] == [("r3", "b1"), ("r2", "r3"), ("r4", "r2"), ("c1", "r4")]


def test_a_result_that_says_it_came_on_another_branch_stands_there(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), id="m"),
                user("u1", "a1", "one"),
                user("u2", "a1", "two"),
                result("r1", "u1", "t1"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "u1": "a1", "u2": "a1", "r1": "u1"}


def test_texts_put_between_results_do_not_branch(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                result("r2", "a1", "t2"),
                user("m1", "r1", "first skill", isMeta=True),
                user("m2", "r2", "second skill", isMeta=True),
                reply("a2", "m1", "done", id="m2"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "r1": "a1", "r2": "r1", "m1": "r2", "m2": "m1", "a2": "m2"}


def test_a_second_result_of_a_call_is_another_branch(write: Write) -> None:
    transcript = read(
        write(
            reply("a1", None, call("t1"), call("t2"), id="m"),
            result("r1", "a1", "t1", content="interrupted"),
            result("r2", "a1", "t2", content="interrupted"),
            user("u1", "r2"),
            result("r1b", "a1", "t1", content="done"),
            result("r2b", "a1", "t2", content="done"),
            reply("a2", "r2b", "good", id="m2"),
        )
    )
    assert list(tree(one(transcript)).items())[-4:] == [("u1", "r2"), ("r1b", "a1"), ("r2b", "r1b"), ("a2", "r2b")]
    assert codes(transcript) == {"repeated-result": 5}


def test_a_result_stands_behind_its_call_without_any_link(write: Write) -> None:
    conversation = one(read(write(user("u1", None), reply("a1", None, call("t1")), result("r1", None, "t1"))))
    assert tree(conversation) == {"u1": None, "a1": None, "r1": "a1"}


def test_a_result_without_content_is_an_empty_text(write: Write) -> None:
    conversation = one(read(write(reply("a1", None, call("t1")), result("r1", "a1", "t1", content=None))))
    assert parts(conversation, "r1")[0]["output"] == ""


def test_a_result_without_its_call_is_kept(write: Write) -> None:
    transcript = read(write(user("u1", None), result("r1", "u1", "t9")))
    assert parts(one(transcript), "r1") == [{"type": "tool-result", "toolCallId": "t9", "toolName": "", "output": "ok"}]
    assert codes(transcript) == {"result-without-call": 2}


def test_calls_and_results_without_ids_are_paired_by_position(write: Write) -> None:
    nameless: list[Line] = [{"type": "tool_use", "name": name, "input": {}} for name in ("Read", "Grep")]
    answer = [{"type": "tool_result", "content": "x"}]
    transcript = read(
        write(
            reply("a1", None, *nameless),
            user("r1", None, answer, sourceToolAssistantUUID="a1"),
            user("r2", "r1", answer),
        )
    )
    assert [part["toolCallId"] for part in parts(one(transcript), "a1")] == ["a1/call-0", "a1/call-1"]
    assert [parts(one(transcript), id)[0]["toolName"] for id in ("r1", "r2")] == ["Read", "Grep"]
    assert set(codes(transcript)) == {"missing-call-id"}


# ---- branches and links


def test_a_rewind_is_a_branch(write: Write) -> None:
    conversation = one(
        read(
            write(
                user("u1", None),
                reply("a1", "u1", "Ready."),
                line("system", "s1", "a1", subtype="stop_hook_summary"),
                user("u2", "s1", "first try"),
                reply("a2", "u2", "no"),
                user("u3", "a1", "second try"),
            )
        )
    )
    assert tree(conversation) == {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2", "u3": "a1"}
    assert conversation.leaf_id == "u3"


def test_a_rewind_to_between_two_results_stands_beside_the_first_prompt(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                user("u1", "r1", "wait"),
                result("r2", "a1", "t2"),
                user("u2", "r1", "wait, differently"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "r1": "a1", "u1": "r1", "r2": "u1", "u2": "r1"}


def test_what_hangs_on_a_text_between_results_follows_the_last_result(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                user("u1", "r1", "wait"),
                result("r2", "a1", "t2"),
                reply("a2", "u1", "yes", id="m2"),
            )
        )
    )
    assert tree(conversation) == {"a1": None, "r1": "a1", "u1": "r1", "r2": "u1", "a2": "r2"}


def test_lines_that_are_no_messages_are_bridged_and_kept(write: Write) -> None:
    lines = [
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        user("u1", None),
        progress("p1", "u1", output="half"),
        line("attachment", "t1", "p1", attachment={"type": "skill_listing"}),
        line("system", "s1", "t1", subtype="turn_duration", durationMs=7),
        reply("a1", "s1", "hi"),
        {"type": "queue-operation", "operation": "dequeue", "sessionId": "s", "timestamp": "2026-03-01T10:00:00.000Z"},
    ]
    transcript = read(write(*lines))
    conversation = one(transcript)
    assert tree(conversation) == {"u1": None, "a1": "u1"}
    assert [event.kind for event in conversation.events] == [
        "file-history-snapshot",
        "progress.hook_progress",
        "attachment.skill_listing",
        "system.turn_duration",
        "queue-operation",
    ]
    assert [event.data for event in conversation.events] == [lines[0], *lines[2:5], lines[6]]
    assert [event.line for event in conversation.events] == [1, 3, 4, 5, 7]
    assert transcript.report.problems == ()


def test_events_of_a_session_without_messages_are_kept(write: Write) -> None:
    conversation = one(
        read(
            write(
                line("system", "z1", None, subtype="session_start", sessionId="before"),
                {"type": "file-history-snapshot", "messageId": "z1", "snapshot": {}},
                user("u1", None),
            )
        )
    )
    assert [event.line for event in conversation.events] == [1, 2]


def test_a_missing_parent_begins_a_path_and_is_reported(write: Write) -> None:
    transcript = read(
        write(line("system", "s1", "gone", subtype="turn_duration"), user("u1", "s1"), user("u2", "lost"))
    )
    assert tree(one(transcript)) == {"u1": None, "u2": None}
    assert [(item.line, item.code, item.detail) for item in transcript.report.problems] == [
        (1, "missing-parent", "s1 follows gone"),
        (3, "missing-parent", "u2 follows lost"),
    ]


def test_problems_are_in_the_order_of_the_file(write: Write) -> None:
    transcript = read(write(user("u1", "gone"), line("novelty", "n1", "u1"), user("u2", "lost")))
    assert [problem.line for problem in transcript.report.problems] == [1, 2, 3]


def test_late_parents_and_cycles_are_cut(write: Write) -> None:
    transcript = read(
        write(
            user("u1", "u3"), user("u2", "u1"), user("u3", "u2"), user("u4", "u4"), user("u5", "u6"), user("u6", None)
        )
    )
    assert tree(one(transcript)) == {"u1": None, "u2": "u1", "u3": "u2", "u4": None, "u5": None, "u6": None}
    assert [(item.line, item.code) for item in transcript.report.problems] == [
        (1, "cycle"),
        (4, "cycle"),
        (5, "late-parent"),
    ]


def test_without_links_the_file_order_counts(write: Write) -> None:
    lines = [user("u1", None), reply("a1", None, "hi"), user("u2", None)]
    for item in lines:
        del item["parentUuid"]
    transcript = read(write(*lines))
    assert tree(one(transcript)) == {"u1": None, "a1": "u1", "u2": "a1"}
    assert transcript.report.problems[0].code == "no-parent-links"
    assert transcript.report.problems[0].count == 2


def test_a_note_under_the_uuid_of_a_message_does_not_displace_it(write: Write) -> None:
    conversation = one(read(write(user("u1", None), progress("u1", None), reply("a1", "u1", "hi"))))
    assert tree(conversation) == {"u1": None, "a1": "u1"}


def test_the_same_line_again_counts_once(write: Write) -> None:
    transcript = read(
        write(
            user("u1", None),
            reply("a1", "u1", "hi", id="m", usage={"input_tokens": 1, "output_tokens": 2}),
            {**user("u1", None), "version": "2.1.12"},
            reply("a1", "u1", "hi", id="m", usage={"input_tokens": 1, "output_tokens": 9}, version="2.1.12"),
            user("u2", "a1"),
        )
    )
    assert tree(one(transcript)) == {"u1": None, "a1": "u1", "u2": "a1"}
    assert len(parts(one(transcript), "a1")) == 1
    assert [row.output_tokens for row in one(transcript).usage] == [9]
    (problem,) = transcript.report.problems
    assert (problem.code, problem.line, problem.count, transcript.report.duplicates) == ("duplicate-uuid", 3, 2, 2)


def test_another_message_under_a_known_uuid_is_kept(write: Write) -> None:
    transcript = read(
        write(user("u1", None, "one"), user("u1", None, "two"), reply("u1", "u1", "two"), user("u2", "u1"))
    )
    assert tree(one(transcript)) == {"u1": None, "u1~2": None, "u1~3": "u1~2", "u2": "u1~3"}
    assert codes(transcript) == {"reused-uuid": 2}


@pytest.mark.parametrize("uuid", [None, 7, "", " padded ", "a\nb", "x" * 300, "compaction_1", "\ud83d"])
def test_an_unusable_uuid_is_replaced(write: Write, uuid: Any) -> None:
    raw = json.dumps({**user("u", None), "uuid": uuid}).encode()
    transcript = read(write(raw))
    assert tree(one(transcript)) == {"line-1": None}
    assert codes(transcript) == {"missing-uuid": 1}


# ---- compaction

TALK = (
    user("u1", None, "start"),
    reply("a1", "u1", "ready"),
    user("u2", "a1", "more"),
    reply("a2", "u2", call("t1"), id="m"),
    result("r1", "a2", "t1"),
)


def test_a_compaction_is_laid_over_the_path_and_the_tree_stays_connected(write: Write) -> None:
    transcript = read(
        write(*TALK, boundary("b1", "r1"), summary("c1", "b1", "要約"), progress("p", "c1"), reply("a3", "p", "on"))
    )
    conversation = one(transcript)
    assert tree(conversation)["a3"] == "r1"
    (compaction,) = conversation.compactions
    assert (compaction.id, compaction.first_id, compaction.last_id) == ("c1", "u1", "r1")
    assert (compaction.summary, compaction.trigger, compaction.pre_tokens) == ("要約", "auto", 150_000)
    assert compaction.created_at == "2026-03-01T10:00:00.000Z"
    assert transcript.report.problems == ()


def test_a_later_compaction_contains_the_earlier(write: Write) -> None:
    conversation = one(
        read(
            write(
                *TALK,
                boundary("b1", "r1"),
                summary("c1", "b1"),
                reply("a3", "c1", "on"),
                boundary("b2", "a3"),
                summary("c2", "b2"),
                user("u4", "c2"),
            )
        )
    )
    assert [(item.first_id, item.last_id) for item in conversation.compactions] == [("u1", "r1"), ("u1", "a3")]
    assert tree(conversation)["u4"] == "a3"


def test_a_compaction_after_parallel_results_covers_all_of_them(write: Write) -> None:
    conversation = one(
        read(
            write(
                user("u1", None),
                reply("a1", "u1", call("t1"), call("t2"), id="m"),
                result("r1", "a1", "t1"),
                result("r2", "a1", "t2"),
                boundary("b", "r1"),
                summary("c", "b"),
                reply("a2", "c", "on"),
            )
        )
    )
    assert conversation.compactions[0].last_id == "r2"
    assert tree(conversation)["a2"] == "r2"


@pytest.mark.parametrize(
    ("kept", "last"),
    [
        ({"preservedSegment": {"headUuid": "u2", "anchorUuid": "c", "tailUuid": "r1"}}, "a1"),
        ({"preservedMessages": {"anchorUuid": "c", "uuids": ["r1"]}}, "u2"),
        ({"preservedSegment": {"headUuid": "elsewhere"}}, "r1"),
        ({"preservedSegment": {"headUuid": "other2"}}, "r1"),
        ({"preservedSegment": None}, "r1"),
    ],
)
def test_messages_that_a_compaction_preserved_are_not_covered(write: Write, kept: Line, last: str) -> None:
    other = [user("other1", None), reply("other2", "other1", "hi")]
    conversation = one(
        read(write(*other, *TALK, boundary("b", "r1", **kept), summary("c", "b"), reply("a3", "c", "on")))
    )
    assert [(item.first_id, item.last_id) for item in conversation.compactions] == [("u1", last)]
    assert tree(conversation)["a3"] == "r1"


def test_a_summary_of_what_is_not_there_becomes_a_message(write: Write) -> None:
    transcript = read(write(boundary("b", "gone"), summary("c", "b", "要約"), reply("a1", "c", "on")))
    conversation = one(transcript)
    assert tree(conversation) == {"c": None, "a1": "c"}
    assert metadata(conversation, "c")["origin"] == "compaction"
    assert parts(conversation, "c") == [{"type": "text", "text": "要約"}]
    assert conversation.compactions == ()
    assert codes(transcript) == {"missing-parent": 1, "summary-without-range": 2}


def test_a_boundary_without_its_summary_is_reported(write: Write) -> None:
    transcript = read(write(*TALK, boundary("b", "r1")))
    assert one(transcript).compactions == ()
    assert codes(transcript) == {"boundary-without-summary": 6}


def test_a_size_that_is_none_is_left_out(write: Write) -> None:
    conversation = one(read(write(*TALK, boundary("b", "r1", preTokens="many", trigger=3), summary("c", "b"))))
    assert (conversation.compactions[0].pre_tokens, conversation.compactions[0].trigger) == (None, None)


def test_the_size_belongs_to_its_own_summary(write: Write) -> None:
    conversation = one(read(write(*TALK, boundary("b", "r1"), summary("c", "b"), summary("c2", "c"))))
    assert [item.pre_tokens for item in conversation.compactions] == [150_000, None]


def test_a_repeated_summary_counts_once(write: Write) -> None:
    transcript = read(write(*TALK, boundary("b", "r1"), summary("c", "b"), summary("c", "b")))
    assert len(one(transcript).compactions) == 1
    assert (transcript.report.summaries, transcript.report.duplicates) == (1, 1)


def test_a_compaction_after_a_rewind_covers_the_branch_it_was_made_on(write: Write) -> None:
    conversation = one(
        read(write(*TALK[:2], user("x", "a1"), user("y", "a1"), boundary("b", "y"), summary("c", "b"), user("z", "c")))
    )
    assert [(item.first_id, item.last_id) for item in conversation.compactions] == [("u1", "y")]
    assert tree(conversation) == {"u1": None, "a1": "u1", "x": "a1", "y": "a1", "z": "y"}


# ---- who wrote it


@pytest.mark.parametrize(
    ("text", "fields", "origin"),
    [
        ("hello", {}, None),
        ("hello", {"isMeta": True}, "injected"),
        ("<bash-input>ls</bash-input>", {}, "shell"),
        ("<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>", {}, "shell"),
        ("<command-name>/clear</command-name>", {}, "command"),
        ("\n<local-command-stdout>Bye!</local-command-stdout>", {"isMeta": True}, "command"),
        ("[Request interrupted by user for tool use]", {}, "injected"),
        ("<system-reminder>x</system-reminder>", {}, "injected"),
        ("Caveat: The messages below were generated by the user while running local commands. Do not", {}, "injected"),
        ("What does <bash-input> mean?", {}, None),
    ],
)
def test_texts_in_the_users_name_have_an_origin(write: Write, text: str, fields: Line, origin: str | None) -> None:
    conversation = one(
        read(write(user("u1", None, text, **fields), user("u2", "u1", [{"type": "text", "text": text}])))
    )
    assert metadata(conversation, "u1").get("origin") == origin
    assert conversation.messages[0].message["role"] == "user"
    assert conversation.messages[0].message["parts"] == [{"type": "text", "text": text}]


def attachment(uuid: str, parent: str | None, **fields: Any) -> Line:
    return line("attachment", uuid, parent, attachment=fields)


def test_a_prompt_typed_meanwhile_is_a_user_message(write: Write) -> None:
    conversation = one(
        read(
            write(
                *TALK,
                attachment("q1", "r1", type="queued_command", prompt="急いで", commandMode="prompt"),
                attachment("q2", "q1", type="queued_command", prompt="<t/>", commandMode="task-notification"),
                attachment("h1", "q2", type="hook_additional_context", content=["one", "two"], hookName="x"),
                attachment("q3", "h1", type="queued_command", prompt="go on", isMeta=True),
                attachment("e1", "q3", type="todo_reminder", content=[]),
                reply("a3", "e1", "yes"),
            )
        )
    )
    assert list(tree(conversation).items())[-5:] == [
        ("q1", "r1"),
        ("q2", "q1"),
        ("h1", "q2"),
        ("q3", "h1"),
        ("a3", "q3"),
    ]
    assert metadata(conversation, "q1") == {"claudeCode": {"uuid": "q1", "attachment": "queued_command"}}
    assert [metadata(conversation, id)["origin"] for id in ("q2", "h1", "q3")] == ["injected"] * 3
    assert parts(conversation, "h1") == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert [event.kind for event in conversation.events] == ["attachment.todo_reminder"]


# ---- content

PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "a", "citations": None}, {"type": "text", "text": "a"}),
        (
            {"type": "text", "text": "a", "citations": [{"n": 1}]},
            {"type": "text", "text": "a", "providerMetadata": {"anthropic": {"citations": [{"n": 1}]}}},
        ),
        ({"type": "thinking", "thinking": "h"}, {"type": "reasoning", "text": "h"}),
        (
            {"type": "redacted_thinking", "data": "xx"},
            {"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"redactedData": "xx"}}},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PIXEL}"},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.webp"}},
            {"type": "file", "mediaType": "image/*", "url": "https://example.com/a.webp"},
        ),
        (
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                "title": "見積.pdf",
            },
            {
                "type": "file",
                "mediaType": "application/pdf",
                "url": "data:application/pdf;base64,JVBE",
                "filename": "見積.pdf",
            },
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, None),
        ({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}, None),
        ({"type": "thinking", "thinking": None}, None),
    ],
)
def test_blocks_become_parts(write: Write, block: Line, part: Line | None) -> None:
    conversation = one(read(write(user("u1", None, [block]), reply("a1", "u1", block))))
    assert parts(conversation, "u1") == parts(conversation, "a1") == [part if part is not None else block]


def test_content_that_is_none_is_an_event(write: Write) -> None:
    transcript = read(write(user("u1", None), user("u2", "u1", None), reply("a1", "u2", "hi")))
    assert tree(one(transcript)) == {"u1": None, "a1": "u1"}
    assert codes(transcript) == {"bad-message": 2}
    assert [event.kind for event in one(transcript).events] == ["user"]


def test_times_stand_as_in_the_file_and_bad_ones_are_left_out(write: Write) -> None:
    transcript = read(
        write(
            {**user("u1", None), "timestamp": "2026-03-01T19:00:00+09:00"},
            {**user("u2", "u1"), "timestamp": "yesterday"},
            {**user("u3", "u2"), "timestamp": None},
        )
    )
    first, second, third = (entry.message for entry in one(transcript).messages)
    assert first["createdAt"] == "2026-03-01T19:00:00+09:00"
    assert "createdAt" not in second | third
    assert codes(transcript) == {"bad-timestamp": 2}


def test_another_working_directory_is_noted_on_the_message(write: Write) -> None:
    conversation = one(read(write(user("u1", None, cwd="/a"), user("u2", "u1", cwd="/a"), user("u3", "u2", cwd="/b"))))
    assert conversation.cwd == "/a"
    assert [metadata(conversation, id)["claudeCode"].get("cwd") for id in ("u1", "u2", "u3")] == [None, None, "/b"]


# ---- usage


def test_usage_is_counted_once_per_request_with_its_last_copy(write: Write) -> None:
    def usage(output: int) -> Line:
        return {
            "input_tokens": 4,
            "output_tokens": output,
            "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 70,
            "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 20},
        }

    at = {number: f"2026-03-01T10:00:0{number}.000Z" for number in range(4)}
    conversation = one(
        read(
            write(
                user("u1", None, timestamp=at[0]),
                reply("a1", "u1", "a", id="m", requestId="q", usage=usage(1), timestamp=at[1]),
                reply("a2", "a1", "b", id="m", requestId="q", usage=usage(33), timestamp=at[2]),
                reply(
                    "a3",
                    "a2",
                    "c",
                    id="m2",
                    usage={"input_tokens": 5, "cache_creation_input_tokens": 8},
                    timestamp=at[3],
                ),
                reply("a4", "a3", "d", id="m3"),
                user("u2", "a4", timestamp=at[3]),
                reply("a5", "u2", "e", id="m4", usage={"input_tokens": -1}, timestamp=at[2], model="claude-opus-4-5"),
            )
        )
    )
    first, second, third = conversation.usage
    assert (third.input_tokens, third.started_at) == (0, None)
    assert conversation.model == "claude-opus-4-5"
    assert (first.message_id, first.request_id, first.model) == ("a1", "q", "claude-sonnet-4-5")
    assert (first.started_at, first.ended_at) == (at[0], at[2])
    assert (first.input_tokens, first.output_tokens, first.cache_read_tokens) == (4, 33, 900)
    assert (first.cache_write_5m_tokens, first.cache_write_1h_tokens) == (50, 20)
    assert (second.cache_write_5m_tokens, second.cache_write_1h_tokens, second.started_at) == (8, 0, None)
    assert first.ok
    assert first.cost is None


# ---- titles


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([user("u1", None, "  Fix\n the   build ")], "Fix the build"),
        ([user("u1", None, "x", isMeta=True), user("u2", "u1", "Real")], "Real"),
        ([user("u1", None, [{"type": "text", "text": t} for t in ("<ide_file>\n/a</ide_file>", "Go")])], "Go"),
        (
            [user("u1", None, "<command-name>/init</command-name><command-args>いま</command-args>")],
            "/init いま",
        ),
        ([user("u1", None, "<command-name>/a</command-name>"), user("u2", "u1", "Go")], "Go"),
        ([user(f"u{n}", None, f"<command-name>/{n}</command-name>") for n in (1, 2)], "/1"),
        (
            [user("u1", None), {"type": "summary", "summary": "Greeting", "leafUuid": "u1", "sessionId": "s"}],
            "Greeting",
        ),
        ([user("u1", None), {"type": "custom-title", "customTitle": "Moved", "sessionId": "before"}], "Moved"),
        ([user("u1", None), {"type": "summary", "summary": "Greeting", "leafUuid": "u1"}], "Greeting"),
        ([{"type": "summary", "summary": "Of another", "leafUuid": "zz"}, user("u1", None)], "hello"),
        ([user("u1", None), {"type": "ai-title", "aiTitle": "AI", "sessionId": "s"}], "AI"),
        (
            [
                user("u1", None),
                {"type": "custom-title", "customTitle": "Mine", "sessionId": "s"},
                {"type": "summary", "summary": "Greeting", "leafUuid": "u1"},
                {"type": "ai-title", "aiTitle": "AI", "sessionId": "s"},
            ],
            "Mine",
        ),
        ([reply("a1", None, "hi")], ""),
    ],
)
def test_titles(write: Write, lines: list[Line], title: str) -> None:
    assert one(read(write(*lines))).title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("word " * 40, ("word " * 16).rstrip() + "…"),
        ("ab " + "word " * 40, "ab " + ("word " * 15).rstrip() + "…"),
        ("漢字" * 60, "漢字" * 39 + "漢…"),
        ("x" * 78 + "e\u0301" + "y" * 9, "x" * 78 + "…"),
        ("x" * 77 + "👩\u200d💻" + "y" * 9, "x" * 77 + "…"),
        ("か\u3099" * 60, "か\u3099" * 39 + "…"),
        ("x" * 80, "x" * 80),
    ],
)
def test_long_titles_are_cut_between_characters(write: Write, text: str, title: str) -> None:
    assert one(read(write(user("u1", None, text)))).title == title


# ---- several conversations


def test_sidechains_in_the_file_become_linked_conversations(write: Write) -> None:
    side: Line = {"isSidechain": True}
    transcript = read(
        write(
            user("u1", None, cwd="/a", gitBranch="main", version="1.0.98"),
            reply("a1", "u1", call("t1", "Task", prompt="look here"), id="m"),
            reply("a2", "a1", call("t2", "Task", prompt="look there"), id="m2"),
            user("x1", None, "look there", **side),
            reply("x2", "x1", "found", **side),
            user("y1", None, "look here", **side),
            result("r1", "a1", "t1", version="1.0.99"),
            reply("a3", "r1", call("t3", "Task", prompt="look there"), id="m3"),
            user("z1", None, "look there", **side),
        )
    )
    main, there, here, again = transcript.conversations
    assert (main.id, main.lineage, main.git_branch, main.version) == ("s", None, "main", "1.0.99")
    assert set(tree(main)) == {"u1", "a1", "a2", "r1", "a3"}
    assert (there.id, here.id) == ("s/sidechain-x1", "s/sidechain-y1")
    assert tree(there) == {"x1": None, "x2": "x1"}
    assert there.lineage is not None
    assert here.lineage is not None
    assert (there.lineage.kind, there.lineage.conversation_id) == ("sidechain", "s")
    assert (there.lineage.message_id, here.lineage.message_id) == ("a2", "a1")
    assert again.lineage is not None
    assert again.lineage.message_id == "a3"
    assert next(read_many([transcript.path])) == transcript


def test_a_subagent_file_is_linked_through_its_session(write: Write) -> None:
    main = write(
        user("u1", None),
        reply("a1", "u1", call("t1", "Task"), id="m"),
        result("r1", "a1", "t1", toolUseResult={"agentId": "a7"}),
    )
    sub = write(
        user("x1", None, "look", isSidechain=True, agentId="a7"),
        reply("x2", "x1", "found", isSidechain=True, agentId="a7"),
        name="s/subagents/agent-a7.jsonl",
    )
    alone = one(read(sub))
    assert alone.id == "s/agent-a7"
    assert alone.lineage is not None
    assert (alone.lineage.conversation_id, alone.lineage.message_id) == ("s", None)
    _, linked = read_many([main, sub])
    assert one(linked).lineage == type(alone.lineage)("sidechain", "s", "a1")
    assert one(linked).messages == alone.messages


def test_an_agent_is_known_from_its_progress(write: Write) -> None:
    conversation = one(
        read(
            write(
                reply("a1", None, call("t1", "Task"), id="m"),
                line("progress", "p", "a1", data={"type": "agent_progress", "agentId": "a7"}, parentToolUseID="t1"),
            )
        )
    )
    assert conversation.agents == {"a7": "a1"}


def test_a_subagent_of_nobody_is_reported(write: Write) -> None:
    lines = [user("x1", None, isSidechain=True, agentId="a7", sessionId="agent-a7")]
    transcript = read(write(*lines, name="agent-a7.jsonl"))
    assert (one(transcript).id, one(transcript).lineage) == ("agent-a7", None)
    assert set(codes(transcript)) == {"orphan-subagent"}
    lineage = one(read(write(*lines, name="parent/subagents/agent-a7.jsonl"))).lineage
    assert lineage is not None
    assert lineage.conversation_id == "parent"


def test_links_across_the_border_of_a_sidechain(write: Write) -> None:
    transcript = read(
        write(
            user("u1", None),
            user("x1", "u1", isSidechain=True, agentId="a7"),
            user("u2", "x1"),
            user("x2", "u2", isSidechain=True, agentId="a7"),
        )
    )
    main, side = transcript.conversations
    assert tree(main) == {"u1": None, "u2": None}
    assert side.lineage is not None
    assert side.lineage.message_id == "u1"
    assert codes(transcript) == {"parent-in-sidechain": 3}


@pytest.mark.parametrize(("name", "id"), [("old.jsonl", "old"), ("new.jsonl", "new"), ("copy.jsonl", "old")])
def test_a_session_that_goes_on_from_another_is_one_conversation(write: Write, name: str, id: str) -> None:
    transcript = read(
        write(
            {"type": "mode", "mode": "normal", "sessionId": "new"},
            user("u1", None, sessionId="old"),
            reply("a1", "u1", "hi", sessionId="old"),
            user("u2", "a1", sessionId="new"),
            user("u3", None, sessionId="new"),
            name=name,
        )
    )
    assert (one(transcript).id, tree(one(transcript))) == (id, {"u1": None, "a1": "u1", "u2": "a1", "u3": None})
    assert codes(transcript) == {"resumed-session": 4}


def test_sessions_without_a_link_stay_apart(write: Write) -> None:
    transcript = read(
        write(user("u1", None, sessionId="one"), user("u2", None, sessionId="two"), user("u3", "u1", sessionId="one"))
    )
    assert [(item.id, len(item.messages)) for item in transcript.conversations] == [("one", 2), ("two", 1)]
    assert codes(transcript) == {"several-sessions": 0}


def test_a_file_without_messages_says_so(write: Write) -> None:
    transcript = read(write({"type": "summary", "summary": "x", "leafUuid": "zz"}))
    assert transcript.conversations == ()
    assert codes(transcript) == {"no-messages": 0}


def test_unknown_types_are_events_and_reported_once(write: Write) -> None:
    transcript = read(
        write(user("u1", None), *(line("novelty", f"n{n}", "u1", x=n) for n in range(3)), user("u2", "n2"))
    )
    assert tree(one(transcript)) == {"u1": None, "u2": "u1"}
    assert [event.data["x"] for event in one(transcript).events] == [0, 1, 2]
    (problem,) = transcript.report.problems
    assert (problem.code, problem.detail, problem.line, problem.count) == ("unknown-type", "novelty", 2, 3)


# ---- files


def test_formats_are_told_by_content(write: Write, tmp_path: Path) -> None:
    assert detect(write(b"garbage", user("u1", None), name="x.txt")) == "claude-code"
    assert detect(write({"type": "session", "id": "1", "cwd": "/"}, {"type": "message", "message": {}})) is None
    assert detect(write({"type": "session_meta", "payload": {}}, {"type": "response_item", "payload": {}})) is None
    assert detect(write({"type": "queue-operation", "operation": "dequeue", "sessionId": "s"})) == "claude-code"
    assert detect(write(b"")) is None
    assert detect(write(*[b"{}"] * 60, user("u1", None))) is None
    with pytest.raises(FileNotFoundError):
        detect(tmp_path / "missing.jsonl")


def test_a_message_longer_than_what_is_tried_is_told_too(write: Write, monkeypatch: Any) -> None:
    monkeypatch.setattr(_files, "_BYTES_TRIED", 5000)
    long = user("u1", None, "とても長い話 " * 5000)
    assert detect(write(long)) == "claude-code"
    assert detect(write({"sessionId": "s", "type": "frame-link"}, long)) == "claude-code"
    assert detect(write({"text": "x" * 10_000}, user("u2", None))) is None


def test_an_unknown_format_is_not_read(write: Write) -> None:
    transcript = read(write({"type": "session", "id": "1"}))
    assert (transcript.source, transcript.conversations) == ("unknown", ())
    assert codes(transcript) == {"unknown-format": 0}


def test_discover_sorts_sessions_before_their_subagents(write: Write, tmp_path: Path, monkeypatch: Any) -> None:
    names = [
        "home/.claude/projects/-a/1.jsonl",
        "home/.claude/projects/-a/1/subagents/agent-b.jsonl",
        "home/.claude/projects/-a/1/subagents/agent-c.jsonl",
        "home/.claude/projects/-a/2.jsonl",
        "home/.claude/projects/-a/f.jsonl",
        "home/.claude/projects/-a/agent-a.jsonl",
        "home/.claude/projects/-b/0.jsonl",
    ]
    for name in reversed(names):
        write(user("u1", None), name=name)
    write({"display": "hello"}, name="home/.claude/history.jsonl")
    write(name="home/.claude/projects/-b/empty.jsonl")
    write(user("u1", None), name="home/.claude/projects/-b/notes.md")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = discover(["~/.claude", tmp_path / "home/.claude/projects/-a/1.jsonl"])
    assert [str(item.path.relative_to(tmp_path)) for item in found.files] == names
    assert {item.source for item in found.files} == {"claude-code"}
    assert [(item.path.name, item.reason) for item in found.ignored] == [
        ("history.jsonl", "not a transcript of a known format"),
        ("empty.jsonl", "empty"),
    ]
    by_pattern = discover(["~/.claude/projects/*/[0-9].jsonl"])
    assert [item.path.name for item in by_pattern.files] == ["1.jsonl", "2.jsonl", "0.jsonl"]


def test_discover_says_why_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    found = discover([tmp_path / "folder", tmp_path / "gone.jsonl", str(tmp_path / "*.jsonl")])
    assert found.files == ()
    assert {(item.path.name, item.reason) for item in found.ignored} == {
        ("folder", "a folder without .jsonl or .json files"),
        ("gone.jsonl", "no such file"),
        ("*.jsonl", "nothing matches"),
    }


def test_a_folder_that_may_not_be_read_is_named(write: Write, tmp_path: Path, monkeypatch: Any) -> None:
    path = write(user("u1", None), name="home/a.jsonl")
    write(user("u1", None), name="home/shut/b.jsonl")
    listed = os.scandir

    def scandir(folder: Any) -> Any:
        if str(folder).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    for paths in ([tmp_path / "home"], [tmp_path / "hom*"]):
        found = discover(paths)
        assert [item.path for item in found.files] == [path]
        assert [(item.path.name, item.reason) for item in found.ignored] == [("shut", "Permission denied")]
    alone = discover([tmp_path / "home" / "shut"])
    assert [(item.path.name, item.reason) for item in alone.ignored] == [("shut", "Permission denied")]


def test_a_name_with_glob_characters_is_a_name_first(write: Write) -> None:
    path = write(user("u1", None), name="[1].jsonl")
    assert [item.path for item in discover([path]).files] == [path]


# ---- the bundled demo


def test_the_demo_shows_what_transcripts_have() -> None:
    found = discover([DEMO])
    assert found.ignored == ()
    parcels, agent, recipes = [one(item) for item in read_many(item.path for item in found.files)]
    children = [entry.parent for entry in parcels.messages]
    assert len({parent for parent in children if parent and children.count(parent) > 1}) == 1
    assert max(len(str(part)) for entry in parcels.messages for part in entry.message["parts"]) > 25_000
    assert agent.lineage is not None
    assert agent.lineage.message_id in tree(parcels)
    assert recipes.title == "材料名のふりがな"
    assert len(recipes.compactions) == 1
    assert any(part["type"] == "file" for entry in recipes.messages for part in entry.message["parts"])
    assert sum(row.cache_write_1h_tokens for row in recipes.usage) > 0
    reported = {problem.code for item in found.files for problem in read(item.path).report.problems}
    assert reported == {"joined-line", "missing-parent", "truncated-line"}
    assert sum(item.path.stat().st_size for item in found.files) < 200_000


# ---- properties


DOCUMENTED = set(", ".join(re.findall(r"^ +\| ([a-z0-9, -]+) \|", Problem.__doc__ or "", re.MULTILINE)).split(", "))


def check_sound(transcript: Transcript) -> None:
    """What holds for any input at all."""
    report = transcript.report
    assert {problem.code for problem in report.problems} <= DOCUMENTED
    assert [problem.line for problem in report.problems] == sorted(problem.line for problem in report.problems)
    assert report.messages == sum(len(item.messages) for item in transcript.conversations)
    if transcript.conversations:
        assert report.events == sum(len(item.events) for item in transcript.conversations)
    ids = [item.id for item in transcript.conversations]
    assert len(set(ids)) == len(ids)
    for conversation in transcript.conversations:
        check_id("session", conversation.id)
        seen: set[str] = set()
        for entry in conversation.messages:
            check_id("message", entry.id)
            assert entry.id not in seen
            assert entry.parent is None or entry.parent in seen
            assert Message.from_dict(entry.message).to_dict() == entry.message
            seen.add(entry.id)
        assert conversation.leaf_id in seen
        for compaction in conversation.compactions:
            assert {compaction.first_id, compaction.last_id} <= seen


UUIDS = st.sampled_from([None, *(f"n{n}" for n in range(8)), " bad", 3])
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=3)),
        st.builds(lambda id: call(id, "Task", prompt="p"), st.sampled_from(["t1", "t2", "t3"])),
        st.builds(
            lambda id: {"type": "tool_result", "tool_use_id": id, "content": "r"}, st.sampled_from(["t1", "t2", None])
        ),
        st.just({"type": "novel"}),
        st.just("bare"),
        st.just({"no": "type"}),
    ),
    max_size=3,
)
LINES = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant", "system", "progress", "attachment", "novelty", 4]),
        "message": st.one_of(
            st.fixed_dictionaries(
                {"content": st.one_of(BLOCKS, st.text(max_size=3), st.none())},
                optional={
                    "id": st.sampled_from(["m1", "m2", 5]),
                    "model": st.sampled_from(["claude-x", "<synthetic>"]),
                    "usage": st.sampled_from([{"input_tokens": 3}, {"output_tokens": "x"}, []]),
                },
            ),
            st.none(),
        ),
    },
    optional={
        "uuid": UUIDS,
        "parentUuid": UUIDS,
        "logicalParentUuid": UUIDS,
        "subtype": st.just("compact_boundary"),
        "isCompactSummary": st.booleans(),
        "isSidechain": st.booleans(),
        "isMeta": st.booleans(),
        "agentId": st.sampled_from(["g1", "g2", 6]),
        "sessionId": st.sampled_from(["s1", "s2", None, " s1"]),
        "timestamp": st.sampled_from(["2026-03-01T10:00:00Z", "soon", 5]),
        "attachment": st.sampled_from([{"type": "queued_command", "prompt": "q"}, {"type": "x"}, 1]),
        "compactMetadata": st.sampled_from([{"preservedSegment": {"headUuid": "n1"}}, {"preTokens": 1}, 9]),
        "toolUseResult": st.sampled_from([{"agentId": "g1"}, "text"]),
    },
)
quietly = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANCHOR = user("first", None, sessionId="s1")


@quietly
@given(lines=st.lists(LINES, max_size=14))
def test_any_lines_give_a_sound_tree_and_a_longer_file_only_adds(tmp_path: Path, lines: list[Line]) -> None:
    path = tmp_path / "s.jsonl"
    rows = [json.dumps(item).encode() + b"\n" for item in [ANCHOR, *lines]]
    before: dict[str, Conversation] = {}
    for end in range(1, len(rows) + 1):
        path.write_bytes(b"".join(rows[:end]))
        transcript = read(path)
        check_sound(transcript)
        report = transcript.report
        split = sum(entry.id.endswith("/user") for item in transcript.conversations for entry in item.messages)
        made = report.messages - split + report.merged + report.summaries + report.events + report.duplicates
        assert made == report.objects == end
        now = {item.id: item for item in transcript.conversations}
        for id, item in before.items():
            assert tree(now[id]).items() >= tree(item).items()
            for entry, longer in zip(item.messages, now[id].messages, strict=False):
                assert longer.id == entry.id
                assert longer.message["parts"][: len(entry.message["parts"])] == entry.message["parts"]
            assert now[id].compactions[: len(item.compactions)] == item.compactions
        before = now


@quietly
@given(junk=st.lists(st.binary(max_size=60), max_size=8), data=st.data())
def test_junk_between_lines_costs_nothing_but_itself(tmp_path: Path, junk: list[bytes], data: st.DataObject) -> None:
    path = tmp_path / "s.jsonl"
    talk = [json.dumps(item).encode() for item in (user("u1", None), reply("a1", "u1", "hi"), user("u2", "a1"))]
    rows = talk[:1]
    for row in talk[1:]:
        rows += [item.replace(b"\n", b" ").replace(b"{", b"(") for item in junk[: data.draw(st.integers(0, 8))]]
        rows.append(row)
    path.write_bytes(b"\n".join(rows))
    transcript = read(path)
    assert tree(one(transcript)) == {"u1": None, "a1": "u1", "u2": "a1"}
    check_sound(transcript)


@quietly
@given(content=st.binary(max_size=300), shuffled=st.randoms(use_true_random=False))
def test_no_bytes_raise(tmp_path: Path, content: bytes, shuffled: Any) -> None:
    path = tmp_path / "s.jsonl"
    talk = bytearray(b"\n".join(json.dumps(item).encode() for item in TALK))
    for _ in range(shuffled.randrange(20)):
        talk[shuffled.randrange(len(talk))] = shuffled.randrange(256)
    begin = json.dumps(ANCHOR).encode() + b"\n"
    for data in (content, begin + content, begin + bytes(talk) + content):
        path.write_bytes(data)
        check_sound(read(path))


@quietly
@given(cut=st.integers(0, 2000), rest=st.booleans())
def test_a_cut_anywhere_gives_the_lines_before_it(tmp_path: Path, cut: int, rest: bool) -> None:
    path = tmp_path / "s.jsonl"
    rows = [json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in (*TALK, user("u3", "r1", "続けて"))]
    whole = b"".join(rows)
    cut %= len(whole)
    path.write_bytes(whole[:cut] + (b"\n" + json.dumps(user("u9", None)).encode() if rest else b""))
    complete = list(tree_of(whole[:cut].splitlines(), TALK))
    transcript = read(path)
    assert [entry.id for item in transcript.conversations for entry in item.messages] == complete + ["u9"] * rest


def tree_of(rows: Iterable[bytes], lines: Iterable[Line]) -> Iterable[str]:
    """The uuids of the lines that `rows` hold completely."""
    for row in rows:
        try:
            yield json.loads(row)["uuid"]
        except ValueError:
            return


def test_the_demo_can_be_cut_at_every_line(tmp_path: Path) -> None:
    for found in discover([DEMO]).files:
        path = tmp_path / found.path.name
        shutil.copy(found.path, path)
        rows = path.read_bytes().splitlines(keepends=True)
        whole = {item.id: tree(item) for item in read(path).conversations}
        for end in range(1, len(rows)):
            path.write_bytes(b"".join(rows[:end]))
            for item in read(path).conversations:
                assert list(tree(item).items()) == list(whole[item.id].items())[: len(item.messages)]
