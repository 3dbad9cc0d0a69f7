"""The fake of Anthropic's API, driven by the real client."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine import rules
from glassine.rules import Limits
from glassine.testing import Call, Cut, Failure, FakeProvider, Received, Text, Thinking, Wait
from glassine.testing.provider._ledger import LIFETIMES, Ledger

anthropic = pytest.importorskip("anthropic")

MODEL = "claude-sonnet-5"
BOUND = "claude-fable-5-1"
ASK = {"role": "user", "content": "Find it."}
MARK = {"type": "ephemeral"}
TOOL = {"name": "search", "description": "Search.", "input_schema": {"type": "object"}}


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with FakeProvider(minimum_prefix=0, bound_models=[BOUND]) as fake:
        yield fake


@pytest.fixture(scope="module")
def one_client() -> Iterator[Any]:
    with anthropic.Anthropic(api_key="any") as client:
        yield client


@pytest.fixture
def client(one_client: Any, fake: FakeProvider) -> Any:
    return one_client.with_options(base_url=fake.anthropic_url)


def create(client: Any, *messages: Any, **more: Any) -> Any:
    return client.messages.create(**{"model": MODEL, "max_tokens": 100, "messages": list(messages) or [ASK], **more})


def refused(client: Any, *messages: Any, **more: Any) -> str:
    with pytest.raises(anthropic.BadRequestError) as caught:
        create(client, *messages, **more)
    body = caught.value.body
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    return str(body["error"]["message"])


def results(reply: Any, **more: Any) -> dict[str, Any]:
    """The user's message that answers the calls of a reply."""
    calls = [block for block in reply.content if block.type == "tool_use"]
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, **more} for call in calls]}


def plain(reply: Any) -> dict[str, Any]:
    """A reply as a message of plain data, to be sent back."""
    return {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]}


# --- replies ----------------------------------------------------------------------------------------------------------


def test_replies_come_in_order_then_a_fixed_one(fake: FakeProvider, client: Any) -> None:
    fake.script("one", Text("two"))
    assert [create(client).content[0].text for _ in range(3)] == ["one", "two", "This is the fake provider's answer."]
    assert fake.waiting == 0


