"""One event loop for the coroutines of callers in synchronous sessions: a client keeps its connections from one call to
the next, and they belong to the loop that they were made in."""

from __future__ import annotations

import os
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Wait for what a coroutine gives, from a thread that has no loop of its own."""
    import asyncio

    return asyncio.run_coroutine_threadsafe(coroutine, _running()).result()


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            # A daemon: what a caller's coroutine waits for keeps no program from ending.
            threading.Thread(target=_loop.run_forever, name="glassine-loop", daemon=True).start()
        return _loop


def _forget() -> None:
    """In a forked child no thread runs the loop, and whoever held the lock is not there."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
