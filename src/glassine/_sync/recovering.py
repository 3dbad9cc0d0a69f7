# Generated from src/glassine/_async/recovering.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Recovering from a request that was too long: results of tools are shown short, then the session is compacted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ..compactor import CounterError, Recovery
from ..overflow import Overflow, is_context_overflow
from ..shrinking import shrunk
from .scales import Scales
from .viewing import Look

if TYPE_CHECKING:
    from .session import Session

EVENT: Final = "recovery"
TRIES: Final = 3
"""Recoveries without a reply in between."""
ROOM: Final = 0.8
"""The share of the limit that the next request should take: the answer and the next turn need some of it."""
UNKNOWN: Final = 0.75
"""The share of what was sent that the next request should take, where nobody said what the limit is."""


def recover(session: Session, error: object) -> Recovery:
    """Make the next request from the active leaf shorter."""
    overflow = is_context_overflow(error)
    if overflow is None:
        return Recovery("not_an_overflow", "the error does not say that the request was too long")
    compacting = session._compacting
    scales, looked, before = _weighed(session)
    if looked.seen.leaf is None:
        return Recovery("exhausted", "the session has no messages", before, before)
    if _tries(session) >= TRIES:
        reason = f"{TRIES} recoveries brought no reply; something else is too long"
        return _done(session, Recovery("exhausted", reason, before, before))
    excess = _excess(overflow, before, looked.view.facts.context_window)
    layings, freed = shrunk(looked.entries, excess, partial(scales.cost, looked), session._has_prompt)
    named = tuple([(laying.message_id, laying.data["call"]) for laying in layings])
    if layings:
        session._engine.lay(session._ref, layings, session.store.now())
    after = before - freed
    short = (
        f"{len(layings)} result{'s are' if len(layings) > 1 else ' is'} shown short from now on: {freed} tokens less"
    )
    if freed >= excess and layings:
        return _done(session, Recovery("shrunk", short, before, after, named))
    compaction = None if compacting is None else compacting.compact(None, "overflow", before - excess)
    if compaction is not None and compaction.kind == "compacted":
        return _done(
            session, Recovery("compacted", compaction.reason, before, compaction.tokens_after, named, compaction)
        )
    why = "there is no compactor" if compaction is None else compaction.reason
    if layings:
        reason = f"{short}, which may not be enough; {why}"
        return _done(session, Recovery("shrunk", reason, before, after, named, compaction))
    reason = f"no result of a tool is long enough to be shown short; {why}"
    return _done(session, Recovery("exhausted", reason, before, before, (), compaction))


def _weighed(session: Session) -> tuple[Scales, Look, int]:
    """What the request takes, counted as for compaction; by the estimate where a counter of the caller's raises."""
    compactor = None if session._compacting is None else session._compacting.recipe.compactor
    scales = Scales(session, compactor)
    looked = scales.look(None)
    try:
        return scales, looked, scales.total(looked)
    except CounterError:
        return Scales(session, None), looked, looked.view.tokens.total


def _excess(overflow: Overflow, before: int, window: int) -> int:
    """How many tokens, as they are counted here, the next request should have less.

    Where nobody says what the limit is, it is the model's; and where the estimate is within it, it was wrong.
    """
    counted = overflow.tokens or before
    limit = overflow.limit or window
    if counted > limit * ROOM:
        return max(round(before * (1 - limit * ROOM / counted)), 1)
    return max(round(before * (1 - UNKNOWN)), 1)


def _answer(session: Session) -> str | None:
    """The newest answer of a model on the path: when there is another one, a request has succeeded."""
    for message in session.iter_history(raw=True, newest_first=True):
        if message.role == "assistant":
            return message.id
    return None


def _tries(session: Session) -> int:
    """How many recoveries have made a request shorter since the newest answer."""
    told = [event.data for event in session.events() if event.kind == EVENT and isinstance(event.data, dict)]
    answer = _answer(session)
    return sum([data.get("answer") == answer and data.get("retry") is True for data in told])


def _done(session: Session, recovery: Recovery) -> Recovery:
    session.add_event(EVENT, {**recovery.to_dict(), "answer": _answer(session)})
    return recovery
