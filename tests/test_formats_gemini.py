"""Google's Gemini API: requests that a strict server takes, histories back from requests, replies and streams."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import InvalidMessageError
from glassine.formats import gemini
from glassine.formats._common import CONTINUES, ReplyUsage, Request
from glassine.formats._gemini_values import UNSIGNED
from glassine.messages import Message, Part, assistant, calls, tool_call, tool_result, user
from glassine.pairing import repair
from glassine.rules import violations
from glassine.testing import Call, Cut, FakeProvider, Text, Thinking
from tests.strategies import PDF, PNG, SOUND, histories, tidy_histories

genai = pytest.importorskip("google.genai")
types = pytest.importorskip("google.genai.types")

DATA = Path(__file__).parents[2] / "shared" / "data" / "provider-items"
NEW, OLD = "gemini-3-pro-preview", "gemini-2.5-flash"
TOOLS = [
    {
        "name": "search",
        "description": "Looks things up.",
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": False, "$schema": "x"},
    }
]
SIGNATURE = "Ab4+9w=="


def signed(part: Any) -> Part:
    return {**part, "providerMetadata": {"google": {"thoughtSignature": SIGNATURE}}}


def sent(*messages: Message, **options: Any) -> list[dict[str, Any]]:
    return list(gemini.to_request(messages, **options).arguments["contents"])


def codes(request: Request) -> list[str]:
    return [note.code for note in request.notes]


# -- requests ---------------------------------------------------------------------------------------------------------


def test_a_request_is_what_the_sdk_takes() -> None:
    request: Request = gemini.to_request([user("hi")], system="Be brief.", tools=TOOLS, model=OLD)
    config = request.arguments["config"]
    declared = {"name": "search", "description": "Looks things up.", "parameters_json_schema": TOOLS[0]["input_schema"]}
    assert request == (
        {
            "model": OLD,
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "config": {"system_instruction": "Be brief.", "tools": [{"function_declarations": [declared]}]},
        },
        (),
    )
    types.GenerateContentConfig.model_validate(config)
    assert set(gemini.to_request([user("hi")], system=" ").arguments) == {"contents"}


def test_calls_and_their_responses() -> None:
    history = [
        user("go"),
        assistant(tool_call("search", {"q": 1}, id="a"), tool_call("検索", {}, id="b|c")),
        tool_result("b|c", {"n": 1}, name="other"),
        tool_result("a", "no", is_error=True),
        user("and?"),
    ]
    request = gemini.to_request(history)
    _, asked, answered = request.arguments["contents"]
    assert asked["parts"][0] == {"function_call": {"id": "a", "name": "search", "args": {"q": 1}}}
    mapped = asked["parts"][1]["function_call"]["id"]
    assert answered["parts"] == [
        {"function_response": {"id": mapped, "name": "__", "response": {"output": {"n": 1}}}},
        {"function_response": {"id": "a", "name": "search", "response": {"error": "no"}}},
        {"text": "and?"},
    ]
    assert codes(request) == ["tool_renamed", "call_id_mapped"]


def test_signatures_go_back_in_their_places() -> None:
    thought: Part = {"type": "reasoning", "text": "hm"}
    cut: Part = {**thought, "providerMetadata": {"google": {"thoughtSignature": "Ab4+9"}}}
    call = signed(tool_call("search", {}, id="a"))
    answer = signed({"type": "text", "text": "so"})
    request = gemini.to_request([user("go"), assistant(signed(thought), thought, cut, call, answer)], model=NEW)
    assert request.arguments["contents"][1]["parts"] == [
        {"text": "hm", "thought": True, "thought_signature": SIGNATURE},
        {"function_call": {"id": "a", "name": "search", "args": {}}, "thought_signature": SIGNATURE},
        {"text": "so", "thought_signature": SIGNATURE},
    ]
    assert codes(request) == ["reasoning_dropped"] * 2
    contents = [types.Content.model_validate(content) for content in request.arguments["contents"]]
    assert contents[1].parts[0].thought_signature == base64.b64decode(SIGNATURE)


def test_foreign_calls_have_the_word_that_google_gives_for_a_signature() -> None:
    history = [
        user("go"),
        assistant(tool_call("search", {}, id="a"), tool_call("search", {}, id="b")),
        tool_result("a", "x"),
        tool_result("b", "x"),
    ]
    first, second = sent(*history, model=NEW)[1]["parts"]
    assert (first["thought_signature"], "thought_signature" in second) == (UNSIGNED, False)
    assert not violations("gemini", gemini.to_request(history, model=NEW).arguments)
    assert UNSIGNED not in json.dumps(sent(*history, model=OLD))
    assert "providerMetadata" not in str(gemini.from_request({"contents": sent(*history, model=NEW)})[1].to_dict())


def test_the_user_begins_and_the_system_speaks_through_the_user() -> None:
    request = gemini.to_request([assistant("hello"), Message(role="system", parts=[{"type": "text", "text": "Now."}])])
    assert request.arguments["contents"] == [
        {"role": "user", "parts": [{"text": CONTINUES}]},
        {"role": "model", "parts": [{"text": "hello"}]},
        {"role": "user", "parts": [{"text": "<system>Now.</system>"}]},
    ]
    assert codes(request) == ["system_as_user", "user_first"]
    assert gemini.from_request(request.arguments)[0] == assistant("hello")


def test_files() -> None:
    gif: Part = {"type": "file", "mediaType": "image/gif", "url": "data:image/gif;base64,R0lGODlh"}
    web: Part = {"type": "file", "mediaType": "image/*", "url": "https://a.example/x.png"}
    request = gemini.to_request([user(PNG, PDF, SOUND, gif, web)])
    parts = request.arguments["contents"][0]["parts"]
    assert [part["inline_data"]["mime_type"] for part in parts[:3]] == ["image/png", "application/pdf", "audio/mpeg"]
    assert parts[3:] == [{"text": "[file: image/gif not sent]"}, {"file_data": {"file_uri": "https://a.example/x.png"}}]
    assert codes(request) == ["file_not_sent"]
    types.Content.model_validate(request.arguments["contents"][0])


def test_pictures_of_results_stand_behind_all_results() -> None:
    history = [
        user("go"),
        assistant(tool_call("shot", {}, id="a"), tool_call("shot", {}, id="b")),
        tool_result("a", [{"type": "text", "text": "see"}, PNG]),
        tool_result("b", "none"),
    ]
    request = gemini.to_request(history)
    first, second, picture = request.arguments["contents"][2]["parts"]
    assert first["function_response"]["response"] == {"output": "see\n[file 1 behind these results]"}
    assert "function_response" in second
    assert picture["inline_data"]["mime_type"] == "image/png"
    assert codes(request) == ["file_moved"]


# -- properties -------------------------------------------------------------------------------------------------------

models = st.sampled_from([OLD, NEW])


@settings(max_examples=50)
@given(histories, models)
def test_nothing_that_can_be_stored_makes_it_raise(history: list[Message], model: str) -> None:
    def made() -> str:
        return json.dumps(gemini.to_request(history, system="s", tools=TOOLS, model=model).arguments)

    assert made() == made()


@given(histories, models)
def test_a_strict_server_takes_every_repaired_history(history: list[Message], model: str) -> None:
    fixed = repair([*history, user("and now?")])
    request = gemini.to_request(fixed.messages, system="s", tools=TOOLS, model=model)
    assert violations("gemini", request.arguments) == []


def flat(contents: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(content["role"], json.dumps(part)) for content in contents for part in content["parts"]]


@given(histories, st.integers(0, 7), models)
def test_parts_that_were_sent_stay_as_they_were(history: list[Message], cut: int, model: str) -> None:
    before = repair([*history[:cut], user("and?")])
    after = repair(
        [*history[:cut], user("and?"), *history[cut:]], [(stub.message_id, stub.call_id) for stub in before.stubs]
    )
    old, new = flat(sent(*before.messages, model=model)), flat(sent(*after.messages, model=model))
    assert new[: len(old)] == old


@settings(max_examples=50)
@given(tidy_histories(), models)
def test_a_tidy_history_comes_back_from_its_request(history: list[Message], model: str) -> None:
    back = gemini.from_request(gemini.to_request(history, system="s", model=model).arguments)
    assert [(message.role, message.parts) for message in back] == [(message.role, message.parts) for message in history]


@settings(max_examples=50)
@given(histories, models)
def test_a_request_read_and_written_again_is_the_same(history: list[Message], model: str) -> None:
    first = gemini.to_request(repair([*history, user("on")]).messages, model=model).arguments
    again = gemini.to_request(gemini.from_request(first), model=model).arguments
    assert json.dumps(again) == json.dumps(first)


# -- histories from requests ------------------------------------------------------------------------------------------


def test_both_spellings_and_objects_of_the_sdk_are_read() -> None:
    call = {"functionCall": {"name": "search", "args": {"q": 1}}, "thoughtSignature": "Ab4-9w"}
    wire: dict[str, Any] = {
        "contents": [
            {"parts": [{"text": "go"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"result": 3}}}, {}]},
            {"role": "model", "parts": [{"executableCode": {"code": "1", "language": "PYTHON"}}]},
        ]
    }
    found = gemini.from_request(wire)
    asked = calls(found[1])[0]
    assert (asked.name, asked.input) == ("search", {"q": 1})
    assert found[1].parts[0]["providerMetadata"] == {"google": {"thoughtSignature": SIGNATURE}}  # type: ignore[typeddict-item]
    assert found[2] == tool_result(asked, {"result": 3})
    assert sent(found[3])[1]["parts"] == [{"executableCode": {"code": "1", "language": "PYTHON"}}]
    objects = {"contents": [types.Content.model_validate(content) for content in wire["contents"]]}
    assert [message.role for message in gemini.from_request(objects)] == [message.role for message in found]
    assert gemini.from_request(objects)[:3] == found[:3]


@pytest.mark.parametrize(
    ("read", "given"),
    [
        (gemini.from_request, {}),
        (gemini.from_request, {"contents": [{"role": "robot"}]}),
        (gemini.from_request, {"contents": [3]}),
        (gemini.read_reply, {"choices": []}),
        (gemini.read_reply, None),
    ],
)
def test_what_is_none_is_named(read: Callable[[Any], Any], given: Any) -> None:
    with pytest.raises(InvalidMessageError):
        read(given)


# -- replies and streams ----------------------------------------------------------------------------------------------


def test_usage_is_taken_apart() -> None:
    counts = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 30,
    }
    reply = gemini.read_reply({"usageMetadata": counts, "promptFeedback": {"blockReason": "SAFETY"}})
    assert reply.usage == ReplyUsage(45, 37, 60)
    assert (reply.message.parts, reply.stop) == ([], "SAFETY")
    assert gemini.read_reply({"usageMetadata": {"promptTokenCount": 0}}).usage == ReplyUsage()


def test_calls_without_ids_get_their_own() -> None:
    call = {"functionCall": {"name": "search", "args": {}}}
    given = {"candidates": [{"content": {"parts": [call, call]}, "finishReason": "STOP"}], "responseId": "r1"}
    one, two = calls(gemini.read_reply(given).message)
    assert one.id != two.id
    assert [found.id for found in calls(gemini.read_reply(given).message)] == [one.id, two.id]
    assert one.id not in [found.id for found in calls(gemini.read_reply({**given, "responseId": "r2"}).message)]


def test_signed_parts_of_a_stream_stay_as_they_came() -> None:
    stream = gemini.Stream()
    for part in ({"text": "a"}, {"text": "b"}, {"text": "", "thoughtSignature": SIGNATURE}, {"text": "c"}):
        stream.feed({"candidates": [{"content": {"parts": [part]}}]})
    assert stream.reply().message.parts == [
        {"type": "text", "text": "ab"},
        signed({"type": "text", "text": ""}),
        {"type": "text", "text": "c"},
    ]
    assert not stream.finished
    stream.feed({"candidates": [{"content": {"parts": [{"text": "d"}]}, "finishReason": "STOP"}]})
    assert (stream.reply().message.text, stream.finished) == ("ab\ncd", True)
    assert [part.get("text") for part in sent(stream.reply().message)[1]["parts"]] == ["ab", "", "cd"]


ANSWER: list[Any] = [Thinking("hm"), Text("I look for it."), Call("search", {"q": "猫"}), Call("search", {})]


def test_a_conversation_with_the_sdk_whole_and_streamed() -> None:
    request = gemini.to_request([user("go")], system="s", tools=TOOLS, model=NEW)
    config = {**request.arguments["config"], "thinking_config": {"include_thoughts": True}}
    with FakeProvider(answers=[ANSWER, ANSWER, "done", [*ANSWER, Cut(after=2)]]) as fake:
        options = types.HttpOptions(base_url=fake.gemini_url)
        with genai.Client(api_key="any", http_options=options) as client:
            reply = gemini.read_reply(client.models.generate_content(**{**request.arguments, "config": config}))
            stream = gemini.Stream()
            for chunk in client.models.generate_content_stream(**{**request.arguments, "config": config}):
                stream.feed(chunk)
            assert stream.finished
            shown = stream.reply()
            assert shown.message.text == reply.message.text == "I look for it."
            assert [call.input for call in calls(shown.message)] == [{"q": "猫"}, {}]
            assert [call.input for call in calls(reply.message)] == [{"q": "猫"}, {}]
            assert (shown.stop, shown.model, shown.usage.output) == (reply.stop, reply.model, reply.usage.output)
            history = [user("go"), shown.message, *(tool_result(call, "x") for call in calls(shown.message))]
            last = gemini.to_request(history, system="s", tools=TOOLS, model=NEW)
            assert UNSIGNED not in json.dumps(last.arguments)
            assert gemini.read_reply(client.models.generate_content(**last.arguments)).message.text == "done"
            broken = gemini.Stream()
            with contextlib.suppress(Exception):
                for chunk in client.models.generate_content_stream(**request.arguments):
                    broken.feed(chunk)
            assert not broken.finished
            assert "I look for it.".startswith(broken.reply(finished=False).message.text)
        assert [received.status for received in fake.requests] == [200] * 4


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded items (../shared/data/provider-items) are not here")
@pytest.mark.parametrize("name", ["google-reasoning-gemini3.json", "google-tool-call-gemini3.json"])
def test_recorded_replies_go_back_as_they_came(name: str) -> None:
    given = json.loads((DATA / name).read_text())
    reply = gemini.read_reply(given)
    (content,) = [content for content in sent(user("go"), reply.message, model=NEW) if content["role"] == "model"]
    original = given["candidates"][0]["content"]["parts"]
    assert [part.get("text") for part in content["parts"]] == [part.get("text") for part in original]
    assert [part["thought_signature"] for part in content["parts"]] == [part["thoughtSignature"] for part in original]
    assert reply.usage.output == sum(given["usageMetadata"][f"{kind}TokenCount"] for kind in ("candidates", "thoughts"))
    assert reply.model == "gemini-3-pro-preview"