def test_a_tool_loop_passes(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("Where?"), Text("I look."), Call("search", {"q": "日本"}), Call("search")], "Found.")
    reply = create(client, tools=[TOOL])
    assert reply.stop_reason == "tool_use"
    assert [block.type for block in reply.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert reply.content[2].input == {"q": "日本"}
    assert reply.content[2].id != reply.content[3].id
    end = create(client, ASK, reply.to_param(), results(reply, content="x"), tools=[TOOL])
    assert (end.content[0].text, end.stop_reason) == ("Found.", "end_turn")
    assert end.usage.output_tokens > 0
    assert [received.violations for received in fake.requests] == [[], []]


def test_the_stream_makes_up_the_message(fake: FakeProvider, client: Any) -> None:
    parts: list[Thinking | Text | Call] = [
        Thinking("Where " * 20),
        Text("文章 " * 20),
        Call("search", {"q": "x" * 50, "n": [1, None]}),
    ]
    fake.script(parts, parts)
    with client.messages.stream(model=MODEL, max_tokens=100, messages=[ASK]) as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_message()
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert kinds.count("content_block_delta") > 10
    said = fake.requests[0].answer
    assert [block.model_dump(exclude_none=True) for block in streamed.content] == said["content"]
    assert streamed.usage.output_tokens == said["usage"]["output_tokens"] > 0
    assert streamed.stop_reason == "tool_use"
    assert [(b.type, getattr(b, "input", None)) for b in create(client).content] == [
        (b.type, getattr(b, "input", None)) for b in streamed.content
    ]


def test_answers_may_look_at_the_request(fake: FakeProvider, client: Any) -> None:
    fake.script(lambda received: [f"You said {received.body['messages'][-1]['content']}", Call("search")])
    assert create(client).content[0].text == "You said Find it."


def test_an_error_in_an_answer_comes_out_at_the_end(one_client: Any) -> None:
    def answer(received: Received) -> str:
        raise KeyError("lost")

    fake = FakeProvider(answers=[answer])
    with pytest.raises(KeyError, match="lost"), fake:
        fails(one_client.with_options(base_url=fake.anthropic_url))
    assert [received.status for received in fake.requests] == [500]  # not tried again


def fails(client: Any) -> None:
    with pytest.raises(anthropic.InternalServerError):
        create(client)


def test_what_came_in_is_written_down(fake: FakeProvider, client: Any) -> None:
    create(client, {"role": "user", "content": "日本"})
    (received,) = fake.requests
    assert (received.api, received.path, received.status) == ("anthropic", "/v1/messages", 200)
    assert json.loads(received.raw) == received.body
    assert received.headers["authorization"] == "Bearer any"
    assert received.usage == received.answer["usage"]


def test_a_wait_holds_the_answer_back(fake: FakeProvider, client: Any) -> None:
    fake.script([Wait(0.2), Text("late")])
    start = time.monotonic()
    assert create(client).content[0].text == "late"
    assert time.monotonic() - start >= 0.2


@pytest.mark.anyio
async def test_the_async_client_works_too(fake: FakeProvider) -> None:
    fake.script([Text("a" * 100), Call("search")])
    async with anthropic.AsyncAnthropic(base_url=fake.anthropic_url, api_key="any") as client:
        async with client.messages.stream(model=MODEL, max_tokens=100, messages=[ASK]) as stream:
            said = "".join([text async for text in stream.text_stream])
        assert said == "a" * 100


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_beta_requests_are_taken(fake: FakeProvider, client: Any) -> None:
    edits = {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}}]}
    reply = client.beta.messages.create(
        model=MODEL,
        max_tokens=100,
        messages=[ASK],
        betas=["context-management-2025-06-27"],
        context_management=edits,
    )
    assert reply.content[0].text
    (received,) = fake.requests
    assert received.headers["anthropic-beta"] == "context-management-2025-06-27"
    assert received.body["context_management"] == edits
    assert received.path == "/v1/messages"
    assert "context_management: Extra inputs" in refused(client, extra_body={"context_management": edits})


# --- failures ---------------------------------------------------------------------------------------------------------


def test_the_client_tries_again_after_overload_and_rate_limit(fake: FakeProvider, client: Any) -> None:
    fake.script(Failure(529, retry_after=0.01), Failure(429, retry_after=0.01), "at last")
    assert create(client).content[0].text == "at last"
    assert [received.status for received in fake.requests] == [529, 429, 200]
    assert len({received.raw for received in fake.requests}) == 1


@pytest.mark.parametrize(
    ("failure", "error", "kind"),
    [
        (Failure(429), anthropic.RateLimitError, "rate_limit_error"),
        (Failure(500), anthropic.InternalServerError, "api_error"),
        (Failure(529), anthropic.InternalServerError, "overloaded_error"),
        (Failure(403), anthropic.PermissionDeniedError, "permission_error"),
        (Failure(400, "billing_error", "Pay first."), anthropic.BadRequestError, "billing_error"),
        (Failure(400, "context_too_long"), anthropic.BadRequestError, "invalid_request_error"),
    ],
)
def test_failures_have_the_providers_shape(
    fake: FakeProvider, client: Any, failure: Failure, error: type[Exception], kind: str
) -> None:
    fake.script(failure)
    with pytest.raises(error) as caught:
        create(client.with_options(max_retries=0))
    said = caught.value.body  # type: ignore[attr-defined]
    assert said["error"]["type"] == kind
    assert said["request_id"] == caught.value.request_id  # type: ignore[attr-defined]
    if failure.kind == "context_too_long":
        assert said["error"]["message"] == "prompt is too long: 200001 tokens > 200000 maximum"


