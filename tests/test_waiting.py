"""Calling a function of the caller's and waiting for it no longer than so long, in each colour."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import inspect
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest

from glassine._waiting import OverdueError, call_within, call_within_async

SOON, LONG = 0.05, 30.0

place: contextvars.ContextVar[str] = contextvars.ContextVar("place", default="nowhere")


def in_a_loop(seconds: float | None, method: Callable[..., Any], *args: Any) -> Any:
    async def run() -> Any:
        return await call_within_async(seconds, method, *args)

    return asyncio.run(run())


both = pytest.mark.parametrize("within", [call_within, in_a_loop])


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Keeps a thread hanging until the test ends."""
    held = threading.Event()
    yield held
    held.set()


class Summariser:
    def plain(self, text: str) -> str:
        return text.upper()

    async def awaited(self, text: str) -> str:
        await asyncio.sleep(0)
        return text.upper()

    async def __call__(self, text: str) -> str:
        return await self.awaited(text)


@both
@pytest.mark.parametrize("seconds", [LONG, None])
def test_functions_of_every_kind(within: Callable[..., Any], seconds: float | None) -> None:
    own = Summariser()
    methods = (
        str.upper,
        own.plain,
        own.awaited,
        own,
        lambda text: own.plain(text),
        lambda text: own.awaited(text),
        functools.partial(own.awaited),
    )
    assert [within(seconds, method, "a猫") for method in methods] == ["A猫"] * len(methods)
    assert within(seconds, dict) == {}
    assert within(seconds, max, 1, 3, 2) == 3


@both
def test_a_function_that_hangs_is_left_behind(within: Callable[..., Any], gate: threading.Event) -> None:
    began = time.monotonic()
    with pytest.raises(OverdueError):
        within(SOON, gate.wait, LONG)
    assert time.monotonic() - began < LONG / 2
    assert not gate.is_set()


@both
def test_a_coroutine_that_hangs_is_late(within: Callable[..., Any]) -> None:
    began = time.monotonic()
    with pytest.raises(OverdueError):
        within(SOON, asyncio.sleep, 1.0)
    assert time.monotonic() - began < 1.0


def test_a_late_coroutine_is_cancelled_in_its_loop() -> None:
    ended: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.append("cancelled")

    with pytest.raises(OverdueError):
        in_a_loop(SOON, hang)
    with pytest.raises(OverdueError):
        in_a_loop(SOON, lambda: hang())
    assert ended == ["cancelled"] * 2


def test_what_hangs_keeps_no_program_from_ending(gate: threading.Event) -> None:
    there = set(threading.enumerate())
    with pytest.raises(OverdueError):
        call_within(SOON, gate.wait, LONG)
    (left,) = set(threading.enumerate()) - there
    assert left.daemon


def test_a_threads_answer_that_comes_after_the_loop_has_ended_disturbs_nobody(gate: threading.Event) -> None:
    there = set(threading.enumerate())
    with pytest.raises(OverdueError):
        in_a_loop(SOON, gate.wait, LONG)
    (left,) = set(threading.enumerate()) - there
    gate.set()
    left.join(LONG)
    gc.collect()  # an error that nobody took would be told now, and fail the test
    assert not left.is_alive()


class OddError(Exception):
    pass


@both
@pytest.mark.parametrize("error", [OddError("no"), TimeoutError("its own"), ValueError(), OSError(5)])
def test_what_it_raises_comes_out(within: Callable[..., Any], error: BaseException) -> None:
    def fail() -> NoReturn:
        raise error

    async def fail_later() -> NoReturn:
        await asyncio.sleep(0)
        raise error

    methods: list[Callable[[], Any]] = [fail, fail_later, lambda: fail_later()]
    for method in methods:
        with pytest.raises(type(error)) as caught:
            within(LONG, method)
        assert str(caught.value) == str(error)


@both
@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError()])
def test_what_would_end_a_thread_or_a_task_ends_only_the_call(within: Callable[..., Any], error: BaseException) -> None:
    def fail() -> NoReturn:
        raise error

    with pytest.raises(RuntimeError, match=f"it raised {type(error).__name__}"):
        within(LONG, fail)


@both
def test_stop_iteration_is_an_error_like_others(within: Callable[..., Any]) -> None:
    """No future can hold it: it would wait for ever."""
    with pytest.raises(RuntimeError, match="StopIteration"):
        within(LONG, next, iter(()))


def test_whoever_is_cancelled_waits_no_longer(gate: threading.Event) -> None:
    async def run() -> None:
        for method in (gate.wait, asyncio.sleep):
            task = asyncio.create_task(call_within_async(None, method, LONG))
            await asyncio.sleep(SOON)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    began = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - began < LONG / 2


def test_the_loop_goes_on_while_a_function_blocks(gate: threading.Event) -> None:
    async def run() -> bool:
        task = asyncio.create_task(call_within_async(LONG, gate.wait, LONG))
        await asyncio.sleep(SOON)
        gate.set()
        return bool(await task)

    assert asyncio.run(run())


@both
def test_context_variables_are_seen(within: Callable[..., Any]) -> None:
    async def later() -> str:
        return place.get()

    token = place.set("東京")
    try:
        assert [within(LONG, method) for method in (place.get, later, lambda: later())] == ["東京"] * 3
        within(LONG, place.set, "elsewhere")
        assert place.get() == "東京"
    finally:
        place.reset(token)


def test_a_synchronous_session_waits_inside_a_running_loop_too() -> None:
    async def run() -> Any:
        return call_within(LONG, Summariser().awaited, "a")

    assert asyncio.run(run()) == "A"


def test_each_colour_runs_a_coroutine_where_it_belongs() -> None:
    async def where() -> tuple[threading.Thread, asyncio.AbstractEventLoop]:
        return threading.current_thread(), asyncio.get_running_loop()

    async def run() -> None:
        own = (threading.current_thread(), asyncio.get_running_loop())
        assert await call_within_async(LONG, where) == own
        assert await call_within_async(LONG, lambda: where()) == own
        assert (await call_within_async(LONG, threading.current_thread)) is not own[0]

    asyncio.run(run())
    assert call_within(LONG, where)[0] is not threading.current_thread()
    assert not inspect.isawaitable(call_within(LONG, where))
