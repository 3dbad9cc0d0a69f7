"""Reminders: what a block says now, shown after the newest message while the prompt above stays frozen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .blocks import Block, harmless
from .marking import Laying
from .messages import Message
from .overlays import Overlay
from .prompt import Prompt, section_of


def due(blocks: Sequence[Block], prompt: Prompt, shown: Iterable[Overlay], leaf_id: str) -> list[Laying]:
    """The reminders to lay at a leaf: one for each block that is to remind, and says something else than the model was
    last told. `shown` are the reminders that it sees."""
    told = dict(prompt.sections)
    for overlay in shown:
        if overlay.kind == "reminder" and overlay.data.get("prompt") == prompt.digest:
            told[overlay.data["label"]] = overlay.data["digest"]
    found = []
    for block in blocks:
        if block.when_changed != "remind":
            continue
        section = section_of(blocks, block.label)
        digest = section.digest if section is not None else None
        if told.get(block.label) != digest:
            data = {"reason": "changed", "label": block.label, "digest": digest, "prompt": prompt.digest}
            found.append(Laying("reminder", leaf_id, _text(block), data, False))
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
    return f"[{block.label.upper()} has changed. It now says:]\n{content or '(nothing)'}"