def test_a_stream_may_be_cut(fake: FakeProvider, client: Any) -> None:
    fake.script([Text("x" * 200), Cut(after=4)])
    got: list[str] = []
    with (
        pytest.raises(Exception, match="closed connection"),
        client.messages.stream(model=MODEL, max_tokens=100, messages=[ASK]) as stream,
    ):
        got.extend(stream.text_stream)
    assert got == ["x" * 24]


def test_a_reply_may_be_cut(fake: FakeProvider, client: Any) -> None:
    fake.script(Cut(), "whole")
    with pytest.raises(anthropic.APIConnectionError):
        create(client.with_options(max_retries=0))
    assert create(client).content[0].text == "whole"


def test_a_stream_may_fail_when_it_has_begun(fake: FakeProvider, client: Any) -> None:
    fake.script([Text("so far"), Failure(529)])
    got: list[str] = []
    with (
        pytest.raises(anthropic.APIStatusError) as caught,
        client.messages.stream(model=MODEL, max_tokens=100, messages=[ASK]) as stream,
    ):
        got.extend(stream.text_stream)
    assert got == ["so far"]
    assert caught.value.body["error"]["type"] == "overloaded_error"


# --- the server itself ------------------------------------------------------------------------------------------------


def test_two_fakes_at_once(fake: FakeProvider, client: Any) -> None:
    fake.script("one")
    with FakeProvider(answers=["two"]) as other:
        assert create(client.with_options(base_url=other.anthropic_url)).content[0].text == "two"
        assert create(client).content[0].text == "one"
    assert (len(fake.requests), len(other.requests)) == (1, 1)
    with FakeProvider(answers=["three"]) as third:  # a port that was let go can be had again
        assert create(client.with_options(base_url=third.anthropic_url)).content[0].text == "three"


def test_the_end_does_not_wait_for_an_answer(one_client: Any) -> None:
    errors: list[Exception] = []

    def ask(client: Any) -> None:
        try:
            create(client)
        except anthropic.APIError as error:
            errors.append(error)

    with FakeProvider(answers=[[Wait(60), Text("late")]]) as fake:
        asking = threading.Thread(
            target=ask, args=[one_client.with_options(base_url=fake.anthropic_url, max_retries=0)]
        )
        asking.start()
        while not fake.requests:
            time.sleep(0.005)
        start = time.monotonic()
    asking.join(10)
    assert time.monotonic() - start < 10
    assert len(errors) == 1


def test_what_cannot_be_answered_is_an_error(one_client: Any) -> None:
    fake = FakeProvider(answers=[[5]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="cannot answer with 5"), fake:
        fails(one_client.with_options(base_url=fake.anthropic_url))


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ImportError, match=r"glassine\[testing\]"):
        FakeProvider().__enter__()


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_bad_request_is_refused_and_takes_no_answer(fake: FakeProvider, client: Any) -> None:
    fake.script("kept")
    call = {"type": "tool_use", "id": "call_1", "name": "search", "input": {}}
    said = refused(client, ASK, {"role": "assistant", "content": [call]}, {"role": "user", "content": "go on"})
    assert said.startswith(
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1"
    )
    assert fake.requests[0].violations == rules.violations("anthropic", fake.requests[0].body)
    assert fake.requests[0].status == 400
    assert create(client).content[0].text == "kept"


def test_a_stream_is_refused_before_it_begins(fake: FakeProvider, client: Any) -> None:
    with (
        pytest.raises(anthropic.BadRequestError),
        client.messages.stream(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": " "}]),
    ):
        pass


def test_keys_and_json_are_looked_at(fake: FakeProvider) -> None:
    import httpx2

    url, good = f"{fake.anthropic_url}/v1/messages", {"x-api-key": "any", "anthropic-version": "2023-06-01"}
    assert httpx2.post(url, json={}).status_code == 401
    assert httpx2.post(url, json={}, headers={"x-api-key": "any"}).status_code == 401
    for content in (b"{", b"[]", b"null", b'{"model": "x", "messages": "\\ud800"}', b"\xff", b"[" * 100_000):
        answer = httpx2.post(url, content=content, headers=good)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"
    large = b'{"messages": "' + b"x" * (32 << 20) + b'"}'
    answer = httpx2.post(url, content=large, headers=good)
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "request_too_large")
    assert httpx2.get(f"{fake.anthropic_url}/v1/models", headers=good).json()["error"]["type"] == "not_found_error"
    assert {violation.rule for received in fake.requests for violation in received.violations} >= {"anthropic.headers"}


