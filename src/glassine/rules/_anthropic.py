"""Anthropic's Messages API: the judgement of a whole request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._anthropic_blocks import check_content, check_marks, check_name, check_texts
from ._anthropic_edits import check_edits
from ._anthropic_rules import RULES
from ._anthropic_turns import check_calls, check_order, check_thinking, version_of
from ._findings import Findings
from ._table import Limits, Violation
from ._values import is_int, unwritable

__all__ = ["RULES", "check"]

# The SDK's and its beta's. temperature, top_p and top_k are gone from the SDK; the server takes them from old clients.
_FIELDS = """
    max_tokens messages model cache_control container diagnostics inference_geo metadata output_config service_tier
    speed stop_sequences stream system thinking tool_choice tools temperature top_p top_k billing_policy compaction
    context_management fallback_credit_token fallbacks mcp_servers output_format thread
"""
_TOOL_FIELDS = """
    name input_schema description type cache_control allowed_callers defer_loading eager_input_streaming
    input_examples strict
"""
_KNOWN_FIELDS = frozenset(_FIELDS.split())
_KNOWN_TOOL_FIELDS = frozenset(_TOOL_FIELDS.split())
_MESSAGE_FIELDS = frozenset({"role", "content"})
_SYSTEM_MESSAGE_FIELDS = _MESSAGE_FIELDS | {"clear_at", "output_config"}
_MAX_BYTES = 32 * 1024 * 1024
_MOST_MESSAGES = 100_000
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}\Z")
_FORCED = ("any", "tool")


def check(request: Mapping[str, Any], limits: Limits) -> list[Violation]:
    """Every rule that the request breaks: first what is wrong with a field by itself, then what is between them."""
    findings = Findings("anthropic")
    if limits.request_bytes is not None and limits.request_bytes > _MAX_BYTES:
        findings.add("too_large", "", "Request exceeds the maximum size")
    if not isinstance(request, dict):
        findings.add("shape", "", "Input should be a valid dictionary")
        return findings.found
    if (reason := unwritable(request)) is not None:
        findings.add("json", "", f"The request body is not valid JSON: {reason}")
        return findings.found
    for name in request:
        if name not in _KNOWN_FIELDS:
            findings.add("extra", name, "Extra inputs are not permitted")
    _check_model(request, findings)
    _check_numbers(request, limits, findings)
    if request.get("system") is not None:
        check_texts(request["system"], "system", findings)
    _check_tools(request, findings)
    _check_thinking_config(request, findings)
    if request.get("context_management") is not None:
        check_edits(request["context_management"], findings)
    _check_messages(request, findings)
    check_marks(request, findings)
    tokens, window = limits.input_tokens, limits.context_window
    if tokens is not None and window is not None and tokens > window:
        findings.add("too_long", "", f"prompt is too long: {tokens} tokens > {window} maximum")
    return findings.found


def _check_model(request: Mapping[str, Any], findings: Findings) -> None:
    if "model" not in request:
        findings.add("required", "model", "Field required")
    elif not isinstance(request["model"], str) or not request["model"]:
        findings.add("shape", "model", "Input should be a valid string")


def _check_numbers(request: Mapping[str, Any], limits: Limits, findings: Findings) -> None:
    most = request.get("max_tokens")
    if "max_tokens" not in request:
        findings.add("max_tokens", "max_tokens", "Field required")
    elif not is_int(most):
        findings.add("max_tokens", "max_tokens", "Input should be a valid integer")
    elif request["max_tokens"] < 0:
        findings.add("max_tokens", "max_tokens", "Input should be greater than or equal to 0")
    elif limits.max_output is not None and request["max_tokens"] > limits.max_output:
        findings.add(
            "max_output",
            "max_tokens",
            f"{most} > {limits.max_output}, which is the maximum allowed number of output tokens for "
            f"{request.get('model')}",
        )
    for name in ("temperature", "top_p"):
        value = request.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
            findings.add("range", name, "Input should be a number from 0 to 1")
    stops = request.get("stop_sequences")
    if stops is not None and not isinstance(stops, list):
        findings.add("shape", "stop_sequences", "Input should be a valid list")
    for number, stop in enumerate(stops if isinstance(stops, list) else []):
        if not isinstance(stop, str) or not stop.strip():
            findings.add("stop_sequence", f"stop_sequences.{number}", "each stop sequence must contain non-whitespace")
    if request.get("stream") is not None and not isinstance(request["stream"], bool):
        findings.add("shape", "stream", "Input should be a valid boolean")


def _check_tools(request: Mapping[str, Any], findings: Findings) -> None:
    tools = request.get("tools")
    if tools is not None and not isinstance(tools, list):
        findings.add("shape", "tools", "Input should be a valid list")
    names: list[str] = []
    for number, tool in enumerate(tools if isinstance(tools, list) else []):
        path = f"tools.{number}"
        if not isinstance(tool, dict):
            findings.add("shape", path, "Input should be an object")
            continue
        if tool.get("type") in (None, "custom"):
            _check_tool(tool, f"{path}.custom", findings)
        if isinstance(tool.get("name"), str):
            if tool["name"] in names:
                findings.add("tool_unique", path, "Tool names must be unique.")
            names.append(tool["name"])
    _check_choice(request, names, findings)


def _check_tool(tool: Mapping[str, Any], path: str, findings: Findings) -> None:
    if "name" not in tool:
        findings.add("required", f"{path}.name", "Field required")
    elif isinstance(tool["name"], str):
        check_name(tool["name"], f"{path}.name", findings)
    else:
        findings.add("shape", f"{path}.name", "Input should be a valid string")
    schema = tool.get("input_schema")
    if "input_schema" not in tool:
        findings.add("required", f"{path}.input_schema", "Field required")
    elif not isinstance(schema, dict):
        findings.add("tool_schema", f"{path}.input_schema", "Input should be a valid dictionary")
    elif schema.get("type") != "object":
        wrong = "Input should be 'object'" if "type" in schema else "Field required"
        findings.add("tool_schema", f"{path}.input_schema.type", wrong)
    else:
        _check_schema(schema, f"{path}.input_schema", findings)
    if not isinstance(tool.get("description", ""), str):
        findings.add("shape", f"{path}.description", "Input should be a valid string")
    for name in tool:
        if name not in _KNOWN_TOOL_FIELDS:
            findings.add("extra", f"{path}.{name}", "Extra inputs are not permitted")


def _check_schema(schema: Mapping[str, Any], path: str, findings: Findings) -> None:
    if any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        findings.add("tool_schema", path, "input_schema does not support oneOf, allOf, or anyOf at the top level")
    properties = schema.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        if not isinstance(name, str) or not _PROPERTY.match(name):
            findings.add(
                "tool_schema",
                f"{path}.properties",
                f"Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$': {name!r}",
            )


def _check_choice(request: Mapping[str, Any], names: list[str], findings: Findings) -> None:
    choice = request.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind not in ("auto", "any", "tool", "none"):
        findings.add("shape", "tool_choice", "Input should be of type auto, any, tool or none")
    elif not request.get("tools") and kind != "none":
        findings.add("tool_choice", "tool_choice", "`tool_choice` may only be specified while providing `tools`.")
    elif kind == "tool" and choice.get("name") not in names:
        findings.add("tool_choice", "tool_choice", f"Tool '{choice.get('name')}' not found in provided tools")


def _check_thinking_config(request: Mapping[str, Any], findings: Findings) -> None:
    config = request.get("thinking")
    if config is None:
        return
    kind = config.get("type") if isinstance(config, dict) else None
    if kind not in ("enabled", "adaptive", "disabled", "between_tools"):
        findings.add("shape", "thinking", "Input should be of type enabled, adaptive, disabled or between_tools")
        return
    choice = request.get("tool_choice")
    if kind in ("enabled", "adaptive") and isinstance(choice, dict) and choice.get("type") in _FORCED:
        findings.add("thinking_choice", "thinking", "Thinking may not be enabled when tool_choice forces tool use.")
    if kind != "enabled":
        return
    model = request.get("model")
    version = version_of(model) if isinstance(model, str) else None
    if version is not None and version >= (4, 7):
        findings.add(
            "thinking_manual",
            "thinking",
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.',
        )
    budget, most = config.get("budget_tokens"), request.get("max_tokens")
    path = "thinking.enabled.budget_tokens"
    if not is_int(budget):
        findings.add("thinking_config", path, "Field required" if budget is None else "Input should be a valid integer")
    elif budget < 1024:
        findings.add("thinking_config", path, "Input should be greater than or equal to 1024")
    elif isinstance(most, int) and most <= budget:
        findings.add("thinking_config", "max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`")


def _check_messages(request: Mapping[str, Any], findings: Findings) -> None:
    messages = request.get("messages")
    if "messages" not in request:
        findings.add("required", "messages", "Field required")
        return
    if not isinstance(messages, list):
        findings.add("shape", "messages", "Input should be a valid list")
        return
    if not messages:
        findings.add("no_messages", "messages", "at least one message is required")
        return
    if len(messages) > _MOST_MESSAGES:
        findings.add("many_messages", "messages", f"at most {_MOST_MESSAGES} messages are allowed")
    for number, message in enumerate(messages):
        _check_message(message, f"messages.{number}", findings)
    if all(isinstance(message, dict) for message in messages):
        model = request.get("model")
        check_order(messages, model if isinstance(model, str) else "", findings)
        check_calls(messages, findings)
        check_thinking(messages, request, findings)


def _check_message(message: Any, path: str, findings: Findings) -> None:
    if not isinstance(message, dict):
        findings.add("shape", path, "Input should be an object")
        return
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        findings.add("role", f"{path}.role", f"Unexpected role {role!r}")
    for name in message:
        if name not in (_SYSTEM_MESSAGE_FIELDS if role == "system" else _MESSAGE_FIELDS):
            findings.add("extra", f"{path}.{name}", "Extra inputs are not permitted")
    if "content" not in message:
        findings.add("required", f"{path}.content", "Field required")
    else:
        check_content(message["content"], str(role), f"{path}.content", findings)
