"""Recording replies: where they go, what is kept of them, and streams that break off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassine
from glassine import AsyncStore, InvalidMessageError, SessionSpec, user

pytestmark = pytest.mark.anyio

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
async def test_a_reply_of_each_provider(response: dict[str, Any]) -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        asked = await session.append(user("hi"))
        view = await session.view(model=response.get("model") or "gemini-2.5-flash")
        message = await session.record(response, view=view)
        assert (message.role, message.text) == ("assistant", "hello")
        assert await session.history() == [asked, message]
        [usage] = await session.usage()
    assert (usage.message_id, usage.leaf_id, usage.ok, usage.kind) == (message.id, asked.id, True, "reply")
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (10, 5, 100)
    assert usage.started_at == view.started_at
    assert usage.ended_at is not None
    assert usage.cost is not None
    assert usage.cost > 0


async def test_cache_writes_are_told_apart() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        await session.record(anthropic_reply("hello"))
        [usage] = await session.usage()
    assert (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) == (20, 10)
    assert usage.started_at is None  # without a view nobody knows when the request was begun


async def test_what_is_no_reply_is_refused_and_nothing_is_stored() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        for wrong in ("hello", {"error": {"message": "overloaded"}}, None, 3, {}):
            with pytest.raises(InvalidMessageError):
                await session.record(wrong)
        assert await session.history() == []


async def _branches(store: AsyncStore) -> Any:
    session = store.session("s")
    await session.append([user("u1", id="u1"), glassine.assistant("a1", id="a1")])
    return session


async def test_a_reply_follows_what_was_appended_meanwhile() -> None:
    async with glassine.open_async(":memory:") as store:
        session = await _branches(store)
        view = await session.view()
        await session.append(user("one more thing", id="u2"))
        reply = await session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in await session.history()] == ["u1", "a1", "u2", reply.id]


async def test_a_reply_to_another_branch_leaves_the_active_leaf() -> None:
    async with glassine.open_async(":memory:") as store:
        session = await _branches(store)
        view = await session.view()
        await session.append(user("elsewhere", id="x"), parent="u1")
        reply = await session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in await session.history()] == ["u1", "x"]
        assert [message.id for message in await session.history(reply.id)] == ["u1", "a1", reply.id]


async def test_regenerating_makes_a_sibling_that_becomes_active() -> None:
    async with glassine.open_async(":memory:") as store:
        session = await _branches(store)
        view = await session.view(leaf="u1")
        assert [message.id for message in view.messages] == ["u1"]
        reply = await session.record(anthropic_reply("again"), view=view)
        assert [message.id for message in await session.branches("u1")] == ["a1", reply.id]
        assert [message.id for message in await session.history()] == ["u1", reply.id]


async def test_regenerating_while_others_go_on() -> None:
    async with glassine.open_async(":memory:") as store:
        session = await _branches(store)
        view = await session.view(leaf="u1")
        await session.append(user("u2", id="u2"))
        reply = await session.record(anthropic_reply("again"), view=view)
        assert [message.id for message in await session.history()] == ["u1", "a1", "u2"]
        assert [message.id for message in await session.history(reply.id)] == ["u1", reply.id]


async def test_a_reply_whose_leaf_is_gone_is_not_lost() -> None:
    async with glassine.open_async(":memory:") as store:
        session = await _branches(store)
        view = await session.view()
        await session.delete("a1")
        reply = await session.record(anthropic_reply("hello"), view=view)
        assert [message.id for message in await session.history()] == ["u1", reply.id]


async def test_ours_are_run_and_others_are_left() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("memory"))
        await session.append(user("hi"))
        use = {"type": "tool_use", "id": "t1", "name": "set_context", "input": {"label": "memory", "content": "x"}}
        other = {"type": "tool_use", "id": "t2", "name": "read_file", "input": {"path": "x"}}
        wrong = {"type": "tool_use", "id": "t3", "name": "set_context", "input": {"label": "none", "content": "x"}}
        reply = await session.record(anthropic_reply(use, other, wrong))
        found = await session.run_tools(reply)
        assert [glassine.results(message)[0].id for message in found] == ["t1", "t3"]
        assert [glassine.results(message)[0].is_error for message in found] == [False, True]
        lines = await session.block_lines("memory")
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


async def test_a_stream_is_passed_on_and_stored() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        await session.append(user("hi"))
        recording = session.record_stream(events("he", "llo"), view=await session.view())
        passed = [event async for event in recording]
        assert passed == list(events("he", "llo"))
        assert recording.message is not None
        assert recording.message.text == "hello"
        assert (await session.history())[-1] == recording.message
        assert recording.message.metadata is not None
        assert recording.message.metadata["glassine"]["status"] == "complete"
        [usage] = await session.usage()
        assert (usage.ok, usage.output_tokens, usage.message_id) == (True, 7, recording.message.id)
        assert len(await session.search("hello")) == 1


async def test_what_came_is_there_while_the_rest_comes(tmp_path: Path) -> None:
    async with glassine.open_async(tmp_path / "a.db") as store, glassine.open_async(tmp_path / "a.db") as other:
        session = store.session("s")
        async for event in session.record_stream(events("one ", "two ")):
            if event.get("type") == "content_block_delta":
                [message] = await other.session("s").history()
                assert message.text.startswith("one ")
                assert (message.metadata or {})["glassine"]["status"] == "streaming"
        [message] = await other.session("s").history()
        assert message.text == "one two "


async def test_a_stream_that_breaks_off_keeps_what_came() -> None:
    class BrokenError(Exception):
        pass

    def broken() -> Iterator[dict[str, Any]]:
        yield from events("half of ", "it", ends=False)
        raise BrokenError

    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        await session.append(user("hi"))
        with pytest.raises(BrokenError):
            await session.record_stream(broken(), view=await session.view()).run()
        message = (await session.history())[-1]
        assert message.text == "half of it"
        assert (message.metadata or {})["glassine"]["status"] == "interrupted"
        [usage] = await session.usage()
        assert not usage.ok
        await session.append(user("go on"))
        assert (await session.view(model="claude-sonnet-4-5")).validate() == []


async def test_a_stream_that_nobody_reads_to_the_end() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        async with session.record_stream(events("a", "b", "c")) as recording:
            async for event in recording:
                if event.get("type") == "content_block_delta":
                    break
        [message] = await session.history()
        assert message.text == "a"
        assert (message.metadata or {})["glassine"]["status"] == "interrupted"
        assert len(await session.usage()) == 1


async def test_a_stream_of_nothing_is_a_failed_request() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        assert await session.record_stream(iter([])).run() is None
        assert await session.record_stream(events(ends=False)).run() is None
        assert await session.history() == []
        [usage] = await session.usage()
        assert not usage.ok


async def test_a_message_that_is_deleted_while_it_comes_stays_deleted() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        recording = session.record_stream(events("a", "b"))
        async for _ in recording:
            if recording.message is not None:
                await session.delete(recording.message.id)
        assert await session.history() == []
        assert len(await session.usage()) == 1


class Broken:
    """A stream that ends before it begins."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        raise ConnectionError("overloaded")


async def test_a_stream_that_breaks_before_it_begins_is_a_failed_request() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s", SessionSpec())
        await session.append(user("hello"))
        view = await session.view(model="claude-sonnet-4-5")
        with pytest.raises(ConnectionError):
            await session.record_stream(Broken(), view=view).run()
        (row,) = await session.usage()
        assert (row.ok, row.model, row.message_id, row.input_tokens) == (False, "claude-sonnet-4-5", None, None)
        assert row.leaf_id == view.leaf
        async with session.record_stream(Broken(), view=view):
            pass  # nobody asked for an event
        assert len(await session.usage()) == 1
        assert len(await session.history()) == 1