def test_a_prompt_beyond_the_window_is_refused(fake: FakeProvider, client: Any) -> None:
    fake.limits = {MODEL: Limits(context_window=1000, max_output=50)}
    words = {"role": "user", "content": "word " * 5000}
    size = client.messages.count_tokens(model=MODEL, messages=[words]).input_tokens
    assert refused(client, words, max_tokens=50) == f"prompt is too long: {size} tokens > 1000 maximum"
    assert "maximum allowed number of output tokens" in refused(client)
    assert create(client, words, model="claude-haiku-4-5").content


def test_count_tokens(fake: FakeProvider, client: Any) -> None:
    more: dict[str, Any] = {"system": "Be brief.", "tools": [TOOL]}
    few = client.messages.count_tokens(model=MODEL, messages=[ASK]).input_tokens
    many = client.messages.count_tokens(model=MODEL, messages=[ASK], **more).input_tokens
    assert 0 < few < many
    usage = create(client, **more).usage
    assert usage.input_tokens == many
    thinking = {"type": "adaptive"}
    assert client.messages.count_tokens(model=MODEL, messages=[ASK], thinking=thinking).input_tokens == few
    with pytest.raises(anthropic.BadRequestError):
        client.messages.count_tokens(model=MODEL, messages=[ASK], extra_body={"max_tokens": 5})
    with pytest.raises(anthropic.BadRequestError):
        client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": ""}])


# --- thinking ---------------------------------------------------------------------------------------------------------


def test_thinking_comes_back_as_it_was(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("hm"), Thinking("", redacted=True), Text("I look."), Thinking("so"), Call("search")])
    reply = create(client)
    answer = results(reply)
    said = plain(reply)["content"]
    assert [block["type"] for block in said] == [
        "thinking", "redacted_thinking", "text", "thinking", "tool_use",
    ]  # fmt: skip

    def send(content: list[Any]) -> Any:
        return create(client, ASK, {"role": "assistant", "content": content}, answer)

    def fails(content: list[Any]) -> str:
        return refused(client, ASK, {"role": "assistant", "content": content}, answer)

    assert send(said)
    assert send([block for block in said if "thinking" not in block["type"]])  # wholly absent
    assert "Invalid `signature`" in fails([{**said[0], "thinking": "Hm"}, *said[1:]])
    assert "Invalid `signature`" in fails([{**said[0], "signature": said[0]["signature"][:-9] + "A" * 9}, *said[1:]])
    assert "Invalid `data`" in fails([said[0], {**said[1], "data": said[1]["data"] + "AAAA"}, *said[2:]])
    for half in ([*said[1:]], [said[0], *said[2:]], [said[1], said[0], *said[2:]], [said[2], *said[:2], *said[3:]]):
        assert "cannot be modified" in fails(half)
    assert fake.requests[-1].violations[0].rule == "anthropic.thinking_whole"
    # The same in an earlier message is nobody's business.
    old = {"role": "assistant", "content": said[1:]}
    assert create(client, ASK, old, answer, {"role": "assistant", "content": "x"}, ASK)


def test_thinking_of_others_is_taken_at_its_word(fake: FakeProvider, client: Any) -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "EqQBCgIYAhIM"}
    content = [block, {"type": "text", "text": "x"}]
    for model in (MODEL, BOUND):
        assert create(client, ASK, {"role": "assistant", "content": content}, ASK, model=model)
    assert "Invalid `signature`" in refused(
        client, ASK, {"role": "assistant", "content": [{**block, "signature": ""}, content[1]]}, ASK
    )


