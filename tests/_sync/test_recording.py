# Generated from tests/_async/test_recording.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Recording replies: where they go, what is kept of them, and streams that break off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassine
from glassine import InvalidMessageError, SessionSpec, Store, user

USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 30,
    "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
}


def anthropic_reply(*content: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": item} if isinstance(item, str) else item for item in content]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": blocks,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    "usage": {
        "prompt_tokens": 110,
        "completion_tokens": 5,
        "total_tokens": 115,
        "prompt_tokens_details": {"cached_tokens": 100},
    },
}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-4o",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "m_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 110,
        "output_tokens": 5,
        "total_tokens": 115,
        "input_tokens_details": {"cached_tokens": 100},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {
        "promptTokenCount": 110,
        "candidatesTokenCount": 5,
        "cachedContentTokenCount": 100,
        "totalTokenCount": 115,
    },
    "modelVersion": "gemini-2.5-flash",
    "responseId": "r1",
}


@pytest.mark.parametrize("response", [anthropic_reply("hello"), OPENAI, RESPONSES, GEMINI])
def test_a_reply_of_each_provider(response: dict[str, Any]) -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        asked = session.append(user("hi"))
        view = session.view(model=response.get("model") or "gemini-2.5-flash")
        message = session.record(response, view=view)
        assert (message.role, message.text) == ("assistant", "hello")
        assert session.history() == [asked, message]
        [usage] = session.usage()
    assert (usage.message_id, usage.leaf_id, usage.ok, usage.kind) == (message.id, asked.id, True, "reply")
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (10, 5, 100)
    assert usage.started_at == view.started_at
    assert usage.ended_at is not None
    assert usage.cost is not None
    assert usage.cost > 0


def test_cache_writes_are_told_apart() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        session.record(anthropic_reply("hello"))
        [usage] = session.usage()
    assert (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) == (20, 10)
    assert usage.started_at is None  # without a view nobody knows when the request was begun


def test_what_is_no_reply_is_refused_and_nothing_is_stored() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        for wrong in ("hello", {"error": {"message": "overloaded"}}, None, 3, {}):
            with pytest.raises(InvalidMessageError):
                session.record(wrong)
        assert session.history() == []


def _branches(store: Store) -> Any:
    session = store.session("s")
    session.append([user("u1", id="u1"), glassine.assistant("a1", id="a1")])
    return session


def test_a_reply_follows_what_was_appended_meanwhile() -> None:
    with glassine.open(":memory:") as store:
        session = _branches(store)
        view = session.view()
        session.append(user("one more thing", id="u2"))
        reply = session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in session.history()] == ["u1", "a1", "u2", reply.id]


def test_a_reply_to_another_branch_leaves_the_active_leaf() -> None:
    with glassine.open(":memory:") as store:
        session = _branches(store)
        view = session.view()
        session.append(user("elsewhere", id="x"), parent="u1")
        reply = session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in session.history()] == ["u1", "x"]
        assert [message.id for message in session.history(reply.id)] == ["u1", "a1", reply.id]


def test_regenerating_makes_a_sibling_that_becomes_active() -> None:
    with glassine.open(":memory:") as store:
        session = _branches(store)
        view = session.view(leaf="u1")
        assert [message.id for message in view.messages] == ["u1"]
        reply = session.record(anthropic_reply("again"), view=view)
        assert [message.id for message in session.branches("u1")] == ["a1", reply.id]
        assert [message.id for message in session.history()] == ["u1", reply.id]


def test_regenerating_while_others_go_on() -> None:
    with glassine.open(":memory:") as store:
        session = _branches(store)
        view = session.view(leaf="u1")
        session.append(user("u2", id="u2"))
        reply = session.record(anthropic_reply("again"), view=view)
        assert [message.id for message in session.history()] == ["u1", "a1", "u2"]
        assert [message.id for message in session.history(reply.id)] == ["u1", reply.id]


def test_a_reply_whose_leaf_is_gone_is_not_lost() -> None:
    with glassine.open(":memory:") as store:
        session = _branches(store)
        view = session.view()
        session.delete("a1")
        reply = session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in session.history()] == ["u1", reply.id]


