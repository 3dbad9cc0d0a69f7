"""Anthropic's Messages API: requests that a strict server takes, histories back from requests, replies and streams."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from anthropic import types
from hypothesis import assume, given
from hypothesis import strategies as st

from glassine import InvalidMessageError
from glassine.formats import anthropic
from glassine.formats._common import CONTINUES, Marks, ReplyUsage, Request
from glassine.messages import Message, Part, assistant, tool_call, tool_result, user
from glassine.pairing import repair
from glassine.rules import violations
from tests.strategies import NOTES, PDF, PNG, SOUND, histories, tidy_histories

DATA = Path(__file__).parents[2] / "shared" / "data" / "provider-items"
MODEL = "claude-sonnet-4-5"
TOOLS = [{"name": "search", "description": "Looks things up.", "input_schema": {"type": "object", "properties": {}}}]

signed: Part = {"type": "reasoning", "text": "hm", "providerMetadata": {"anthropic": {"signature": "EqQB"}}}
hidden: Part = {"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"redactedData": "EmwK"}}}


def sent(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = anthropic.to_request(messages, **options).arguments["messages"]
    return made


def codes(request: Request) -> list[str]:
    return [note.code for note in request.notes]


def refused(request: Request) -> list[str]:
    return [found.rule for found in violations("anthropic", {"model": MODEL, "max_tokens": 10, **request.arguments})]


# -- requests ---------------------------------------------------------------------------------------------------------


def test_a_request_is_what_the_sdk_takes() -> None:
    request = anthropic.to_request([user("hi")], system="Be brief.", tools=TOOLS, model=MODEL)
    assert request == (
        {
            "model": MODEL,
            "system": [{"type": "text", "text": "Be brief."}],
            "tools": TOOLS,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        },
        (),
    )
    assert set(anthropic.to_request([user("hi")], system=" ").arguments) == {"messages"}


def test_all_results_of_a_step_stand_first_in_one_users_message() -> None:
    history = [
        user("go"),
        assistant("looking", tool_call("search", {"q": 1}, id="a"), tool_call("search", {"q": 2}, id="b")),
        tool_result("b", "two", name="search"),
        tool_result("a", "no", name="search", is_error=True),
        user("and?"),
    ]
    assert [(message["role"], [block["type"] for block in message["content"]]) for message in sent(*history)] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
    ]
    assert sent(*history)[2]["content"][:2] == [
        {"type": "tool_result", "tool_use_id": "b", "content": "two"},
        {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
    ]


def test_a_message_of_the_ai_sdk_falls_apart_into_its_steps() -> None:
    first = {
        "type": "tool-search",
        "toolCallId": "a",
        "state": "output-available",
        "input": {"q": 1},
        "output": {"n": 1},
    }
    failed = {"type": "dynamic-tool", "toolName": "read", "toolCallId": "b", "state": "output-error", "errorText": "no"}
    late = {"type": "tool-search", "toolCallId": "c", "state": "input-available", "input": {}}
    message = assistant({"type": "step-start"}, "one", first, late, {"type": "step-start"}, "two", failed, "three")
    shown = sent(user("go"), message, tool_result("c", "late", name="search"))
    assert [
        [block.get("text") or block.get("content") or block["id"] for block in each["content"]] for each in shown
    ] == [
        ["go"],
        ["one", "a", "c"],
        ['{"n":1}', "late"],
        ["two", "b"],
        ["no"],
        ["three"],
    ]
    assert not refused(anthropic.to_request([user("go"), message, tool_result("c", "late"), user("on")]))


def test_inputs_are_objects_whatever_is_stored() -> None:
    for raw, wanted in (("", {}), (None, {}), ([], {}), ('{"a":1}', {"a": 1}), ({"b": 2}, {"b": 2})):
        shown = sent(user("go"), assistant(tool_call("search", raw, id="a")))
        assert shown[1]["content"][0]["input"] == wanted


def test_thinking_goes_back_whole_or_not_at_all() -> None:
    unsigned: Part = {"type": "reasoning", "text": "hm"}
    foreign: Part = {"type": "reasoning", "text": "hm", "providerMetadata": {"openai": {"itemId": "rs_1"}}}
    request = anthropic.to_request([user("go"), assistant(signed, hidden, unsigned, foreign, "so", signed)])
    assert request.arguments["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": "so"},
    ]
    assert codes(request) == ["reasoning_dropped"] * 3


def test_thinking_between_calls_stays_in_its_place() -> None:
    call = tool_call("search", {}, id="a")
    shown = sent(user("go"), assistant(signed, "text", signed, call), tool_result("a", "x"), user("on"))
    assert [block["type"] for block in shown[1]["content"]] == ["thinking", "text", "thinking", "tool_use"]


def test_files() -> None:
    request = anthropic.to_request([user("see", PNG, PDF, NOTES, SOUND)])
    image, pdf, notes, sound = request.arguments["messages"][0]["content"][1:]
    assert (image["type"], image["source"]["media_type"]) == ("image", "image/png")
    assert (pdf["type"], pdf["title"]) == ("document", "paper.pdf")
    assert notes["source"] == {"type": "text", "media_type": "text/plain", "data": "覚え書き"}
    assert sound == {"type": "text", "text": "[song.mp3: audio/mpeg not sent]"}
    assert codes(request) == ["file_not_sent"]
    assert not refused(request)


def test_files_by_address_and_by_id() -> None:
    shown = sent(
        user(
            {"type": "file", "mediaType": "image/webp", "url": "https://a.example/x.webp"},
            {"type": "file", "mediaType": "application/pdf", "url": "https://a.example/x.pdf"},
            {"type": "file", "mediaType": "application/pdf", "url": "file_011CNha8iCJcU1wXNR6q4V8w"},
            {"type": "file", "mediaType": "application/pdf", "url": "file-of-openai"},
            {"type": "file", "mediaType": "image/jpg", "url": "data:image/jpg;base64,/9j/4A=="},
        )
    )[0]["content"]
    assert [block.get("source", {}).get("type") for block in shown] == ["url", "url", "file", None, "base64"]
    assert shown[4]["source"]["media_type"] == "image/jpeg"


def test_pictures_in_results() -> None:
    output = [{"type": "text", "text": "see"}, PNG, {"type": "text", "text": " "}]
    ask = assistant(tool_call("shot", {}, id="a"))
    shown = sent(user("go"), ask, tool_result("a", output))[2]["content"][0]
    assert [block["type"] for block in shown["content"]] == ["text", "image"]
    failed = anthropic.to_request([user("go"), ask, tool_result("a", output, is_error=True)])
    assert [block["type"] for block in failed.arguments["messages"][2]["content"][0]["content"]] == ["text", "text"]
    assert not refused(failed)


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("text", "text"),
        ("", ""),
        (None, ""),
        ({"b": 1, "a": "あ"}, '{"b":1,"a":"あ"}'),
        ([1, 2], "[1,2]"),
        ({"type": "text", "value": "x"}, "x"),
        ({"type": "json", "value": [1]}, "[1]"),
        ({"type": "execution-denied", "reason": "not now"}, "not now"),
        ({"content": [{"type": "text", "text": "x"}], "isError": False}, [{"type": "text", "text": "x"}]),
        ({"type": "content", "value": []}, ""),
        ([{"type": "text", "text": ""}], ""),
        ({"type": "text", "value": 3}, '{"type":"text","value":3}'),
    ],
)
def test_outputs_of_every_shape(output: Any, content: Any) -> None:
    ask = assistant(tool_call("search", {}, id="a"))
    assert sent(user("go"), ask, tool_result("a", output))[2]["content"][0]["content"] == content


def test_an_error_says_something() -> None:
    ask = assistant(tool_call("search", {}, id="a"))
    result = sent(user("go"), ask, tool_result("a", " ", is_error=True))[2]["content"][0]
    assert (result["content"], result["is_error"]) == ("(no output)", True)


def test_the_first_message_is_the_users() -> None:
    request = anthropic.to_request([assistant("Welcome!"), user("hi")])
    assert request.arguments["messages"][0] == {"role": "user", "content": [{"type": "text", "text": CONTINUES}]}
    assert codes(request) == ["user_first"]


def test_system_messages_inside_the_history_are_marked() -> None:
    request = anthropic.to_request([user("hi"), Message(role="system", parts=[{"type": "text", "text": "Be kind."}])])
    assert request.arguments["messages"][0]["content"][1]["text"] == "<system>Be kind.</system>"
    assert codes(request) == ["system_as_user"]


def test_ids_that_the_api_refuses_are_mapped_the_same_way_for_call_and_result() -> None:
    ids = ["call|1.2", "x" * 80, "", "ok", "ok"]
    history = [user("go")]
    for id in ids:
        history += [assistant(tool_call("server.search", {}, id=id)), tool_result(id, "x")]
    request = anthropic.to_request([*history, user("on")])
    blocks = [block for message in request.arguments["messages"] for block in message["content"]]
    made = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert made == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert len(set(made)) == 5
    assert made[3] == "ok"
    assert not refused(request)
    assert made[:2] == [block["content"][0]["id"] for block in sent(*history[:5]) if block["role"] == "assistant"]


def test_a_last_text_of_the_assistant_has_no_white_space_at_its_end() -> None:
    assert sent(user("go"), assistant("The answer is \n"))[1]["content"][0]["text"] == "The answer is"
    assert sent(user("go"), assistant("The answer is \n"), user("?"))[1]["content"][0]["text"] == "The answer is \n"


def test_what_belongs_to_another_provider_stays_out() -> None:
    item: Part = {"type": "provider-item", "provider": "openai", "item": {"type": "web_search_call", "id": "ws"}}
    chart: Part = {"type": "data-chart", "data": 1}
    request = anthropic.to_request([user("go", chart), assistant(item, "so")])
    assert [len(message["content"]) for message in request.arguments["messages"]] == [1, 1]
    assert codes(request) == ["unknown_part", "dropped"]


def test_a_servers_tool_call_without_its_result_is_left_out_once_something_follows() -> None:
    call: Part = {
        "type": "provider-item",
        "provider": "anthropic",
        "item": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
    }
    found: Part = {
        "type": "provider-item",
        "provider": "anthropic",
        "item": {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    }
    assert len(sent(user("go"), assistant(call))) == 2  # a paused turn goes on where it was
    assert [len(each["content"]) for each in sent(user("go"), assistant("so", call), user("on"))] == [1, 1, 1]
    assert [len(each["content"]) for each in sent(user("go"), assistant(call), assistant(found, "so"))] == [1, 3]
    assert [len(each["content"]) for each in sent(user("go"), assistant(found, "so"), user("on"))] == [1, 1, 1]


def test_what_utf8_cannot_hold_is_replaced() -> None:
    shown = sent(user("a\ud83d", "\ud83d\ude00"), assistant(tool_call("search", {"q\ud800": ["\udc00"]}, id="a")))
    assert json.dumps(shown, ensure_ascii=False).encode()
    assert [block["text"] for block in shown[0]["content"]] == ["a\ufffd", "😀"]


# -- cache marks ------------------------------------------------------------------------------------------------------


def marked(request: Request) -> list[str]:
    """Where the marks of a request are: tools, system, or the message with the block's position."""
    found = [
        name for name in ("tools", "system") if any("cache_control" in item for item in request.arguments.get(name, ()))
    ]
    for number, message in enumerate(request.arguments["messages"]):
        found += [f"{number}.{at}" for at, block in enumerate(message["content"]) if "cache_control" in block]
    return found


