"""Comparing two ways of doing the same work on a machine that is busy with other things."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

Block = Callable[[], object]
Side = Callable[[], Block]
"""Makes ready what one block of work needs, which is not timed, and gives the block. Every block costs the same."""


Clock = Literal["cpu", "wall"]
Typical = Callable[[Sequence[float]], float]
"""What stands for all blocks of a side."""


class Figure(NamedTuple):
    """One row of the table. It passes when `ratio <= bar`; a `bar` of None is never missed.

    `low` and `high` are the quartiles of the ratios of neighbouring blocks, by the clock of `ratio`; `wall` is the
    ratio by the wall clock. They are None where a figure is counted rather than timed. `unit` is set where the figure
    is no ratio.
    """

    name: str
    ratio: float
    bar: float | None
    low: float | None = None
    high: float | None = None
    wall: float | None = None
    unit: str = ""

    @property
    def ok(self) -> bool:
        return self.bar is None or self.ratio <= self.bar


class Times(NamedTuple):
    """Seconds of each block, in the order in which they ran."""

    wall: list[float]
    cpu: list[float]


def quick() -> bool:
    """Whether fewer blocks will do (`--quick`)."""
    return os.environ.get("GLASSINE_BENCH_QUICK") == "1"


def in_turn(*sides: Side, blocks: int) -> list[Times]:
    """Run `blocks` blocks of each side in turn, after one of each to warm up, and give the times per side.

    The order alternates (A B, B A, A B, …), so that neither side always runs in the wake of the other. What a
    block leaves to the garbage collector is collected before the next one starts; within a block it runs as usual.
    """
    if quick():
        blocks = max(5, blocks // 4)
    times = [Times([], []) for _ in sides]
    for side in sides:
        side()()
    # What is there already outlives the measurement: without this, collecting it again would take most of the time.
    gc.freeze()
    order = list(range(len(sides)))
    for _ in range(blocks):
        for index in order:
            block = sides[index]()
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            block()
            times[index].wall.append(time.perf_counter() - wall)
            times[index].cpu.append(time.process_time() - cpu)
        order.reverse()
    gc.unfreeze()
    return times


def p95(values: Sequence[float]) -> float:
    """The value that 5 % exceed."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def figure(
    name: str,
    bar: float | None,
    subject: Times,
    floor: Times,
    *,
    scale: float = 1.0,
    clock: Clock = "cpu",
    typical: Typical = statistics.median,
) -> Figure:
    """The median block of `subject` in median blocks of `floor`.

    `scale` is how much more work a block of `floor` does than one of `subject`. The clock is the CPU's unless the
    sides wait for threads: on a quiet machine both clocks give the same ratio, on a busy one the wall's tells how
    often a block had to wait for other programs. `typical` takes the place of the median: the mean where rare costs
    count too, `p95` where the slowest do.
    """
    ours, floors = getattr(subject, clock), getattr(floor, clock)
    low, _, high = statistics.quantiles([scale * a / b for a, b in zip(ours, floors, strict=True)], n=4)
    ratio = scale * typical(ours) / typical(floors)
    wall = scale * typical(subject.wall) / typical(floor.wall)
    return Figure(name, ratio, bar, low, high, wall)


def compare(
    name: str,
    bar: float | None,
    subject: Side,
    floor: Side,
    *,
    blocks: int,
    scale: float = 1.0,
    typical: Typical = statistics.median,
) -> Figure:
    """Run two sides, which stay in this thread, in turn, and give their ratio."""
    ours, theirs = in_turn(subject, floor, blocks=blocks)
    return figure(name, bar, ours, theirs, scale=scale, typical=typical)


def plus(first: Times, second: Times) -> Times:
    """What two pieces of work take together, block by block."""
    wall, cpu = ([a + b for a, b in zip(ours, theirs, strict=True)] for ours, theirs in zip(first, second, strict=True))
    return Times(wall, cpu)
