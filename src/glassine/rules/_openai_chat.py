"""OpenAI's Chat Completions API: the rules, and the judgement of a whole request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._findings import Findings, has_text
from ._openai_messages import check_message, check_order
from ._openai_values import (
    SDK_ONLY,
    check_choice,
    check_filled,
    check_function,
    check_least,
    check_name,
    check_one_of,
    check_settings,
    check_type,
    missing,
    reasons,
)
from ._table import Limits, Rule, Violation
from ._values import dicts, unwritable

_SDK = "OpenAI Python SDK, types of the request"
_REFERENCE = "OpenAI API reference, chat completions"
_REPORTS = "refusals quoted in public issue reports"

_TABLE = (
    ("json", "The body is JSON that UTF-8 can hold: no NaN, no lone surrogates.", _REPORTS),
    ("type", "A field has the type that the SDK declares.", _SDK),
    ("value", "A field that takes one of a few names has one of them.", _SDK),
    ("required", "A field that has to be there is there.", _SDK),
    ("unknown", "No field stands in the request or in a message that is not declared there.", _REPORTS),
    ("range", "A number stays within its range.", _REFERENCE),
    ("empty_array", "A list of messages, content parts, tools or calls is not empty.", _REPORTS),
    ("too_many", "At most 128 tools and 4 stop sequences.", _REFERENCE),
    ("too_long_text", "A text with a limit keeps to it: a name and a cache key 64 characters.", _REPORTS),
    ("role", "A role is developer, system, user, assistant, tool or function.", _SDK),
    ("speaker", "The name of a participant has no white space and none of < | \\ / >.", _REPORTS),
    ("content", "Only an assistant message with calls, a refusal or audio goes without content.", _REFERENCE),
    ("part_type", "A content part is of a type that its role may have.", _SDK),
    ("image_role", "Images stand in user messages only.", _REPORTS),
    ("image", "An image is an http(s) URL or a data URL with a PNG, JPEG, GIF or WebP in base64.", _REPORTS),
    ("audio", "Audio is base64, WAV or MP3.", _SDK),
    ("file", "A file has an id, or a name and a base64 data URL.", _REPORTS),
    ("name", "The name of a function is 1 to 64 letters, digits, `_` or `-`, declared or called.", _REFERENCE),
    ("arguments", "The arguments of a call are a JSON text.", _REFERENCE),
    ("call_id", "The id of a call has 1 to 40 characters.", _REPORTS),
    ("call_unique", "The calls of one message have different ids.", _REPORTS),
    ("unanswered_call", "Each call is answered by a tool message before any other message, and before the end.",
     _REPORTS),
    ("orphan_result", "A tool message follows the assistant message whose call it names.", _REPORTS),
    ("double_result", "A call has one tool message.", _REPORTS),
    ("schema", "`parameters` is an object schema; with `strict`, closed and with every property required.", _REPORTS),
    ("tool_choice", "`tool_choice` and `parallel_tool_calls` come with tools, and name one of them.", _REPORTS),
    ("stream_options", "`stream_options` comes with `stream`.", _REPORTS),
    ("json_word", "With `json_object` as format the word JSON stands in a message.", _REPORTS),
    ("max_tokens", "Models that reason take `max_completion_tokens` only, and no model both.", _REPORTS),
    ("max_output", "The limit of output does not pass what the model can write.", _REPORTS),
    ("too_long", "The prompt fits into the window of the model.", _REPORTS),
    ("headers", "A request has an API key.", _REFERENCE),
)  # fmt: skip

RULES: tuple[Rule, ...] = tuple(Rule(f"openai.{id}", "openai", text, source) for id, text, source in _TABLE)

_FIELDS = """
    messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
    stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options
