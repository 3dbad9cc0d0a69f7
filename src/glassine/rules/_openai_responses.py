"""OpenAI's Responses API: the rules, and the judgement of a whole request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._findings import Findings, has_text
from ._openai_items import check_item, check_links, kind
from ._openai_values import (
    SDK_ONLY,
    check_choice,
    check_function,
    check_least,
    check_one_of,
    check_settings,
    check_type,
    missing,
)
from ._table import Limits, Rule, Violation
from ._values import dicts, unwritable

_SDK = "OpenAI Python SDK, types of the request"
_REPORTS = "refusals quoted in public issue reports"
_STATE = "OpenAI docs, conversation state"
_REASONING = "OpenAI docs, reasoning: keeping reasoning items in context"

_TABLE = (
    ("json", "The body is JSON that UTF-8 can hold: no NaN, no lone surrogates.", _REPORTS),
    ("type", "A field has the type that the SDK declares.", _SDK),
    ("value", "A field that takes one of a few names has one of them.", _SDK),
    ("required", "A field that has to be there is there.", _SDK),
    ("unknown", "No field stands in the request or in an item that is not declared there.", _REPORTS),
    ("range", "A number stays within its range; `max_output_tokens` is at least 16.", _REPORTS),
    ("too_long_text", "A text with a limit keeps to it: a cache key 64 characters.", _REPORTS),
    ("no_input", "There is input, or a previous response, a conversation or a prompt to go on from.", _REPORTS),
    ("state", "`previous_response_id` and `conversation` are not both given.", _STATE),
    ("previous", "`previous_response_id` and `conversation` name something that is stored.", _REPORTS),
    ("item_type", "An item is of a known type.", _SDK),
    ("item_id", "The id of an item is 1 to 64 letters, digits, `_` or `-`, with the prefix of its type.", _REPORTS),
    ("item_unique", "No two items have one id.", _REPORTS),
    ("item_stored", "With `store: false`, no item refers to a stored one: reasoning comes with its encrypted content.",
     _REPORTS),
    ("role", "The role of a message is user, assistant, system or developer.", _SDK),
    ("part_type", "A content part is of a type that its place may have: input for us, output for the assistant.",
     _REPORTS),
    ("image", "An image is an http(s) URL or a data URL with a PNG, JPEG, GIF or WebP in base64.", _REPORTS),
    ("file", "A file has an id or a URL, or a name and a base64 data URL.", _REPORTS),
    ("name", "The name of a function is 1 to 64 letters, digits, `_` or `-`, declared or called.", _SDK),
    ("arguments", "The arguments of a call are a JSON text.", _SDK),
    ("call_id", "The id of a call has 1 to 64 characters.", _REPORTS),
    ("call_unique", "No two calls have one `call_id`.", _REPORTS),
    ("unanswered_call", "Each call has its output.", _REPORTS),
    ("orphan_output", "An output stands behind the call that it names.", _REPORTS),
    ("double_output", "A call has one output.", _REPORTS),
    ("linked", "Reasoning stands with what it led to: neither is given without the other.", _REASONING),
    ("reasoning_text", "Reasoning goes back with its summary and encrypted content, without its text.", _REPORTS),
    ("encrypted_content", "Encrypted content is given back as it was, in its own item.", _REPORTS),
    ("schema", "`parameters` is an object schema; with `strict`, closed and with every property required.", _REPORTS),
    ("tool_choice", "`tool_choice` forces only tools that are given.", _REPORTS),
    ("stream_options", "`stream_options` comes with `stream`.", _REPORTS),
    ("json_word", "With `json_object` as format the word JSON stands in a message.", _REPORTS),
    ("max_output", "The limit of output does not pass what the model can write.", _REPORTS),
    ("too_long", "The prompt fits into the window of the model, unless it may be truncated.", _REPORTS),
    ("headers", "A request has an API key.", _REPORTS),
)  # fmt: skip

RULES: tuple[Rule, ...] = tuple(
    Rule(f"openai_responses.{id}", "openai_responses", text, source) for id, text, source in _TABLE
)

_FIELDS = """
    access_programs background background_options context_management conversation image include input instructions
    max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls personality previous_response_id
    prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store
    stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user
