"""Waiting in each colour: for a moment, and for a free place among a limited number."""

from __future__ import annotations

import contextlib
import inspect
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future


T = TypeVar("T")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


async def sleep_async(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def call(method: Callable[..., Any], *args: Any) -> Any:
    """Call a method of a caller's object. A coroutine cannot be awaited here: it is a TypeError."""
    result = method(*args)
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError("it is a coroutine, and this is a synchronous session")
    return result


async def call_async(method: Callable[..., Any], *args: Any) -> Any:
    """The same from an event loop: a coroutine function is awaited, a plain one runs in a worker thread."""
    if inspect.iscoroutinefunction(method):
        return await method(*args)
    import asyncio

    work = asyncio.ensure_future(asyncio.to_thread(_called, method, args))
    try:
        result = await asyncio.shield(work)
    except asyncio.CancelledError:
        # The thread goes on; whoever called is only told when it has ended, so that nobody writes at the same time.
        with contextlib.suppress(Exception):
            await work
        raise
    return await result if inspect.isawaitable(result) else result


def _called(method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return method(*args)
    except StopIteration as error:
        raise RuntimeError("it raised StopIteration") from error  # which no future can hold


class OverdueError(Exception):
    """What was called took longer than it may."""


def call_within(seconds: float | None, method: Callable[..., Any], *args: Any) -> Any:
    """Call a function of a caller's, coroutine function or not, and wait for it at most so long.

    Raises OverdueError. What was called goes on then, in a thread that keeps no program from ending. What it raises
    comes out as it is, but for what would end the caller's thread: that is a RuntimeError.
    """
    work = _in_thread(method, args, True)
    try:
        return work.result(seconds)
    except TimeoutError:
        if work.done():
            raise  # one that it raised itself
        raise OverdueError from None


async def call_within_async(seconds: float | None, method: Callable[..., Any], *args: Any) -> Any:
    """The same from an event loop: a coroutine is awaited there, and cancelled when it is late."""
    import asyncio

    task = asyncio.current_task()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            if inspect.iscoroutinefunction(method):
                return await method(*args)
            result = await asyncio.wrap_future(_in_thread(method, args, False))
            return await result if inspect.isawaitable(result) else result
    except TimeoutError:
        if not limit.expired():
            raise
        raise OverdueError from None
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise  # it is the caller who is cancelled
        raise _contained(error) from error


def _contained(error: BaseException) -> BaseException:
    """An error of a caller's function, as it may come out where it was called for another purpose: one that would end a
    thread or a task ends only the call. Who interrupts a program means the program."""
    if isinstance(error, (Exception, KeyboardInterrupt)) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"it raised {type(error).__name__}")


def _in_thread(method: Callable[..., Any], args: tuple[Any, ...], run: bool) -> Future[Any]:
    """Begin a call in a thread of its own. `run`: a coroutine that comes of it is waited for there."""
    import contextvars
    from concurrent.futures import Future

    work: Future[Any] = Future()
    work.set_running_or_notify_cancel()

    def finish() -> None:
        try:
            result = _called(method, args)
            if run and inspect.iscoroutine(result):
                from . import _loop

                result = _loop.run(result)
        except BaseException as error:
            work.set_exception(_contained(error))
        else:
            work.set_result(result)

    threading.Thread(target=contextvars.copy_context().run, args=(finish,), daemon=True).start()
    return work


def iterate(events: Iterable[T]) -> Iterator[T]:
    """The items of an iterable."""
    yield from events


async def iterate_async(events: AsyncIterable[T] | Iterable[T]) -> AsyncIterator[T]:
    """The items of an asynchronous iterable, or of a plain one, which is read in a worker thread."""
    if isinstance(events, AsyncIterable):
        async for event in events:
            yield event
        return
    import asyncio

    items = iter(events)
    while following := await asyncio.to_thread(_following, items):
        yield following[0]


def _following(items: Iterator[T]) -> tuple[T] | tuple[()]:
    """The next item, alone; nothing at the end."""
    for item in items:
        return (item,)
    return ()


AWAITS: bool = False
"""Whether coroutines of a caller's can be awaited."""
AWAITS_ASYNC: bool = True

Gate = threading.Lock
"""One at a time."""


def AsyncGate() -> asyncio.Lock:  # noqa: N802  stands where a class stands in the other colour
    """One task at a time."""
    import asyncio

    return asyncio.Lock()


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