def test_marks_stand_at_the_end_of_the_prefix_and_of_messages() -> None:
    history = [user("a"), assistant("b"), user("c"), user("d")]
    whole = anthropic.to_request(history, system="s", tools=TOOLS, marks=Marks(True, (1, 3)))
    assert marked(whole) == ["system", "1.0", "2.1"]
    assert whole.arguments["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert marked(anthropic.to_request(history, tools=TOOLS, marks=Marks(True))) == ["tools"]
    assert marked(anthropic.to_request(history, marks=Marks(True))) == []
    hour = anthropic.to_request(history, marks=Marks(messages=(0,), ttl="1h"))
    assert hour.arguments["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_at_most_four_marks_and_none_on_thinking() -> None:
    history = [user("a"), assistant(signed, "b"), user("c"), assistant("d"), user("e")]
    request = anthropic.to_request(history, system="s", marks=Marks(True, (0, 1, 2, 3, 4)))
    assert marked(request) == ["system", "2.0", "3.0", "4.0"]
    assert not refused(request)
    empty = [user("a"), assistant(hidden, signed, {"type": "text", "text": " "})]
    assert marked(anthropic.to_request(empty, marks=Marks(messages=(1,)))) == ["0.0"]


def test_marks_change_nothing_else() -> None:
    history = [user("a"), assistant("b"), user("c")]
    request = copy.deepcopy(anthropic.to_request(history, system="s", marks=Marks(True, (2,))).arguments)
    for item in (*request["system"], *[block for message in request["messages"] for block in message["content"]]):
        item.pop("cache_control", None)
    assert request == anthropic.to_request(history, system="s").arguments


# -- properties -------------------------------------------------------------------------------------------------------


@given(histories)
def test_nothing_that_can_be_stored_makes_it_raise(history: list[Message]) -> None:
    request = anthropic.to_request(history, system="s", tools=TOOLS, marks=Marks(True, (0, 3)))
    assert json.dumps(request.arguments) == json.dumps(
        anthropic.to_request(history, system="s", tools=TOOLS, marks=Marks(True, (0, 3))).arguments
    )


@given(histories)
def test_a_strict_server_takes_every_repaired_history(history: list[Message]) -> None:
    fixed = repair([*history, user("and now?")])
    request = anthropic.to_request(fixed.messages, system="s", tools=TOOLS, marks=Marks(True, (0, 2, 5)))
    assert refused(request) == []


def flat(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(message["role"], json.dumps(block)) for message in messages for block in message["content"]]


@given(histories, st.integers(0, 7))
def test_blocks_that_were_sent_stay_as_they_were(history: list[Message], cut: int) -> None:
    before = repair([*history[:cut], user("and?")])
    after = repair(
        [*history[:cut], user("and?"), *history[cut:]], [(stub.message_id, stub.call_id) for stub in before.stubs]
    )
    old, new = flat(sent(*before.messages)), flat(sent(*after.messages))
    assert new[: len(old)] == old


def normal(history: list[Message]) -> list[tuple[str, list[Part]]]:
    """A history without what a request does not say: which neighbours of one role were one message."""
    found: list[tuple[str, list[Part]]] = []
    for message in history:
        if found and found[-1][0] == message.role != "tool":
            found[-1] = (message.role, [*found[-1][1], *message.parts])
        else:
            found.append((message.role, message.parts))
    return found


@given(tidy_histories())
def test_a_tidy_history_comes_back_from_its_request(history: list[Message]) -> None:
    assert normal(anthropic.from_request(anthropic.to_request(history).arguments)) == normal(history)


@given(histories)
def test_a_request_read_and_written_again_is_the_same(history: list[Message]) -> None:
    assume(history)
    first = anthropic.to_request(repair([*history, user("on")]).messages).arguments
    again = anthropic.to_request(anthropic.from_request(first)).arguments
    assert json.dumps(again) == json.dumps(first)


# -- turns that begin without thinking --------------------------------------------------------------------------------

call = tool_call("search", {"q": "猫"}, id="a")
found = tool_result("a", "x", name="search")


def hand(request: Request, kind: str = "enabled") -> list[str]:
    """The rules that a request breaks with thinking set by hand."""
    thinking = {"type": kind, **({"budget_tokens": 1024} if kind == "enabled" else {})}
    whole = {"model": MODEL, "max_tokens": 2000, **request.arguments, "thinking": thinking}
    return [violation.rule for violation in violations("anthropic", whole)]


@pytest.mark.parametrize(
    ("history", "at"),
    [
        ([user("go"), assistant(call), found], 1),
        ([user("go"), assistant("I look.", signed, call), found], 1),
        ([user("go"), assistant(signed, "so"), user("on"), assistant(call), found, user("and?")], 3),
        # The turn is several steps long: it is its first one that counts.
        (
            [
                user("go"),
                assistant(call),
                found,
                assistant(signed, tool_call("search", {}, id="b")),
                tool_result("b", ""),
            ],
            1,
        ),
    ],
)
def test_a_turn_that_begins_without_thinking_is_noted(history: list[Message], at: int) -> None:
    named = [message.with_id(f"m{number}") for number, message in enumerate(history)]
    request = anthropic.to_request(named, model=MODEL)
    assert [(note.code, note.message_id, note.part) for note in request.notes] == [("thinking_off", f"m{at}", None)]
    assert hand(request) == ["anthropic.thinking_first"]
    assert hand(request, "disabled") == []


@pytest.mark.parametrize(
    "history",
    [
        [user("go"), assistant(signed, call), found],
        [user("go"), assistant(hidden, call), found],
        [user("go"), assistant(call), found, assistant("so"), user("on")],
        [user("go"), assistant("so"), user("on")],
        [user("go"), assistant(call), found, assistant("so")],
        [user("go")],
        [],
    ],
)
def test_other_requests_are_not_noted(history: list[Message]) -> None:
    assert anthropic.to_request(history, model=MODEL).notes == ()


@pytest.mark.parametrize(
    ("model", "codes"),
    [
        ("claude-3-5-sonnet-20241022", []),
        ("claude-3-7-sonnet-20250219", ["thinking_off"]),
        ("claude-sonnet-4-20250514", ["thinking_off"]),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", ["thinking_off"]),
        ("anthropic/claude-opus-4.6", ["thinking_off"]),
        ("claude-opus-4-7", []),
        ("anthropic/claude-opus-4.8", []),
        ("claude-sonnet-5", []),
        ("claude-fable-5-1", []),
        ("gpt-5", []),
        (None, []),
    ],
)
def test_the_note_is_for_models_that_think_by_hand(model: str | None, codes: list[str]) -> None:
    request = anthropic.to_request([user("go"), assistant(call), found], model=model)
    assert [note.code for note in request.notes] == codes


@given(histories)
def test_the_note_and_the_rule_agree(history: list[Message]) -> None:
    request = anthropic.to_request(repair([user("first"), *history]).messages, model=MODEL)
    assume(request.arguments["messages"][-1]["role"] == "user")
    assert ("thinking_off" in codes(request)) is ("anthropic.thinking_first" in hand(request))


# -- histories from requests ------------------------------------------------------------------------------------------


def test_all_that_a_request_can_hold_is_read() -> None:
    odd = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]}
    history = anthropic.from_request(
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
                        {"type": "text", "text": "so", "citations": [{"type": "char_location", "cited_text": "x"}]},
                        {"type": "tool_use", "id": "a", "name": "search", "input": {"q": 1}, "cache_control": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "a",
                            "content": [{"type": "text", "text": "x"}],
                            "is_error": True,
                        },
                        odd,
                        17,
                    ],
                },
            ]
        }
    )
    assert [(message.role, message.parts) for message in history] == [
        ("user", [{"type": "text", "text": "hi"}]),
        (
            "assistant",
            [
                signed,
                {
                    "type": "text",
                    "text": "so",
                    "providerMetadata": {"anthropic": {"citations": [{"type": "char_location", "cited_text": "x"}]}},
                },
                {"type": "tool-call", "toolCallId": "a", "toolName": "search", "input": {"q": 1}},
            ],
        ),
        (
            "tool",
            [
                {
                    "type": "tool-result",
                    "toolCallId": "a",
                    "toolName": "search",
                    "output": [{"type": "text", "text": "x"}],
                    "isError": True,
                }
            ],
        ),
        ("user", [{"type": "provider-item", "provider": "anthropic", "item": odd}]),
    ]


