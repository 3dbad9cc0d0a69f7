"""The step that a request to Anthropic continues with the results of tools, and the thinking that it begins with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ._anthropic_blocks import Block

_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?")
_MANUAL = ((3, 7), (4, 6))
_THINKING = ("thinking", "redacted_thinking")


def thinks_by_hand(model: str) -> bool:
    """Whether a Claude can be told to think (`thinking` of type `enabled`), by its name: 3.7 to 4.6. Those before do
    not think, and those behind set their thinking themselves (Anthropic docs, extended thinking)."""
    found = _VERSION.search(model.lower())
    return found is not None and _MANUAL[0] <= (int(found[1]), int(found[2] or 0)) <= _MANUAL[1]


def begins_without_thinking(blocks: Sequence[Block]) -> Block | None:
    """The first block of the turn that the last blocks, results of tools, continue, if that is no thinking."""
    sides = [(role, list(found)) for role, found in groupby(blocks, key=lambda block: block.role)]
    first: Block | None = None
    for role, found in reversed(sides):
        if role == "assistant":
            first = found[0]
        elif all(block.data["type"] != "tool_result" for block in found):
            break
    if first is None or sides[-1][0] == "assistant" or first.data["type"] in _THINKING:
        return None
    return first
