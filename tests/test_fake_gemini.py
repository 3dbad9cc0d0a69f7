"""The fake of Google's Gemini API, driven by the real client."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from glassine.rules import Limits
from glassine.testing import Call, Cut, Failure, FakeProvider, Text, Thinking

genai = pytest.importorskip("google.genai")
types = pytest.importorskip("google.genai.types")
errors = pytest.importorskip("google.genai.errors")

MODEL = "gemini-3-pro"
OLDER = "gemini-2.5-flash"
ASK = {"role": "user", "parts": [{"text": "Find it."}]}
TOOL = {"function_declarations": [{"name": "search", "parameters_json_schema": {"type": "object"}}]}
# Otherwise the client would want to call the functions itself.
BY_HAND = {"automatic_function_calling": {"disable": True}}
THOUGHTS: dict[str, Any] = {"thinking_config": {"include_thoughts": True}}
LONG = "Lorem ipsum dolor sit amet. " * 400
AGAIN = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.01, jitter=0.001)


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        yield fake


@pytest.fixture
def client(fake: FakeProvider) -> Iterator[Any]:
    with genai.Client(api_key="any", http_options=types.HttpOptions(base_url=fake.gemini_url)) as client:
        yield client


def create(client: Any, *contents: Any, model: str = MODEL, **config: Any) -> Any:
    return client.models.generate_content(model=model, contents=list(contents) or [ASK], config={**BY_HAND, **config})


def stream(client: Any, *contents: Any, **config: Any) -> Iterator[Any]:
    given = list(contents) or [ASK]
    chunks = client.models.generate_content_stream(model=MODEL, contents=given, config={**BY_HAND, **config})
    yield from chunks


def answers(*names: str) -> dict[str, Any]:
    """The user's content that answers calls."""
    return {"role": "user", "parts": [{"function_response": {"name": n, "response": {"output": "x"}}} for n in names]}


def plain(reply: Any) -> dict[str, Any]:
    """A reply as a content of plain data, to be sent back."""
    return dict(reply.candidates[0].content.model_dump(mode="json", exclude_none=True))


def refused(client: Any, *contents: Any, status: int = 400, **more: Any) -> str:
    with pytest.raises(errors.APIError) as caught:
        create(client, *contents, **more)
    assert caught.value.code == status
    assert set(caught.value.details["error"]) == {"code", "message", "status"}
    return str(caught.value.message)


def test_replies_come_in_order_then_a_fixed_one(fake: FakeProvider, client: Any) -> None:
    fake.script("one", Text("two"))
    assert [create(client).text for _ in range(3)] == ["one", "two", "This is the fake provider's answer."]
    assert [received.path for received in fake.requests] == ["/v1/models/gemini-3-pro:generateContent"] * 3


def test_a_tool_loop_passes(fake: FakeProvider, client: Any) -> None:
    fake.script([Thinking("Where?"), Text("I look."), Call("search", {"q": "日本"}), Call("search")], "Found.")
    reply = create(client, tools=[TOOL], **THOUGHTS)
    parts = reply.candidates[0].content.parts
    assert [bool(part.thought_signature) for part in parts] == [False, False, True, False]
    assert (parts[0].thought, parts[0].text) == (True, "Where?")
    assert parts[2].function_call.args == {"q": "日本"}
    usage = reply.usage_metadata
    assert usage.thoughts_token_count > 0
    assert usage.total_token_count == sum(
        (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count)
    )
    # The content as the client's own value goes back as well as plain data does.
    content = reply.candidates[0].content
    assert create(client, ASK, content, answers("search", "search"), tools=[TOOL]).text == "Found."
    sent = plain(reply)
    assert create(client, ASK, sent, answers("search", "search"), tools=[TOOL]).candidates
    said = refused(client, ASK, sent, answers("search"), tools=[TOOL])
    assert said.startswith("Please ensure that the number of function response parts is equal")
    del sent["parts"][2]["thought_signature"]
    said = refused(client, ASK, sent, answers("search", "search"), tools=[TOOL])
    assert "missing a thought_signature" in said
    assert "`default_api:search` , position 2" in said
    assert fake.requests[-1].violations[0].rule == "gemini.signature"


