"""The rules of Anthropic's API: a good request passes, and each rule is broken by a request made for it."""

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

PIXEL = "iVBORw0KGgo="
CALL = {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "x"}}
RESULT = {"type": "tool_result", "tool_use_id": "call_1", "content": "found"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
MARK = {"type": "ephemeral"}
NEWER = "claude-opus-4-8"


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def say(role: str, *blocks: dict[str, Any] | str) -> dict[str, Any]:
    content = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], str) else list(blocks)
    return {"role": role, "content": content}


def good() -> Request:
    """A request with something of everything, which the server takes."""
    return copy.deepcopy(
        {
            "model": "claude-sonnet-4-6",
            "max_tokens": 2048,
            "system": [text("Be brief.", cache_control={"type": "ephemeral", "ttl": "1h"})],
            "tools": [{"name": "search", "description": "Search.", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "auto"},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "messages": [
                say("user", "Find it."),
                say("assistant", THOUGHT, text("I look."), CALL, {**CALL, "id": "call_2"}),
                say("user", RESULT, {**RESULT, "tool_use_id": "call_2", "is_error": True}, text("Well?")),
                say("assistant", THOUGHT, text("Here.")),
                say(
                    "user",
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "note"}},
                    text("And this?", cache_control=MARK),
                ),
            ],
        }
    )


def judged(request: Any, **facts: Any) -> list[Violation]:
    return rules.violations("anthropic", request, facts=Limits(**facts))


def broken(request: Any, **facts: Any) -> set[str]:
    return {violation.rule.removeprefix("anthropic.") for violation in judged(request, **facts)}


def messages(*items: dict[str, Any]) -> Change:
    return lambda request: request.update(messages=list(items))


def user(*blocks: dict[str, Any] | str) -> Change:
    return messages(say("user", *blocks))


def test_a_good_request_passes() -> None:
    assert judged(good()) == []


def test_a_system_message_stands_behind_the_users() -> None:
    request: Request = {"model": "claude-opus-4-8", "max_tokens": 1, "messages": [say("user", "a"), say("system", "b")]}
    assert judged(request) == []
    request["messages"] += [say("assistant", "c"), say("user", "d")]
    assert judged(request) == []
    served = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    request["messages"] += [say("assistant", served), say("system", "e")]
    assert judged(request) == []


def test_what_the_server_is_to_clear() -> None:
    request: Request = {"model": "claude-sonnet-5", "max_tokens": 1, "messages": [ASK]}
    edits(
        {"type": "clear_thinking_20251015", "keep": "all"},
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 3},
            "clear_at_least": {"type": "input_tokens", "value": 30_000},
            "exclude_tools": ["memory"],
            "clear_tool_inputs": False,
        },
        {"type": "compact_20260112", "trigger": None},
    )(request)
    assert judged(request) == []
    request["context_management"] = {"edits": [{"type": "clear_thinking_20251015", "keep": {"type": "all"}}]}
    assert judged(request) == []


def source(**fields: Any) -> dict[str, Any]:
    return {"type": "image", "source": fields}


def setting(name: str, value: Any) -> Change:
    return lambda request: request.update({name: value})


def without(name: str) -> Change:
    return lambda request: request.pop(name)


def tool(**fields: Any) -> Change:
    return lambda request: request["tools"].append({"name": "other", "input_schema": {"type": "object"}, **fields})


def edits(*items: dict[str, Any]) -> Change:
    return setting("context_management", {"edits": list(items)})


ASK, ANSWER = say("user", "Find it."), say("assistant", text("I look."), CALL)
PLAIN = {"thinking": None}

