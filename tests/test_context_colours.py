"""Context memory where the colours differ, and in another process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import glassine
from glassine import InvalidSpecError, ProviderError, SessionSpec


def test_another_process_gets_the_same_bytes(tmp_path: Path) -> None:
    program = """
import json, sys, glassine
spec = glassine.SessionSpec().with_context("memory", max_tokens=100).with_context("date", text=sys.argv[2])
spec = spec.with_cached_prompt()
with glassine.open(sys.argv[1]) as store:
    session = store.session("s", spec)
    print(json.dumps([session.freeze_prompt(), [tool.to_openai() for tool in session.tools()], session.stale_blocks()]))
"""
    found = []
    for text in ("Monday", "Tuesday"):
        command = [sys.executable, "-c", program, str(tmp_path / "a.db"), text]
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    assert found[0][:2] == found[1][:2]
    assert (found[0][2], found[1][2]) == ([], ["date"])


class Slow:
    """A provider of coroutines."""

    def __init__(self) -> None:
        self.content = "slow"

    async def get(self) -> str:
        return self.content

    async def set(self, content: str) -> None:
        self.content = content


def test_a_provider_of_coroutines_needs_an_async_session() -> None:
    spec = SessionSpec().with_context("a", provider=Slow())
    with glassine.open(":memory:") as store, pytest.raises(InvalidSpecError, match="coroutine"):
        store.session("s", spec)


@pytest.mark.anyio
async def test_a_provider_of_coroutines_is_awaited() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("a", provider=Slow()))
        await session.append_block("a", "and steady")
        assert "slow\nand steady" in await session.freeze_prompt()


@pytest.mark.anyio
async def test_a_plain_provider_runs_beside_the_event_loop() -> None:
    threads = []

    class Plain:
        def get(self) -> str:
            threads.append(threading.current_thread())
            return "plain"

    async with glassine.open_async(":memory:") as store:
        await store.session("s", SessionSpec().with_context("a", provider=Plain())).freeze_prompt()
    assert threads
    assert threads[0] is not threading.main_thread()


def test_a_hidden_coroutine_is_an_error_and_not_a_warning() -> None:
    async def late() -> str:
        return "late"

    provider = type("Hidden", (), {"get": lambda self: late()})()
    with glassine.open(":memory:") as store, pytest.raises(ProviderError, match="it is a coroutine"):
        store.session("s", SessionSpec().with_context("a", provider=provider)).freeze_prompt()