@pytest.mark.parametrize("wrong", [{}, {"messages": "hi"}, {"messages": [3]}, {"messages": [{"role": "tool"}]}])
def test_what_is_no_history_is_refused_with_its_place(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        anthropic.from_request(wrong)
    assert caught.value.path is not None
    assert caught.value.path[0] == "messages"


# -- replies ----------------------------------------------------------------------------------------------------------

REPLY: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
        {"type": "text", "text": "Let me see."},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "あ"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5},
    },
}
PARTS = [
    signed,
    {"type": "text", "text": "Let me see."},
    {"type": "provider-item", "provider": "anthropic", "item": REPLY["content"][2]},
    {"type": "tool-call", "toolCallId": "toolu_1", "toolName": "search", "input": {"q": "あ"}},
]


@pytest.mark.parametrize("response", [REPLY, types.Message.model_validate(REPLY)], ids=["dict", "sdk"])
def test_a_reply_is_read(response: Any) -> None:
    reply = anthropic.read_reply(response)
    assert reply.message == Message.from_dict({"id": "", "role": "assistant", "parts": PARTS})
    assert reply[1:] == (ReplyUsage(10, 20, 30, 4, 5), MODEL, "tool_use", "msg_1")
    sent_back = sent(user("go"), reply.message)[1]["content"]
    assert sent_back == REPLY["content"]


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        (None, ReplyUsage()),
        ({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0}, ReplyUsage()),
        ({"input_tokens": 3, "output_tokens": 1, "cache_creation_input_tokens": 7}, ReplyUsage(3, 1, None, 7, None)),
        (
            {
                "input_tokens": 3,
                "output_tokens": 1,
                "iterations": [
                    {"type": "compaction", "input_tokens": 100, "output_tokens": 10},
                    {"type": "message", "input_tokens": 3, "output_tokens": 1},
                ],
            },
            ReplyUsage(103, 11, None, None, None),
        ),
    ],
)
def test_usage(usage: Any, wanted: ReplyUsage) -> None:
    assert anthropic.read_reply({"content": [], "usage": usage}).usage == wanted


