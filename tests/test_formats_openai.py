"""OpenAI's two APIs: requests that a strict server takes, histories back from requests, replies and streams."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import InvalidMessageError
from glassine.formats import openai_chat, openai_responses
from glassine.formats._common import ReplyUsage, Request
from glassine.formats._openai_shared import IN_RESULTS
from glassine.messages import Message, Part, assistant, calls, tool_call, tool_result, user
from glassine.pairing import repair
from glassine.rules import Api, violations
from glassine.testing import Call, Cut, FakeProvider, Text, Thinking
from tests.strategies import PDF, PNG, SOUND, histories, tidy_histories

openai = pytest.importorskip("openai")

DATA = Path(__file__).parents[2] / "shared" / "data" / "provider-items"
TOOLS = [{"name": "search", "description": "Looks things up.", "input_schema": {"type": "object", "properties": {}}}]
WEB_SEARCH: Part = {
    "type": "provider-item",
    "provider": "openai",
    "item": {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
}
BOTH: dict[Api, ModuleType] = {"openai": openai_chat, "openai_responses": openai_responses}

both = pytest.mark.parametrize("api", BOTH)


def reasoning(id: str | None = "rs_1", content: str | None = "gAAA", text: str = "hm") -> Part:
    held = {"itemId": id, "reasoningEncryptedContent": content}
    return {
        "type": "reasoning",
        "text": text,
        "providerMetadata": {"openai": {name: value for name, value in held.items() if value is not None}},
    }


def with_id(part: Any, id: str) -> Part:
    return {**part, "providerMetadata": {"openai": {"itemId": id}}}


def said(text: str, id: str) -> Part:
    return with_id({"type": "text", "text": text}, id)


def chat(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    return list(openai_chat.to_request(messages, **options).arguments["messages"])


def items(*messages: Message) -> list[dict[str, Any]]:
    return list(openai_responses.to_request(messages).arguments["input"])


def codes(request: Request) -> list[str]:
    return [note.code for note in request.notes]


def body(api: Api, request: Request) -> list[Any]:
    return list(request.arguments["messages" if api == "openai" else "input"])


# -- requests: Chat Completions ---------------------------------------------------------------------------------------


def test_a_chat_request_is_what_the_sdk_takes() -> None:
    request = openai_chat.to_request([user("hi")], system="Be brief.", tools=TOOLS, model="gpt-4o")
    called = {"name": "search", "description": "Looks things up.", "parameters": TOOLS[0]["input_schema"]}
    assert request == (
        {
            "model": "gpt-4o",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": called}],
        },
        (),
    )
    assert openai_chat.to_request([user("hi")], system=" ").arguments == {
        "messages": [{"role": "user", "content": "hi"}]
    }


def test_calls_and_results_in_chat() -> None:
    history = [
        user("go"),
        assistant(tool_call("search", {"q": "猫"}, id="a"), tool_call("my.tool", "", id="b")),
        tool_result("a", "one"),
        tool_result("b", {"n": 1}, is_error=True),
        assistant("done"),
    ]
    assert chat(*history)[1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q":"猫"}'}},
                {"id": "b", "type": "function", "function": {"name": "my_tool", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": 'Error: {"n":1}'},
        {"role": "assistant", "content": "done"},
    ]
    assert codes(openai_chat.to_request(history)) == ["tool_renamed"]


@pytest.mark.parametrize("id", ["x" * 41, "call|a.b", "", "同じ"])
def test_ids_that_are_refused_are_mapped_alike_for_call_and_result(id: str) -> None:
    call, result = chat(assistant(tool_call("search", {}, id=id)), tool_result(id, "x"))
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] != id
    assert len(result["tool_call_id"]) <= 40


def test_pictures_of_results_follow_all_results_in_chat() -> None:
    history = [
        user("go"),
        assistant(tool_call("shot", {}, id="a"), tool_call("shot", {}, id="b")),
        tool_result("a", [{"type": "text", "text": "see"}, PNG]),
        tool_result("b", "none"),
    ]
    request = openai_chat.to_request(history)
    *_, first, second, files = request.arguments["messages"]
    assert [part["text"] for part in first["content"]] == ["see", "[file 1 of these results, in the next message]"]
    assert second["content"] == "none"
    assert files["role"] == "user"
    assert [part["type"] for part in files["content"]] == ["text", "image_url"]
    assert files["content"][0]["text"] == IN_RESULTS
    assert codes(request) == ["file_moved"]
    assert not violations("openai", {"model": "gpt-4o", **request.arguments})


def test_files_in_chat() -> None:
    web: Part = {"type": "file", "mediaType": "application/pdf", "url": "https://a.example/x.pdf"}
    uploaded: Part = {"type": "file", "mediaType": "application/pdf", "url": "file-abc"}
    request = openai_chat.to_request([user("see", PNG, PDF, SOUND, web, uploaded), assistant("so", PNG)])
    content = request.arguments["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "file", "input_audio", "text", "file"]
    assert content[2]["file"]["filename"] == "paper.pdf"
    assert content[4]["text"] == "[file: application/pdf not sent]"
    assert codes(request) == ["file_not_sent"] * 2


def test_chat_has_system_messages_in_their_place_and_no_reasoning() -> None:
    request = openai_chat.to_request(
        [user("hi"), Message(role="system", parts=[{"type": "text", "text": "Now."}]), assistant(reasoning(), "so")]
    )
    assert [message["role"] for message in request.arguments["messages"]] == ["user", "system", "assistant"]
    assert codes(request) == ["reasoning_dropped"]


# -- requests: Responses ----------------------------------------------------------------------------------------------


def test_a_responses_request_is_what_the_sdk_takes() -> None:
    request = openai_responses.to_request([user("hi")], system="Be brief.", tools=TOOLS, model="gpt-5")
    assert request == (
        {
            "model": "gpt-5",
            "instructions": "Be brief.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "tools": [
                {
                    "type": "function",
                    "name": "search",
                    "description": "Looks things up.",
                    "parameters": {"type": "object", "properties": {}},
                    "strict": False,
                }
            ],
        },
        (),
    )


def test_reasoning_goes_back_with_what_it_led_to() -> None:
    call = with_id(tool_call("search", {}, id="a"), "fc_1")
    shown = items(user("go"), assistant(reasoning(), call), tool_result("a", "x"), assistant(said("so", "msg_1")))
    assert shown[1:] == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "gAAA",
        },
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
        # No reasoning stands before it: whether there was one cannot be known, and alone it needs no id.
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "so", "annotations": []}],
        },
    ]


def test_linked_items_live_and_die_together() -> None:
    call = with_id(tool_call("search", {}, id="a"), "fc_1")
    bare = openai_responses.to_request([user("go"), assistant(reasoning(content=None), call), tool_result("a", "x")])
    assert [(item["type"], item.get("id")) for item in bare.arguments["input"][1:]] == [
        ("function_call", None),
        ("function_call_output", None),
    ]
    assert codes(bare) == ["reasoning_dropped"]
    alone = openai_responses.to_request([user("go"), assistant(reasoning()), user("on")])
    assert [item["type"] for item in alone.arguments["input"]] == ["message", "message"]
    assert codes(alone) == ["reasoning_dropped"]
    search = openai_responses.to_request([user("go"), assistant(reasoning(content=None), WEB_SEARCH, "so")])
    assert [item["type"] for item in search.arguments["input"]] == ["message", "message"]
    assert codes(search) == ["reasoning_dropped", "dropped"]


def test_an_item_is_sent_once() -> None:
    request = openai_responses.to_request(
        [
            user("go"),
            assistant(reasoning(), WEB_SEARCH, said("one", "msg_1")),
            assistant(reasoning(), WEB_SEARCH, said("two", "msg_1")),
            user("on"),
        ]
    )
    shown = [(item["type"], item.get("id")) for item in request.arguments["input"]]
    assert shown[1:-1] == [("reasoning", "rs_1"), ("web_search_call", "ws_1"), ("message", "msg_1"), ("message", None)]
    assert codes(request) == ["duplicate_item"] * 2
    assert not violations("openai_responses", {"model": "gpt-5", "store": False, **request.arguments})


def test_several_summaries_are_one_item() -> None:
    shown = items(user("go"), assistant(reasoning(text="one"), reasoning(text="two"), "so"))
    assert [part["text"] for part in shown[1]["summary"]] == ["one", "two"]
    assert len(shown) == 3


def test_a_shell_call_without_its_output_is_left_out() -> None:
    def item(kind: str) -> Part:
        return {"type": "provider-item", "provider": "openai", "item": {"type": kind, "call_id": "s", "output": ""}}

    request = openai_responses.to_request([user("go"), assistant("x", item("shell_call")), user("on")])
    assert codes(request) == ["dropped"]
    whole = [user("go"), assistant(item("shell_call")), user(item("shell_call_output"))]
    assert codes(openai_responses.to_request(whole)) == []


def test_custom_tools_go_back_as_what_they_are() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "a", "name": "patch", "input": "*** Begin\n"}
    reply = openai_responses.read_reply({"output": [item]}).message
    assert calls(reply)[0].input == {"input": "*** Begin\n"}
    call, output = items(reply, tool_result("a", "ok"))
    assert (call["type"], call["input"]) == ("custom_tool_call", "*** Begin\n")
    assert output == {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}


def test_files_in_responses() -> None:
    request = openai_responses.to_request(
        [user("see", PNG, PDF, SOUND), assistant(tool_call("shot", {}, id="a")), tool_result("a", [PNG])]
    )
    content = request.arguments["input"][0]["content"]
    assert [part["type"] for part in content] == ["input_text", "input_image", "input_file", "input_text"]
    assert request.arguments["input"][2]["output"][0]["type"] == "input_image"
    assert codes(request) == ["file_not_sent"]
    assert not violations("openai_responses", {"model": "gpt-5", **request.arguments})


# -- properties -------------------------------------------------------------------------------------------------------


@both
@settings(max_examples=50)
@given(history=histories)
def test_nothing_that_can_be_stored_makes_it_raise(api: Api, history: list[Message]) -> None:
    def made() -> str:
        return json.dumps(BOTH[api].to_request(history, system="s", tools=TOOLS).arguments)

    assert made() == made()


@both
@given(history=histories)
def test_a_strict_server_takes_every_repaired_history(api: Api, history: list[Message]) -> None:
    fixed = repair([user("first"), *history, user("and now?")])
    request = BOTH[api].to_request(fixed.messages, system="s", tools=TOOLS, model="gpt-5")
    assert violations(api, request.arguments) == []


@both
@given(history=histories, cut=st.integers(0, 7))
def test_what_was_sent_stays_as_it_was(api: Api, history: list[Message], cut: int) -> None:
    before = repair([*history[:cut], user("and?")])
    after = repair(
        [*history[:cut], user("and?"), *history[cut:]], [(stub.message_id, stub.call_id) for stub in before.stubs]
    )
    old, new = (body(api, BOTH[api].to_request(fixed.messages)) for fixed in (before, after))
    assert new[: len(old)] == old


@both
@settings(max_examples=50)
@given(history=tidy_histories())
def test_a_tidy_history_comes_back_from_its_request(api: Api, history: list[Message]) -> None:
    back = BOTH[api].from_request(BOTH[api].to_request(history, system="s").arguments)
    assert [(message.role, message.parts) for message in back] == [(message.role, message.parts) for message in history]


@both
@settings(max_examples=50)
@given(history=histories)
def test_a_request_read_and_written_again_is_the_same(api: Api, history: list[Message]) -> None:
    first = BOTH[api].to_request(repair([user("first"), *history, user("on")]).messages)
    again = BOTH[api].to_request(BOTH[api].from_request(first.arguments))
    assert json.dumps(again.arguments) == json.dumps(first.arguments)


item_ids = st.sampled_from(["rs_1", "rs_2", "fc_1", "msg_1", "ws_1", None, "odd id"])


@st.composite
def written_by_openai(draw: st.DrawFn) -> list[Message]:
    """Turns with reasoning, items and ids in every order, copied and torn apart as hosts do."""
    found: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        parts: list[Any] = []
        for number in range(draw(st.integers(1, 5))):
            id = draw(item_ids)
            call = tool_call("search", {}, id=f"c{turn}_{number}")
            blank = {"type": "text", "text": ""}
            kinds = [reasoning(id, draw(st.sampled_from(["gAAA", None, ""]))), call, WEB_SEARCH, "so", blank]
            part = draw(st.sampled_from(kinds))
            linked = id is not None and part in (call, blank)
            parts.append(with_id(part, str(id)) if linked else said("so", str(id)) if part == "so" else part)
        message = assistant(*parts)
        found += [user("go"), message, *(tool_result(call, "x") for call in calls(message))]
    return [*found, user("on")]


@given(written_by_openai())
def test_items_that_were_torn_apart_still_hold(history: list[Message]) -> None:
    request = openai_responses.to_request(repair(history).messages, model="gpt-5")
    assert violations("openai_responses", {**request.arguments, "store": False}) == []
    named = False
    for item in request.arguments["input"]:
        if item["type"] == "reasoning":
            named = "id" in item
        elif item.get("role") == "user" or item["type"] == "function_call_output":
            named = False
        elif item["type"] in ("message", "function_call"):
            assert named or "id" not in item


# -- histories from requests ------------------------------------------------------------------------------------------


def test_reasoning_and_ids_come_back_from_a_request() -> None:
    history = [
        user("go"),
        assistant(reasoning(), said("I look", "msg_1"), with_id(tool_call("search", {"q": 1}, id="a"), "fc_1")),
        tool_result("a", "x", name="search"),
    ]
    assert openai_responses.from_request(openai_responses.to_request(history).arguments) == history


def test_a_chat_request_is_read_whole() -> None:
    found = openai_chat.from_request(
        {
            "messages": [
                {"role": "developer", "content": "prompt"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "mystery", "x": 1}]},
                {"role": "assistant", "content": None, "refusal": "No."},
                {"role": "developer", "content": "note"},
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]},
                {"role": "assistant", "content": "so", "tool_calls": [{"id": 3}, "no call"]},
            ]
        }
    )
    assert [message.role for message in found] == ["user", "assistant", "system", "tool", "assistant"]
    assert found[0].parts[1] == {"type": "provider-item", "provider": "openai", "item": {"type": "mystery", "x": 1}}
    assert chat(found[1])[0]["content"] == [{"type": "refusal", "refusal": "No."}]


@pytest.mark.parametrize(
    ("read", "request_body"),
    [
        (openai_chat.from_request, {}),
        (openai_chat.from_request, {"messages": [{"role": "robot"}]}),
        (openai_chat.from_request, {"messages": ["hi"]}),
        (openai_responses.from_request, {}),
        (openai_responses.from_request, {"input": [3]}),
        (openai_responses.from_request, {"input": [{"role": "robot", "content": "x"}]}),
        (openai_chat.read_reply, {}),
        (openai_responses.read_reply, {"output": None}),
    ],
)
def test_what_is_none_is_named(read: Callable[[Any], Any], request_body: Any) -> None:
    with pytest.raises(InvalidMessageError):
        read(request_body)


# -- replies and streams ----------------------------------------------------------------------------------------------


def test_usage_is_taken_apart() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}
    assert openai_chat.read_reply({"choices": [], "usage": usage}).usage == ReplyUsage(36, 7, 64)
    details = {
        "cached_tokens": 10,
        "cache_write_tokens": 60,
        "cache_write_tokens_details": {"ttl_12h_tokens": 20, "ttl_30m_tokens": 40},
    }
    written = {"input_tokens": 100, "output_tokens": 5, "input_tokens_details": details}
    assert openai_responses.read_reply({"output": [], "usage": written}).usage == ReplyUsage(30, 5, 10, 40, 20)
    nothing = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert openai_chat.read_reply({"choices": [], "usage": nothing}).usage == ReplyUsage()


def test_servers_that_tell_their_reasoning_in_chat() -> None:
    reply = openai_chat.read_reply({"choices": [{"message": {"content": "so", "reasoning_content": "hm"}}]})
    assert reply.message.parts == [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "so"}]


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    with openai.OpenAI(base_url="http://127.0.0.1:1", api_key="any", max_retries=0) as client:
        yield client


ANSWER: list[Any] = [
    Thinking("hm"),
    Text("I look for it."),
    Call("search", {"q": "猫"}, id="call_1"),
    Call("search", {}, id="call_2"),
]


def ask(client: Any, api: Api, request: Request, **more: Any) -> Any:
    if api == "openai":
        options = {"stream_options": {"include_usage": True}} if more.get("stream") else {}
        return client.chat.completions.create(**request.arguments, **options, **more)
    return client.responses.create(**request.arguments, include=["reasoning.encrypted_content"], **more)


@both
def test_a_conversation_with_the_sdk_whole_and_streamed(api: Api, connection: Any) -> None:
    module = BOTH[api]
    with FakeProvider(answers=[ANSWER, ANSWER, "done"]) as fake:
        client = connection.copy(base_url=fake.openai_url)
        request = module.to_request([user("go")], system="s", tools=TOOLS, model="gpt-5")
        reply = module.read_reply(ask(client, api, request))
        stream = module.Stream()
        for event in ask(client, api, request, stream=True):
            stream.feed(event)
        assert stream.finished
        shown = stream.reply()
        assert [part["type"] for part in shown.message.parts] == [part["type"] for part in reply.message.parts]
        assert shown.message.text == reply.message.text == "I look for it."
        assert [call.input for call in calls(shown.message)] == [{"q": "猫"}, {}]
        assert (shown.stop, shown.model) == (reply.stop, reply.model)
        assert shown.usage.output == reply.usage.output
        assert None not in (shown.usage.input, shown.usage.output, shown.response_id)
        # The reply goes back as it came, its reasoning too.
        history = [user("go"), reply.message, *(tool_result(call, "x") for call in calls(reply.message)), user("so?")]
        last = ask(client, api, module.to_request(history, system="s", tools=TOOLS, model="gpt-5"))
        assert module.read_reply(last).message.text == "done"
        assert [received.status for received in fake.requests] == [200] * 3
        if api == "openai_responses":
            assert '"encrypted_content"' in json.dumps(fake.requests[-1].body)


@both
@pytest.mark.parametrize("after", [1, 4, 8, 12, 16, 20])
def test_a_stream_that_breaks_off_keeps_what_is_whole(api: Api, after: int, connection: Any) -> None:
    module = BOTH[api]
    with FakeProvider(answers=[[Cut(after=after), *ANSWER]]) as fake:
        client = connection.copy(base_url=fake.openai_url)
        request = module.to_request([user("go")], tools=TOOLS, model="gpt-5")
        stream = module.Stream()
        with contextlib.suppress(openai.APIError):  # as a broken connection shows itself
            for event in ask(client, api, request, stream=True):
                stream.feed(event)
    reply = stream.reply(finished=False)
    assert "I look for it.".startswith(reply.message.text)
    assert all(call.raw in ({"q": "猫"}, {}) for call in calls(reply.message))
    for part in reply.message.parts:
        if part["type"] == "reasoning" and not stream.finished and after < 8:
            assert "reasoningEncryptedContent" not in str(part)


FIELDS = [
    "type",
    "role",
    "content",
    "text",
    "id",
    "name",
    "arguments",
    "tool_calls",
    "function",
    "call_id",
    "output",
    "item",
    "output_index",
    "delta",
    "summary",
    "content_index",
    "choices",
    "index",
    "message",
    "finish_reason",
    "usage",
    "image_url",
    "file",
    "refusal",
    "response",
]
WORDS = [
    "message",
    "reasoning",
    "function_call",
    "output_text",
    "user",
    "assistant",
    "text",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.output_text.delta",
    "stop",
    "{",
    "{}",
]
scraps: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([*WORDS, None, 0, True, 1.5, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=20,
)


@both
@settings(max_examples=50)
@given(events=st.lists(st.dictionaries(st.sampled_from(FIELDS), scraps, max_size=6), max_size=3))
def test_malformed_pieces_do_not_raise(api: Api, events: list[dict[str, Any]]) -> None:
    stream = BOTH[api].Stream()
    for event in events:
        stream.feed(event)
        stream.feed({"choices": [event]})
        assert stream.reply(finished=False).message.role == "assistant"
        BOTH[api].read_reply({"choices": [event], "output": [event]})
        with contextlib.suppress(InvalidMessageError):
            BOTH[api].to_request(BOTH[api].from_request({"messages": [event], "input": [event]}))


def test_a_call_in_the_middle_is_text_until_it_is_whole() -> None:
    stream = openai_chat.Stream()
    opened = {"index": 0, "id": "a", "function": {"name": "search", "arguments": '{"q"'}}
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [opened]}}]})
    assert calls(stream.reply().message)[0].raw == '{"q"'
    assert not calls(stream.reply(finished=False).message)
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]})
    assert calls(stream.reply(finished=False).message)[0].raw == {"q": 1}
    stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    assert stream.finished
    item = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "search", "arguments": ""}
    other = openai_responses.Stream()
    other.feed({"type": "response.output_item.added", "output_index": 0, "item": item})
    other.feed({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"q"'})
    assert calls(other.reply().message)[0].raw == '{"q"'
    assert not calls(other.reply(finished=False).message)


def test_a_call_that_the_limit_cut_short_is_left_out() -> None:
    cut = {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"q', "status": "incomplete"}
    given = {"output": [cut], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = openai_responses.read_reply(given)
    assert (reply.message.parts, reply.stop) == ([], "max_output_tokens")
    stream = openai_chat.Stream()
    call = {"index": 0, "id": "a", "function": {"name": "search", "arguments": '{"q'}}
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "length"}]})
    assert (stream.reply().message.parts, stream.finished) == ([], True)


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded items (../shared/data/provider-items) are not here")
@pytest.mark.parametrize("name", ["openai-compaction.1.json", "openai-reasoning-encrypted-content.1.json"])
def test_recorded_replies_go_back_as_they_came(name: str) -> None:
    given = json.loads((DATA / name).read_text())
    reply = openai_responses.read_reply(given)
    request = openai_responses.to_request([user("go"), reply.message, user("on")], model="gpt-5")
    sent = request.arguments["input"][1:-1]
    assert [item["type"] for item in sent] == [item["type"] for item in given["output"]]
    assert [item.get("encrypted_content") for item in sent] == [
        item.get("encrypted_content") for item in given["output"]
    ]
    assert reply.usage.input is not None
    assert not violations("openai_responses", {**request.arguments, "store": False})
