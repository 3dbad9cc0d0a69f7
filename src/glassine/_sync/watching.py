# Generated from src/glassine/_async/watching.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""When a session is compacted of itself: told from running totals, so that an append to a short one reads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ..calibration import learn
from ..compaction import Pause, noted_pause
from ..compactor import CounterError
from ..errors import ProviderError
from ..exchange import Appended, Weight
from ..models import facts as facts_of
from ..prompt import unfrozen
from ..thinking import UNNAMED
from ..tokens import FAMILIES, estimate_tokens
from ..tools import tools_text
from .scales import Scales, model_of
from .viewing import Look

if TYPE_CHECKING:
    from .tree import Tree

EVENT: Final = "compaction"
"""Kind of the events that tell of attempts."""


class _Standing(NamedTuple):
    """What the active path weighs at a change of the session: the tokens of its request are the stored ones of the
    path, and `more` (which is mostly less)."""

    change: int
    stored: int
    more: int
    number: int
    ratio: float

    def total(self, stored: int) -> int:
        return round((stored + self.more) * self.ratio)


class Watch:
    """Tells whether the request from the active leaf has passed a threshold, and no pause is on."""

    def __init__(self, session: Tree, scales: Scales) -> None:
        self._session, self._scales = session, scales
        self._standing: _Standing | None = None
        self._weight: Weight | None = None
        self._saved: tuple[Weight, int] | None = None

    def is_short(self, appended: Appended, after: int) -> bool:
        """Whether the request is surely within the threshold, told from what is known of the state before."""
        known = self._standing
        if known is None or appended.change != known.change + any(appended.added):
            return False
        stored = appended.totals[known.number]
        if known.total(stored) > after:
            return False
        self._standing = known._replace(change=appended.change, stored=stored)
        return True

    def is_due(self, after: int) -> bool:
        """Whether the request takes more than `after` tokens, and an attempt may be made."""
        session = self._session
        if self._scales.meter(UNNAMED).own is None:
            total = self._weigh()
            if total <= after:
                return False
            pause = self.pause(after)
            if not pause.is_over(session.store.now(), total):
                return False
        looked = self._scales.look(None)
        try:
            total = self._scales.total(looked)
        except CounterError:
            return self.pause(after).is_over(session.store.now(), 0)  # the attempt tells of it
        self._note(looked, total)
        return total > after and self.pause(after).is_over(session.store.now(), total)

    def _weigh(self) -> int:
        """What the request takes at most, but for stubs of missing results, without reading a message: markers and cuts
        only make it less."""
        session = self._session
        weight = session._engine.weigh(session._ref)
        model = facts_of(model_of(weight.usage) or UNNAMED)
        counted = self._scales.meter(model.family)
        number = 2 + FAMILIES.index(counted.family)
        ratio = learn(weight.usage, model).ratio if counted.family == model.family else 1.0
        # What is cut and marked on a path becomes more as it goes on, never less.
        saved = self._saved[1] if self._saved is not None and weight.goes_on(self._saved[0]) else 0
        self._weight = weight
        more = weight.visible[number] - weight.stored[number] + self._prompt_tokens(counted.family) - saved
        self._standing = _Standing(weight.change, weight.stored[number], more, number, ratio)
        return self._standing.total(weight.stored[number])

    def _prompt_tokens(self, family: str) -> int:
        context = self._session._context
        try:
            prompt = context.frozen() or unfrozen(context.render(), 1)
        except ProviderError:
            return 0  # whoever makes a request is told
        return estimate_tokens(prompt.text, family) + estimate_tokens(tools_text(prompt.tools), family)

    def _note(self, looked: Look, total: int) -> None:
        """Keep how much less the request takes than was told from the stored totals."""
        known, weight = self._standing, self._weight
        if known is not None and weight is not None and looked.seen.change == weight.change and known.ratio > 0:
            over = round((known.total(known.stored) - total) / known.ratio)
            before = self._saved[1] if self._saved is not None and weight.goes_on(self._saved[0]) else 0
            self._saved = (weight, before + over)
            self._standing = known._replace(more=known.more - over)

    def pause(self, after: int) -> Pause:
        """The pause after the attempt before this one, whoever made it; none for another threshold."""
        session = self._session
        last = session._engine.last_event(session._ref, EVENT)
        return Pause() if last is None else noted_pause(last[0], after)
