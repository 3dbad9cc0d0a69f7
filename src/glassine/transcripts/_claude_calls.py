"""Tool calls and their results in Claude Code's lines: pairing them, and placing the results."""

from __future__ import annotations

from typing import Any

from ._claude_meta import clean_id, subagent_of
from ._claude_places import Line, Places
from ._conversation import Call, Draft
from ._notes import Notes
from ._tree import Node

__all__ = ["call_part", "note_calls", "note_subagent", "place_results", "result_part"]


def call_part(notes: Notes, number: int, line: Line, index: int, block: Line) -> dict[str, Any] | None:
    """The part for a call (block `index` of a line), None for any other block."""
    if block["type"] != "tool_use":
        return None
    if (id := clean_id(block.get("id"))) is None:
        notes.problem(number, "missing-call-id", "tool_use")
        id = _made_up_id(number, line, index)
    name = block.get("name")
    name = name if isinstance(name, str) else ""
    return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": block.get("input", {})}


def note_calls(draft: Draft, step: Node, parts: list[dict[str, Any]]) -> None:
    """Remember the calls among new parts of a step, for their results and for the subagents they start."""
    for part in parts:
        if part["type"] == "tool-call":
            draft.calls[part["toolCallId"]] = Call(step, part["toolName"])
            task = part["input"].get("prompt") if isinstance(part["input"], dict) else None
            if isinstance(task, str):
                draft.tasks[task].append(step.id)


def result_part(
    places: Places, draft: Draft, at: Node | None, number: int, line: Line, index: int, block: Line
) -> dict[str, Any]:
    """The part for a result (the one of number `index` in a line that hangs on `at`)."""
    if (id := clean_id(block.get("tool_use_id"))) is None:
        places.notes.problem(number, "missing-call-id", "tool_result")
        asked = places.get(line.get("sourceToolAssistantUUID"))
        id = _open_call(asked.node if asked is not None else at) or _made_up_id(number, line, index)
    call, output = draft.calls.get(id), block.get("content")
    part = {
        "type": "tool-result",
        "toolCallId": id,
        "toolName": call.name if call is not None else "",
        "output": "" if output is None else output,
    }
    if block.get("is_error") is True:
        part["isError"] = True
    return part


def place_results(notes: Notes, draft: Draft, at: Node | None, number: int, message: dict[str, Any]) -> Node:
    """Add a message of results. They stand behind their step and its other results, unless the line itself says that
    they came at another place."""
    ids = [part["toolCallId"] for part in message["parts"]]
    call = next((draft.calls[id] for id in ids if id in draft.calls), None)
    if call is None:
        notes.problem(number, "result-without-call", ", ".join(ids))
        return draft.tree.append(message, at)
    chain = call.step.chain
    if at is not None and at is not call.step and (chain is None or at.chain is not chain):
        return draft.tree.append(message, at)
    node, first = draft.tree.append_result(message, call.step, ids)
    if not first:
        notes.problem(number, "repeated-result", ", ".join(ids))
    return node


def note_subagent(draft: Draft, line: Line, call_id: str | None) -> None:
    """Remember which step started the subagent that a line reports about, if it reports about one."""
    agent, call = subagent_of(line), draft.calls.get(call_id or "")
    if agent is not None and call is not None:
        draft.agents.setdefault(agent, call.step.id)


def _open_call(step: Node | None) -> str | None:
    """The first call without a result in the step that `step` is, or whose results it belongs to."""
    while step is not None and step.message["role"] == "tool":
        step = step.parent
    if step is None:
        return None
    answered = step.chain.answered if step.chain is not None else ()
    calls = (part["toolCallId"] for part in step.message["parts"] if part["type"] == "tool-call")
    return next((str(id) for id in calls if id not in answered), None)


def _made_up_id(number: int, line: Line, index: int) -> str:
    return f"{clean_id(line.get('uuid')) or f'line-{number}'}/call-{index}"