def test_what_is_no_reply_is_refused() -> None:
    for wrong in ({}, None, "hi", {"content": "hi"}):
        with pytest.raises(InvalidMessageError, match="content"):
            anthropic.read_reply(wrong)


@pytest.mark.skipif(not DATA.is_dir(), reason="recorded replies (../shared/data/provider-items) are not here")
@pytest.mark.parametrize("name", ["anthropic-clear-tool-uses.1.json", "anthropic-compaction.1.json"])
def test_recorded_replies_go_back_as_they_came(name: str) -> None:
    recorded = json.loads((DATA / name).read_text("utf-8"))
    reply = anthropic.read_reply(recorded)
    assert reply.usage.input is not None
    assert reply.usage.input >= recorded["usage"]["input_tokens"]
    assert sent(user("go"), reply.message, user("on"))[1]["content"] == recorded["content"]


# -- streams ----------------------------------------------------------------------------------------------------------


def events() -> list[dict[str, Any]]:
    """REPLY in pieces, as the API sends it."""
    start = {**REPLY, "content": [], "stop_reason": None, "usage": {**REPLY["usage"], "output_tokens": 1}}
    found: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    pieces: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "EqQB"}],
        ),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in ("Let ", "me see", ".")]),
        ({**REPLY["content"][2], "input": {}}, [{"type": "input_json_delta", "partial_json": '{"query": "x"}'}]),
        (
            {**REPLY["content"][3], "input": {}},
            [{"type": "input_json_delta", "partial_json": text} for text in ("", '{"q"', ': "あ"}')],
        ),
    ]
    for index, (block, deltas) in enumerate(pieces):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        found.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    return [*found, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}, {"type": "message_stop"}]


