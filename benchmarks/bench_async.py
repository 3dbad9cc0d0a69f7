"""Appending from asyncio: what the way to the connection's thread and back costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import glassine

from . import _floor
from ._corpus import SESSION, Wire, copy, stored, wires
from ._measure import Block, Figure, Side, figure, in_turn, plus

BLOCKS = 200
PER_BLOCK = _floor.FOLD
TASKS = 8


def run() -> list[Figure]:
    shelf = stored(10_000)
    with asyncio.Runner() as runner, glassine.open(copy(shelf, "sync")) as store:
        append = store.session(SESSION).append
        hopper = runner.run(new_hopper())
        one, eight = (glassine.open_async(copy(shelf, name)) for name in ("async-one", "async-eight"))

        def plain() -> Block:
            ready = list(wires(PER_BLOCK))
            return lambda: [append(wire) for wire in ready]

        def in_loop(work: Callable[[list[Wire]], Coroutine[Any, Any, object]]) -> Side:
            def side() -> Block:
                ready = list(wires(PER_BLOCK))
                return lambda: runner.run(work(ready))

            return side

        async def alone(ready: list[Wire]) -> None:
            await in_order(one.session(SESSION), ready)

        async def together(ready: list[Wire]) -> None:
            session = eight.session(SESSION)
            await asyncio.gather(*(in_order(session, ready[task::TASKS]) for task in range(TASKS)))

        async def hops(ready: list[Wire]) -> None:
            for wire in ready:
                await hopper.call(id, wire)

        sync, single, many, hop = in_turn(plain, in_loop(alone), in_loop(together), in_loop(hops), blocks=BLOCKS)
        runner.run(one.close())
        runner.run(eight.close())
        hopper.close()
    # A hop carries a function to the thread and its result back, as an operation goes to its connection in one hop.
    return [
        figure("async append / sync append and 2 no-op hops", 1.0, single, plus(sync, plus(hop, hop)), clock="wall"),
        figure("async append / sync append and 1 no-op hop", None, single, plus(sync, hop), clock="wall"),
        figure("async appends of 8 tasks together / sync appends", 1.5, many, sync, clock="wall"),
    ]


async def in_order(session: glassine.AsyncSession, ready: list[Wire]) -> None:
    for wire in ready:
        await session.append(wire)


async def new_hopper() -> _floor.Hopper:
    return _floor.Hopper()