def test_another_fake_knows_the_signatures(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("hm"), Text("x")])
    said = plain(create(client))
    said["content"][0]["thinking"] = "changed"
    with FakeProvider() as other:
        later = client.with_options(base_url=other.anthropic_url)
        assert "Invalid `signature`" in refused(later, ASK, said, ASK)


def test_omitted_thinking_is_signed_all_the_same(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("hm"), Text("x")])
    reply = create(client, thinking={"type": "adaptive", "display": "omitted"})
    assert reply.content[0].thinking == ""
    assert reply.content[0].signature
    assert create(client, ASK, plain(reply), ASK)


def bound_history(fake: FakeProvider, client: Any) -> list[Any]:
    """Three turns with thinking, for a model that binds it."""
    history: list[Any] = [ASK]
    for number in range(3):
        fake.script([Thinking(f"thought {number}"), Text(f"answer {number}")])
        history += [plain(create(client, *history, model=BOUND, system="Be brief.")), ASK]
    return history


def test_bound_thinking_needs_everything_before_it(fake: FakeProvider, client: Any) -> None:
    history = bound_history(fake, client)

    def send(messages: list[Any], **more: Any) -> Any:
        return create(client, *messages, **{"model": BOUND, "system": "Be brief.", **more})

    def fails(messages: list[Any], **more: Any) -> str:
        return refused(client, *messages, **{"model": BOUND, "system": "Be brief.", **more})

    def without_thinking(*numbers: int) -> list[Any]:
        return [
            {**message, "content": message["content"][1:]} if number in numbers else message
            for number, message in enumerate(history)
        ]

    assert send(history)
    assert "messages.1.content.0: Invalid `signature`" in fails(history, system="Be long.")
    assert "bound to a different conversation" in fails(history, tools=[TOOL])
    assert "messages.3.content.0" in fails([*history[:2], {"role": "user", "content": "Other."}, *history[3:]])
    assert "messages.1.content.0" in fails(history[2:])
    assert fake.requests[-1].violations[0].rule == "anthropic.thinking_bound"
    # Thinking may be left out from the start, and only from there.
    assert send(without_thinking(1))
    assert send(without_thinking(1, 3))
    assert send(without_thinking(1, 3, 5), system="Be long.")
    assert "messages.5.content.0" in fails(without_thinking(3))
    # Marks, and a text as one block, change nothing.
    marked = [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert send(
        [{"role": "user", "content": [{"type": "text", "text": "Find it.", "cache_control": MARK}]}, *history[1:]]
    )
    assert send(history, system=marked)
    # For another model nothing is bound, and who asks for it gets the block dropped.
    assert send(history, model=MODEL, system="Be long.")
    drop = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert "thinking.block_binding: Extra inputs" in fails(history, thinking=drop)
    beta = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    assert send(history, system="Be long.", thinking=drop, extra_headers=beta)


# --- the cache --------------------------------------------------------------------------------------------------------


def numbers(reply: Any) -> tuple[int, int, int]:
    usage = reply.usage
    return usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def text(words: str, ttl: str | None = None, **more: Any) -> dict[str, Any]:
    mark = {"cache_control": {**MARK, **({} if ttl == "5m" else {"ttl": ttl})}} if ttl else {}
    return {"type": "text", "text": words, **mark, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def test_the_second_request_reads_what_the_first_wrote(fake: FakeProvider, client: Any) -> None:
    first = create(client, user(text("word " * 100, "5m")))
    read, written, rest = numbers(first)
    assert read == 0
    assert written > 100
    assert first.usage.cache_creation.ephemeral_5m_input_tokens == written
    assert first.usage.cache_creation.ephemeral_1h_input_tokens == 0
    assert numbers(create(client, user(text("word " * 100, "5m")))) == (written, 0, rest)
    # Without marks nothing is read; with another model neither.
    assert numbers(create(client, user(text("word " * 100)))) == (0, 0, written + rest)
    assert numbers(create(client, user(text("word " * 100, "5m")), model="claude-opus-5"))[0] == 0


def test_a_growing_history_with_automatic_marks(fake: FakeProvider, client: Any) -> None:
    history: list[Any] = [user(text("word " * 50))]
    known = 0
    for _ in range(4):
        reply = create(client, *history, cache_control=MARK, system="Be brief.", tools=[TOOL])
        read, written, _ = numbers(reply)
        assert read == known
        assert written > 0
        known = read + written
        history += [reply.to_param(), user(text("word " * 50))]


def test_streams_tell_the_same_numbers(fake: FakeProvider, client: Any) -> None:
    for want_read in (False, True):
        with client.messages.stream(model=MODEL, max_tokens=9, messages=[user(text("word " * 50, "5m"))]) as stream:
            read, written, _ = numbers(stream.get_final_message())
        assert (read > 0, written > 0) == (want_read, not want_read)


def test_entries_expire_and_reading_keeps_them_alive(fake: FakeProvider, client: Any) -> None:
    clock = fake.clock = Clock()
    ask = user(text("word " * 50, "5m"))

    def read() -> bool:
        return numbers(create(client, ask))[0] > 0

    assert not read()
    clock.now += 299
    assert read()
    clock.now += 299
    assert read()
    clock.now += 300
    assert not read()


def test_an_hour_is_an_hour(fake: FakeProvider, client: Any) -> None:
    clock = fake.clock = Clock()
    ask = user(text("word " * 50, "1h"), text("more " * 50, "5m"), text("rest"))
    usage = create(client, ask).usage
    hour, minutes = usage.cache_creation.ephemeral_1h_input_tokens, usage.cache_creation.ephemeral_5m_input_tokens
    assert hour > 0
    assert minutes > 0
    assert usage.cache_creation_input_tokens == hour + minutes
    clock.now += 3000
    assert numbers(create(client, ask))[:2] == (hour, minutes)
    clock.now += 3599
    assert numbers(create(client, ask))[:2] == (hour, minutes)
    clock.now += 3600
    assert numbers(create(client, ask))[:2] == (0, hour + minutes)


def test_a_mark_looks_back_twenty_blocks(fake: FakeProvider, client: Any) -> None:
    start = [text(f"word {number}") for number in range(5)]

    def ask(more: int, *, second: bool = False) -> tuple[int, int, int]:
        blocks = [*start, *(text(f"more {number}") for number in range(more))]
        blocks[-1] = text(f"more {more - 1}", "5m")
        if second:
            blocks[4] = {**start[4], "cache_control": MARK}
        return numbers(create(client, user(*blocks)))

    written = numbers(create(client, user(*start[:-1], text("word 4", "5m"))))[1]
    assert ask(20)[0] == 0  # the entry is the 21st position
    fake.script()
    assert numbers(create(client, user(*start[:-1], text("word 4", "5m"))))[0] == written
    assert ask(24, second=True)[0] > written  # that one found what ask(20) wrote
    assert ask(19)[0] == written


def test_a_prefix_below_the_least_size_is_not_written(fake: FakeProvider, client: Any) -> None:
    fake.minimum_prefix = {MODEL: 500}
    few, many = user(text("word " * 100, "5m")), user(text("word " * 1000, "5m"))
    for ask, cached in ((few, False), (few, False), (many, True)):
        assert (numbers(create(client, ask))[1] > 0) == cached


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"tools": [{**TOOL, "description": "Another.", "cache_control": MARK}]}, 0),
        ({"system": [text("Be long.", "5m")]}, 1),
        ({"tool_choice": {"type": "auto"}}, 2),
        ({"thinking": {"type": "adaptive"}}, 2),
        ({"max_tokens": 5}, 3),
        ({"temperature": 0.5}, 3),
    ],
)
def test_a_change_costs_what_comes_after_it(fake: FakeProvider, client: Any, change: dict[str, Any], kept: int) -> None:
    base: dict[str, Any] = {
        "tools": [{**TOOL, "cache_control": MARK}],
        "system": [text("Be brief.", "5m")],
        "messages": [user(text("Find it.", "5m"))],
    }
    first = fake_sizes(client, base)
    create(client, **base)
    extra = {name: change[name] for name in change if name == "temperature"}
    reply = create(client, **{**base, **{n: v for n, v in change.items() if n not in extra}}, extra_body=extra)
    assert reply.usage.cache_read_input_tokens == first[kept]


