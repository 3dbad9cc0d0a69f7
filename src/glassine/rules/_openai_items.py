"""The input of a request to the Responses API: each item by itself, and items that belong together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._findings import Findings, bracketed, kind_of
from ._openai_values import (
    check_arguments,
    check_file_data,
    check_image,
    check_length,
    check_name,
    check_one_of,
    check_required,
    check_type,
    missing,
)

_ROLES = ("assistant", "system", "developer", "user")
_INPUT_PARTS = ("input_text", "input_image", "input_file")
_OUTPUT_PARTS = ("output_text", "refusal")
_ANY_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
_CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}
_RESULTS = {output: call for call, output in _CALLS.items()}
_FIELDS = {
    "message": "type role content id status phase",
    "reasoning": "type id summary content encrypted_content status",
    "function_call": "type id call_id name arguments status namespace caller async",
    "function_call_output": "type id call_id output status name namespace caller",
    "custom_tool_call": "type id call_id name input status namespace caller async",
    "custom_tool_call_output": "type id call_id output status caller",
    "item_reference": "type id",
    "compaction": "type id encrypted_content",
}
_KNOWN_FIELDS = {kind: frozenset(names.split()) for kind, names in _FIELDS.items()}
_OTHERS = """
    file_search_call computer_call computer_call_output web_search_call image_generation_call code_interpreter_call
    local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output
    mcp_list_tools mcp_approval_request mcp_approval_response mcp_call tool_search_call tool_search_output
    additional_tools configuration_update compaction_trigger program program_output