BREAKERS: list[tuple[str, Change]] = [
    ("json", user("lone \ud83d surrogate")),
    ("json", setting("temperature", float("nan"))),
    ("shape", setting("model", 5)),
    ("shape", setting("model", "")),
    ("shape", setting("tools", {})),
    ("shape", setting("messages", "hello")),
    ("shape", setting("stream", "yes")),
    ("shape", setting("system", 5)),
    ("shape", setting("thinking", {"type": "on"})),
    ("shape", setting("tool_choice", "auto")),
    ("shape", user({"type": "text", "text": None})),
    ("shape", messages({"role": "user", "content": None})),
    ("shape", messages(ASK, say("assistant", {**CALL, "input": "{}"}), say("user", RESULT))),
    ("required", without("model")),
    ("required", without("messages")),
    ("required", user({"type": "text"})),
    ("required", user({"text": "no type"})),
    ("required", messages({"role": "user"})),
    ("extra", setting("messages_", [])),
    ("extra", messages({**ASK, "id": "m1"})),
    ("extra", user(text("hello", id="p1"))),
    ("extra", messages(ASK, say("assistant", {**THOUGHT, "cache_control": MARK}, CALL), say("user", RESULT))),
    ("extra", tool(parameters={})),
    ("max_tokens", without("max_tokens")),
    ("max_tokens", setting("max_tokens", "100")),
    ("max_tokens", setting("max_tokens", True)),
    ("max_tokens", setting("max_tokens", -1)),
    ("range", setting("temperature", 1.5)),
    ("stop_sequence", setting("stop_sequences", ["\n"])),
    ("tool_name", tool(name="get weather")),
    ("tool_name", tool(name="x" * 129)),
    ("tool_name", messages(ASK, say("assistant", THOUGHT, {**CALL, "name": "a.b"}), say("user", RESULT))),
    ("tool_unique", tool(name="search")),
    ("tool_schema", tool(input_schema={"properties": {}})),
    ("tool_schema", tool(input_schema="object")),
    ("tool_schema", tool(input_schema={"type": "object", "anyOf": []})),
    ("tool_schema", tool(input_schema={"type": "object", "properties": {"größe": {}}})),
    ("tool_choice", setting("tool_choice", {"type": "tool", "name": "nobody"})),
    ("tool_choice", lambda request: (request.pop("tools"), request)),
    ("no_messages", messages()),
    ("many_messages", lambda request: request.update(messages=[ASK] * 100_001)),
    ("role", messages(ASK, {"role": "tool", "content": "found"})),
    ("first_user", messages(say("assistant", "Welcome."), ASK)),
    ("system_place", lambda request: request.update(model=NEWER, messages=[say("system", "Be brief."), ASK])),
    (
        "system_place",
        lambda request: request.update(model=NEWER, messages=[ASK, say("assistant", "a"), say("system", "b"), ASK]),
    ),
    ("system_model", lambda request: request.update(model="claude-opus-4-7", messages=[ASK, say("system", "b")])),
    ("prefill", messages(ASK, say("assistant", "The answer is"))),
    (
        "trailing_space",
        lambda request: request.update(model="claude-haiku-4-5", messages=[ASK, say("assistant", "It is ")]),
    ),
    ("block_type", user({"type": "input_text", "text": "hello"})),
    ("block_type", user({"type": ["text"], "text": "hello"})),
    ("block_type", user(source(type="inline", data=PIXEL))),
    ("block_role", user(text("x"), CALL)),
    ("block_role", messages(ASK, say("assistant", RESULT, text("x")), ASK)),
    ("block_role", user(THOUGHT)),
    ("empty_content", user("")),
    ("empty_content", messages(ASK, say("assistant"), ASK)),
    ("empty_text", user(text(""))),
    ("empty_text", user(" \n")),
    ("empty_text", setting("system", [text(" ")])),
    ("empty_text", messages(ASK, ANSWER, say("user", {**RESULT, "content": [text("")]}))),
    ("call_id", messages(ASK, say("assistant", {**CALL, "id": "call:1"}), say("user", RESULT))),
    ("call_id", messages(ASK, say("assistant", {**CALL, "id": ""}), say("user", RESULT))),
    ("call_unique", messages(ASK, ANSWER, say("user", RESULT), ANSWER, say("user", RESULT))),
    ("unanswered_call", messages(ASK, ANSWER)),
    ("unanswered_call", messages(ASK, ANSWER, say("user", "never mind"))),
    ("unanswered_call", messages(ASK, say("assistant", CALL, {**CALL, "id": "b"}), say("user", RESULT))),
    ("unanswered_call", messages(ASK, ANSWER, say("assistant", text("...")), say("user", RESULT))),
    ("orphan_result", user(RESULT)),
    ("orphan_result", messages(ASK, ANSWER, say("user", RESULT), say("assistant", text("x")), say("user", RESULT))),
    ("double_result", messages(ASK, ANSWER, say("user", RESULT, RESULT))),
    ("results_first", messages(ASK, ANSWER, say("user", text("here:"), RESULT))),
    (
        "error_result",
        messages(
            ASK,
            ANSWER,
            say("user", {**RESULT, "is_error": True, "content": [source(type="file", file_id="f")]}),
        ),
    ),
    ("media_type", user(source(type="base64", media_type="image/bmp", data=PIXEL))),
    ("base64", user(source(type="base64", media_type="image/png", data="data:image/png;base64," + PIXEL))),
    ("base64", user(source(type="base64", media_type="image/png", data=""))),
    ("url", user(source(type="url", url="file:///tmp/x.png"))),
    ("thinking_config", setting("thinking", {"type": "enabled", "budget_tokens": 512})),
    ("thinking_config", setting("thinking", {"type": "enabled"})),
    ("thinking_config", setting("max_tokens", 1024)),
    ("thinking_manual", setting("model", "claude-opus-4-7")),
    ("thinking_manual", setting("model", "anthropic/claude-sonnet-4.8")),
    ("thinking_choice", setting("tool_choice", {"type": "any"})),
    ("thinking_signature", messages(ASK, say("assistant", {**THOUGHT, "signature": ""}, text("x")), ASK)),
    (
        "thinking_signature",
        messages(ASK, say("assistant", {"type": "thinking", "thinking": "hm"}, text("x")), ASK),
    ),
    ("thinking_signature", messages(ASK, say("assistant", {"type": "redacted_thinking", "data": ""}, CALL), ASK)),
    ("thinking_first", messages(ASK, ANSWER, say("user", RESULT))),
    (
        "thinking_first",
        messages(
            ASK,
            ANSWER,
            say("user", RESULT),
            say("assistant", THOUGHT, {**CALL, "id": "b"}),
            say("user", {**RESULT, "tool_use_id": "b"}),
        ),
    ),
    (
        "thinking_off",
        lambda request: request.update(
            model="claude-haiku-4-5",
            thinking={"type": "disabled"},
            messages=[ASK, say("assistant", THOUGHT, text("x"))],
        ),
    ),
    ("thinking_last", messages(ASK, say("assistant", text("x"), THOUGHT), ASK)),
    ("context_edits", setting("context_management", [])),
    ("context_edits", edits({"type": "clear_everything"})),
    ("context_edits", edits({"type": "clear_tool_uses_20250919", "keep": 3})),
    ("context_edits", edits({"type": "clear_tool_uses_20250919", "keep": {"type": "input_tokens", "value": 3}})),
    ("context_edits", edits({"type": "clear_tool_uses_20250919", "leave": {"type": "tool_uses", "value": 3}})),
    ("context_edits", edits({"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"})),
    ("cache_mark", setting("cache_control", {"type": "permanent"})),
    ("cache_mark", setting("cache_control", {"type": "ephemeral", "ttl": "2h"})),
    ("cache_marks", user(*[text("x", cache_control=MARK)] * 4)),
    ("cache_order", user(text("x", cache_control=MARK), text("y", cache_control={**MARK, "ttl": "1h"}))),
    ("cache_empty", user(text("", cache_control=MARK))),
]