def fake_sizes(client: Any, request: dict[str, Any]) -> list[int]:
    """Tokens up to each of the marks of a request whose tools, system and messages are marked."""
    nothing = client.messages.count_tokens(model=MODEL, messages=[user(text("x"))]).input_tokens
    sizes = [0]
    for names in (["tools"], ["tools", "system"]):
        part = {name: request[name] for name in names}
        whole = client.messages.count_tokens(model=MODEL, messages=[user(text("x"))], **part).input_tokens
        sizes.append(whole - nothing)
    frame = nothing - numbers(create(client, user(text("x", "5m"))))[1]
    return [*sizes, client.messages.count_tokens(model=MODEL, **request).input_tokens - frame]


def test_a_prompt_only_for_the_cache(fake: FakeProvider, client: Any) -> None:
    ask = user(text("word " * 50, "5m"))
    warmed = create(client, ask, max_tokens=0)
    assert (warmed.content, warmed.stop_reason) == ([], "max_tokens")
    assert numbers(create(client, ask))[0] == numbers(warmed)[1] > 0


def test_an_entry_is_there_when_the_answer_begins(fake: FakeProvider, client: Any) -> None:
    """Two cold requests at once pay two writes; a failed one writes nothing."""
    ask = user(text("word " * 50, "5m"))
    fake.script(Failure(500))
    with pytest.raises(anthropic.InternalServerError):
        create(client.with_options(max_retries=0), ask)
    fake.script([Wait(0.3), Text("a")], [Wait(0.3), Text("b")])
    got: list[tuple[int, int, int]] = []
    threads = [threading.Thread(target=lambda: got.append(numbers(create(client, ask)))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [read for read, _, _ in got] == [0, 0]
    assert numbers(create(client, ask))[0] > 0


# --- properties of the cache ------------------------------------------------------------------------------------------

BLOCKS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([None, None, "5m", "1h"])), min_size=1, max_size=30)


