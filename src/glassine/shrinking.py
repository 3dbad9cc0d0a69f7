"""Which results of tools are shown short, so that a request that was too long becomes shorter by so many tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from .handles import way_to_whole
from .marking import Laying, over_result, replaced
from .messages import Message, results
from .showing import ViewEntry
from .truncation._shrink import shrink, size

REASON: Final = "shrunk"
KEPT_CHARS: Final = 500
"""Characters that are left of a result: as in `truncate_older`."""


def shrunk(
    entries: Sequence[ViewEntry], excess: int, cost: Callable[[Message], int], readable: bool
) -> tuple[list[Laying], int]:
    """Markers over results, from the oldest on, until `excess` tokens are freed or none is left that is long; and how
    many tokens that frees. The newest message is the last to be touched. `cost` counts a message."""
    layings: list[Laying] = []
    freed = 0
    for entry in entries:
        if freed >= excess:
            break
        if entry.messages != 1 or entry.message.id != entry.first_id:
            continue
        shown, laid = _short(entry.message, readable)
        # A long row of one sign can cost less than the note that it was cut.
        if laid and (less := cost(entry.message) - cost(shown)) > 0:
            freed += less
            layings += laid
    return layings, freed


def _short(message: Message, readable: bool) -> tuple[Message, list[Laying]]:
    outputs: dict[str, Any] = {}
    laid: list[Laying] = []
    parts: Sequence[dict[str, Any]] = message.parts  # type: ignore[assignment]
    for result in results(message):
        if parts[result.part].get("providerExecuted") is True or size(result.output) <= KEPT_CHARS:
            continue
        output = shrink(result.output, KEPT_CHARS, way_to_whole(message.id, result.part, readable))
        outputs[result.id] = output
        text = output if isinstance(output, str) else ""
        laid.append(over_result(message.id, result.id, text, REASON, anchored=False, output=output))
    return replaced(message, outputs), laid