@pytest.mark.parametrize(("rule", "change"), BREAKERS, ids=[f"{rule}-{i}" for i, (rule, _) in enumerate(BREAKERS)])
def test_each_rule_is_broken_by_its_request(rule: str, change: Change) -> None:
    request = good()
    change(request)
    found = judged(request)
    assert rule in {violation.rule.removeprefix("anthropic.") for violation in found}
    assert all(violation.text for violation in found)


def test_a_violation_names_the_place() -> None:
    request = {"model": "claude-sonnet-5", "max_tokens": 1, "messages": [ASK, ANSWER, say("user", text("x"), text(""))]}
    assert [(violation.rule, violation.path) for violation in judged(request)] == [
        ("anthropic.empty_text", "messages.2.content.1"),
        ("anthropic.unanswered_call", "messages.1"),
    ]
    assert "call_1" in judged(request)[1].text


def test_what_the_request_cannot_know_is_judged_when_it_is_told() -> None:
    request = {"model": "claude-sonnet-5", "max_tokens": 9000, "messages": [ASK]}
    assert broken(request) == set()
    assert broken(request, max_output=8192) == {"max_output"}
    assert broken(request, input_tokens=200_001, context_window=200_000) == {"too_long"}
    assert judged(request, input_tokens=7, context_window=6)[0].text == "prompt is too long: 7 tokens > 6 maximum"
    assert broken(request, input_tokens=200_001) == set()
    assert broken(request, request_bytes=40 << 20) == {"too_large"}


