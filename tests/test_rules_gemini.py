"""The rules of Google's Gemini API: good requests pass, and each rule is broken by a request made for it."""

from __future__ import annotations

import copy
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

ITEMS = Path(__file__).parents[2] / "shared" / "data" / "provider-items"
PIXEL = {"mimeType": "image/png", "data": "iVBORw0KGgo="}


def say(*parts: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def call(name: str = "search", *, signed: bool = True, **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": {"q": "x"}, **fields}}
    return {**part, "thoughtSignature": "c2lnbmVk"} if signed else part


def response(name: str = "search", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "found"}, **fields}}


def model(*parts: Any) -> dict[str, Any]:
    return say(*parts, role="model")


def declared(name: str = "search", **fields: Any) -> dict[str, Any]:
    return {"functionDeclarations": [{"name": name, "description": "Search.", **fields}]}


SCHEMA = {
    "type": "OBJECT",
    "properties": {"q": {"type": "string"}, "n": {"type": "ARRAY", "items": {"type": "NUMBER"}}},
}


def good() -> Request:
    """The body of a request with something of everything, which the server takes."""
    return copy.deepcopy(
        {
            "model": "gemini-3-pro",
            "systemInstruction": say("Be brief."),
            "tools": [declared(parameters=SCHEMA), declared("list.all", parametersJsonSchema={"type": "object"})],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {"temperature": 1, "maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": True}},
            "contents": [
                say("Find it.", {"inlineData": PIXEL}, {"fileData": {"fileUri": "files/a", "mimeType": "text/plain"}}),
                model({"text": "hm", "thought": True}, call(), call("list.all", signed=False)),
                say(response(), response("list.all")),
                model({"text": "Here.", "thoughtSignature": "c2ln"}),
                {"parts": [{"text": "And then?"}]},
                model("I look.", call(id="a"), call(id="b", signed=False)),
                say(response(id="b"), response(id="a"), "Go on."),
                model(call()),
                say(response()),
            ],
        }
    )


def judged(request: Any, **facts: Any) -> list[Violation]:
    return rules.violations("gemini", request, facts=Limits(**facts))


def broken(request: Any, **facts: Any) -> set[str]:
    return {violation.rule.removeprefix("gemini.") for violation in judged(request, **facts)}


def put(**fields: Any) -> Change:
    return lambda request: request.update(fields)


def contents(*items: Any) -> Change:
    return put(contents=list(items))


def settings(**fields: Any) -> Change:
    return put(generationConfig=fields)


