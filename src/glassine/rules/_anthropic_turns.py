"""What must hold between the messages: their order, calls with their results, thinking in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._findings import Findings
from ._values import dicts

_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?")
_SERVED = ("server_tool_use", "mcp_tool_use")
_THINKING = ("thinking", "redacted_thinking")

Blocks = Sequence[tuple[int, dict[str, Any]]]


def version_of(model: str) -> tuple[int, int] | None:
    """The version in the name of a Claude, None when there is none: (4, 6) of claude-opus-4-6 and claude-opus-4.6."""
    found = _VERSION.search(model.lower())
    return (int(found[1]), int(found[2] or 0)) if found else None


def blocks_of(message: Mapping[str, Any]) -> Blocks:
    """The blocks of a message with their positions; a text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        return [(0, {"type": "text", "text": content})] if content else []
    return dicts(content)


def check_order(messages: Sequence[Mapping[str, Any]], model: str, findings: Findings) -> None:
    """Judge the roles, and whether the last message can be the last."""
    version = version_of(model)
    roles = [message.get("role") for message in messages]
    if roles[0] == "assistant":
        findings.add("first_user", "messages.0.role", "first message must use the `user` role")
    for number, role in enumerate(roles):
        path = f"messages.{number}"
        last = number == len(roles) - 1
        if role == "system":
            if version is not None and version < (4, 8):
                findings.add("system_model", path, "role 'system' is not supported on this model")
            elif number == 0 or not _before_system(messages[number - 1]):
                findings.add("system_place", path, "role 'system' must follow a 'user' message")
            elif not last and roles[number + 1] != "assistant":
                findings.add("system_place", path, "role 'system' must precede an 'assistant' message or end the array")
        if messages[number].get("content") in ("", []) and not (last and role == "assistant"):
            findings.add(
                "empty_content",
                path,
                "all messages must have non-empty content except for the optional final assistant message",
            )
    if roles[-1] == "assistant":
        _check_prefill(messages[-1], f"messages.{len(roles) - 1}", version, findings)


def _before_system(message: Mapping[str, Any]) -> bool:
    """Whether a system message may follow: the user's turn, or an assistant's that ends in a tool of the server."""
    blocks = blocks_of(message)
    served = bool(blocks) and blocks[-1][1].get("type") in _SERVED
    return message.get("role") == "user" or (message.get("role") == "assistant" and served)


def _check_prefill(message: Mapping[str, Any], path: str, version: tuple[int, int] | None, findings: Findings) -> None:
    blocks = blocks_of(message)
    if version is not None and version >= (4, 6):
        findings.add(
            "prefill",
            path,
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        )
    elif blocks and blocks[-1][1].get("type") == "text":
        text = blocks[-1][1].get("text")
        if isinstance(text, str) and text != text.rstrip():
            findings.add("trailing_space", path, "final assistant content cannot end with trailing whitespace")


def check_calls(messages: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """Judge calls and results: each result right behind its call, in one message, before anything else."""
    seen: set[str] = set()
    open_calls: list[str] = []  # of the message before
    for number, message in enumerate(messages):
        blocks = blocks_of(message)
        _check_results(blocks, open_calls, f"messages.{number}", number, findings)
        open_calls = []
        for position, block in blocks:
            if block.get("type") != "tool_use" or not isinstance(block.get("id"), str):
                continue
            if block["id"] in seen:
                path = f"messages.{number}.content.{position}.tool_use.id"
                findings.add("call_unique", path, "`tool_use` ids must be unique")
            seen.add(block["id"])
            open_calls.append(block["id"])
    if open_calls:
        _unanswered(open_calls, len(messages) - 1, findings)


def _check_results(blocks: Blocks, calls: Sequence[str], path: str, number: int, findings: Findings) -> None:
    answered: set[str] = set()
    other = False
    for position, block in blocks:
        if block.get("type") != "tool_result":
            other = True
            continue
        id = block.get("tool_use_id")
        place = f"{path}.content.{position}"
        if id not in calls:
            findings.add(
                "orphan_result",
                place,
                f"unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message.",
            )
        elif id in answered:
            findings.add(
                "double_result",
                place,
                f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
            )
        elif other:
            findings.add("results_first", place, "`tool_result` blocks must come before other content")
        if isinstance(id, str):
            answered.add(id)
    missing = [id for id in calls if id not in answered]
    if missing:
        _unanswered(missing, number - 1, findings)


def _unanswered(ids: Sequence[str], number: int, findings: Findings) -> None:
    findings.add(
        "unanswered_call",
        f"messages.{number}",
        f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. Each `tool_use` "
        "block must have a corresponding `tool_result` block in the next message.",
    )


def check_thinking(messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any], findings: Findings) -> None:
    """Judge where thinking stands, and whether it is missing where it has to be."""
    for number, message in enumerate(messages):
        blocks = blocks_of(message)
        if message.get("role") == "assistant" and blocks and blocks[-1][1].get("type") in _THINKING:
            findings.add(
                "thinking_last",
                f"messages.{number}",
                "The final block in an assistant message cannot be `thinking`.",
            )
    config = request.get("thinking")
    kind_of_thinking = config.get("type") if isinstance(config, dict) else None
    if kind_of_thinking == "disabled" and messages[-1].get("role") == "assistant":
        for position, block in blocks_of(messages[-1]):
            if block.get("type") in _THINKING:
                findings.add(
                    "thinking_off",
                    f"messages.{len(messages) - 1}.content.{position}",
                    "When thinking is disabled, an `assistant` message in the final position cannot contain "
                    "`thinking`.",
                )
    if kind_of_thinking == "enabled":
        start = _start_of_turn(messages)
        first = blocks_of(messages[start])[:1] if start is not None else []
        if first and (kind := first[0][1].get("type")) not in _THINKING:
            findings.add(
                "thinking_first",
                f"messages.{start}.content.{first[0][0]}.type",
                f"Expected `thinking` or `redacted_thinking`, but found `{kind}`. When `thinking` is "
                "enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of "
                "`tool_use` and `tool_result` blocks).",
            )


def _start_of_turn(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """The first assistant message of the turn that the last message continues with tool results, if it does."""
    start: int | None = None
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if message.get("role") == "assistant":
            start = number
        elif not any(block.get("type") == "tool_result" for _, block in blocks_of(message)):
            break
    return start
