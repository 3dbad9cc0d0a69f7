"""What is repeated beside a piece of work goes on though it fails, and ends with the work."""

from __future__ import annotations

import asyncio
import threading

import pytest

from glassine._keeping import Repeating


class Counted:
    """An action that fails every time."""

    def __init__(self) -> None:
        self.times = 0
        self.thrice = threading.Event()

    def __call__(self) -> None:
        self.times += 1
        if self.times == 3:
            self.thrice.set()
        raise OSError("not now")

    async def later(self) -> None:
        self()


def test_it_goes_on_and_ends_with_the_work() -> None:
    action = Counted()
    with Repeating(action, 0.001):
        assert action.thrice.wait(10)
    times = action.times
    assert not [thread for thread in threading.enumerate() if thread.name == "glassine-repeating"]
    with pytest.raises(KeyError), Repeating(action, 60):
        raise KeyError
    assert action.times == times


@pytest.mark.anyio
async def test_it_goes_on_and_ends_with_the_work_of_a_task() -> None:
    action = Counted()
    async with Repeating(action.later, 0.001):
        assert await asyncio.to_thread(action.thrice.wait, 10)
    times = action.times
    with pytest.raises(KeyError):
        async with Repeating(action.later, 60):
            raise KeyError
    await asyncio.sleep(0.01)
    assert action.times == times