BREAKERS: list[tuple[str, Change]] = [
    ("json", contents(say("\ud800"))),
    ("type", put(contents="hi")),
    ("type", contents("hi")),
    ("type", contents({"role": "user", "parts": "hi"})),
    ("type", contents(say({"text": 5}))),
    ("type", contents(say({"functionCall": "x"}))),
    ("type", put(systemInstruction="Be brief.")),
    ("type", put(tools={})),
    ("type", settings(temperature="1")),
    ("type", settings(maxOutputTokens=1.5)),
    ("required", contents(say("x"), model(call()), say({"functionResponse": {"name": "search"}}))),
    ("required", contents(say({"fileData": {"mimeType": "text/plain"}}))),
    ("unknown", put(messages=[])),
    ("unknown", put(temperature=1)),
    ("unknown", settings(max_tokens=5)),
    ("unknown", contents({**say("x"), "id": "1"})),
    ("unknown", contents(say({"text": "x", "type": "text"}))),
    ("unknown", contents(say("x"), model({"functionCall": {"name": "f", "arguments": {}}}), say(response("f")))),
    ("unknown", put(tools=[{"function_declarations": [{"name": "f", "input_schema": {}}]}])),
    ("no_contents", contents()),
    ("no_contents", put(contents=None)),
    ("role", contents(say("x", role="assistant"))),
    ("role", contents(say("x"), model(call()), say(response(), role="function"))),
    ("first_user", contents(model("Hello."), say("x"))),
    ("alternation", contents(say("x"), say("y"))),
    ("alternation", contents(say("x"), model(call()), say(response()), say("Well?"))),
    ("alternation", contents(say("x"), model("y"), model("z"), say("x"))),
    ("last_user", put(model="gemini-3.6-flash", contents=[say("x"), model("Hello.")])),
    ("last_user", put(model="gemini-3.5-flash-lite", contents=[say("x"), model("Hello.")])),
    ("last_user", put(model="gemini-4-pro", contents=[say("x"), model("Hello.")])),
    ("no_parts", contents(say())),
    ("no_parts", put(systemInstruction=say())),
    ("empty_part", contents(say(""))),
    ("empty_part", contents(say({}))),
    ("empty_part", contents(say("x"), model({"thought": True}), say("x"))),
    ("empty_part", contents(say({"text": "x", "inlineData": PIXEL}))),
    ("part_role", contents(say("x"), say(call()), say(response()))),
    ("part_role", contents(say("x"), model(call()), model(response()))),
    ("media", contents(say({"inlineData": {**PIXEL, "mimeType": "application/zip"}}))),
    ("media", contents(say({"inlineData": {**PIXEL, "data": "%%%"}}))),
    ("media", contents(say({"inlineData": {"data": PIXEL["data"]}}))),
    ("call_name", contents(say("x"), model(call("")), say(response("")))),
    ("object", contents(say("x"), model(call(args="{}")), say(response()))),
    ("object", contents(say("x"), model(call()), say(response(response="found")))),
    ("call_place", contents(model(call()), say(response()))),
    ("call_place", contents(say("x"), model("I look."), model(call()), say(response()))),
    ("response_place", contents(say(response()))),
    ("response_place", contents(say("x"), model(call()), say(response()), say(response()))),
    ("response_count", contents(say("x"), model(call(), call("other", signed=False)), say(response()))),
    ("response_count", contents(say("x"), model(call()), say("Well?"))),
    ("response_count", contents(say("x"), model(call()))),
    ("response_name", contents(say("x"), model(call()), say(response("other")))),
    ("response_name", contents(say("x"), model(call(id="a")), say(response(id="b")))),
    ("signature", contents(say("x"), model(call(signed=False)), say(response()))),
    ("signature", contents(say("x"), model(call()), say(response()), model(call(signed=False)), say(response()))),
    ("signature_bytes", contents(say("x"), model({**call(), "thoughtSignature": "%%%"}), say(response()))),
    ("function_name", put(tools=[declared("9lives")])),
    ("function_name", put(tools=[declared("a b")])),
    ("function_name", put(tools=[declared("f" * 129)])),
    ("function_unique", put(tools=[declared(), declared()])),
    ("schema", put(tools=[declared(parameters={**SCHEMA, "additionalProperties": False})])),
    ("schema", put(tools=[declared(parameters={**SCHEMA, "$schema": "x"})])),
    ("schema", put(tools=[declared(parameters={"type": "OBJECT", "properties": {}})])),
    ("schema", put(tools=[declared(parameters={"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}})])),
    ("schema", put(tools=[declared(parameters={"type": "OBJECT", "properties": {"a": {"type": "map"}}})])),
    ("schema", put(tools=[declared(parameters=SCHEMA, parametersJsonSchema={"type": "object"})])),
    ("schema", put(tools=[declared(parametersJsonSchema={"type": "string"})])),
    ("tool_config", put(tools=[])),
    ("tool_config", put(toolConfig={"functionCallingConfig": {"allowedFunctionNames": ["other"]}})),
    ("range", settings(temperature=3)),
    ("range", settings(maxOutputTokens=0)),
]
WITH_FACTS = {"max_output", "too_long"}
# Judged by the fake provider, which has the headers and knows no caches.
BY_THE_FAKE = {"headers", "cached"}


def test_a_good_request_passes() -> None:
    assert judged(good()) == []


def test_the_arguments_of_the_call_pass_too() -> None:
    """In the spelling of the SDK's arguments, where texts stand for contents."""
    calling = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}, "thought_signature": "c2ln"}]}
    answering = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {}}}]}
    config = {
        "system_instruction": "Be brief.",
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object"}}]}],
        "max_output_tokens": 100,
        "automatic_function_calling": {"disable": True},
    }
    given = [say("x"), calling, answering]
    assert judged({"model": "gemini-3-pro", "contents": given, "config": config}) == []
    assert judged({"model": "gemini-3-pro", "contents": "hi"}) == []
    assert judged({"model": "gemini-3-pro", "contents": ["hi", {"text": "there"}], "config": None}) == []
    assert judged({"model": "gemini-3-pro", "contents": [{**say("x"), "id": None}], "config": config}) == []
    assert broken({"model": "gemini-3-pro", "contents": given[:2], "config": config}) == {"response_count"}
    del calling["parts"][0]["thought_signature"]  # type: ignore[attr-defined]
    assert broken({"model": "gemini-3-pro", "contents": given, "config": config}) == {"signature"}
    assert broken({"model": "gemini-3-pro", "contents": "hi", "config": {"max_tokens": 5}}) == {"unknown"}


