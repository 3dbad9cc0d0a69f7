# Generated from src/glassine/_async/recovering.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Recovering from a request that was too long: results of tools are shown short, then the session is compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..compactor import Compaction, Recovery
from ..indexing import tokens as estimates
from ..messages import Message
from ..overflow import Overflow, is_context_overflow
from ..shrinking import shrunk
from ..tokens import FAMILIES
from .scales import last_model
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
    model = last_model(session)
    looked = look(session, Wanted(model, None), False)
    before = looked.view.tokens.total
    if looked.seen.leaf is None:
        return Recovery("exhausted", "the session has no messages", before, before)
    if _tries(session) >= TRIES:
        return _done(
            session,
            Recovery("exhausted", f"{TRIES} recoveries brought no reply; something else is too long", before, before),
        )
    excess = _excess(overflow, looked, looked.view.facts.context_window)
    number = FAMILIES.index(looked.view.facts.family)
    calibration = looked.view.calibration

    def cost(message: Message) -> int:
        return calibration.of(estimates(message)[number])

    layings, freed = shrunk(looked.entries, excess, cost, session._has_prompt)
    named = tuple([(laying.message_id, laying.data["call"]) for laying in layings])
    if layings:
        session._engine.lay(session._ref, layings, session.store.now())
    after = before - freed
    if freed >= excess and layings:
        count = f"{len(layings)} result{'s are' if len(layings) > 1 else ' is'} shown short from now on"
        return _done(session, Recovery("shrunk", f"{count}: {freed} tokens less", before, after, named))
    compaction: Compaction | None = None
    if session._compacting is not None:
        compaction = session._compacting.compact(None, "overflow", before - excess)
        if compaction.kind == "compacted":
            after = compaction.tokens_after
            return _done(session, Recovery("compacted", compaction.reason, before, after, named, compaction))
    why = "there is no compactor" if compaction is None else compaction.reason
    if layings:
        reason = f"{len(layings)} results are shown short, {freed} tokens less, which may not be enough; {why}"
        return _done(session, Recovery("shrunk", reason, before, after, named, compaction))
    reason = f"no result of a tool is long enough to be shown short; {why}"
    return _done(session, Recovery("exhausted", reason, before, before, (), compaction))


def _excess(overflow: Overflow, looked: Look, window: int) -> int:
    """How many tokens, as they are estimated, the next request should have less.

    Where nobody says what the limit is, it is the model's; and where the estimate is within it, it was wrong.
    """
    before = looked.view.tokens.total
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
