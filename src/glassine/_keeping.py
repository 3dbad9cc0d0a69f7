"""Doing something again and again while a piece of work is under way, in each colour."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import asyncio


class Repeating:
    """`with Repeating(action, every)` calls `action()` every so many seconds, in a thread of its own, until the block
    ends; `async with` awaits it, in a task of its own. An action that is under way then is waited for; what it raises
    is passed over, and it is called again."""

    def __init__(self, action: Callable[[], Any], every: float) -> None:
        self._action, self._every = action, every

    def __enter__(self) -> Self:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="glassine-repeating", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            with contextlib.suppress(Exception):
                self._action()

    async def __aenter__(self) -> Self:
        import asyncio

        # Not cancelled at the end: an action that is cut off may come to pass after what follows the block.
        ended = asyncio.Event()
        self._end, self._task = ended.set, asyncio.create_task(self._run_async(ended))
        return self

    async def __aexit__(self, *error: object) -> None:
        self._end()
        await self._task

    async def _run_async(self, ended: asyncio.Event) -> None:
        import asyncio

        action: Callable[[], Awaitable[Any]] = self._action
        while True:
            try:
                async with asyncio.timeout(self._every):
                    await ended.wait()
                return
            except TimeoutError:
                pass
            with contextlib.suppress(Exception):
                await action()
