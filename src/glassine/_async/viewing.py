"""Making a view: the shell reads what is there, lets pure steps decide, and writes what must be sent again the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..calibration import learn
from ..formats._common import Note
from ..hints import Retention, place
from ..marking import stubbed, stubs
from ..models import Model
from ..models import facts as facts_of
from ..moments import from_micros
from ..pairing import repair
from ..prompt import unfrozen
from ..showing import (
    Seen,
    ViewEntry,
    entries,
    markers,
    measured,
    mended,
    places_of,
    previews,
    reminders,
    truncated,
    unloads,
)
from ..thinking import UNNAMED, edits, unbound
from ..view import View

if TYPE_CHECKING:
    from .tree import AsyncTree


class Wanted(NamedTuple):
    """What a view is asked for."""

    model: str | None
    leaf: str | None
    retention: Retention = "short"
    facts: Model | None = None
    route: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """One path as it is shown, message by message as they are stored, and the view that is made of it. `places` says of
    each entry of the view which of `entries` it comes from."""

    seen: Seen
    entries: tuple[ViewEntry, ...]
    view: View
    places: tuple[int, ...]


async def look(session: AsyncTree, wanted: Wanted, commit: bool) -> Look:
    """The view of one path. With `commit` what it adds for the first time is stored: the frozen prompt, reminders, and
    stubs for results that are missing."""
    context, started_at = session._context, from_micros(session.store.now())
    facts = wanted.facts or facts_of(wanted.model or UNNAMED)
    seen = await session._engine.seen(session._ref, wanted.leaf)
    prompt = None
    notes: list[Note] = []
    if session._has_prompt:
        prompt = await (context.freeze() if commit else context.frozen())
        if prompt is None:
            prompt = unfrozen(await context.render(), seen.next)
        seen, notes = await context.remind(seen, prompt, commit)
    there = seen.copies if context.loads else []
    if commit and seen.leaf == seen.active and await context.settle(there):
        seen = await session._engine.seen(session._ref, wanted.leaf)
        there = seen.copies
    found = entries(seen, [markers(seen), unloads(there)])
    changes = edits(seen)
    if session._truncation is not None:
        found, cuts = truncated(found, seen.message_numbers, session._truncation, session._has_prompt)
        changes += cuts
    steps = []
    if facts.binds_thinking:
        since = max(seen.since, prompt.since if prompt is not None else 0)
        steps.append(unbound(seen.message_numbers, changes, since, facts))
    for step in [*steps, previews(session._has_prompt)]:
        found = step(found)
    told = seen.reminders(prompt.digest if prompt is not None else None)
    said = reminders(told)(found)
    sent = stubbed(seen.beside)
    repaired = repair([entry.message for entry in said], sent, seen.open_calls)
    if commit and repaired.stubs:
        await session._engine.lay(session._ref, stubs(repaired.stubs, sent), session.store.now())
    shown = mended(said, repaired)
    hints = place([entry.message for entry in shown], wanted.retention, facts.cache.max_breakpoints)
    view = View(
        session_id=session.id,
        leaf=seen.leaf,
        active=seen.active,
        model=wanted.model,
        facts=facts,
        prompt=prompt,
        entries=shown,
        notes=(*notes, *repaired.notes),
        pending=repaired.pending,
        hints=hints,
        route=wanted.route,
        started_at=started_at,
        measure=measured(seen, shown),
        calibration=learn(seen.usage, facts),
    )
    return Look(seen, tuple(found), view, places_of(said, repaired.sources))
