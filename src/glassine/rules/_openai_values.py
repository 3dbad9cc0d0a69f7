"""What the two APIs of OpenAI check alike: types, ids, names, images, tools and the settings of a request."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from ._findings import Findings, bracketed, is_base64, kind_of, listed
from ._values import is_int

# Keyword arguments of the SDK's call that are not part of the body.
SDK_ONLY = frozenset({"extra_headers", "extra_query", "extra_body", "timeout"})
_NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^,]*)?),(.*)\Z", re.DOTALL)
_IMAGES = ("png", "jpeg", "gif", "webp")
_RETENTIONS = ("in_memory", "24h")
_REASONING = re.compile(r"(?:^|[/:])(?:o\d|gpt-[5-9])(?!.*chat)")
_TYPES = {str: "a string", list: "an array", dict: "an object", bool: "a boolean"}


def reasons(model: Any) -> bool:
    """Whether a model is one of those that reason: the o-series and GPT-5 and later, without the chat editions."""
    return isinstance(model, str) and _REASONING.search(model) is not None


def missing(path: str, findings: Findings) -> None:
    findings.add("required", path, f"Missing required parameter: '{bracketed(path)}'.")


def check_type(value: Any, kind: type, path: str, findings: Findings) -> bool:
    """Whether a value is of a type; if not, that is a finding."""
    if isinstance(value, kind):
        return True
    expected = _TYPES[kind]
    text = f"Invalid type for '{bracketed(path)}': expected {expected}, but got {kind_of(value)} instead."
    findings.add("type", path, text)
    return False


def check_required(holder: Mapping[str, Any], name: str, kind: type, path: str, findings: Findings) -> bool:
    """Whether a field is there and of a type."""
    if name not in holder:
        missing(f"{path}.{name}", findings)
        return False
    return check_type(holder[name], kind, f"{path}.{name}", findings)


def check_one_of(value: Any, allowed: Collection[str], path: str, findings: Findings, rule: str = "value") -> bool:
    """Whether a value is one of a few names."""
    if isinstance(value, str) and value in allowed:
        return True
    if isinstance(value, str):
        findings.add(rule, path, f"Invalid value: '{value}'. Supported values are: {listed(allowed)}.")
    else:
        text = f"Invalid type for '{bracketed(path)}': expected one of {listed(allowed)}, but got {kind_of(value)}"
        findings.add(rule, path, f"{text} instead.")
    return False


def check_filled(value: list[Any], path: str, findings: Findings) -> bool:
    """Whether a list holds something."""
    if value:
        return True
    text = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    findings.add("empty_array", path, f"Invalid '{bracketed(path)}': {text}")
    return False


def check_length(text: str, most: int, path: str, findings: Findings, rule: str = "too_long_text") -> bool:
    """Whether a text has at most so many characters."""
    if len(text) <= most:
        return True
    findings.add(
        rule,
        path,
        f"Invalid '{bracketed(path)}': string too long. Expected a string with maximum length {most}, but got a string "
        f"with length {len(text)} instead.",
    )
    return False


def check_name(name: Any, path: str, findings: Findings) -> None:
    """The name of a function, where it is declared and where it is called."""
    if not check_type(name, str, path, findings):
        return
    if not _NAME.match(name):
        text = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        findings.add("name", path, f"Invalid '{bracketed(path)}': {text}")
    else:
        check_length(name, 64, path, findings, "name")


def check_image(url: str, path: str, findings: Findings) -> None:
    """The address of an image: http or https, or a data URL of a kind of image that is taken."""
    if url.startswith(("http://", "https://")):
        return
    data = _DATA_URL.match(url)
    if data is None:
        findings.add("image", path, "Invalid image URL. Expected an http(s) URL or a data URL with base64 data.")
    elif not data[1].startswith("image/"):
        findings.add("image", path, "Invalid MIME type. Only image types are supported.")
    elif data[1].removeprefix("image/").replace("jpg", "jpeg") not in _IMAGES:
        text = f"You uploaded an unsupported image. Please make sure your image is one of: {list(_IMAGES)}."
        findings.add("image", path, text)
    elif "base64" not in data[2] or not is_base64(data[3]):
        findings.add("image", path, "Invalid base64 image_url.")


def check_file_data(data: str, path: str, findings: Findings) -> None:
    """The bytes of a file stand in a data URL with base64."""
    found = _DATA_URL.match(data)
    if found is None or "base64" not in found[2] or not is_base64(found[3]):
        text = f"Invalid '{bracketed(path)}'. Expected a base64-encoded data URL with a MIME type."
        findings.add("file", path, text)


def check_function(tool: Mapping[str, Any], path: str, findings: Findings) -> None:
    """The declaration of a function: its name and the schema of its parameters."""
    if "name" not in tool:
        missing(f"{path}.name", findings)
    else:
        check_name(tool["name"], f"{path}.name", findings)
    if tool.get("description") is not None:
        check_type(tool["description"], str, f"{path}.description", findings)
    schema = tool.get("parameters")
    if schema is not None and check_type(schema, dict, f"{path}.parameters", findings):
        problem = _schema_problem(schema, bool(tool.get("strict")))
        if problem:
            text = f"Invalid schema for function '{tool.get('name')}': {problem}"
            findings.add("schema", f"{path}.parameters", text)


def check_arguments(text: str, path: str, findings: Findings) -> None:
    """The arguments of a call to a function are one JSON value in a text."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        findings.add("arguments", path, f"Invalid '{bracketed(path)}': expected a JSON text.")