def as_sdk(event: dict[str, Any]) -> Any:
    kinds: dict[str, Any] = {
        "message_start": types.RawMessageStartEvent,
        "message_delta": types.RawMessageDeltaEvent,
        "message_stop": types.RawMessageStopEvent,
        "content_block_start": types.RawContentBlockStartEvent,
        "content_block_delta": types.RawContentBlockDeltaEvent,
        "content_block_stop": types.RawContentBlockStopEvent,
    }
    return kinds[event["type"]].model_validate(event) if event["type"] in kinds else event


@pytest.mark.parametrize("form", [dict, as_sdk], ids=["dict", "sdk"])
def test_a_stream_gives_the_same_as_the_whole_reply(form: Any) -> None:
    stream = anthropic.Stream()
    for event in events():
        assert not stream.finished
        stream.feed(form(event))
    assert stream.finished
    assert stream.reply() == anthropic.read_reply(REPLY)


def test_a_stream_can_be_looked_at_at_any_moment() -> None:
    stream = anthropic.Stream()
    seen = []
    for event in events():
        stream.feed(event)
        parts: list[Any] = stream.reply().message.parts
        seen.append([part.get("text", part.get("input")) for part in parts])
    assert ["hm", "Let me see"] in seen
    call = next(parts for parts in seen if parts[-1:] == ['{"q"'])
    assert call[:2] == ["hm", "Let me see."]