def test_ours_are_run_and_others_are_left() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("memory"))
        session.append(user("hi"))
        use = {"type": "tool_use", "id": "t1", "name": "set_context", "input": {"label": "memory", "content": "x"}}
        other = {"type": "tool_use", "id": "t2", "name": "read_file", "input": {"path": "x"}}
        wrong = {"type": "tool_use", "id": "t3", "name": "set_context", "input": {"label": "none", "content": "x"}}
        reply = session.record(anthropic_reply(use, other, wrong))
        found = session.run_tools(reply)
        assert [glassine.results(message)[0].id for message in found] == ["t1", "t3"]
        assert [glassine.results(message)[0].is_error for message in found] == [False, True]
        lines = session.block_lines("memory")
        assert [(line.text, line.message_id) for line in lines] == [("x", reply.id)]


def events(*texts: str, ends: bool = True) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**anthropic_reply(), "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for text in texts:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    if ends:
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
        yield {"type": "message_stop"}


def test_a_stream_is_passed_on_and_stored() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        session.append(user("hi"))
        recording = session.record_stream(events("he", "llo"), view=session.view())
        passed = [event for event in recording]
        assert passed == list(events("he", "llo"))
        assert recording.message is not None
        assert recording.message.text == "hello"
        assert session.history()[-1] == recording.message
        assert recording.message.metadata is not None
        assert recording.message.metadata["glassine"]["status"] == "complete"
        [usage] = session.usage()
        assert (usage.ok, usage.output_tokens, usage.message_id) == (True, 7, recording.message.id)
        assert len(session.search("hello")) == 1


def test_what_came_is_there_while_the_rest_comes(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "a.db") as store, glassine.open(tmp_path / "a.db") as other:
        session = store.session("s")
        for event in session.record_stream(events("one ", "two ")):
            if event.get("type") == "content_block_delta":
                [message] = other.session("s").history()
                assert message.text.startswith("one ")
                assert (message.metadata or {})["glassine"]["status"] == "streaming"
        [message] = other.session("s").history()
        assert message.text == "one two "


def test_a_stream_that_breaks_off_keeps_what_came() -> None:
    class BrokenError(Exception):
        pass

    def broken() -> Iterator[dict[str, Any]]:
        yield from events("half of ", "it", ends=False)
        raise BrokenError

    with glassine.open(":memory:") as store:
        session = store.session("s")
        session.append(user("hi"))
        with pytest.raises(BrokenError):
            session.record_stream(broken(), view=session.view()).run()
        message = session.history()[-1]
        assert message.text == "half of it"
        assert (message.metadata or {})["glassine"]["status"] == "interrupted"
        [usage] = session.usage()
        assert not usage.ok
        session.append(user("go on"))
        assert session.view(model="claude-sonnet-4-5").validate() == []


def test_a_stream_that_nobody_reads_to_the_end() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        with session.record_stream(events("a", "b", "c")) as recording:
            for event in recording:
                if event.get("type") == "content_block_delta":
                    break
        [message] = session.history()
        assert message.text == "a"
        assert (message.metadata or {})["glassine"]["status"] == "interrupted"
        assert len(session.usage()) == 1


def test_a_stream_of_nothing_is_a_failed_request() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        assert session.record_stream(iter([])).run() is None
        assert session.record_stream(events(ends=False)).run() is None
        assert session.history() == []
        [usage] = session.usage()
        assert not usage.ok


def test_a_message_that_is_deleted_while_it_comes_stays_deleted() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s")
        recording = session.record_stream(events("a", "b"))
        for _ in recording:
            if recording.message is not None:
                session.delete(recording.message.id)
        assert session.history() == []
        assert len(session.usage()) == 1


class Broken:
    """A stream that ends before it begins."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        raise ConnectionError("overloaded")


def test_a_stream_that_breaks_before_it_begins_is_a_failed_request() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec())
        session.append(user("hello"))
        view = session.view(model="claude-sonnet-4-5")
        with pytest.raises(ConnectionError):
            session.record_stream(Broken(), view=view).run()
        (row,) = session.usage()
        assert (row.ok, row.model, row.message_id, row.input_tokens) == (False, "claude-sonnet-4-5", None, None)
        assert row.leaf_id == view.leaf
        with session.record_stream(Broken(), view=view):
            pass  # nobody asked for an event
        assert len(session.usage()) == 1
        assert len(session.history()) == 1
