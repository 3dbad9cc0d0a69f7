"""The messages of a request to Chat Completions: each by itself, and calls with their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._findings import Findings, bracketed, is_base64
from ._openai_values import (
    check_arguments,
    check_file_data,
    check_filled,
    check_image,
    check_length,
    check_name,
    check_one_of,
    check_required,
    check_type,
    missing,
)
from ._values import dicts

_ROLES = ("developer", "system", "user", "assistant", "tool", "function")
_FIELDS = {
    "assistant": frozenset(
        {"role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations"}
    ),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
}
_COMMON_FIELDS = frozenset(["role", "content", "name"])
_PARTS = {"user": ("text", "image_url", "input_audio", "file"), "assistant": ("text", "refusal")}
_CALL_ID = 40
_SPEAKER = re.compile(r"[^\s<|\\/>]+\Z")


def check_message(message: Mapping[str, Any], path: str, findings: Findings) -> None:
    """One message by itself."""
    if "role" not in message:
        missing(f"{path}.role", findings)
        return
    role = message["role"]
    if not check_one_of(role, _ROLES, f"{path}.role", findings, "role"):
        return
    for name in message:
        if name not in _FIELDS.get(role, _COMMON_FIELDS):
            findings.add("unknown", f"{path}.{name}", f"Unknown parameter: '{bracketed(path)}.{name}'.")
    speaker = message.get("name")
    if speaker is not None and check_type(speaker, str, f"{path}.name", findings):
        if not _SPEAKER.match(speaker):
            text = "string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'."
            findings.add("speaker", f"{path}.name", f"Invalid '{bracketed(path)}.name': {text}")
        check_length(speaker, 64, f"{path}.name", findings)
    _check_content(message, role, path, findings)
    if role == "assistant" and message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{path}.tool_calls", findings)
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        text = "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
        findings.add("required", f"{path}.tool_call_id", text)


def check_order(messages: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """Calls and tool messages: every call is answered once, right behind the message that makes it."""
    open_ids: list[str] = []
    answered: dict[str, int] = {}
    for number, message in enumerate(messages):
        if message.get("role") == "tool":
            _check_answer(message, number, open_ids, answered, findings)
            continue
        _check_answered(open_ids, answered, number, findings)
        open_ids = []
        answered = {}
        if message.get("role") == "assistant":
            open_ids = [call["id"] for _, call in dicts(message.get("tool_calls")) if isinstance(call.get("id"), str)]
    _check_answered(open_ids, answered, len(messages) - 1, findings)


def _check_answer(
    message: Mapping[str, Any], number: int, open_ids: list[str], answered: dict[str, int], findings: Findings
) -> None:
    id = message.get("tool_call_id")
    path = f"messages.{number}"
    if not open_ids:
        text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        findings.add("orphan_result", f"{path}.role", f"Invalid parameter: {text}")
    elif not isinstance(id, str):
        return
    elif id not in open_ids:
        text = f"'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
        findings.add("orphan_result", f"{path}.tool_call_id", f"Invalid parameter: {text}")
    elif id in answered:
        text = f"Duplicate value for 'tool_call_id' of '{id}', in messages[{answered[id]}] and messages[{number}]."
        findings.add("double_result", f"{path}.tool_call_id", f"Invalid parameter: {text}")
    else:
        answered[id] = number


def _check_answered(open_ids: list[str], answered: Mapping[str, int], number: int, findings: Findings) -> None:
    unanswered = [id for id in open_ids if id not in answered]
    if unanswered:
        findings.add(
            "unanswered_call",
            f"messages.{number}.role",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(unanswered)}",
        )


def _check_content(message: Mapping[str, Any], role: str, path: str, findings: Findings) -> None:
    content = message.get("content")
    path = f"{path}.content"
    if content is None:
        says = [name for name in ("tool_calls", "function_call", "refusal", "audio") if message.get(name)]
        if not (role == "assistant" and says) and role != "function":
            findings.add("content", path, "Invalid value for 'content': expected a string, got null.")
        return
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        text = "expected one of a string or array of objects"
        findings.add("type", path, f"Invalid type for '{bracketed(path)}': {text}.")
        return
    if check_filled(content, path, findings):
        for number, part in enumerate(content):
            if check_type(part, dict, f"{path}.{number}", findings):
                _check_part(part, role, f"{path}.{number}", findings)


def _check_part(part: Mapping[str, Any], role: str, path: str, findings: Findings) -> None:
    kind = part.get("type")
    if kind is None:
        missing(f"{path}.type", findings)
        return
    if kind == "image_url" and role != "user":
        place = path.partition(".content")[0]
        findings.add(
            "image_role",
            place,
            f"Invalid '{bracketed(place)}'. Image URLs are only allowed for messages with role 'user', but this "
            f"message with role '{role}' contains an image URL.",
        )
        return
    if not check_one_of(kind, _PARTS.get(role, ("text",)), f"{path}.type", findings, "part_type"):
        return
    if kind in ("text", "refusal"):
        check_required(part, kind, str, path, findings)
    elif check_required(part, kind, dict, path, findings):
        _check_media(part[kind], kind, f"{path}.{kind}", findings)


def _check_media(media: Mapping[str, Any], kind: str, path: str, findings: Findings) -> None:
    if kind == "image_url":
        if check_required(media, "url", str, path, findings):
            check_image(media["url"], f"{path}.url", findings)
        if media.get("detail") is not None:
            check_one_of(media["detail"], ("auto", "low", "high", "original"), f"{path}.detail", findings)
    elif kind == "input_audio":
        if check_required(media, "data", str, path, findings) and not is_base64(media["data"]):
            findings.add("audio", f"{path}.data", "Invalid base64-encoded audio data.")
        if check_required(media, "format", str, path, findings):
            check_one_of(media["format"], ("wav", "mp3"), f"{path}.format", findings, "audio")
    elif media.get("file_id") is None:
        if check_required(media, "file_data", str, path, findings):
            check_file_data(media["file_data"], f"{path}.file_data", findings)
        check_required(media, "filename", str, path, findings)


def _check_calls(calls: Any, path: str, findings: Findings) -> None:
    if not check_type(calls, list, path, findings) or not check_filled(calls, path, findings):
        return
    seen: set[str] = set()
    for number, call in enumerate(calls):
        place = f"{path}.{number}"
        if not check_type(call, dict, place, findings):
            continue
        if check_required(call, "id", str, place, findings):
            _check_id(call["id"], seen, f"{place}.id", findings)
        if "type" not in call:
            missing(f"{place}.type", findings)
        elif check_one_of(call["type"], ("function", "custom"), f"{place}.type", findings):
            _check_called(call, call["type"], place, findings)


def _check_id(id: str, seen: set[str], path: str, findings: Findings) -> None:
    if not id:
        text = "empty string. Expected a string with minimum length 1, but got an empty string instead."
        findings.add("call_id", path, f"Invalid '{bracketed(path)}': {text}")
    check_length(id, _CALL_ID, path, findings, "call_id")
    if id in seen:
        findings.add("call_unique", path, f"Invalid parameter: Duplicate value for 'tool_calls' id of '{id}'.")
    seen.add(id)


def _check_called(call: Mapping[str, Any], kind: str, path: str, findings: Findings) -> None:
    if not check_required(call, kind, dict, path, findings):
        return
    called = call[kind]
    path = f"{path}.{kind}"
    if check_required(called, "name", str, path, findings):
        check_name(called["name"], f"{path}.name", findings)
    said = "arguments" if kind == "function" else "input"
    if check_required(called, said, str, path, findings) and kind == "function":
        check_arguments(called["arguments"], f"{path}.arguments", findings)
