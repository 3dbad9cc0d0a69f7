"""The AI SDK's messages, and what each format can carry: the table in the docs is the one that is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from glassine import InvalidMessageError
from glassine.formats import ai_sdk, anthropic, gemini, openai_chat, openai_responses
from glassine.formats._carries import CARRIES, FORMATS, carried, table
from glassine.messages import Message, Part, assistant, tool_call, tool_result, user
from glassine.pairing import repair
from tests.strategies import NOTES, PDF, PNG, SOUND, histories, tidy_histories

PAGE = Path(__file__).parent.parent / "docs" / "formats.md"
ask = assistant(tool_call("search", {"q": 1}, id="a"))


def sent(*messages: Message) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = ai_sdk.to_request(messages).arguments["messages"]
    return made


def test_a_request_is_what_generate_text_takes() -> None:
    tools = [{"name": "search", "description": "Looks things up.", "input_schema": {"type": "object"}}]
    request = ai_sdk.to_request([user("hi", PNG), ask, tool_result("a", "x", name="search")], system="s", tools=tools)
    assert request.arguments == {
        "system": "s",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {"type": "file", "data": PNG["url"], "mediaType": "image/png"},  # type: ignore[typeddict-item]
                ],
            },
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "search", "input": {"q": 1}}],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "a",
                        "toolName": "search",
                        "output": {"type": "text", "value": "x"},
                    }
                ],
            },
        ],
        "tools": {"search": {"description": "Looks things up.", "inputSchema": {"type": "object"}}},
    }
    assert request.notes == ()


@pytest.mark.parametrize(
    ("output", "is_error", "wanted"),
    [
        ("x", False, {"type": "text", "value": "x"}),
        (None, False, {"type": "text", "value": ""}),
        ({"value": 1}, False, {"type": "json", "value": {"value": 1}}),
        ([1], True, {"type": "error-json", "value": [1]}),
        ("no", True, {"type": "error-text", "value": "no"}),
        ({"type": "json", "value": 3}, False, {"type": "json", "value": 3}),
        ([{"type": "text", "text": "x"}], False, {"type": "content", "value": [{"type": "text", "text": "x"}]}),
    ],
)
def test_outputs_say_what_they_are(output: Any, is_error: bool, wanted: Any) -> None:
    assert sent(user("go"), ask, tool_result("a", output, is_error=is_error))[2]["content"][0]["output"] == wanted


def test_a_message_of_several_steps_falls_apart_into_them() -> None:
    done = {"type": "tool-search", "toolCallId": "a", "state": "output-available", "input": {}, "output": "x"}
    shown = sent(user("go"), assistant({"type": "step-start"}, done, {"type": "step-start"}, "so"))
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "assistant"]


def test_ui_messages_and_model_messages_are_read() -> None:
    done = {"type": "tool-search", "toolCallId": "a", "state": "output-available", "input": {}, "output": "x"}
    history = ai_sdk.from_request(
        {
            "messages": [
                {"id": "1", "role": "user", "parts": [{"type": "text", "text": "go"}]},
                {"id": "2", "role": "assistant", "parts": [done]},
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": [{"type": "image", "image": "A" * 80, "mediaType": "image/png"}]},
            ]
        }
    )
    assert [(message.role, message.parts) for message in history] == [
        ("user", [{"type": "text", "text": "go"}]),
        ("assistant", [done]),
        ("system", [{"type": "text", "text": "Be kind."}]),
        ("user", [{"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{'A' * 80}"}]),
    ]


@pytest.mark.parametrize("wrong", [{}, {"messages": {}}, {"messages": [None]}, {"messages": [{"role": "robot"}]}])
def test_what_is_no_history_is_refused_with_its_place(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        ai_sdk.from_request(wrong)
    assert caught.value.path is not None


@given(histories)
def test_nothing_that_can_be_stored_makes_it_raise(history: list[Message]) -> None:
    for given_messages in (history, repair(history).messages):
        request = ai_sdk.to_request(given_messages)
        assert json.dumps(request.arguments, ensure_ascii=False).encode()
        ai_sdk.from_request(request.arguments)


@given(tidy_histories())
def test_a_tidy_history_comes_back_from_its_request(history: list[Message]) -> None:
    assert ai_sdk.from_request(ai_sdk.to_request(history).arguments) == history


# -- what is carried --------------------------------------------------------------------------------------------------


def _reasoning(provider: str, **own: str) -> Part:
    return {"type": "reasoning", "text": "hm", "providerMetadata": {provider: own}}


def _item(provider: str, **item: Any) -> Part:
    return {"type": "provider-item", "provider": provider, "item": item}


EXAMPLES: dict[str, list[Message]] = {
    "text": [user("hi")],
    "system message in the history": [user("hi"), Message(role="system", parts=[{"type": "text", "text": "Be kind."}])],
    "tool call and its result": [user("hi"), ask, tool_result("a", "x", name="search")],
    "result that is an error": [user("hi"), ask, tool_result("a", "x", name="search", is_error=True)],
    "image in a result": [user("hi"), ask, tool_result("a", [{"type": "text", "text": "x"}, PNG], name="search")],
    "image of the user's": [user("hi", PNG)],
    "PDF of the user's": [user("hi", PDF)],
    "name of a file": [user("hi", PDF)],
    "text file of the user's": [user("hi", NOTES)],
    "sound of the user's": [user("hi", SOUND)],
    "sound of the model's": [user("hi"), assistant("so", SOUND)],
    "reasoning of Anthropic": [user("hi"), assistant(_reasoning("anthropic", signature="EqQB"), "so")],
    "reasoning of OpenAI": [
        user("hi"),
        assistant(_reasoning("openai", itemId="rs_1", reasoningEncryptedContent="gAAA"), "so"),
    ],
    "thought signature of Google": [user("hi"), assistant(_reasoning("google", thoughtSignature="CsQ="), "so")],
    "citation of Anthropic": [
        user("hi"),
        assistant({"type": "text", "text": "so", "providerMetadata": {"anthropic": {"citations": [{"type": "x"}]}}}),
    ],
    "item of Anthropic": [user("hi"), assistant(_item("anthropic", type="compaction", content="So far."), "so")],
    "item of OpenAI": [user("hi"), assistant(_item("openai", type="web_search_call", id="ws_1"), "so")],
    "item of Google": [user("hi"), assistant(_item("google", executableCode={"code": "1"}), "so")],
    "part of unknown type": [user("hi", {"type": "data-chart", "data": 1})],
}


QUIET = ("citation of Anthropic", "name of a file")  # what is around them is sent, and says the same


def _parts(history: list[Message], feature: str) -> list[dict[str, Any]]:
    """The parts of a history; names of files only where they are what is looked for."""
    found: list[Any] = [part for message in history for part in message.parts]
    if feature == "name of a file":
        return found
    return [{key: value for key, value in part.items() if key != "filename"} for part in found]


MODULES: dict[str, Any] = dict(zip(FORMATS, (anthropic, openai_chat, openai_responses, gemini, ai_sdk), strict=True))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("feature", [each.name for each in CARRIES])
def test_the_table_says_what_comes_back(feature: str, name: str) -> None:
    format = MODULES[name]
    history = EXAMPLES[feature]
    request = format.to_request(history)
    back = format.from_request(request.arguments)
    shown, given_parts = _parts(back, feature), _parts(history, feature)
    match carried(feature, name):
        case "yes":
            assert (shown, request.notes) == (given_parts, ())
        case "text":
            assert shown != given_parts
            assert len(shown) >= len(given_parts)
            assert request.notes or "is an error" in feature
        case "no":
            assert shown != given_parts
            assert request.notes or feature in QUIET


def test_the_page_shows_the_table() -> None:
    assert table() in PAGE.read_text("utf-8")