"""
_KNOWN_FIELDS = frozenset(_FIELDS.split()) | SDK_ONLY


def check(request: Mapping[str, Any], limits: Limits) -> list[Violation]:
    """Every rule that the request breaks: first what is wrong with a field by itself, then what is between them."""
    findings = Findings("openai")
    if not isinstance(request, dict):
        findings.add("type", "", "Invalid body: expected an object.")
        return findings.found
    if (reason := unwritable(request)) is not None:
        findings.add("json", "", f"We could not parse the JSON body of your request: {reason}.")
        return findings.found
    for name in request:
        if name not in _KNOWN_FIELDS:
            findings.add("unknown", name, f"Unrecognized request argument supplied: {name}")
    if "model" not in request:
        findings.add("required", "model", "you must provide a model parameter")
    else:
        check_type(request["model"], str, "model", findings)
    check_settings(request, findings)
    _check_own_settings(request, limits, findings)
    _check_tools(request, findings)
    _check_messages(request, findings)
    _check_window(request, limits, findings)
    return findings.found


def _check_own_settings(request: Mapping[str, Any], limits: Limits, findings: Findings) -> None:
    check_least(request, "n", 1, findings)
    wanted = [check_least(request, name, 1, findings) for name in ("max_tokens", "max_completion_tokens")]
    if request.get("max_tokens") is not None:
        if request.get("max_completion_tokens") is not None:
            text = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
            findings.add("max_tokens", "max_tokens", text)
        elif reasons(request.get("model")):
            text = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            findings.add("max_tokens", "max_tokens", f"Unsupported parameter: {text}")
    for name, value in zip(("max_tokens", "max_completion_tokens"), wanted, strict=True):
        if value is not None and limits.max_output is not None and value > limits.max_output:
            findings.add(
                "max_output",
                name,
                f"{name} is too large: {value}. This model supports at most {limits.max_output} completion tokens, "
                f"whereas you provided {value}.",
            )
    stop = request.get("stop")
    if isinstance(stop, list) and len(stop) > 4:
        text = f"array too long. Expected an array with maximum length 4, but got an array with length {len(stop)}"
        findings.add("too_many", "stop", f"Invalid 'stop': {text} instead.")
    shape = request.get("response_format")
    wants_json = isinstance(shape, dict) and shape.get("type") == "json_object"
    if wants_json and not has_text(request.get("messages"), "json"):
        text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        findings.add("json_word", "messages", text)


def _check_tools(request: Mapping[str, Any], findings: Findings) -> None:
    tools = request.get("tools")
    names: list[str] = []
    if tools is not None and check_type(tools, list, "tools", findings):
        check_filled(tools, "tools", findings)
        if len(tools) > 128:
            text = "array too long. Expected an array with maximum length 128, but got an array with length"
            findings.add("too_many", "tools", f"Invalid 'tools': {text} {len(tools)} instead.")
        for number, tool in enumerate(tools):
            path = f"tools.{number}"
            if check_type(tool, dict, path, findings):
                _check_tool(tool, path, findings)
        names = [inner["name"] for _, tool in dicts(tools) for inner in _declared(tool) if "name" in inner]
    for name in ("tool_choice", "parallel_tool_calls"):
        if request.get(name) is not None and not tools:
            text = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            findings.add("tool_choice", name, text)
    if request.get("tool_choice") is not None and tools:
        check_choice(request["tool_choice"], names, findings)


def _check_tool(tool: Mapping[str, Any], path: str, findings: Findings) -> None:
    if "type" not in tool:
        missing(f"{path}.type", findings)
        return
    if not check_one_of(tool["type"], ("function", "custom"), f"{path}.type", findings):
        return
    kind = tool["type"]
    if kind not in tool:
        missing(f"{path}.{kind}", findings)
    elif check_type(tool[kind], dict, f"{path}.{kind}", findings):
        if kind == "function":
            check_function(tool[kind], f"{path}.{kind}", findings)
        else:
            check_name(tool[kind].get("name"), f"{path}.{kind}.name", findings)


def _declared(tool: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [inner for inner in (tool.get("function"), tool.get("custom")) if isinstance(inner, dict)]


def _check_messages(request: Mapping[str, Any], findings: Findings) -> None:
    if "messages" not in request:
        missing("messages", findings)
        return
    messages = request["messages"]
    if not check_type(messages, list, "messages", findings) or not check_filled(messages, "messages", findings):
        return
    for number, message in enumerate(messages):
        if check_type(message, dict, f"messages.{number}", findings):
            check_message(message, f"messages.{number}", findings)
    if all(isinstance(message, dict) for message in messages):
        check_order(messages, findings)


def _check_window(request: Mapping[str, Any], limits: Limits, findings: Findings) -> None:
    tokens, window = limits.input_tokens, limits.context_window
    if tokens is not None and window is not None and tokens > window:
        what = "messages or functions" if request.get("tools") else "messages"
        findings.add(
            "too_long",
            "messages",
            f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} "
            f"tokens. Please reduce the length of the {what}.",
        )