def test_each_rule_has_a_breaker() -> None:
    # What only a server can see is broken in test_fake_anthropic.py.
    elsewhere = {"headers", "beta", "thinking_whole", "thinking_bound", "max_output", "too_long", "too_large"}
    ids = {rule.id.removeprefix("anthropic.") for rule in rules.RULES if rule.api == "anthropic"}
    assert ids == {rule for rule, _ in BREAKERS} | elsewhere


def test_the_table_is_whole() -> None:
    ids = [rule.id for rule in rules.RULES]
    assert len(ids) == len(set(ids))
    assert all(rule.text and rule.source and rule.api in rules.APIS for rule in rules.RULES)
    assert all("://" not in rule.source and ".com" not in rule.source for rule in rules.RULES)


def test_an_unknown_api_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown API 'cohere'"):
        rules.violations("cohere", {})  # type: ignore[arg-type]


@pytest.mark.parametrize("request_", [None, [], "x", 5, {}, {"messages": None}, {"messages": [None]}, {1: 2}])
def test_what_is_no_request_is_judged_too(request_: Any) -> None:
    assert judged(request_)


def test_deep_nesting_is_judged() -> None:
    deep: Any = []
    for _ in range(200_000):
        deep = [deep]
    assert broken({"messages": deep}) == {"json"}
    while deep:  # taken down level by level: freeing it at once would overflow the stack of older interpreters
        deep = deep.pop()


def test_null_fields_pass() -> None:
    block = {**text("hello"), "citations": None, "cache_control": None}
    call = {**CALL, "caller": {"type": "direct"}, "toolset_name": None}
    request = {
        "model": "claude-sonnet-5",
        "max_tokens": 1,
        "system": None,
        "cache_control": None,
        "messages": [say("user", block), say("assistant", call), say("user", RESULT)],
    }
    assert judged(request) == []


def test_what_the_server_made_comes_back_as_it_is() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}, "anything": 1}
    request = {
        "model": "claude-sonnet-5",
        "max_tokens": 1,
        "messages": [ASK, say("assistant", search, {"type": "web_search_tool_result"}, text("x")), ASK],
    }
    assert judged(request) == []


# --- properties -------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["user", "text", "tool_use", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "role", "content", "text", "id", "source", "cache_control"]), inner)
    ),
    max_leaves=12,
)


@given(st.data())
def test_nothing_raises(data: st.DataObject) -> None:
    """Whatever stands anywhere in a good request."""
    request = good()
    holder: Any = request
    while True:
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        holder = inner
    holder[key] = data.draw(JSON)
    before = json.dumps(request)
    judged(request)
    assert json.dumps(request) == before


# --- what a real client sent ------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[2] / "shared" / "data" / "claude-code"
# In this one every field is the same placeholder.
FILES = [path for path in sorted(DATA.glob("*.jsonl*")) if path.name != "fixture_jazzyalex_small_all_linetypes.jsonl"]
# Between the lines of a file things stand that were sent in another order, or cleaned, or not at all.
BETWEEN = {"unanswered_call", "orphan_result", "thinking_last", "prefill", "no_messages", "empty_text"}


@pytest.mark.skipif(not FILES, reason="the real transcripts (../shared/data/claude-code) are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_blocks_of_real_conversations_pass(path: Path) -> None:
    """What the server once took is not refused here for the shape of a block."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    sent = []
    for row in data.decode().split("\n"):
        if '"message"' in row:
            line, _ = json.JSONDecoder().raw_decode(row.strip())
            if line.get("type") in ("user", "assistant") and not line.get("isSidechain"):
                sent.append({name: line["message"].get(name) for name in ("role", "content")})
    found = judged({"model": "claude-sonnet-5", "max_tokens": 1, "messages": sent})
    alarms = [violation for violation in found if violation.rule.removeprefix("anthropic.") not in BETWEEN]
    # One file has had its ids taken out.
    assert [alarm for alarm in alarms if not alarm.path.endswith(".tool_use.id")] == []
