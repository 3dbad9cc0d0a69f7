"""The rules of OpenAI's two APIs: good requests pass, and each rule is broken by a request made for it."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine import rules
from glassine.rules import Limits, Violation

Request = dict[str, Any]
Change = Callable[[Request], object]
Api = Any

CODEX = Path(__file__).parents[2] / "shared" / "data" / "codex"
PIXEL = "data:image/png;base64,iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


# --- good requests ----------------------------------------------------------------------------------------------------


def call(id: str = "call_1", name: str = "search", arguments: str = '{"q": "x"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls or [call()])}


def answer(id: str = "call_1", content: Any = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def say(content: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def chat() -> Request:
    """A request to Chat Completions with something of everything, which the server takes."""
    return copy.deepcopy(
        {
            "model": "gpt-4o",
            "max_completion_tokens": 100,
            "temperature": 1,
            "stream": True,
            "stream_options": {"include_usage": True},
            "prompt_cache_key": "user-7",
            "tools": [{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}],
            "tool_choice": "auto",
            "messages": [
                say("Be brief.", "system"),
                say(
                    [
                        {"type": "text", "text": "Find it."},
                        {"type": "image_url", "image_url": {"url": PIXEL}},
                        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                        {"type": "file", "file": {"file_id": "file-1"}},
                    ],
                    name="ada",
                ),
                calling(call(), call("call_2"), content="I look."),
                answer(),
                answer("call_2", [{"type": "text", "text": ""}]),
                calling(call("call_1")),
                answer(),
                say("", "assistant"),
                say("Well?", "developer"),
            ],
        }
    )


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


REASONING = item("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="gAAA")
CALLED = item("function_call", id="fc_1", call_id="call_1", name="search", arguments="{}")
OUTPUT = item("function_call_output", call_id="call_1", output="found")
REPLY = item("message", id="msg_1", role="assistant", content=[{"type": "output_text", "text": "Here."}])
CUSTOM = [
    item("custom_tool_call", id="ctc_1", call_id="call_3", name="patch", input="free text"),
    item("custom_tool_call_output", call_id="call_3", output="done"),
]


def responses() -> Request:
    """A request to Responses with something of everything, which the server takes."""
    return copy.deepcopy(
        {
            "model": "gpt-5",
            "instructions": "Be brief.",
            "max_output_tokens": 16,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "tools": [item("function", name="search", parameters=SCHEMA, strict=False), item("web_search")],
            "tool_choice": "auto",
            "input": [
                say("Be brief.", "developer"),
                say(
                    [
                        {"type": "input_text", "text": "Find it."},
                        {"type": "input_image", "image_url": PIXEL, "detail": "auto"},
                        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
                    ]
                ),
                REASONING,
                CALLED,
                {**CALLED, "id": "fc_2", "call_id": "call_2"},
                {**OUTPUT, "call_id": "call_2", "output": [{"type": "input_text", "text": "x"}]},
                OUTPUT,
                {**REASONING, "id": "rs_2", "summary": []},
                REPLY,
                *CUSTOM,
                item("web_search_call", id="ws_1", status="completed", action={"type": "search", "query": "x"}),
                say("Well?"),
            ],
        }
    )


GOOD: dict[str, Callable[[], Request]] = {"openai": chat, "openai_responses": responses}


def judged(api: Api, request: Any, **facts: Any) -> list[Violation]:
    return rules.violations(api, request, facts=Limits(**facts))


@pytest.mark.parametrize("api", GOOD)
def test_a_good_request_passes(api: Api) -> None:
    assert judged(api, GOOD[api]()) == []


# --- one request for each rule ----------------------------------------------------------------------------------------


def put(**fields: Any) -> Change:
    return lambda request: request.update(fields)


def without(*names: str) -> Change:
    def change(request: Request) -> None:
        for name in names:
            del request[name]

    return change


def messages(*items: Any) -> Change:
    return put(messages=list(items))


def items(*given: Any) -> Change:
    return put(input=list(given))


def function(**fields: Any) -> Change:
    return put(tools=[item("function", function={"name": "search", **fields})])


def flat(**fields: Any) -> Change:
    return put(tools=[item("function", **{"name": "search", **fields})])


CHAT_BREAKERS: list[tuple[str, Change]] = [
    ("json", messages(say("\ud800"))),
    ("json", put(temperature=float("nan"))),
    ("type", put(messages="hi")),
    ("type", put(model=5)),
    ("type", put(stream="yes")),
    ("type", messages("hi")),
    ("type", messages(say(5))),
    ("type", messages(calling(5))),  # type: ignore[arg-type]
    ("value", put(prompt_cache_retention="1h")),
    ("value", put(prompt_cache_options={"ttl": "5m"})),
    ("value", put(tools=[item("search")])),
    ("required", without("model")),
    ("required", without("messages")),
    ("required", messages({"content": "hi"})),
    ("required", messages(calling(), say("x", "tool"))),
    ("required", messages(say([{"text": "x"}]))),
    ("required", messages(calling({"id": "call_1"}), answer())),
    ("required", put(tools=[item("function")])),
    ("unknown", put(system="Be brief.")),
    ("unknown", messages(say("hi", id="msg_1"))),
    ("unknown", messages(say("hi", reasoning_content="hm"))),
    ("range", put(temperature=3)),
    ("range", put(top_p=-1)),
    ("range", put(max_completion_tokens=0)),
    ("empty_array", messages()),
    ("empty_array", messages(say([]))),
    ("empty_array", messages({"role": "assistant", "content": "x", "tool_calls": []})),
    ("empty_array", put(tools=[])),
    ("too_many", put(stop=["a", "b", "c", "d", "e"])),
    ("too_many", put(tools=[item("function", function={"name": f"f{n}"}) for n in range(129)])),
    ("too_long_text", put(prompt_cache_key="k" * 65)),
    ("too_long_text", messages(say("hi", name="n" * 65))),
    ("role", messages(say("hi", "model"))),
    ("role", messages(say("hi", None))),  # type: ignore[arg-type]
    ("speaker", messages(say("hi", name="Ada L"))),
    ("content", messages(say(None))),
    ("content", messages({"role": "assistant"})),
    ("content", messages(calling(), answer(content=None))),
    ("part_type", messages(say([{"type": "input_text", "text": "x"}]))),
    ("part_type", messages(say([{"type": "file", "file": {"file_id": "x"}}], "assistant"))),
    ("image_role", messages(calling(), answer(content=[{"type": "image_url", "image_url": {"url": PIXEL}}]))),
    ("image", messages(say([{"type": "image_url", "image_url": {"url": "file:///x.png"}}]))),
    ("image", messages(say([{"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AAAA"}}]))),
    ("image", messages(say([{"type": "image_url", "image_url": {"url": "data:text/plain;base64,AAAA"}}]))),
    ("image", messages(say([{"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}]))),
    ("audio", messages(say([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "ogg"}}]))),
    ("audio", messages(say([{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]))),
    ("file", messages(say([{"type": "file", "file": {"file_data": "AAAA", "filename": "a.pdf"}}]))),
    ("name", function(name="read file")),
    ("name", function(name="f" * 65)),
    ("name", messages(calling(call(name="fs.read")), answer())),
    ("arguments", messages(calling(call(arguments='{"q": ')), answer())),
    ("call_id", messages(calling(call("c" * 41)), answer("c" * 41))),
    ("call_id", messages(calling(call("")), answer(""))),
    ("call_unique", messages(calling(call(), call()), answer())),
    ("unanswered_call", messages(calling())),
    ("unanswered_call", messages(calling(call(), call("call_2")), answer(), say("hi"))),
    ("unanswered_call", messages(calling(), say("hi"), answer())),
    ("orphan_result", messages(answer())),
    ("orphan_result", messages(calling(), answer(), answer("call_9"))),
    ("orphan_result", messages(calling(), answer(), say("x"), answer())),
    ("double_result", messages(calling(), answer(), answer())),
    ("schema", function(parameters={"type": "string"})),
    ("schema", function(parameters={"type": "object", "properties": {"a": {"type": "array"}}})),
    ("schema", function(strict=True, parameters=SCHEMA)),
    ("schema", function(strict=True, parameters={**SCHEMA, "additionalProperties": False})),
    ("tool_choice", without("tools")),
    ("tool_choice", put(tool_choice={"type": "function", "function": {"name": "other"}})),
    ("tool_choice", put(tool_choice="any")),
    ("stream_options", without("stream")),
    ("json_word", put(response_format={"type": "json_object"})),
    ("max_tokens", put(max_tokens=5)),
    ("max_tokens", lambda request: (request.pop("max_completion_tokens"), request.update(model="o3", max_tokens=5))),
]

RESPONSES_BREAKERS: list[tuple[str, Change]] = [
    ("json", put(input="\udfff")),
    ("type", put(input=5)),
    ("type", put(instructions=["x"])),
    ("type", items("hi")),
    ("type", items(say(None))),
    ("type", items({**REASONING, "summary": "hm"}, REPLY)),
    ("value", put(truncation="start")),
    ("required", without("model")),
    ("required", put(tools=[{"name": "search"}])),
    ("required", put(tools=[item("function", function={"name": "search"})])),
    ("required", items(item("message", role="user"))),
    ("required", items(item("message", content="hi"))),
    ("required", items({"type": "reasoning", "summary": []}, REPLY)),
    ("required", items({"type": "reasoning", "id": "rs_1", "encrypted_content": "x"}, REPLY)),
    ("required", items(item("function_call", call_id="c", name="f"), {**OUTPUT, "call_id": "c"})),
    ("required", items(CALLED, item("function_call_output", call_id="call_1"))),
    ("required", items(say([{"type": "input_image"}]))),
    ("unknown", put(messages=[])),
    ("unknown", put(max_tokens=100)),
    ("unknown", items(say("hi", metadata={}))),
    ("range", put(max_output_tokens=5)),
    ("too_long_text", put(prompt_cache_key="k" * 65)),
    ("no_input", without("input")),
    ("no_input", items()),
    ("state", put(previous_response_id="resp_1", conversation="conv_1")),
    ("item_type", items(item("tool_use", id="x"))),
    ("item_id", items({**REPLY, "id": "0197-aa"})),
    ("item_id", items({**CALLED, "id": "call_1"}, OUTPUT)),
    ("item_id", items({**CALLED, "id": ""}, OUTPUT)),
    ("item_id", items({**CALLED, "id": "fc_" + "1" * 62}, OUTPUT)),
    ("item_unique", items(CALLED, OUTPUT, {**CALLED, "call_id": "call_2"}, {**OUTPUT, "call_id": "call_2"})),
    ("item_unique", items(REASONING, REPLY, say("hi"), REASONING, {**REPLY, "id": "msg_2"})),
    ("item_stored", items({**REASONING, "encrypted_content": None}, REPLY)),
    ("item_stored", items({"type": "item_reference", "id": "msg_9"})),
    ("role", items(say("hi", "tool"))),
    ("part_type", items(say([{"type": "text", "text": "hi"}]))),
    ("part_type", items(say([{"type": "input_text", "text": "hi"}], "assistant"))),
    ("part_type", items(say([{"type": "output_text", "text": "hi"}]))),
    ("part_type", items(CALLED, {**OUTPUT, "output": [{"type": "output_text", "text": "hi"}]})),
    ("image", items(say([{"type": "input_image", "image_url": "data:image/png;base64,"}]))),
    ("file", items(say([{"type": "input_file", "filename": "a", "file_data": "AAAA"}]))),
    ("name", flat(name="a b")),
    ("name", items({**CALLED, "name": ""}, OUTPUT)),
    ("arguments", items({**CALLED, "arguments": "{"}, OUTPUT)),
    ("call_id", items({**CALLED, "call_id": "c" * 65}, {**OUTPUT, "call_id": "c" * 65})),
    ("call_unique", items(CALLED, OUTPUT, {**CALLED, "id": "fc_2"})),
    ("unanswered_call", items(CALLED)),
    ("unanswered_call", items(CALLED, say("hi"))),
    ("unanswered_call", items(CUSTOM[0])),
    ("orphan_output", items(OUTPUT)),
    ("orphan_output", items(OUTPUT, CALLED)),
    ("orphan_output", items(CUSTOM[0], CUSTOM[1], {**OUTPUT, "call_id": "call_3"})),
    ("double_output", items(CALLED, OUTPUT, OUTPUT)),
    ("linked", items(REASONING)),
    ("linked", items(REASONING, say("hi"))),
    ("linked", items(REASONING, OUTPUT, CALLED)),
    ("linked", items(REASONING, item("shell_call_output", call_id="c", output=[]))),
    ("linked", items({**REASONING, "encrypted_content": None}, say("x", "assistant"))),
    ("linked", items({**REASONING, "id": None}, REPLY)),
    ("reasoning_text", items({**REASONING, "content": [{"type": "reasoning_text", "text": "hm"}]}, REPLY)),
    ("schema", flat(parameters={"type": "object", "properties": {"a": {"type": "array"}}})),
    ("tool_choice", put(tool_choice={"type": "function", "name": "other"})),
    ("tool_choice", put(tools=[], tool_choice="required")),
    ("stream_options", put(stream_options={"include_obfuscation": False})),
    ("json_word", put(text={"format": {"type": "json_object"}})),
]

BREAKERS = [("openai", rule, change) for rule, change in CHAT_BREAKERS]
BREAKERS += [("openai_responses", rule, change) for rule, change in RESPONSES_BREAKERS]
# Judged only where more is known than the request says.
WITH_FACTS = {"max_output", "too_long"}
# Judged by the fake provider, which has the headers and what it stored.
BY_THE_FAKE = {"headers", "previous", "encrypted_content"}


@pytest.mark.parametrize(
    ("api", "rule", "change"), BREAKERS, ids=[f"{a}-{r}-{i}" for i, (a, r, _) in enumerate(BREAKERS)]
)
def test_each_rule_is_broken_by_its_request(api: Api, rule: str, change: Change) -> None:
    request = GOOD[api]()
    change(request)
    before = copy.deepcopy(request)
    found = judged(api, request)
    assert f"{api}.{rule}" in {violation.rule for violation in found}
    assert repr(request) == repr(before)
    assert all(violation.text for violation in found)


@pytest.mark.parametrize("api", GOOD)
def test_each_rule_has_a_breaker(api: Api) -> None:
    ids = {rule.id.removeprefix(f"{api}.") for rule in rules.RULES if rule.api == api}
    assert ids == {rule for other, rule, _ in BREAKERS if other == api} | WITH_FACTS | (BY_THE_FAKE & ids)


def test_the_server_s_own_words_and_places() -> None:
    [found] = judged("openai", {"model": "gpt-4o", "messages": [say("hi"), calling(), say("hi")]})
    assert found == Violation(
        "openai.unanswered_call",
        "messages.2.role",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: call_1",
    )
    [found] = judged("openai_responses", {"model": "gpt-5", "input": [{**REPLY, "id": "x1"}]})
    assert found.path == "input.0.id"
    assert found.text == "Invalid 'input[0].id': 'x1'. Expected an ID that begins with 'msg'."


def test_what_the_request_cannot_know_is_judged_when_it_is_told() -> None:
    assert judged("openai", chat(), input_tokens=10, context_window=10) == []
    [found] = judged("openai", chat(), input_tokens=11, context_window=10)
    assert found.text.startswith(
        "This model's maximum context length is 10 tokens. However, your messages resulted in 11"
    )
    [found] = judged("openai", chat(), max_output=99)
    assert (found.rule, found.path) == ("openai.max_output", "max_completion_tokens")
    [found] = judged("openai_responses", responses(), input_tokens=11, context_window=10)
    assert found.rule == "openai_responses.too_long"
    assert judged("openai_responses", {**responses(), "truncation": "auto"}, input_tokens=11, context_window=10) == []
    [found] = judged("openai_responses", responses(), max_output=15)
    assert found.rule == "openai_responses.max_output"


@pytest.mark.parametrize(
    "request_",
    [
        {"model": "gpt-4o", "messages": [say("hi")], "max_tokens": 5, "extra_headers": {}, "timeout": 5},
        {"model": "gpt-4o", "messages": [say("hi")], "tools": None, "tool_choice": None, "stop": None, "n": None},
        {"model": "gpt-5-chat-latest", "messages": [say("hi")], "max_tokens": 5},
        {"model": "gpt-4o", "messages": [say("give JSON")], "response_format": {"type": "json_object"}},
        {"model": "gpt-4o", "messages": [{"role": "assistant", "content": None, "refusal": "No."}, say("hi")]},
        {"model": "gpt-4o", "messages": [calling(), answer(), say("hi"), calling(), answer()]},
    ],
)
def test_good_neighbours_of_chat(request_: Request) -> None:
    assert judged("openai", request_) == []


@pytest.mark.parametrize(
    "request_",
    [
        {"model": "gpt-5", "input": "hi"},
        {"model": "gpt-5", "input": [OUTPUT], "previous_response_id": "resp_1"},
        {"model": "gpt-5", "input": [{"type": "item_reference", "id": "fc_1"}, OUTPUT]},
        {"model": "gpt-5", "input": [{**REASONING, "encrypted_content": None}, REPLY]},
        {"model": "gpt-5", "input": [REASONING, say("I look.", "assistant"), CALLED, OUTPUT]},
        {"model": "gpt-5", "input": [{**REASONING, "id": None}, {**CALLED, "id": None}, say("x"), OUTPUT]},
        {"model": "gpt-5", "input": [REASONING, {**REASONING, "id": "rs_2"}, CALLED, OUTPUT]},
        {"model": "gpt-5", "input": [REASONING, item("mcp_list_tools", id="mcpl_1", server_label="x", tools=[])]},
        {"model": "gpt-5", "input": [item("compaction", id="cmp_1", encrypted_content="gAAA"), say("hi")]},
        {"model": "gpt-5", "input": "hi", "tool_choice": "auto", "parallel_tool_calls": True},
        {"prompt": {"id": "pmpt_1"}},
    ],
)
def test_good_neighbours_of_responses(request_: Request) -> None:
    assert judged("openai_responses", request_) == []


@pytest.mark.parametrize("api", GOOD)
@pytest.mark.parametrize("request_", [None, [], "x", 5, {}, {1: 2}, {"messages": [None], "input": [None]}])
def test_what_is_no_request_is_judged_too(api: Api, request_: Any) -> None:
    assert judged(api, request_)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Everything inside a request: (holder, key)."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        stack += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 99) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "role", "id", "名"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from(sorted(GOOD)), st.data())
def test_nothing_raises(api: Api, data: st.DataObject) -> None:
    request = GOOD[api]()
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(request)))
        if data.draw(st.booleans()):
            holder[key] = data.draw(JSON)
        else:
            del holder[key]
    judged(api, request)


# --- what was really sent ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not CODEX.is_dir(), reason="the real sessions (../shared/data/codex) are not here")
@pytest.mark.parametrize("name", ["codex_0.133_multi_meta.jsonl.gz", "codex_0.136_compacted.jsonl.gz"])
def test_recorded_sessions_pass(name: str) -> None:
    """Items that a stateless client sent, hundreds of calls with reasoning before them."""
    lines = [json.loads(line) for line in gzip.decompress((CODEX / name).read_bytes()).splitlines()]
    sent = [line["payload"] for line in lines if line["type"] == "response_item"]
    assert len(sent) > 200
    assert judged("openai_responses", {"model": "gpt-5", "input": sent, "store": False}) == []
    outputs = [number for number, item in enumerate(sent) if item["type"] == "function_call_output"]
    del sent[outputs[-1]]
    assert [found.rule for found in judged("openai_responses", {"model": "gpt-5", "input": sent})] == [
        "openai_responses.unanswered_call"
    ]
