"""The fake of OpenAI's APIs, driven by the real client."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from glassine.rules import Limits
from glassine.testing import Call, Cut, Failure, FakeProvider, Text, Thinking

openai = pytest.importorskip("openai")

MODEL = "gpt-4o"
THINKER = "gpt-5"
ASK = {"role": "user", "content": "Find it."}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
FLAT = {"type": "function", "name": "search", "parameters": {"type": "object"}, "strict": False}
LONG = "Lorem ipsum dolor sit amet. " * 400
ENCRYPTED = ["reasoning.encrypted_content"]


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    """One client for all tests: making one takes longer than a test."""
    with openai.OpenAI(base_url="http://127.0.0.1:1", api_key="any", max_retries=2) as client:
        yield client


@pytest.fixture
def client(fake: FakeProvider, connection: Any) -> Any:
    return connection.copy(base_url=fake.openai_url)


def chat(client: Any, *messages: Any, **more: Any) -> Any:
    return client.chat.completions.create(**{"model": MODEL, "messages": list(messages) or [ASK], **more})


def respond(client: Any, *items: Any, **more: Any) -> Any:
    return client.responses.create(**{"model": THINKER, "input": list(items) or "Find it.", **more})


def refused(ask: Any, *args: Any, status: int = 400, **more: Any) -> dict[str, Any]:
    with pytest.raises(openai.APIStatusError) as caught:
        ask(*args, **more)
    assert caught.value.status_code == status
    assert set(caught.value.body) == {"message", "type", "param", "code"}
    return dict(caught.value.body)


def plain(items: Any) -> list[dict[str, Any]]:
    """Output items as they go back, plain data."""
    return [item.model_dump(exclude_none=True) for item in items]


# --- Chat Completions -------------------------------------------------------------------------------------------------


def test_replies_come_in_order_then_a_fixed_one(fake: FakeProvider, client: Any) -> None:
    fake.script("one", Text("two"))
    said = [chat(client).choices[0].message.content for _ in range(3)]
    assert said == ["one", "two", "This is the fake provider's answer."]
    assert [received.api for received in fake.requests] == ["openai"] * 3


def test_a_chat_tool_loop_passes(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("Where?"), Text("I look."), Call("search", {"q": "日本"}), Call("search")], "Found.")
    reply = chat(client, tools=[TOOL])
    message = reply.choices[0].message
    assert reply.choices[0].finish_reason == "tool_calls"
    assert message.content == "I look."
    assert json.loads(message.tool_calls[0].function.arguments) == {"q": "日本"}
    assert reply.usage.completion_tokens_details.reasoning_tokens > 0
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    answers = [{"role": "tool", "tool_call_id": call.id, "content": "x"} for call in message.tool_calls]
    sent = message.model_dump(exclude_none=True)
    assert chat(client, ASK, sent, *answers, tools=[TOOL]).choices[0].message.content == "Found."
    error = refused(chat, client, ASK, sent, answers[0])
    assert error["param"] == "messages.[2].role"
    assert message.tool_calls[1].id in error["message"]
    assert fake.requests[-1].violations[0].rule == "openai.unanswered_call"


def test_a_chat_stream_makes_up_the_message(fake: FakeProvider, client: Any) -> None:
    parts: list[Any] = [Text("文章 " * 20), Call("search", {"q": "x" * 50, "n": [1, None]}), Call("search")]
    fake.script(parts, parts)
    with client.chat.completions.stream(model=MODEL, messages=[ASK], stream_options={"include_usage": True}) as stream:
        for _ in stream:
            pass
        made = stream.get_final_completion()
    whole = chat(client)
    message, same = made.choices[0].message, whole.choices[0].message
    assert message.content == same.content
    assert [call.function.arguments for call in message.tool_calls] == [
        call.function.arguments for call in same.tool_calls
    ]
    assert made.choices[0].finish_reason == "tool_calls"
    assert made.usage == whole.usage


def test_chunks_say_usage_only_when_asked(fake: FakeProvider, client: Any) -> None:
    fake.script("Hi", "Hi")
    assert all(chunk.usage is None for chunk in chat(client, stream=True))
    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert [bool(chunk.choices) for chunk in chunks] == [True, True, True, False]
    assert chunks[-1].usage.prompt_tokens == fake.requests[-1].usage["prompt_tokens"]


def streamed(client: Any, api: str) -> Any:
    return chat(client, stream=True) if api == "chat" else respond(client, stream=True)


def broken_off(stream: Any, error: type[Exception]) -> tuple[int, str]:
    """How many events of a stream came, and the error it ended with."""
    number = 0
    try:
        for _ in stream:
            number += 1
    except error as caught:
        return number, str(caught)
    raise AssertionError("the stream came to its end")


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_cut_stream_breaks(fake: FakeProvider, client: Any, api: str) -> None:
    fake.script([Text("one two " * 20), Cut(after=6)])
    number, _ = broken_off(streamed(client, api), openai.APIConnectionError)
    assert number == 6


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_stream_fails_in_the_middle(fake: FakeProvider, client: Any, api: str) -> None:
    fake.script(["one two", Failure(500)])
    number, said = broken_off(streamed(client, api), openai.APIError)
    assert number == (2 if api == "chat" else 8)
    assert "had an error while processing" in said


@pytest.mark.parametrize("failure", [Failure(429, retry_after=0.01), Failure(500, retry_after=0.01), Cut()])
def test_the_client_tries_again(fake: FakeProvider, client: Any, failure: Failure | Cut) -> None:
    fake.script(failure, "Hi")
    assert chat(client).choices[0].message.content == "Hi"
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    ("failure", "kind", "code"),
    [
        (Failure(429), "requests", "rate_limit_exceeded"),
        (Failure(429, "insufficient_quota"), "insufficient_quota", "insufficient_quota"),
        (Failure(503), "server_error", None),
        (Failure(404), "invalid_request_error", "model_not_found"),
        (Failure(401), "invalid_request_error", "invalid_api_key"),
    ],
)
def test_failures_have_openai_s_shape(
    fake: FakeProvider, client: Any, failure: Failure, kind: str, code: str | None
) -> None:
    fake.script(failure)
    error = refused(chat, client.with_options(max_retries=0), status=failure.status)
    assert (error["type"], error["code"]) == (kind, code)


def test_a_prompt_too_long_is_refused(fake: FakeProvider, client: Any) -> None:
    fake.limits = Limits(context_window=100)
    error = refused(chat, client, {"role": "user", "content": LONG})
    assert error["code"] == "context_length_exceeded"
    assert error["message"].startswith("This model's maximum context length is 100 tokens.")
    error = refused(respond, client, LONG and {"role": "user", "content": LONG})
    assert (error["code"], error["param"]) == ("context_length_exceeded", "input")
    assert respond(client, {"role": "user", "content": LONG}, truncation="auto").status == "completed"
    fake.script(Failure(400, "context_too_long"), Failure(400, "context_too_long"))
    assert refused(chat, client)["code"] == "context_length_exceeded"
    assert refused(respond, client)["message"].startswith("Your input exceeds the context window")


def test_refusals_name_code_and_place(fake: FakeProvider, client: Any) -> None:
    error = refused(chat, client, {"role": "user", "content": None})
    assert error == {
        "message": "Invalid value for 'content': expected a string, got null.",
        "type": "invalid_request_error",
        "param": "messages.[0].content",
        "code": None,
    }
    error = refused(chat, client, {"role": "assistant", "tool_calls": [{"id": "c" * 41, "type": "function"}]})
    assert (error["param"], error["code"]) == ("messages[0].tool_calls[0].id", "string_above_max_length")
    assert refused(chat, client, extra_body={"thinking": {}})["param"] is None
    error = refused(respond, client, {"role": "user", "content": "hi", "metadata": {}})
    assert (error["param"], error["code"]) == ("input[0].metadata", "unknown_parameter")


def test_a_refused_request_takes_no_answer(fake: FakeProvider, client: Any) -> None:
    fake.script("Hi")
    refused(chat, client, {"role": "tool", "tool_call_id": "call_1", "content": "x"})
    assert fake.waiting == 1
    assert chat(client).choices[0].message.content == "Hi"


def test_what_is_no_request_is_refused(fake: FakeProvider) -> None:
    def post(path: str, data: bytes, **headers: str) -> tuple[int, Any]:
        request = urllib.request.Request(fake.openai_url + path, data, headers, method="POST")
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    assert post("/chat/completions", b"{}")[0] == 401
    for path in ("/chat/completions", "/responses"):
        status, body = post(path, b"{", Authorization="Bearer any")
        assert status == 400
        assert "parse the JSON body" in body["error"]["message"]
        assert post(path, b'"hi"', Authorization="Bearer any")[0] == 400
    assert post("/embeddings", b"{}", Authorization="Bearer any")[0] == 404


@pytest.mark.anyio
async def test_the_async_client_is_served_too(fake: FakeProvider) -> None:
    fake.script("Hi there", "Hi")
    async with openai.AsyncOpenAI(base_url=fake.openai_url, api_key="any") as client:
        stream = await client.chat.completions.create(model=MODEL, messages=[ASK], stream=True)
        said = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(said) == "Hi there"
        assert (await client.responses.create(model=THINKER, input="hi")).output_text == "Hi"


# --- the prompt cache -------------------------------------------------------------------------------------------------


def cached(reply: Any) -> int:
    return int(reply.usage.prompt_tokens_details.cached_tokens)


def test_the_beginning_of_a_prompt_is_read_from_the_cache(fake: FakeProvider, client: Any) -> None:
    system = {"role": "system", "content": LONG}
    first = chat(client, system, ASK)
    assert cached(first) == 0
    second = chat(client, system, ASK, {"role": "assistant", "content": "Here."}, ASK)
    assert 1024 <= cached(second) <= first.usage.prompt_tokens
    assert cached(second) % 128 == 0
    assert cached(second) > first.usage.prompt_tokens - 128
    assert cached(chat(client, {"role": "system", "content": "X" + LONG}, ASK)) == 0
    assert cached(chat(client, system, ASK, model="gpt-4o-mini")) == 0
    assert cached(chat(client, system, ASK, prompt_cache_key="other")) == 0
    assert cached(chat(client, system, ASK, tools=[TOOL])) == 0
    half = {"role": "system", "content": LONG[: len(LONG) // 2] + "and so on."}
    assert 1024 <= cached(chat(client, half, ASK)) < first.usage.prompt_tokens * 0.6


def test_pictures_count_and_belong_to_the_prompt(client: Any) -> None:
    def ask(data: str) -> Any:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return chat(client, {"role": "user", "content": [image, {"type": "text", "text": LONG}]})

    assert ask("AAAA").usage.prompt_tokens > 1500 + chat(client).usage.prompt_tokens
    assert cached(ask("BBBB")) == 0
    assert cached(ask("AAAA")) > 1500


def test_short_prompts_are_not_cached(client: Any) -> None:
    assert [cached(chat(client)) for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(("retention", "lives"), [("in_memory", 300), ("24h", 86_400)])
def test_cached_prompts_expire(fake: FakeProvider, client: Any, retention: str, lives: int) -> None:
    now = 1_000_000.0
    fake.clock = lambda: now
    ask = {"role": "user", "content": LONG}
    found = []
    for gap in (0, lives - 1, lives - 1, lives):
        now += gap
        found.append(cached(chat(client, ask, prompt_cache_retention=retention)) > 0)
    assert found == [False, True, True, False]


def test_models_with_breakpoints_read_what_they_wrote(fake: FakeProvider, client: Any) -> None:
    def ask(*texts: str, mark: int | None = None, **options: Any) -> Any:
        parts: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        if mark is not None:
            parts[mark]["prompt_cache_breakpoint"] = {"mode": "explicit"}
        more = {"prompt_cache_options": options} if options else {}
        return chat(client, {"role": "user", "content": parts}, model="gpt-5.6", **more).usage

    def numbers(usage: Any) -> tuple[int, int]:
        return usage.prompt_tokens_details.cached_tokens, usage.prompt_tokens_details.cache_write_tokens

    first = ask(LONG, "one", mark=0)
    assert numbers(first) == (0, first.prompt_tokens)
    again = ask(LONG, "one")
    assert numbers(again) == (first.prompt_tokens, 0)
    read, written = numbers(ask(LONG, "two"))
    assert 1024 < read < first.prompt_tokens
    assert 0 < written < 20
    # The beginning is the same, but no breakpoint stood where it ends.
    assert numbers(ask(LONG[:-100], "two", mode="explicit")) == (0, 0)
    now = fake.clock()
    fake.clock = lambda: now + 1801
    assert numbers(ask(LONG, "one", mode="explicit")) == (0, 0)


# --- Responses --------------------------------------------------------------------------------------------------------


def test_a_stateless_tool_loop_passes(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("Where?"), Call("search", {"q": "x"}), Call("search")], [Thinking("So."), "Found."])
    reply = respond(client, tools=[FLAT], store=False, include=ENCRYPTED)
    assert [item.type for item in reply.output] == ["reasoning", "function_call", "function_call"]
    sent = plain(reply.output)
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "x"}
        for item in sent
        if item["type"] == "function_call"
    ]
    more: dict[str, Any] = {"tools": [FLAT], "store": False}
    assert respond(client, ASK, *sent, *outputs, **more).output_text == "Found."
    error = refused(respond, client, ASK, *sent, outputs[0], **more)
    assert error["message"] == f"No tool output found for function call {sent[2]['call_id']}."
    error = refused(respond, client, ASK, *sent[1:], *outputs, **more)
    needed = f"'{sent[0]['id']}'"
    assert error["message"].endswith(
        f"of type 'function_call' was provided without its required 'reasoning' item: {needed}."
    )
    error = refused(respond, client, ASK, sent[0], *sent[2:], outputs[1], **more)
    assert error["message"].endswith("was provided without its required following item.")
    error = refused(respond, client, ASK, {**sent[0], "encrypted_content": "gAAAx"}, *sent[1:], *outputs, **more)
    assert error["code"] == "invalid_encrypted_content"
    error = refused(respond, client, ASK, {**sent[0], "id": "rs_other"}, *sent[1:], *outputs, **more)
    assert error["message"].endswith("Encrypted content item_id did not match the target item id.")
    error = refused(respond, client, ASK, {**sent[0], "id": None}, *sent[1:], *outputs, **more)
    assert "was provided without its required 'reasoning' item" in error["message"]
    error = refused(
        respond, client, ASK, {**sent[0], "encrypted_content": None}, *sent[1:], *outputs, status=404, **more
    )
    assert "Items are not persisted" in error["message"]
    without_ids = [{name: value for name, value in item.items() if name != "id"} for item in sent[1:]]
    assert respond(client, ASK, *without_ids, *outputs, **more).status == "completed"


def test_a_stored_response_is_gone_on_from(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("Where?"), Call("search", id="call_1")], "Found.")
    first = respond(client, tools=[FLAT])
    assert first.output[0].encrypted_content is None
    error = refused(respond, client, {"role": "user", "content": "Well?"}, previous_response_id=first.id)
    assert error["message"] == "No tool output found for function call call_1."
    output = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
    second = respond(client, output, previous_response_id=first.id, tools=[FLAT])
    assert (second.output_text, second.previous_response_id) == ("Found.", first.id)
    assert second.usage.input_tokens > first.usage.input_tokens
    error = refused(respond, client, {**output, "call_id": "call_9"}, previous_response_id=first.id)
    assert error["message"].startswith("No tool output found") or "call_9" in error["message"]
    # Items of a stored response come back by reference and by themselves.
    references = [{"type": "item_reference", "id": item.id} for item in first.output]
    assert respond(client, ASK, *references, output).status == "completed"
    assert respond(client, ASK, *plain(first.output), output).status == "completed"


def test_what_is_not_stored_is_not_found(fake: FakeProvider, client: Any) -> None:
    reply = respond(client, store=False)
    error = refused(respond, client, previous_response_id=reply.id)
    assert (error["code"], error["param"]) == ("previous_response_not_found", "previous_response_id")
    bare = {"type": "reasoning", "id": "rs_foreign", "summary": []}
    refused(respond, client, ASK, bare, {**plain(reply.output)[0], "id": "msg_foreign"}, status=404)


def test_stored_responses_are_read_and_deleted(client: Any) -> None:
    reply = respond(client)
    assert client.responses.retrieve(reply.id).output_text == reply.output_text
    [given] = client.responses.input_items.list(reply.id).data
    assert given.content[0].text == "Find it."
    client.responses.delete(reply.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(reply.id)


def test_a_response_stream_makes_up_the_response(fake: FakeProvider, client: Any) -> None:
    parts: list[Any] = [Thinking("Where " * 20), Text("文章 " * 20), Call("search", {"q": "x" * 50}), Call("search")]
    fake.script(parts, parts)
    with client.responses.stream(model=THINKER, input="Find it.", include=ENCRYPTED) as stream:
        events = list(stream)
        made = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == made.output_text == "文章 " * 20
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.type for item in done] == ["reasoning", "message", "function_call", "function_call"]
    whole = respond(client, include=ENCRYPTED)
    shapes = [plain(made.output), plain(whole.output)]
    assert [item["type"] for item in shapes[0]] == [item["type"] for item in shapes[1]]
    assert shapes[0][2]["arguments"] == shapes[1][2]["arguments"]
    assert made.usage == whole.usage


def test_input_is_counted(fake: FakeProvider, client: Any) -> None:
    found = client.responses.input_tokens.count(model=THINKER, input=LONG, instructions="Be brief.")
    assert found.input_tokens == respond(client, input=LONG, instructions="Be brief.").usage.input_tokens


def test_responses_read_from_the_cache(fake: FakeProvider, client: Any) -> None:
    first = respond(client, instructions=LONG)
    again = respond(client, instructions=LONG, previous_response_id=None)
    assert first.usage.input_tokens_details.cached_tokens == 0
    assert again.usage.input_tokens_details.cached_tokens >= 1024
    newer = respond(client, instructions=LONG, model="gpt-5.6")
    assert newer.usage.input_tokens_details.cache_write_tokens == newer.usage.input_tokens
