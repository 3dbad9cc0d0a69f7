"""Reminders: what a block says now, shown after the newest message while the prompt above stays frozen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .blocks import Block, harmless
from .content import PREVIEW_CHARS
from .marking import Laying
from .messages import Message
from .overlays import Overlay
from .prompt import Prompt, section_of


def due(blocks: Sequence[Block], prompt: Prompt, shown: Iterable[Overlay], leaf_id: str) -> list[Laying]:
    """The reminders to lay at a leaf: one for each block that is to remind, and says something else than the model was
    last told. `shown` are the reminders that it sees, oldest first; each was laid under this very prompt."""
    told = dict(prompt.sections)
    last: dict[str, str] = {}
    for overlay in shown:
        label = overlay.data["label"]
        told[label], last[label] = overlay.data["digest"], overlay.id
    found = []
    for block in blocks:
        section = section_of([block], block.label)
        digest = section.digest if section is not None else None
        if told.get(block.label) != digest:
            # Named by the one before it: two writers lay it once, and what comes back is told again.
            data = {"reason": "changed", "label": block.label, "digest": digest, "prompt": prompt.digest}
            found.append(Laying("reminder", leaf_id, _text(block), {**data, "after": last.get(block.label)}, False))
    return found


def reminder_message(overlay: Overlay) -> Message:
    """The message that a reminder is shown as."""
    return Message(
        id=overlay.message_id,
        role="user",
        parts=[{"type": "text", "text": overlay.text}],
        created_at=overlay.created_at,
        metadata={"glassine": {"kind": "reminder", "overlay": overlay.id, "label": overlay.data.get("label")}},
    )


def _text(block: Block) -> str:
    content = harmless(block.content).strip("\n")
    if len(content) > PREVIEW_CHARS:
        content = f"{content[:PREVIEW_CHARS]}\n[shortened: {PREVIEW_CHARS} of {len(content)} characters]"
    return f"[{block.label.upper()} has changed. It now says:]\n{content or '(nothing)'}"