def check_choice(choice: Any, names: Collection[str], findings: Findings) -> None:
    """A choice of tools: a known word, or a declared function."""
    if isinstance(choice, str):
        check_one_of(choice, ("none", "auto", "required"), "tool_choice", findings, "tool_choice")
    elif isinstance(choice, dict) and choice.get("type") == "function":
        inner = choice.get("function", choice)
        wanted = inner.get("name") if isinstance(inner, dict) else None
        if wanted not in names:
            findings.add("tool_choice", "tool_choice", f"Tool choice 'function' not found in 'tools': {wanted!r}.")
    else:
        check_type(choice, dict, "tool_choice", findings)


def check_settings(request: Mapping[str, Any], findings: Findings) -> None:
    """Numbers within their ranges and names among the known ones."""
    for name, most in (("temperature", 2), ("top_p", 1)):
        value = request.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            text = f"Invalid type for '{name}': expected a decimal, but got {kind_of(value)} instead."
            findings.add("type", name, text)
        elif not 0 <= value <= most:
            side, sign, bound = ("below minimum", ">=", 0) if value < 0 else ("above maximum", "<=", most)
            text = f"Invalid '{name}': decimal {side} value. Expected a value {sign} {bound}, but got {value} instead."
            findings.add("range", name, text)
    if request.get("stream") is not None:
        check_type(request["stream"], bool, "stream", findings)
    if request.get("stream_options") is not None and not request.get("stream"):
        text = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        findings.add("stream_options", "stream_options", text)
    key = request.get("prompt_cache_key")
    if key is not None and check_type(key, str, "prompt_cache_key", findings):
        check_length(key, 64, "prompt_cache_key", findings)
    if request.get("prompt_cache_retention") is not None:
        check_one_of(request["prompt_cache_retention"], _RETENTIONS, "prompt_cache_retention", findings)
    options = request.get("prompt_cache_options")
    if options is not None and check_type(options, dict, "prompt_cache_options", findings):
        if "mode" in options:
            check_one_of(options["mode"], ("implicit", "explicit"), "prompt_cache_options.mode", findings)
        if "ttl" in options:
            check_one_of(options["ttl"], ("30m", "12h"), "prompt_cache_options.ttl", findings)


def check_least(request: Mapping[str, Any], name: str, least: int, findings: Findings) -> int | None:
    """A number of tokens: an integer of at least so many. Returns it if it is one."""
    value = request.get(name)
    if value is None:
        return None
    if not is_int(value):
        text = f"Invalid type for '{name}': expected an integer, but got {kind_of(value)} instead."
        findings.add("type", name, text)
        return None
    if value < least:
        text = f"Invalid '{name}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
        findings.add("range", name, text)
    return int(value)


def _schema_problem(schema: Mapping[str, Any], strict: bool) -> str | None:
    if schema.get("type") != "object":
        kind = schema.get("type")
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    properties = schema.get("properties")
    for name, property in properties.items() if isinstance(properties, dict) else ():
        if isinstance(property, dict) and property.get("type") == "array" and "items" not in property:
            return f"In context=('properties', '{name}'), array schema missing items."
    if strict:
        if schema.get("additionalProperties") is not False:
            return "In context=(), 'additionalProperties' is required to be supplied and to be false."
        required = schema.get("required")
        for name in properties if isinstance(properties, dict) else ():
            if not isinstance(required, list) or name not in required:
                return (
                    "In context=(), 'required' is required to be supplied and to be an array including every key in "
                    f"properties. Missing '{name}'."
                )
    return None