@given(st.lists(st.tuples(BLOCKS, st.integers(0, 4000)), min_size=1, max_size=6))
def test_what_is_read_was_written_and_lives(steps: list[tuple[list[tuple[str, str | None]], int]]) -> None:
    """Against the plainest model: every prefix that was ever marked, and until when it lives."""
    ledger, now = Ledger(), 0
    lives: dict[str, tuple[float, int]] = {}
    for blocks, pause in steps:
        now += pause
        said = "".join(letter for letter, _ in blocks)
        marks = [(place, ttl) for place, (_, ttl) in enumerate(blocks) if ttl]
        request = {"model": MODEL, "messages": [user(*(text(letter, ttl) for letter, ttl in blocks))]}
        counted = ledger.count(request, 0, now)
        found = [
            place
            for mark, _ in marks
            for place in range(max(mark - 19, 0), mark + 1)
            if lives.get(said[: place + 1], (0, 0))[0] > now
        ]
        hit = max(found, default=-1)
        assert counted.read == hit + 1  # each letter is one token
        assert counted.total == len(blocks) + 8
        assert counted.written == max([place for place, _ in marks if place > hit], default=hit) - hit
        assert min(counted.input, counted.written_5m, counted.written_1h) >= 0
        assert ledger.count(request, 0, now)[:4] == counted[:4]  # counting changes nothing
        counted.commit()
        for place, ttl in [*marks, (hit, None)]:
            prefix = said[: place + 1]
            if place > hit and ttl:
                lives[prefix] = (now + LIFETIMES[ttl], int(LIFETIMES[ttl]))
            elif place >= 0 and lives.get(prefix, (0, 0))[0] > now:
                lives[prefix] = (now + lives[prefix][1], lives[prefix][1])
        assert ledger.count(request, 0, now).written == 0