def test_a_signature_belongs_to_its_call(fake: FakeProvider, client: Any) -> None:
    fake.script(Call("search", {"q": "x"}))
    sent = plain(create(client, tools=[TOOL]))
    assert create(client, ASK, sent, answers("search"), tools=[TOOL]).text
    sent["parts"][0]["function_call"]["args"] = {"q": "y"}
    assert refused(client, ASK, sent, answers("search"), tools=[TOOL]) == "Thought signature is not valid."
    sent["parts"][0]["thought_signature"] = "c2lnbmVkIGVsc2V3aGVyZQ=="
    assert create(client, ASK, sent, answers("search"), tools=[TOOL]).text


def test_older_models_sign_only_after_thinking(fake: FakeProvider, client: Any) -> None:
    fake.script(Call("search"), [Thinking("hm"), Call("search", id="call_1")], [Thinking("hm"), "Here."])
    parts = [create(client, model=OLDER).candidates[0].content.parts for _ in range(3)]
    assert [[bool(part.thought_signature) for part in reply] for reply in parts] == [[False], [True], [True]]
    assert parts[1][0].function_call.id == "call_1"


def test_the_stream_makes_up_the_reply(fake: FakeProvider, client: Any) -> None:
    parts: list[Any] = [Thinking("Where " * 20), Text("文章 " * 20), Call("search", {"q": "x" * 50})]
    fake.script(parts, parts)
    chunks = list(stream(client, **THOUGHTS))
    pieces = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
    assert "".join(part.text for part in pieces if part.text and not part.thought) == "文章 " * 20
    assert "".join(part.text for part in pieces if part.thought) == "Where " * 20
    [call] = [part for part in pieces if part.function_call]
    whole = create(client, **THOUGHTS).candidates[0].content.parts[-1]
    assert (call.function_call, call.thought_signature) == (whole.function_call, whole.thought_signature)
    assert [chunk.candidates[0].finish_reason for chunk in chunks].count(None) == len(chunks) - 1
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert chunks[-1].usage_metadata.prompt_token_count == fake.requests[0].usage["promptTokenCount"]


def test_the_signature_of_a_text_comes_behind_it_in_a_stream(fake: FakeProvider, client: Any) -> None:
    parts: list[Any] = [Thinking("hm"), "Here."]
    fake.script(parts, parts)
    last = list(stream(client))[-1].candidates[0].content.parts[0]
    assert last.text == ""
    assert last.thought_signature == create(client).candidates[0].content.parts[0].thought_signature
    # Behind its text or on a part of its own, it may go back.
    assert create(client, ASK, {"role": "model", "parts": [{"text": "Here."}, last.model_dump(mode="json")]}, ASK).text


def test_a_cut_stream_breaks(fake: FakeProvider, client: Any) -> None:
    fake.script([Text("one two " * 20), Cut(after=3)])
    chunks = stream(client)
    assert "".join(next(chunks).text for _ in range(3)) == ("one two " * 20)[:72]
    with pytest.raises(Exception, match="peer closed connection"):
        next(chunks)


def test_a_stream_fails_in_the_middle(fake: FakeProvider, client: Any) -> None:
    fake.script(["one two", Failure(503)])
    chunks = stream(client)
    assert next(chunks).text == "one two"
    with pytest.raises(errors.ServerError, match="UNAVAILABLE"):
        next(chunks)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_client_tries_again(fake: FakeProvider, status: int) -> None:
    options = types.HttpOptions(base_url=fake.gemini_url, retry_options=AGAIN)
    fake.script(Failure(status), "Hi")
    with genai.Client(api_key="any", http_options=options) as client:
        assert create(client).text == "Hi"
    assert [received.status for received in fake.requests] == [status, 200]


def test_failures_have_google_s_shape(fake: FakeProvider, client: Any) -> None:
    fake.script(Failure(429), Failure(503), Failure(500, text="Oh no"), Failure(400, "FAILED_PRECONDITION"))
    assert refused(client, status=429) == "Resource has been exhausted (e.g. check quota)."
    assert refused(client, status=503) == "The model is overloaded. Please try again later."
    assert refused(client, status=500) == "Oh no"
    refused(client)
    assert [received.answer["error"]["status"] for received in fake.requests] == [
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "INTERNAL",
        "FAILED_PRECONDITION",
    ]


