"""The shape of `context_management`: what the server is asked to clear or to summarise by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._findings import Findings
from ._values import is_int

_TOKENS, _USES, _TURNS = "input_tokens", "tool_uses", "thinking_turns"
# For each edit: its fields; for fields that are an amount the kinds it may count in, for others None.
_EDITS: Mapping[str, Mapping[str, tuple[str, ...] | None]] = {
    "clear_tool_uses_20250919": {
        "trigger": (_TOKENS, _USES),
        "keep": (_USES,),
        "clear_at_least": (_TOKENS,),
        "exclude_tools": None,
        "clear_tool_inputs": None,
    },
    "clear_thinking_20251015": {"keep": (_TURNS, "all")},
    "compact_20260112": {"trigger": (_TOKENS,), "instructions": None, "pause_after_compaction": None},
}


def check_edits(config: Any, findings: Findings) -> None:
    """Judge the edits of a request."""
    path = "context_management"
    edits = config.get("edits", []) if isinstance(config, dict) else None
    if not isinstance(edits, list):
        findings.add("context_edits", path, "Input should be a dictionary with a list of edits")
        return
    for number, edit in enumerate(edits):
        kind = edit.get("type") if isinstance(edit, dict) else None
        if not isinstance(kind, str) or kind not in _EDITS:
            findings.add("context_edits", f"{path}.edits.{number}", f"{kind!r} is no known edit")
            continue
        if kind.startswith("clear_thinking") and number:
            findings.add("context_edits", f"{path}.edits.{number}", f"`{kind}` must be the first edit")
        for name, value in edit.items():
            if name != "type":
                _check_field(name, value, _EDITS[kind], f"{path}.edits.{number}.{kind}.{name}", findings)


def _check_field(
    name: str, value: Any, fields: Mapping[str, tuple[str, ...] | None], path: str, findings: Findings
) -> None:
    if name not in fields:
        findings.add("context_edits", path, "Extra inputs are not permitted")
        return
    kinds = fields[name]
    if value is None or kinds is None or (value == "all" and "all" in kinds):
        return
    kind = value.get("type") if isinstance(value, dict) else None
    if kind not in kinds or not (kind == "all" or (is_int(value.get("value")) and value["value"] >= 0)):
        findings.add("context_edits", path, f"Input should be a value of {' or '.join(kinds)}")