@pytest.mark.parametrize(("rule", "change"), BREAKERS, ids=[f"{rule}-{i}" for i, (rule, _) in enumerate(BREAKERS)])
def test_each_rule_is_broken_by_its_request(rule: str, change: Change) -> None:
    request = good()
    change(request)
    before = copy.deepcopy(request)
    assert rule in broken(request)
    assert request == before


def test_each_rule_has_a_breaker() -> None:
    ids = {rule.id.removeprefix("gemini.") for rule in rules.RULES if rule.api == "gemini"}
    assert ids == {rule for rule, _ in BREAKERS} | WITH_FACTS | BY_THE_FAKE


def test_the_server_s_own_words_and_places() -> None:
    request = {**good(), "contents": [say("x"), model("I look.", call(signed=False)), say(response())]}
    [found] = judged(request)
    assert found.path == "contents.1.parts.1.thoughtSignature"
    assert "function call `default_api:search` , position 2" in found.text
    [found] = judged({**good(), "contents": [say("")]})
    wanted = "required oneof field 'data' must have one initialized field"
    assert found.text == f"* GenerateContentRequest.contents[0].parts[0].data: {wanted}"


def test_what_the_request_cannot_know_is_judged_when_it_is_told() -> None:
    assert judged(good(), input_tokens=10, context_window=10) == []
    [found] = judged(good(), input_tokens=11, context_window=10)
    assert found.text == "The input token count (11) exceeds the maximum number of tokens allowed (10)."
    assert broken(good(), max_output=99) == {"max_output"}


def test_older_models_and_older_turns_need_no_signature() -> None:
    unsigned = [say("x"), model(call(signed=False)), say(response())]
    assert broken({**good(), "contents": unsigned}) == {"signature"}
    assert judged({**good(), "model": "gemini-2.5-flash", "contents": unsigned}) == []
    assert judged({**good(), "contents": [*unsigned[:1], model(call()), say(response(), "And?"), model("y")]}) == []
    for older in ("gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3.1-pro", "gemini-3.5-flash"):
        assert judged({**good(), "model": older, "contents": [say("x"), model("y")]}) == []
    assert judged({**good(), "contents": [*unsigned, model("y"), say("And then?")]}) == []
    for placeholder in ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go"):
        signed = model({**call(), "thoughtSignature": placeholder})
        assert judged({**good(), "contents": [say("x"), signed, say(response())]}) == []


@pytest.mark.parametrize("request_", [None, [], "x", 5, {}, {1: 2}, {"contents": [None], "tools": [None], "config": 5}])
def test_what_is_no_request_is_judged_too(request_: Any) -> None:
    assert judged(request_)


def test_deep_schemas_are_judged() -> None:
    schema: dict[str, Any] = {"type": "STRING"}
    for _ in range(300):
        schema = {"type": "ARRAY", "items": schema}
    assert broken({**good(), "tools": [declared(parameters=schema)]}) == {"schema"}


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
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "role", "parts", "functionCall", "名"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.data())
def test_nothing_raises(data: st.DataObject) -> None:
    request = good()
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(request)))
        if data.draw(st.booleans()):
            holder[key] = data.draw(JSON)
        else:
            del holder[key]
    if data.draw(st.booleans()):
        request = {"contents": request.get("contents"), "config": request}
    judged(request)


@pytest.mark.skipif(not ITEMS.is_dir(), reason="the recorded items (../shared/data/provider-items) are not here")
def test_a_recorded_call_goes_back() -> None:
    recorded = json.loads((ITEMS / "google-tool-call-gemini3.json").read_text())
    content = recorded["candidates"][0]["content"]
    given = [say("Weather?"), content, say(response("weather"))]
    assert judged({"model": recorded["modelVersion"], "contents": given, "tools": []}) == []
    del content["parts"][0]["thoughtSignature"]
    assert broken({"model": recorded["modelVersion"], "contents": given, "tools": []}) == {"signature"}