"""
_KINDS = (*_FIELDS, *_OTHERS.split())
# What a model writes after it has reasoned.
_FOLLOWING = (
    *("function_call", "custom_tool_call", "compaction", "mcp_list_tools", "mcp_approval_request", "program"),
    *(name for name in _OTHERS.split() if name.endswith("_call")),
)


def kind(item: Mapping[str, Any]) -> Any:
    """The type of an item; a message may leave it out, and a reference too."""
    if item.get("type") is not None:
        return item["type"]
    return "message" if "role" in item or "content" in item else "item_reference"


def check_item(item: Mapping[str, Any], path: str, findings: Findings) -> None:
    """One item by itself."""
    what = kind(item)
    if not check_one_of(what, _KINDS, f"{path}.type", findings, "item_type"):
        return
    for name in item:
        if name not in _KNOWN_FIELDS.get(what, item):
            findings.add("unknown", f"{path}.{name}", f"Unknown parameter: '{bracketed(path)}.{name}'.")
    _check_id(item, what, path, findings)
    match what:
        case "message":
            _check_message(item, path, findings)
        case "reasoning":
            _check_reasoning(item, path, findings)
        case "function_call" | "custom_tool_call":
            _check_call(item, what, path, findings)
        case "function_call_output" | "custom_tool_call_output":
            _check_output(item, path, findings)
        case "compaction":
            check_required(item, "encrypted_content", str, path, findings)


def check_links(items: Sequence[Mapping[str, Any]], path: str, findings: Findings, *, continues: bool) -> None:
    """Ids are unique, calls have outputs and outputs calls, and reasoning stands before what it led to.

    `continues`: the request goes on from stored items, so that a call may be among those.
    """
    _check_unique(items, path, findings)
    _check_pairs(items, path, findings, continues=continues)
    for number, item in enumerate(items):
        if kind(item) == "reasoning":
            _check_following(item, items[number + 1 :], f"{path}.{number}", findings)


def _check_id(item: Mapping[str, Any], what: str, path: str, findings: Findings) -> None:
    id = item.get("id")
    path = f"{path}.id"
    if id is None:
        # Encrypted reasoning is whole without an id: recorded sessions of a stateless client send it so.
        if what == "item_reference" or (what == "reasoning" and not item.get("encrypted_content")):
            missing(path, findings)
    elif check_type(id, str, path, findings) and check_length(id, 64, path, findings, "item_id"):
        prefix = _PREFIXES.get(what, "")
        if not _ANY_ID.match(id):
            text = "Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained"
            findings.add("item_id", path, f"Invalid '{bracketed(path)}': '{id}'. {text} additional characters.")
        elif not id.startswith(prefix):
            text = f"Expected an ID that begins with '{prefix}'."
            findings.add("item_id", path, f"Invalid '{bracketed(path)}': '{id}'. {text}")


def _check_message(item: Mapping[str, Any], path: str, findings: Findings) -> None:
    if "role" not in item:
        missing(f"{path}.role", findings)
        return
    if not check_one_of(item["role"], _ROLES, f"{path}.role", findings, "role"):
        return
    if "content" not in item:
        missing(f"{path}.content", findings)
        return
    allowed = _OUTPUT_PARTS if item["role"] == "assistant" else _INPUT_PARTS
    _check_parts(item["content"], allowed, f"{path}.content", findings)


def _check_parts(content: Any, allowed: tuple[str, ...], path: str, findings: Findings) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        text = f"expected one of an array of objects or string, but got {kind_of(content)} instead."
        findings.add("type", path, f"Invalid type for '{bracketed(path)}': {text}")
        return
    for number, part in enumerate(content):
        place = f"{path}.{number}"
        if not check_type(part, dict, place, findings):
            continue
        if "type" not in part:
            missing(f"{place}.type", findings)
        elif check_one_of(part["type"], allowed, f"{place}.type", findings, "part_type"):
            _check_part(part, part["type"], place, findings)


def _check_part(part: Mapping[str, Any], what: str, path: str, findings: Findings) -> None:
    if what in ("input_text", "output_text"):
        check_required(part, "text", str, path, findings)
    elif what == "refusal":
        check_required(part, "refusal", str, path, findings)
    elif part.get("file_id") is not None:
        check_type(part["file_id"], str, f"{path}.file_id", findings)
    elif what == "input_image":
        if check_required(part, "image_url", str, path, findings):
            check_image(part["image_url"], f"{path}.image_url", findings)
    elif part.get("file_url") is not None:
        check_type(part["file_url"], str, f"{path}.file_url", findings)
    else:
        if check_required(part, "file_data", str, path, findings):
            check_file_data(part["file_data"], f"{path}.file_data", findings)
        check_required(part, "filename", str, path, findings)


def _check_reasoning(item: Mapping[str, Any], path: str, findings: Findings) -> None:
    if check_required(item, "summary", list, path, findings):
        for number, part in enumerate(item["summary"]):
            place = f"{path}.summary.{number}"
            if check_type(part, dict, place, findings):
                check_one_of(part.get("type"), ("summary_text",), f"{place}.type", findings, "part_type")
                check_required(part, "text", str, place, findings)
    if item.get("encrypted_content") is not None:
        check_type(item["encrypted_content"], str, f"{path}.encrypted_content", findings)
    if item.get("content"):
        text = f"Invalid '{bracketed(path)}.content': array too long. Expected an array with maximum length 0."
        findings.add("reasoning_text", f"{path}.content", text)


def _check_call(item: Mapping[str, Any], what: str, path: str, findings: Findings) -> None:
    _check_call_id(item, path, findings)
    if check_required(item, "name", str, path, findings):
        check_name(item["name"], f"{path}.name", findings)
    said = "arguments" if what == "function_call" else "input"
    if check_required(item, said, str, path, findings) and said == "arguments":
        check_arguments(item["arguments"], f"{path}.arguments", findings)


def _check_output(item: Mapping[str, Any], path: str, findings: Findings) -> None:
    _check_call_id(item, path, findings)
    if "output" not in item:
        missing(f"{path}.output", findings)
    else:
        _check_parts(item["output"], _INPUT_PARTS, f"{path}.output", findings)


def _check_call_id(item: Mapping[str, Any], path: str, findings: Findings) -> None:
    if not check_required(item, "call_id", str, path, findings):
        return
    if not item["call_id"]:
        text = "empty string. Expected a string with minimum length 1, but got an empty string instead."
        findings.add("call_id", f"{path}.call_id", f"Invalid '{bracketed(path)}.call_id': {text}")
    check_length(item["call_id"], 64, f"{path}.call_id", findings, "call_id")


def _check_unique(items: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    seen: set[str] = set()
    for number, item in enumerate(items):
        id = item.get("id")
        if not isinstance(id, str):
            continue
        if id in seen:
            text = f"Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            findings.add("item_unique", f"{path}.{number}.id", text)
        seen.add(id)


def _check_pairs(items: Sequence[Mapping[str, Any]], path: str, findings: Findings, *, continues: bool) -> None:
    calls: dict[tuple[Any, str], int] = {}
    outputs: set[tuple[Any, str]] = set()
    for number, item in enumerate(items):
        what, id = kind(item), item.get("call_id")
        place = f"{path}.{number}.call_id"
        if not isinstance(what, str) or not isinstance(id, str):
            continue
        if what in _CALLS:
            if (what, id) in calls:
                findings.add("call_unique", place, f"Duplicate 'call_id' of function calls in input: {id}.")
            calls[what, id] = number
        elif what in _RESULTS:
            pair = (_RESULTS[what], id)
            if pair not in calls and not continues:
                findings.add(
                    "orphan_output", place, f"No tool call found for {_said(_RESULTS[what])} output with call_id {id}."
                )
            elif pair in outputs:
                findings.add("double_output", place, f"Duplicate outputs for {_said(_RESULTS[what])} {id}.")
            outputs.add(pair)
    for (what, id), number in calls.items():
        if (what, id) not in outputs:
            text = f"No tool output found for {_said(what)} {id}."
            findings.add("unanswered_call", f"{path}.{number}.call_id", text)


def _said(call: str) -> str:
    return call.replace("_", " ")


def _check_following(
    item: Mapping[str, Any], after: Sequence[Mapping[str, Any]], path: str, findings: Findings
) -> None:
    """Reasoning is followed by what it led to: encrypted, by anything of the model; stored, by an item with its id."""
    follower = next((other for other in after if kind(other) != "reasoning"), {})
    if kind(follower) == "item_reference" and "id" in follower:
        return
    written = kind(follower) in _FOLLOWING or follower.get("role") == "assistant"
    if not written or (not item.get("encrypted_content") and not follower.get("id")):
        text = f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
        findings.add("linked", path, text)
    elif not item.get("id") and follower.get("id"):
        what = f"Item '{follower['id']}' of type '{kind(follower)}'"
        findings.add("linked", path, f"{what} was provided without its required 'reasoning' item.")
