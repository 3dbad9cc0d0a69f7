# Generated from src/glassine/_async/scales.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Weighing a path for compaction: the whole request, one message, and each entry, all by one counter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..compaction import CompactionPlan
from ..compactor import Compact, Compactor, Meter, meter
from ..messages import Message
from ..records import Usage
from ..tokens import estimate_tokens
from .viewing import Look, Wanted, look

if TYPE_CHECKING:
    from .tree import Tree


class Scales:
    """Counts what the requests of a session take, as its compactor counts. Raises CounterError where a counter of the
    caller's does."""

    def __init__(self, session: Tree, compactor: Compactor | Compact | None) -> None:
        self._session, self._compactor = session, compactor

    def look(self, leaf: str | None) -> Look:
        """The path to a leaf (None: the active one) as the model that the session was last held with would see it."""
        session = self._session
        usage = session._engine.newest_usage(session._ref)
        return look(session, Wanted(model_of(usage), leaf), False)

    def meter(self, family: str) -> Meter:
        """What is counted with, where the model is of this family."""
        compactor = self._compactor
        return meter(compactor.token_counter if isinstance(compactor, Compactor) else None, family)

    def cost(self, looked: Look, message: Message) -> int:
        """What one message costs in the request."""
        counted = self.meter(looked.view.facts.family)
        return round(counted.message(message) * self._ratio(looked, counted))

    def prompt(self, looked: Look) -> int:
        """What system prompt and tools take; 0 where a counter of the caller's counts nothing else."""
        view = looked.view
        counted = self.meter(view.facts.family)
        if counted.own is not None:
            blocks = self._session._context.blocks() if counted.whole else []
            alone = counted.request([], view.system, view.tools_text, blocks)
            return alone if alone < self.total(looked) else 0
        prompt = estimate_tokens(view.system, counted.family) + estimate_tokens(view.tools_text, counted.family)
        return round(prompt * self._ratio(looked, counted))

    def total_with(self, looked: Look, plan: CompactionPlan, summary: Message, expected: int) -> int:
        """What the request takes once the summary stands for the range. A caller's counter of requests is asked again,
        for its counts need not add up."""
        view = looked.view
        counted = self.meter(view.facts.family)
        if not counted.whole:
            return max(expected, 0)
        told = list(zip(view.messages, looked.places, strict=True))
        messages = [message for message, place in told if place < plan.head]
        messages += [summary, *[message for message, place in told if place >= plan.head + plan.covered]]
        return counted.request(messages, view.system, view.tools_text, self._session._context.blocks())

    def costs(self, looked: Look) -> list[int]:
        """What each entry of a path costs in the request: nothing, where repair leaves it out."""
        costs = [0] * len(looked.entries)
        for entry, place in zip(looked.view.entries, looked.places, strict=True):
            costs[place] += self.cost(looked, entry.message)
        return costs

    def _ratio(self, looked: Look, counted: Meter) -> float:
        own = counted.own is not None or counted.family != looked.view.facts.family
        return 1.0 if own else looked.view.calibration.ratio

    def total(self, looked: Look) -> int:
        """What the whole request takes, counted as the range is."""
        view = looked.view
        counted = self.meter(view.facts.family)
        if counted.own is not None:
            blocks = self._session._context.blocks() if counted.whole else []
            return counted.request(view.messages, view.system, view.tools_text, blocks)
        if counted.family == view.facts.family:
            return view.tokens.total
        prompt = estimate_tokens(view.system, counted.family) + estimate_tokens(view.tools_text, counted.family)
        return prompt + view.measure.tokens(counted.family)


def model_of(usage: Sequence[Usage]) -> str | None:
    """The model of the newest reply."""
    return next((row.model for row in reversed(usage) if row.kind == "reply" and row.model is not None), None)
