# Generated from src/glassine/_async/recovering.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Recovering from a request that was too long: results of tools are shown short, then the session is compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..calibration import LEAST, MOST
from ..compactor import Compaction, Recovery
from ..indexing import tokens as estimates
from ..messages import Message, to_micros
from ..models import Model
from ..models import facts as facts_of
from ..overflow import Overflow, is_context_overflow
from ..shrinking import shrunk
from ..thinking import UNNAMED
from ..tokens import FAMILIES
from .viewing import Look, Wanted, look

if TYPE_CHECKING:
    from .session import Session

EVENT: Final = "recovery"
TRIES: Final = 3
"""Recoveries without a reply in between."""
ROOM: Final = 0.9
"""The share of the limit that the next request should take: the answer needs some of it, and an estimate is one."""
UNKNOWN: Final = 0.75
"""The share of what was sent that the next request should take, where nobody said what the limit is."""


def recover(session: Session, error: object) -> Recovery:
    """Make the next request from the active leaf shorter."""
    overflow = is_context_overflow(error)
    if overflow is None:
        return Recovery("not_an_overflow", "the error does not say that the request was too long")
    model = _model(session)
    looked = look(session, Wanted(model, None), False)
    before = looked.view.tokens.total
    if looked.seen.leaf is None:
        return Recovery("exhausted", "the session has no messages", before, before)
    if _tries(session) >= TRIES:
        return _done(
            session,
            Recovery("exhausted", f"{TRIES} recoveries brought no reply; something else is too long", before, before),
        )
    ratio, target = _target(overflow, looked, facts_of(model or UNNAMED))
    excess = round((before * ratio - target) / ratio)
    number = FAMILIES.index(looked.view.facts.family)
    calibration = looked.view.calibration

    def cost(message: Message) -> int:
        return calibration.of(estimates(message)[number])

    layings, freed = shrunk(looked.entries, max(excess, 1), cost, session._has_prompt)
    named = tuple([(laying.message_id, laying.data["call"]) for laying in layings])
    if layings:
        session._engine.lay(session._ref, layings, session.store.now())
    after = before - freed
    if freed >= excess and layings:
        count = f"{len(layings)} result{'s are' if len(layings) > 1 else ' is'} shown short from now on"
        return _done(session, Recovery("shrunk", f"{count}: {freed} tokens less", before, after, named))
    compaction: Compaction | None = None
    if session._compacting is not None:
        compaction = session._compacting.compact(None, "overflow")
        if compaction.kind == "compacted":
            after = compaction.tokens_after
            return _done(session, Recovery("compacted", compaction.reason, before, after, named, compaction))
    why = "there is no compactor" if compaction is None else compaction.reason
    if layings:
        reason = f"{len(layings)} results are shown short, {freed} tokens less, which may not be enough; {why}"
        return _done(session, Recovery("shrunk", reason, before, after, named, compaction))
    reason = f"no result of a tool is long enough to be shown short; {why}"
    return _done(session, Recovery("exhausted", reason, before, before, (), compaction))


def _target(overflow: Overflow, looked: Look, model: Model) -> tuple[float, float]:
    """How far the estimate is off by what the provider counted, and how many of its tokens may be sent next."""
    before = max(looked.view.tokens.total, 1)
    ratio = 1.0 if not overflow.tokens else min(max(overflow.tokens / before, LEAST), MOST)
    if overflow.limit:
        return ratio, overflow.limit * ROOM
    if overflow.tokens or before > model.context_window:
        return ratio, min(model.context_window * ROOM, before * ratio * UNKNOWN)
    return ratio, before * UNKNOWN


def _model(session: Session) -> str | None:
    usage = session._engine.weigh(session._ref).usage
    return next((row.model for row in reversed(usage) if row.kind == "reply" and row.model is not None), None)


def _tries(session: Session) -> int:
    """How many recoveries there were since the last whole reply."""
    replies = [row for row in session.usage() if row.kind == "reply" and row.ok and row.ended_at is not None]
    since = to_micros(replies[-1].ended_at) if replies and replies[-1].ended_at is not None else 0
    return sum([event.kind == EVENT and to_micros(event.stored_at) >= since for event in session.events()])


def _done(session: Session, recovery: Recovery) -> Recovery:
    data: dict[str, Any] = recovery.to_dict()
    session.add_event(EVENT, data)
    return recovery
