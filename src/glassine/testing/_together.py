"""Doing several things at once, in each colour."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def together(jobs: Sequence[Callable[[], Any]]) -> None:
    """Run each job in a thread of its own; an error of any comes out."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(job) for job in jobs]:
            future.result()


async def together_async(jobs: Sequence[Callable[[], Awaitable[Any]]]) -> None:
    """Run each job in a task of its own; an error of any comes out."""
    import asyncio

    await asyncio.gather(*(job() for job in jobs))