"""
_KNOWN_FIELDS = frozenset(_FIELDS.split()) | SDK_ONLY
_STARTS = ("input", "previous_response_id", "prompt", "conversation")


def check(request: Mapping[str, Any], limits: Limits) -> list[Violation]:
    """Every rule that the request breaks: first what is wrong with a field by itself, then what is between them."""
    findings = Findings("openai_responses")
    if not isinstance(request, dict):
        findings.add("type", "", "Invalid body: expected an object.")
        return findings.found
    if (reason := unwritable(request)) is not None:
        findings.add("json", "", f"We could not parse the JSON body of your request: {reason}.")
        return findings.found
    for name in request:
        if name not in _KNOWN_FIELDS:
            findings.add("unknown", name, f"Unknown parameter: '{name}'.")
    if "model" in request:
        check_type(request["model"], str, "model", findings)
    elif request.get("prompt") is None:
        missing("model", findings)
    for name in ("instructions", "previous_response_id"):
        if request.get(name) is not None:
            check_type(request[name], str, name, findings)
    check_settings(request, findings)
    _check_own_settings(request, limits, findings)
    _check_tools(request, findings)
    _check_input(request, findings)
    tokens, window = limits.input_tokens, limits.context_window
    if tokens is not None and window is not None and tokens > window and request.get("truncation") != "auto":
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        findings.add("too_long", "input", text)
    return findings.found


def _check_own_settings(request: Mapping[str, Any], limits: Limits, findings: Findings) -> None:
    most = check_least(request, "max_output_tokens", 16, findings)
    if most is not None and limits.max_output is not None and most > limits.max_output:
        text = f"max_output_tokens is too large: {most}. This model supports at most {limits.max_output} output tokens."
        findings.add("max_output", "max_output_tokens", text)
    if request.get("truncation") is not None:
        check_one_of(request["truncation"], ("auto", "disabled"), "truncation", findings)
    if request.get("previous_response_id") is not None and request.get("conversation") is not None:
        text = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'."
        findings.add("state", "previous_response_id", text)
    shape = request.get("text")
    shape = shape.get("format") if isinstance(shape, dict) else None
    wants_json = isinstance(shape, dict) and shape.get("type") == "json_object"
    if wants_json and not has_text(request.get("input"), "json"):
        text = "Response input messages must contain the word 'json' in some form to use 'text.format' of type"
        findings.add("json_word", "input", f"{text} 'json_object'.")


def _check_tools(request: Mapping[str, Any], findings: Findings) -> None:
    tools = request.get("tools")
    if tools is not None and check_type(tools, list, "tools", findings):
        for number, tool in enumerate(tools):
            path = f"tools.{number}"
            if not check_type(tool, dict, path, findings):
                continue
            if "type" not in tool:
                missing(f"{path}.type", findings)
            elif check_type(tool["type"], str, f"{path}.type", findings) and tool["type"] == "function":
                check_function(tool, path, findings)
    choice = request.get("tool_choice")
    if choice is None or (choice in ("none", "auto") and not tools):
        return
    if not tools:
        text = "Tool choice 'required' must be specified with 'tools' parameter."
        findings.add("tool_choice", "tool_choice", text)
        return
    check_choice(choice, [tool["name"] for _, tool in dicts(tools) if "name" in tool], findings)


def _check_input(request: Mapping[str, Any], findings: Findings) -> None:
    given = request.get("input")
    if given in (None, []) and not any(request.get(name) for name in _STARTS):
        text = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
        findings.add("no_input", "input", text)
    if given is None or isinstance(given, str) or not check_type(given, list, "input", findings):
        return
    for number, item in enumerate(given):
        if check_type(item, dict, f"input.{number}", findings):
            check_item(item, f"input.{number}", findings)
    if not all(isinstance(item, dict) for item in given):
        return
    references = any(kind(item) == "item_reference" for item in given)
    continues = references or any(request.get(name) for name in _STARTS[1:])
    check_links(given, "input", findings, continues=continues)
    if request.get("store") is False:
        _check_stored(given, findings)


def _check_stored(items: list[dict[str, Any]], findings: Findings) -> None:
    for number, item in enumerate(items):
        bare = kind(item) == "reasoning" and not item.get("encrypted_content")
        if bare or kind(item) == "item_reference":
            text = (
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. Try "
                "again with `store` set to true, or remove this item from your input."
            )
            findings.add("item_stored", f"input.{number}", text)