def test_a_prompt_too_long_is_refused(fake: FakeProvider, client: Any) -> None:
    fake.limits = Limits(context_window=100)
    size = client.models.count_tokens(model=MODEL, contents="hi").total_tokens
    assert 0 < size < 100
    assert "exceeds the maximum number of tokens allowed (100)" in refused(client, LONG)
    fake.script(Failure(400, "context_too_long"))
    assert refused(client) == "The input token count (101) exceeds the maximum number of tokens allowed (100)."


def test_what_is_wrong_with_the_shape_comes_all_at_once(client: Any) -> None:
    said = refused(client, {"role": "user", "parts": []}, {"role": "user", "parts": [{"text": ""}]})
    first, second = said.splitlines()
    assert first == "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty."
    assert second.startswith("* GenerateContentRequest.contents[1].parts[0].data: required oneof field")


def test_a_refused_request_takes_no_answer(fake: FakeProvider, client: Any) -> None:
    fake.script("Hi")
    refused(client, {"role": "assistant", "parts": [{"text": "x"}]})
    assert "CachedContent not found" in refused(client, status=403, cached_content="cachedContents/1")
    assert fake.waiting == 1
    assert create(client).text == "Hi"


def test_tokens_are_counted(fake: FakeProvider, client: Any) -> None:
    count = client.models.count_tokens(model=MODEL, contents=[ASK]).total_tokens
    assert count == create(client).usage_metadata.prompt_token_count


def test_the_beginning_of_a_prompt_is_read_from_the_cache(fake: FakeProvider, client: Any) -> None:
    now = 1_000_000.0
    fake.clock = lambda: now
    said = {"role": "model", "parts": [{"text": "Here."}]}
    first = create(client, system_instruction=LONG).usage_metadata
    assert first.cached_content_token_count is None
    second = create(client, ASK, said, ASK, system_instruction=LONG).usage_metadata
    assert second.cached_content_token_count == pytest.approx(first.prompt_token_count, abs=5)
    assert create(client, model=OLDER, system_instruction=LONG).usage_metadata.cached_content_token_count is None
    assert create(client, system_instruction="X" + LONG).usage_metadata.cached_content_token_count is None
    now += 301
    assert create(client, system_instruction=LONG).usage_metadata.cached_content_token_count is None


def test_what_is_no_request_is_refused(fake: FakeProvider) -> None:
    def post(path: str, data: bytes, **headers: str) -> tuple[int, Any]:
        request = urllib.request.Request(fake.gemini_url + path, data, headers, method="POST")
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    path = "/v1beta/models/gemini-3-pro:generateContent"
    assert post(path, b"{}")[1]["error"]["status"] == "PERMISSION_DENIED"
    for data in (b"{", b"[]", b'{"contents": "hi"}', b'{"contents": [{"text": "hi"}]}', b'{"systemInstruction": "x"}'):
        assert post(path + "?key=any", data)[1]["error"]["status"] == "INVALID_ARGUMENT", data
    good = {"contents": [ASK], "system_instruction": {"parts": [{"text": "x"}]}, "generation_config": {"topP": 1}}
    assert post(path + "?key=any", json.dumps(good).encode())[0] == 200
    assert post("/v1beta/models/gemini-3-pro:embedContent", b"{}", **{"x-goog-api-key": "any"})[0] == 404


@pytest.mark.anyio
async def test_the_async_client_is_served_too(fake: FakeProvider) -> None:
    fake.script("Hi there " * 5, "Hi")
    options = types.HttpOptions(base_url=fake.gemini_url)
    async with genai.Client(api_key="any", http_options=options).aio as client:
        chunks = await client.models.generate_content_stream(model=MODEL, contents="hi")
        assert "".join([chunk.text or "" async for chunk in chunks]) == "Hi there " * 5
        assert (await client.models.generate_content(model=MODEL, contents="hi")).text == "Hi"