def test_an_interrupted_stream_leaves_out_what_is_not_whole() -> None:
    stream = anthropic.Stream()
    for event in events()[:-4]:
        stream.feed(event)
    assert len(stream.reply().message.parts) == 4
    reply = stream.reply(finished=False)
    assert reply.message.parts == PARTS[:3]
    assert (reply.usage.input, reply.usage.output, reply.stop) == (10, 1, None)
    assert not stream.finished


def test_a_call_that_the_models_limit_cut_is_left_out() -> None:
    stream = anthropic.Stream()
    for event in events():
        if event.get("delta", {}).get("partial_json") == ': "あ"}':
            continue
        if event["type"] == "message_delta":
            event["delta"]["stop_reason"] = "max_tokens"
        stream.feed(event)
    assert stream.reply().message.parts == PARTS[:3]


def test_input_that_is_no_json_is_kept_as_it_was_written() -> None:
    stream = anthropic.Stream()
    for event in events():
        if event.get("delta", {}).get("partial_json") != ': "あ"}':
            stream.feed(event)
    last: Any = stream.reply().message.parts[-1]
    assert last["input"] == '{"q"'


def test_citations_and_compactions_come_in_pieces() -> None:
    stream = anthropic.Stream()
    citation = {"type": "web_search_result_location", "cited_text": "x", "url": "https://a.example"}
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": None}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "So far."}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": citation}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "y"}},
    ):
        stream.feed(event)
    assert stream.reply().message.parts == [
        {"type": "provider-item", "provider": "anthropic", "item": {"type": "compaction", "content": "So far."}},
        {"type": "text", "text": "y", "providerMetadata": {"anthropic": {"citations": [citation]}}},
    ]


@given(st.lists(st.sampled_from([*events(), {}, {"type": "content_block_delta", "index": "x"}, {"type": 3}, None])))
def test_events_in_any_order_never_raise(given_events: list[Any]) -> None:
    stream = anthropic.Stream()
    for event in given_events:
        stream.feed(event)
    stream.reply()
    stream.reply(finished=False)
