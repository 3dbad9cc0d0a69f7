"""Waiting in each colour: for a moment, and for a free place among a limited number."""

from __future__ import annotations

import threading
import time


def sleep(seconds: float) -> None:
    time.sleep(seconds)


async def sleep_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


class Places:
    """So many may be taken at the same time."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    def take(self, seconds: float) -> bool:
        """Wait for a free place, at most so many seconds. False: there was none."""
        return self._free.acquire(timeout=seconds)

    def leave(self) -> None:
        self._free.release()


class AsyncPlaces:
    """The same among the tasks of an event loop."""

    def __init__(self, count: int) -> None:
        import asyncio

        self._free = asyncio.Semaphore(count)
        self._timeout = asyncio.timeout

    async def take(self, seconds: float) -> bool:
        """Wait for a free place, at most so many seconds. False: there was none."""
        if not self._free.locked():
            return await self._free.acquire()
        try:
            async with self._timeout(seconds):
                return await self._free.acquire()
        except TimeoutError:
            return False

    def leave(self) -> None:
        self._free.release()
